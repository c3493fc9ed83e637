//! CLa's four primitives on a machine in virtual time.
//!
//! | primitive | on the machine |
//! | --- | --- |
//! | write, add | an atomic addition, as the paper writes flags (§2.4) |
//! | wait | polls the line until its value is great enough |
//! | copy | loads of all its lines, several at once, and stores; a copy of many lines to the own cache stores nothing |
//! | addition of a line | a load of that line, then a load and a store of the own one |
//!
//! When the run begins, lines are where the paper has them (§2.5): data are modified in the cache of their owner, flags
//! are in no cache, in the memory next to the rank that polls them first.

use crate::engine::{Cpu, RunOptions, RunOutcome, Setup, SimError, run};
use crate::machine::SimMachine;
use crate::memory;
use corecast_wire::cache_lines::{CacheLines, LineId, LineKind, LineSet, LineUse, Payload, sum};
use std::cell::{Cell, RefCell};
use std::convert::Infallible;

/// A line of a set on the machine. The machine has one word for a line, which is its value here.
#[derive(Debug)]
struct SimLine {
    first: memory::LineId,
    uses: LineUse,
    /// The value after the last change that was begun.
    value: Cell<u64>,
    payloads: RefCell<Vec<Payload>>,
}

/// One rank of an algorithm on a machine in virtual time; see [`run_lines`].
pub struct SimulatedLines<'c, 'y> {
    cpu: &'c mut Cpu<'y>,
    lines: &'c [SimLine],
}

impl SimulatedLines<'_, '_> {
    /// The current time of this rank, in units of the machine.
    pub fn now(&self) -> f64 {
        self.cpu.now()
    }

    /// Adds to the value of a line; a negative number by wrapping around.
    fn change(&mut self, line: LineId, by: u64) {
        let line = &self.lines[line.index()];
        line.value.set(line.value.get().wrapping_add(by));
        self.cpu.add(line.first, by);
    }
}

impl CacheLines for SimulatedLines<'_, '_> {
    /// A rank that waits in vain stands still, and the run ends with [`SimError`].
    type Error = Infallible;

    fn rank(&self) -> usize {
        self.cpu.rank()
    }

    fn copy(&mut self, from: LineId, to: LineId, lines: usize) {
        let (from, to) = (&self.lines[from.index()], &self.lines[to.index()]);
        match lines {
            1 => _ = self.cpu.load(from.first),
            _ => self.cpu.copy(from.first, lines),
        }
        let copied = from.payloads.borrow()[..lines].to_vec();
        to.payloads.borrow_mut()[..lines].copy_from_slice(&copied);
        // The time of a copy of many lines includes their stores to the own cache.
        let own = to.uses.kind == LineKind::Data && to.uses.home == self.cpu.rank();
        if lines == 1 || !own {
            for line in 0..lines {
                self.cpu.store(to.first.offset(line), to.value.get());
            }
        }
    }

    fn wait(&mut self, line: LineId, value: u64) -> Result<(), Infallible> {
        let line = &self.lines[line.index()];
        self.cpu.wait_until(line.first, |word| word >= value);
        Ok(())
    }

    fn write(&mut self, line: LineId, value: u64) {
        let last = self.lines[line.index()].value.get();
        self.change(line, value.wrapping_sub(last));
    }

    fn add(&mut self, line: LineId, value: u64) {
        self.change(line, value);
    }

    fn add_line(&mut self, line: LineId, from: LineId) {
        let (line, from) = (&self.lines[line.index()], &self.lines[from.index()]);
        self.cpu.load(from.first);
        let other = from.payloads.borrow()[0];
        self.cpu.load(line.first);
        self.cpu.store(line.first, line.value.get());
        let own = &mut line.payloads.borrow_mut()[0];
        *own = sum(*own, other);
    }

    fn payload(&self, line: LineId) -> Payload {
        self.lines[line.index()].payloads.borrow()[0]
    }

    fn set_payload(&mut self, line: LineId, payload: Payload) {
        self.lines[line.index()].payloads.borrow_mut()[0] = payload;
    }
}

/// Runs an algorithm in CLa's primitives once on each rank of its lines, with rank r on core `cores[r]`.
///
/// # Errors
///
/// [`SimError`]: a description that makes no sense, cores that the machine does not have, ranks that wait for ever.
///
/// # Panics
///
/// If there are not as many cores as ranks, or if the algorithm panics.
///
/// # Examples
///
/// ```
/// use corecast_collectives::one_line::{FlatBarrier, Sharing};
/// use corecast_sim::engine::RunOptions;
/// use corecast_sim::lines::run_lines;
/// use corecast_sim::machine::cla;
/// use corecast_wire::cache_lines::LineSet;
///
/// let mut lines = LineSet::new(4);
/// let barrier = FlatBarrier::new(&mut lines, Sharing::SameLine, Sharing::SameLine);
/// let (machine, options) = (cla::sandy_bridge(), RunOptions::default());
/// let outcome = run_lines(&lines, &machine, &[0, 1, 2, 3], &options, move |rank| {
///     let Ok(()) = barrier.run(rank, 1);
///     rank.now()
/// })?;
/// // The last rank has the time of the whole barrier, ns.
/// assert_eq!(outcome.results.iter().copied().fold(0.0, f64::max), outcome.end());
/// # Ok::<(), corecast_sim::engine::SimError>(())
/// ```
pub fn run_lines<R: 'static>(
    lines: &LineSet,
    machine: &SimMachine,
    cores: &[usize],
    options: &RunOptions,
    body: impl Fn(&mut SimulatedLines<'_, '_>) -> R + 'static,
) -> Result<RunOutcome<R>, SimError> {
    assert_eq!(lines.ranks(), cores.len(), "a core for each rank");
    let setup = |setup: &mut Setup<'_>| -> Vec<SimLine> {
        let lay_out = |uses: &LineUse| lay_out(uses, cores, setup);
        lines.lines().iter().map(lay_out).collect()
    };
    run(machine, cores, options, setup, move |cpu, lines| {
        body(&mut SimulatedLines { cpu, lines })
    })
}

fn lay_out(uses: &LineUse, cores: &[usize], setup: &mut Setup<'_>) -> SimLine {
    let home = cores[uses.home];
    let first = setup.allocate(home, uses.lines);
    if uses.kind == LineKind::Data {
        (0..uses.lines).for_each(|line| setup.write(home, first.offset(line), 0));
    }
    SimLine {
        first,
        value: Cell::new(0),
        payloads: RefCell::new(vec![Payload::default(); uses.lines]),
        uses: uses.clone(),
    }
}
