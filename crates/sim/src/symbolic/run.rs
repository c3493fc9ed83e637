//! Runs each rank on a fiber, in turns, until all have ended.

use super::ledger::Ledger;
use corecast_wire::fiber::{self, Look, Stacks};
use std::cell::{Cell, RefCell};
use std::fmt;

/// What all ranks share while an algorithm runs.
#[derive(Debug)]
pub(super) struct World {
    pub(super) ledger: Ledger,
    /// What each rank waits for: a line and its value.
    waits: Vec<Option<(usize, usize)>>,
}

/// Why an algorithm has no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stuck {
    /// Ranks wait for what nobody does.
    Waiting(Vec<Awaited>),
    /// A rank was given something of another length than it takes.
    Length {
        /// The rank.
        rank: usize,
        /// Where it came from.
        line: String,
        /// Bytes that came.
        came: usize,
        /// Bytes that were expected.
        expected: usize,
    },
    /// No stacks to run ranks on: the kernel's words.
    Stacks(String),
}

/// What a rank waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// The rank.
    pub rank: usize,
    /// The line.
    pub line: String,
    /// How often it was changed.
    pub value: usize,
    /// How often it was to be.
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

impl World {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            ledger: Ledger::new(ranks),
            waits: vec![None; ranks],
        }
    }

    /// On a fiber: goes on when the line has been changed so often, and takes the wait down.
    pub(super) fn wait(world: &RefCell<Self>, rank: usize, line: usize, value: usize) {
        let has_come = || world.borrow().ledger.value(line) >= value;
        if !has_come() {
            Self::suspend(world, rank, (line, value), has_come);
        }
        world.borrow_mut().ledger.waited(rank, line, value);
    }

    /// On a fiber: goes on when it `has_come`. What it waits for is told to whoever asks why nobody goes
    /// on.
    pub(super) fn suspend(
        world: &RefCell<Self>,
        rank: usize,
        awaited: (usize, usize),
        has_come: impl Fn() -> bool,
    ) {
        world.borrow_mut().waits[rank] = Some(awaited);
        fiber::suspend_until(|_| has_come());
        world.borrow_mut().waits[rank] = None;
    }
}

/// Runs `body` once for each rank.
pub(super) fn run(world: &RefCell<World>, ranks: usize, body: impl Fn(usize)) -> Result<(), Stuck> {
    let mut stacks = Stacks::new(ranks).map_err(|error| Stuck::Stacks(error.to_string()))?;
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
    if ended.get() == ranks {
        return Ok(());
    }
    let world = world.borrow();
    let waits = world.waits.iter().enumerate();
    let awaited = waits.filter_map(|(rank, wait)| {
        wait.map(|(line, expected)| Awaited {
            rank,
            line: world.ledger.name(line).to_owned(),
            value: world.ledger.value(line),
            expected,
        })
    });
    Err(Stuck::Waiting(awaited.collect()))
}
