//! The primitives of Ramos and Hoefler (CLa §2.4), and how an algorithm in them becomes a graph.

use corecast_sim::symbolic::{Graph, LineKind, Recorder, Stuck};

/// A line of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PaperLine(usize);

/// Makes the lines of an algorithm before its ranks begin.
#[derive(Debug)]
pub struct PaperLines<'a>(&'a Recorder);

impl PaperLines<'_> {
    /// A line of this name. `home` is the rank that polls it first; of data, the one that owns it.
    ///
    /// # Examples
    ///
    /// See [`trace`].
    pub fn line(&mut self, name: impl Into<String>, kind: LineKind, home: usize) -> PaperLine {
        PaperLine(self.0.line(name.into(), kind, home))
    }
}

/// One rank of an algorithm, which does one operation on a line after another.
#[derive(Debug)]
pub struct PaperRank<'w> {
    rank: usize,
    recorder: &'w Recorder,
}

impl PaperRank<'_> {
    /// The number of this rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// `cl_write`: stores the line's next value.
    pub fn write(&self, line: PaperLine) {
        self.recorder.write(self.rank, line.0);
    }

    /// `cl_add` of a constant.
    pub fn add(&self, line: PaperLine) {
        self.recorder.add(self.rank, line.0, None);
    }

    /// `cl_add` of a value that is read from another line.
    pub fn add_from(&self, line: PaperLine, value: PaperLine) {
        self.recorder.add(self.rank, line.0, Some(value.0));
    }

    /// `cl_copy` of `lines` lines.
    pub fn copy(&self, from: PaperLine, to: PaperLine, lines: usize) {
        self.recorder.copy(self.rank, from.0, to.0, lines);
    }

    /// `cl_wait`: until the line was written or added to `value` times in all.
    pub fn wait(&self, line: PaperLine, value: usize) {
        self.recorder.wait(self.rank, line.0, value);
    }
}

/// Runs an algorithm in CLa's primitives once on each of `n` ranks, and returns its graph. `make` makes its lines.
///
/// # Errors
///
/// [`Stuck`] where ranks wait for a change that no rank makes.
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
/// use corecast_sim::symbolic::{Analysis, LineKind, CostRules};
/// use corecast_validation::primitives::trace;
/// use corecast_validation::tables;
///
/// let graph = trace(
///     4,
///     |lines| lines.line("flag", LineKind::ArrivalCounter, 0),
///     |hand, &flag| match hand.rank() {
///         0 => hand.wait(flag, 3),
///         _ => hand.add(flag),
///     },
/// )?;
/// let placement = tables::sandy_bridge(4);
/// let bounds = Analysis::new(&graph, &placement, &CostRules::default()).bounds();
/// // Equations 6 and 8.
/// assert_eq!((bounds.t_min, bounds.t_max), (70.0 + 3.0 * 35.0, 70.0 + 6.0 * 35.0));
/// # Ok::<(), corecast_sim::symbolic::Stuck>(())
/// ```
pub fn trace<L>(
    n: usize,
    make: impl FnOnce(&mut PaperLines<'_>) -> L,
    body: impl Fn(&PaperRank<'_>, &L),
) -> Result<Graph, Stuck> {
    let recorder = Recorder::new(n);
    let lines = make(&mut PaperLines(&recorder));
    recorder.run(|rank| {
        let hand = PaperRank {
            rank,
            recorder: &recorder,
        };
        body(&hand, &lines);
    })?;
    Ok(recorder.into_graph())
}
