//! The messages, loans and published messages that are under way between the ranks of a recorded run, and how full
//! queues are.

use super::recorder::Stuck;
use super::steps::{BufferPart, FabricSteps};
use crate::fabric::{BODY_LINES, SLOTS, Used};
use std::collections::{HashMap, VecDeque};

/// A message, a published message or a loan under way between ranks.
#[derive(Debug)]
pub(super) struct Parcel {
    /// The line whose change announces it.
    pub(super) line: usize,
    pub(super) bytes: Vec<u8>,
    /// The step that sent it.
    pub(super) step: usize,
    /// The lines of a loan.
    pub(super) part: BufferPart,
    /// Whether a loan was lent to be combined.
    pub(super) combined: bool,
}

impl Parcel {
    pub(super) fn here(line: usize, bytes: &[u8], step: usize) -> Self {
        Self {
            line,
            bytes: bytes.to_vec(),
            step,
            part: (0, 0, 0..0),
            combined: false,
        }
    }
}

pub(super) type Parcels = VecDeque<Parcel>;

/// How full a queue is.
#[derive(Debug, Default)]
pub(super) struct QueueFill {
    pub(super) sent: Used,
    pub(super) read: Used,
    pub(super) given: Used,
    /// How much was read after each step that received a message, and the number of that step.
    pub(super) steps: Vec<(Used, usize)>,
}

impl QueueFill {
    pub(super) fn taken(&mut self, bytes: usize, step: usize) {
        self.read = self.read.and_message(bytes);
        self.given = self.read.given(self.given);
        self.steps.push((self.read, step));
    }

    /// The step after which there is certainly room for all that was sent, or `None` if there always is. The receiver
    /// acknowledges twice a lap; earlier calls decide where in a lap it is.
    pub(super) fn room(&self) -> Option<usize> {
        let (slots, lines) = (SLOTS / 2, BODY_LINES / 2);
        if self.sent.slots <= slots && self.sent.lines <= lines {
            return None;
        }
        let enough = |read: &Used| {
            read.slots + slots >= self.sent.slots && read.lines + lines >= self.sent.lines
        };
        let mut steps = self.steps.iter();
        let step = steps.find(|(read, _)| enough(read)).or(self.steps.last());
        step.map(|&(_, step)| step)
    }
}

/// What the ranks of a recording fabric share, beside the recorder.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    pub(super) messages: HashMap<(usize, usize), Parcels>,
    pub(super) loans: HashMap<(usize, usize), Parcels>,
    /// What ranks have written to loans that they fill, by lender and borrower, in their order.
    pub(super) filled: HashMap<(usize, usize), VecDeque<Vec<u8>>>,
    /// Published messages, by broadcast ring and reader.
    pub(super) publishes: HashMap<(usize, usize), Parcels>,
    pub(super) steps: FabricSteps,
    pub(super) queues: HashMap<(usize, usize), QueueFill>,
    /// The steps that returned loans, by line.
    pub(super) returned: HashMap<usize, usize>,
    /// How many lines of each kind each pair of ranks, or each broadcast ring, has used.
    pub(super) used: HashMap<(&'static str, usize, usize), usize>,
    pub(super) failure: Option<Stuck>,
}
