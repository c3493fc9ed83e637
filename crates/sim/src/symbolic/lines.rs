//! Records an algorithm in CLa's primitives.

use super::graph::Graph;
use super::recorder::{Recorder, Stuck};
use corecast_wire::cache_lines::{CacheLines, LineId, LineSet, Payload, sum};
use std::cell::RefCell;
use std::convert::Infallible;

/// What the lines of a set hold.
#[derive(Debug, Default)]
struct Held {
    /// The value after each change.
    values: Vec<u64>,
    /// The payload of each line.
    payloads: Vec<Payload>,
}

/// One rank of an algorithm that is recorded; see [`record_lines`].
#[derive(Debug)]
pub struct RecordedLines<'w> {
    rank: usize,
    recorder: &'w Recorder,
    held: &'w RefCell<Vec<Held>>,
}

impl RecordedLines<'_> {
    /// Notes that the value of a line has changed.
    fn changed(&self, line: LineId, new: impl FnOnce(u64) -> u64) {
        let values = &mut self.held.borrow_mut()[line.index()].values;
        let last = values.last().copied().unwrap_or(0);
        values.push(new(last));
    }

    /// The number of changes after which a line has had this value, if it has.
    fn changes_until(&self, line: LineId, value: u64) -> Option<usize> {
        if value == 0 {
            return Some(0);
        }
        let values = &self.held.borrow()[line.index()].values;
        values.iter().position(|&had| had >= value).map(|at| at + 1)
    }
}

impl CacheLines for RecordedLines<'_> {
    /// A rank that waits in vain stands still, and the record ends with [`Stuck`].
    type Error = Infallible;

    fn rank(&self) -> usize {
        self.rank
    }

    fn copy(&mut self, from: LineId, to: LineId, lines: usize) {
        self.recorder
            .copy(self.rank, from.index(), to.index(), lines);
        let mut held = self.held.borrow_mut();
        for line in 0..lines {
            let payload = held[from.index()].payloads[line];
            held[to.index()].payloads[line] = payload;
        }
    }

    fn wait(&mut self, line: LineId, value: u64) -> Result<(), Infallible> {
        let index = line.index();
        if self.changes_until(line, value).is_none() {
            let awaited = (index, self.recorder.changes(index) + 1);
            self.recorder.suspend(self.rank, awaited, || {
                self.changes_until(line, value).is_some()
            });
        }
        let changes = self.changes_until(line, value).unwrap_or(0);
        self.recorder.wait(self.rank, index, changes);
        Ok(())
    }

    fn write(&mut self, line: LineId, value: u64) {
        self.recorder.write(self.rank, line.index());
        self.changed(line, |_| value);
    }

    fn add(&mut self, line: LineId, value: u64) {
        self.recorder.add(self.rank, line.index(), None);
        self.changed(line, |sum| sum.wrapping_add(value));
    }

    fn add_line(&mut self, line: LineId, from: LineId) {
        self.recorder
            .add(self.rank, line.index(), Some(from.index()));
        let mut held = self.held.borrow_mut();
        let other = held[from.index()].payloads[0];
        let own = &mut held[line.index()].payloads[0];
        *own = sum(*own, other);
    }

    fn payload(&self, line: LineId) -> Payload {
        self.held.borrow()[line.index()].payloads[0]
    }

    fn set_payload(&mut self, line: LineId, payload: Payload) {
        self.held.borrow_mut()[line.index()].payloads[0] = payload;
    }
}

/// Runs an algorithm in CLa's primitives once on each rank of its lines, and returns its graph.
///
/// # Errors
///
/// [`Stuck`] where ranks wait for a value that no rank brings about.
///
/// # Panics
///
/// If the algorithm panics, with its panic.
///
/// # Cost
///
/// A stack of 128 KiB for each rank, of which pages are used as needed; linear in the number of acts.
///
/// # Source
///
/// CLa §2.4.
///
/// # Examples
///
/// The paper's Figure 4a: three ranks notify rank 0 on one line.
///
/// ```
/// use corecast_collectives::one_line::{ManyToOne, Sharing};
/// use corecast_sim::symbolic::{AccessCosts, Analysis, CostRules, Placement, record_lines};
/// use corecast_wire::cache_lines::LineSet;
///
/// let mut lines = LineSet::new(4);
/// let program = ManyToOne::new(&mut lines, 0, &[1, 2, 3], Sharing::SameLine);
/// let graph = record_lines(&lines, |rank| program.run(rank, 1))?;
/// let file = corecast_model::builtin("sandybridge-2x8").expect("a machine");
/// let costs = AccessCosts::of_lines(file.costs().lines().expect("costs of lines").costs());
/// let placement = Placement::of_packages(costs, &[0; 4]);
/// let bounds = Analysis::new(&graph, &placement, &CostRules::default()).bounds();
/// // Equations 6 and 8, with R_I = 70 ns and R_R = 35 ns.
/// assert_eq!((bounds.t_min, bounds.t_max), (70.0 + 3.0 * 35.0, 70.0 + 6.0 * 35.0));
/// # Ok::<(), corecast_sim::symbolic::Stuck>(())
/// ```
pub fn record_lines(
    lines: &LineSet,
    body: impl Fn(&mut RecordedLines<'_>) -> Result<(), Infallible>,
) -> Result<Graph, Stuck> {
    let recorder = Recorder::new(lines.ranks());
    let held: Vec<Held> = lines
        .lines()
        .iter()
        .map(|line| {
            recorder.new_line(line.name.clone(), line.kind, line.home);
            Held {
                values: Vec::new(),
                payloads: vec![Payload::default(); line.lines],
            }
        })
        .collect();
    let held = RefCell::new(held);
    recorder.run(|rank| {
        let mut lines = RecordedLines {
            rank,
            recorder: &recorder,
            held: &held,
        };
        let Ok(()) = body(&mut lines);
    })?;
    Ok(recorder.into_graph())
}
