//! The steps of ranks on a fabric, from which bounds on a machine of parts are computed.
//!
//! CLa's rules give the cost of single acts. On a machine of parts costs are measured instead, and only a whole
//! message, loan or flag can be measured. So a graph has both: acts, and the steps to which they belong.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// One operation of a rank on its fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FabricStep {
    pub(crate) rank: usize,
    pub(crate) what: StepKind,
    /// The step before, of the same rank.
    pub(crate) before: Option<usize>,
    /// Steps of other ranks for which it waits.
    pub(crate) after: Vec<usize>,
}

/// What a rank does in a step of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// Notifies a rank.
    Notify { to: usize },
    /// Waits for a notification.
    Wait { from: usize, again: bool },
    /// Sends a message.
    Send { to: usize, bytes: usize },
    /// Receives a message.
    Receive { from: usize, bytes: usize },
    /// Lends data; `again` if the same call has lent data before.
    Lend { to: usize, again: bool },
    /// Reads a loan, of which some lines are in the own cache already.
    Borrow {
        from: usize,
        fetched: usize,
        known: usize,
    },
    /// Looks at a loan without reading its lines.
    Look { from: usize },
    /// Returns a loan.
    Return,
    /// Makes a call without further effect.
    Call,
    /// Waits until others have returned their loans.
    Regain,
    /// Publishes a line to several readers.
    Publish { bytes: usize },
    /// Waits for a published message.
    Read { from: usize, bytes: usize },
    /// Adds to an arrival counter.
    Add { to: usize },
    /// Adds to a counter barrier, for which all ranks that add also wait.
    BarrierEnd { other: usize },
    /// Waits until all ranks have added.
    Collect,
    /// Combines bytes.
    Combine { bytes: usize },
    /// Writes lines of its own buffer, or of one that it has just read.
    Fill { lines: usize },
}

/// A part of a buffer: the rank, the number of its window, and the lines.
pub(super) type BufferPart = (usize, usize, Range<usize>);

/// All steps of one run, and which ranks have copies of the lines of buffers.
#[derive(Debug, Default)]
pub(super) struct FabricSteps {
    pub(super) list: Vec<FabricStep>,
    last: HashMap<usize, usize>,
    /// The steps of notifications that were not waited for yet, by both ranks.
    pub(super) flags: HashMap<(usize, usize), VecDeque<usize>>,
    /// The steps of additions, by arrival counter; counter barriers are numbered after all arrival counters.
    pub(super) added: HashMap<usize, Vec<usize>>,
    /// The ranks with copies of each line that its own rank has written in this run; of other lines nothing is known.
    copies: HashMap<(usize, usize, usize), Vec<usize>>,
}

impl FabricSteps {
    /// Records a step, and returns its number.
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

    /// Notes that a rank has written these lines of its own. After that only the ranks in `reading` have copies; they
    /// may be reading other bytes of these lines, which they were lent.
    pub(super) fn written(&mut self, part: &BufferPart, reading: impl Fn(usize) -> Vec<usize>) {
        let (rank, window, lines) = part;
        for line in lines.clone() {
            self.copies.insert((*rank, *window, line), reading(line));
        }
    }

    /// Notes that nothing is known any more about who has copies of these lines.
    pub(super) fn forget(&mut self, (rank, window, lines): &BufferPart) {
        for line in lines.clone() {
            self.copies.remove(&(*rank, *window, line));
        }
    }

    /// Notes that `reader` reads these lines, and returns how many of them it has to fetch.
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
