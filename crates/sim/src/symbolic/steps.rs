//! What ranks do to a fabric, step after step: what bounds on a machine of parts are about.
//!
//! Acts are what CLa's rules give a price. On a machine of parts prices are measured, and what can be measured is
//! a message, a loan, a flag as a whole. So a graph has both: acts, and the steps that they are of.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FabricStep {
    pub(crate) rank: usize,
    pub(crate) what: StepKind,
    /// The rank's step before.
    pub(crate) before: Option<usize>,
    /// Steps of others that it waits for.
    pub(crate) after: Vec<usize>,
}

/// What a rank does in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// A flag for a rank.
    Notify { to: usize },
    /// Waits for it.
    Wait { from: usize, again: bool },
    /// A message.
    Send { to: usize, bytes: usize },
    /// Takes it.
    Receive { from: usize, bytes: usize },
    /// An offer; `again` if the same call has made one before.
    Lend { to: usize, again: bool },
    /// Takes a loan, of which some lines are in the own cache already.
    Borrow {
        from: usize,
        fetched: usize,
        known: usize,
    },
    /// Gives it back.
    Return,
    /// A call that does nothing else.
    Call,
    /// Waits for all that others have to give back.
    Regain,
    /// A line that several wait for.
    Post { bytes: usize },
    /// Waits for it.
    Read { from: usize, bytes: usize },
    /// Adds to a line that one waits for.
    Add { to: usize },
    /// Adds to a line that all who add wait for, this one and `other`, wherever it lies.
    Meet { other: usize },
    /// Waits for all who add.
    Collect,
    /// Combines what it has.
    Combine { bytes: usize },
    /// Writes lines of an own buffer.
    Fill { lines: usize },
}

/// A part of a buffer: whose, which of its windows, which lines.
pub(super) type BufferPart = (usize, usize, Range<usize>);

/// All steps of one run, and where the lines of buffers are.
#[derive(Debug, Default)]
pub(super) struct FabricSteps {
    pub(super) list: Vec<FabricStep>,
    last: HashMap<usize, usize>,
    /// Notifications that nobody has waited for, by both ranks.
    pub(super) flags: HashMap<(usize, usize), VecDeque<usize>>,
    /// Additions, by tally, and by meeting after all tallies.
    pub(super) added: HashMap<usize, Vec<usize>>,
    /// Who has copies of lines that their rank has written in this run; of others nothing is known.
    copies: HashMap<(usize, usize, usize), Vec<usize>>,
}

impl FabricSteps {
    /// Takes a step down; its number.
    pub(super) fn push(&mut self, rank: usize, what: StepKind, after: &[usize]) -> usize {
        let number = self.list.len();
        self.list.push(FabricStep {
            rank,
            what,
            before: self.last.insert(rank, number),
            after: after.to_vec(),
        });
        number
    }

    /// A rank has written these lines of its own: no other has copies, but those who may be reading them: they
    /// were lent other bytes of the same lines.
    pub(super) fn written(&mut self, part: &BufferPart, reading: impl Fn(usize) -> Vec<usize>) {
        let (rank, window, lines) = part;
        for line in lines.clone() {
            self.copies.insert((*rank, *window, line), reading(line));
        }
    }

    /// A rank reads these lines; how many of them it has to fetch.
    pub(super) fn read(&mut self, reader: usize, (rank, window, lines): BufferPart) -> usize {
        let mut fetched = 0;
        for line in lines {
            if let Some(copies) = self.copies.get_mut(&(rank, window, line))
                && !copies.contains(&reader)
            {
                copies.push(reader);
                fetched += 1;
            }
        }
        fetched
    }
}
