//! Records a run: each rank is a fiber, they take turns, and what they do to lines becomes a graph.
//!
//! The fabric of [`record`](super::record()) uses the recorder, and so do the primitives of [`record_lines`](super::record_lines).

use super::act_record::ActRecord;
use super::graph::Graph;
use corecast_wire::cache_lines::LineKind;
use corecast_wire::fiber::{self, Look, Stacks};
use std::cell::{Cell, RefCell};
use std::fmt;

thread_local! {
    /// The stacks of the thread's last record.
    static KEPT: RefCell<Stacks> = RefCell::default();
}

/// The lines of a run, and what its ranks have done to them so far.
///
/// A rank says what it does by [`write`](Self::write), [`add`](Self::add), [`copy`](Self::copy) and
/// [`wait`](Self::wait), which are the primitives of Ramos and Hoefler (CLa §2.4). It may call them only inside of
/// [`run`](Self::run).
#[derive(Debug)]
pub(super) struct Recorder {
    record: RefCell<ActRecord>,
    /// The line that each rank waits for, and the value that it waits for.
    waits: RefCell<Vec<Option<(usize, usize)>>>,
}

/// Why an algorithm has no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stuck {
    /// Ranks wait for changes that no rank makes.
    Waiting(Vec<Awaited>),
    /// A rank receives data of another length than it expects.
    Length {
        /// The rank.
        rank: usize,
        /// The name of the line that the data came from.
        line: String,
        /// Bytes that came.
        came: usize,
        /// Bytes that were expected.
        expected: usize,
    },
    /// There is no memory for the stacks of the ranks; this is the error of the operating system.
    Stacks(String),
}

/// A wait of a rank that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// The rank.
    pub rank: usize,
    /// The name of the line.
    pub line: String,
    /// How often it was changed.
    pub value: usize,
    /// How often it was to be changed.
    pub expected: usize,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting(ranks) => {
                f.write_str("nobody goes on: ")?;
                for (index, wait) in ranks.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    let (rank, line) = (wait.rank, &wait.line);
                    let (value, expected) = (wait.value, wait.expected);
                    write!(
                        f,
                        "{comma}rank {rank} waits for change {expected} of \"{line}\", which has {value}"
                    )?;
                }
                f.write_str("; let all ranks do the same operation over the same plan")
            }
            Self::Length {
                rank,
                line,
                came,
                expected,
            } => write!(
                f,
                "rank {rank} takes {expected} bytes from \"{line}\", which has {came}: give all ranks \
                 the same lengths"
            ),
            Self::Stacks(error) => write!(
                f,
                "no memory for a stack for each rank ({error}): take fewer ranks"
            ),
        }
    }
}

impl std::error::Error for Stuck {}

impl Recorder {
    /// A recorder for a run of `ranks` ranks, in which nothing has happened yet.
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            record: RefCell::new(ActRecord::new(ranks)),
            waits: RefCell::new(vec![None; ranks]),
        }
    }

    /// The number of the line of this name, which is made if there is none. `home` is the rank that polls it first;
    /// of data, the rank that owns them.
    pub(super) fn line(&self, name: impl Into<String>, kind: LineKind, home: usize) -> usize {
        self.record.borrow_mut().line(name.into(), kind, home)
    }

    /// Makes a line, also if there is one of this name.
    pub(super) fn new_line(&self, name: String, kind: LineKind, home: usize) -> usize {
        self.record.borrow_mut().new_line(name, kind, home)
    }

    /// How often a line was written or added to.
    pub(super) fn changes(&self, line: usize) -> usize {
        self.record.borrow().value(line)
    }

    /// `cl_write`: `rank` stores the line's next value.
    pub(super) fn write(&self, rank: usize, line: usize) {
        self.record.borrow_mut().write(rank, line);
    }

    /// `cl_add`: `rank` adds to the line, a constant or what it reads from the line `value`.
    pub(super) fn add(&self, rank: usize, line: usize, value: Option<usize>) {
        self.record.borrow_mut().add(rank, line, value);
    }

    /// `cl_copy`: `rank` copies `lines` lines.
    pub(super) fn copy(&self, rank: usize, from: usize, to: usize, lines: usize) {
        self.record.borrow_mut().copy(rank, from, to, lines);
    }

    /// `cl_wait`: `rank` polls the line until it was written or added to `value` times in all.
    pub(super) fn wait(&self, rank: usize, line: usize, value: usize) {
        let has_come = || self.record.borrow().value(line) >= value;
        if !has_come() {
            self.suspend(rank, (line, value), has_come);
        }
        self.record.borrow_mut().waited(rank, line, value);
    }

    /// The name of a line.
    pub(super) fn name(&self, line: usize) -> String {
        self.record.borrow().name(line).to_owned()
    }

    /// Suspends `rank` until something `has_come`. The error of a run that cannot go on names the line and the value
    /// that were `awaited`.
    pub(super) fn suspend(
        &self,
        rank: usize,
        awaited: (usize, usize),
        has_come: impl Fn() -> bool,
    ) {
        self.waits.borrow_mut()[rank] = Some(awaited);
        fiber::suspend_until(|_| has_come());
        self.waits.borrow_mut()[rank] = None;
    }

    /// Runs `body` once for each rank, in turns, until all have ended.
    ///
    /// # Errors
    ///
    /// [`Stuck`] where ranks wait for a change that no rank makes.
    ///
    /// # Panics
    ///
    /// If `body` panics, with its panic.
    ///
    /// # Cost
    ///
    /// A stack of 128 KiB for each rank, of which pages are used as needed and which the thread keeps for its next record;
    /// linear in the number of acts.
    pub(super) fn run(&self, body: impl Fn(usize)) -> Result<(), Stuck> {
        let ranks = self.waits.borrow().len();
        // Mapping and unmapping them would be half of what a small record takes.
        let mut stacks = KEPT.take();
        if stacks.count() < ranks {
            stacks = Stacks::new(ranks).map_err(|error| Stuck::Stacks(error.to_string()))?;
        }
        let ended = Cell::new(0);
        fiber::scope(&mut stacks, |fibers| {
            for rank in 0..ranks {
                let (body, ended) = (&body, &ended);
                fibers.start(rank, move || {
                    body(rank);
                    ended.set(ended.get() + 1);
                });
            }
            loop {
                let went_on = (0..ranks).filter(|&rank| fibers.resume(rank, Look::Quick));
                if went_on.count() == 0 {
                    break;
                }
            }
        });
        KEPT.set(stacks);
        if ended.get() == ranks {
            return Ok(());
        }
        let (waits, record) = (self.waits.borrow(), self.record.borrow());
        let awaited = waits.iter().enumerate().filter_map(|(rank, wait)| {
            wait.map(|(line, expected)| Awaited {
                rank,
                line: record.name(line).to_owned(),
                value: record.value(line),
                expected,
            })
        });
        Err(Stuck::Waiting(awaited.collect()))
    }

    /// The graph of all that ranks have done.
    pub(super) fn into_graph(self) -> Graph {
        self.record.into_inner().into_graph()
    }
}
