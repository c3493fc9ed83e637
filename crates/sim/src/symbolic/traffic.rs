//! What is under way between the ranks of a recorded run: messages, loans and posts, and how full queues are.

use super::recorder::Stuck;
use super::steps::{BufferPart, FabricSteps};
use crate::fabric::{BODY_LINES, SLOTS, Used};
use std::collections::{HashMap, VecDeque};

/// What is on its way between ranks.
#[derive(Debug)]
pub(super) struct Parcel {
    /// The line that says so.
    pub(super) line: usize,
    pub(super) bytes: Vec<u8>,
    /// The step that gave it.
    pub(super) step: usize,
    /// Where it lies, of a loan.
    pub(super) part: BufferPart,
}

impl Parcel {
    pub(super) fn here(line: usize, bytes: &[u8], step: usize) -> Self {
        Self {
            line,
            bytes: bytes.to_vec(),
            step,
            part: (0, 0, 0..0),
        }
    }
}

pub(super) type Parcels = VecDeque<Parcel>;

/// How much of a queue is in use.
#[derive(Debug, Default)]
pub(super) struct QueueFill {
    pub(super) sent: Used,
    pub(super) read: Used,
    pub(super) given: Used,
    /// What had been read after each step that took a message.
    pub(super) steps: Vec<(Used, usize)>,
}

impl QueueFill {
    pub(super) fn taken(&mut self, bytes: usize, step: usize) {
        self.read = self.read.and_message(bytes);
        self.given = self.read.given(self.given);
        self.steps.push((self.read, step));
    }

    /// The step after which there is surely room for all that was sent, if somebody must have taken something: the
    /// receiver gives back twice a lap, and where it stands in one, earlier calls decide.
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

/// What all ranks of a fabric share besides the ledger.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    pub(super) messages: HashMap<(usize, usize), Parcels>,
    pub(super) loans: HashMap<(usize, usize), Parcels>,
    /// By notice and reader.
    pub(super) posts: HashMap<(usize, usize), Parcels>,
    pub(super) steps: FabricSteps,
    pub(super) queues: HashMap<(usize, usize), QueueFill>,
    /// The steps that gave loans back, by line.
    pub(super) returned: HashMap<usize, usize>,
    /// How many lines of each kind each pair, or notice, has used.
    pub(super) used: HashMap<(&'static str, usize, usize), usize>,
    pub(super) failure: Option<Stuck>,
}
