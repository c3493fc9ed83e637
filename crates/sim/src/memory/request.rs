//! A request for a line, who puts it in order, and what becomes of it.

use crate::VirtualTime;
use crate::machine::Spot;

/// A line's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineId(pub(crate) u32);

impl LineId {
    /// The line so many after this one, of lines that were allocated together.
    #[must_use]
    pub fn offset(self, lines: usize) -> Self {
        Self(self.0 + u32::try_from(lines).expect("fewer than 2^32 lines"))
    }

    /// The line's number, for a program that passes lines on as words, as another passes pointers.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The line of a [`number`](Self::number).
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// What a core wants of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    /// Writes the word.
    Store,
    /// Writes all of the line, so its old content need not come.
    Fresh,
    /// Adds to the word.
    Add,
    /// To be the only one that has it, for a store to come.
    Own,
    /// Writes the line into its home's cache, and keeps no copy.
    Push,
}

/// Who puts a request in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Group,
    Home,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LineRequest {
    pub(crate) core: u32,
    pub(crate) line: u32,
    pub(crate) what: Access,
    pub(crate) agent: Agent,
    /// What is written or added; then what was read.
    pub(crate) word: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It comes to its next agent at that time.
    Arrives(VirtualTime),
    /// Its line is busy until then.
    Busy(VirtualTime),
    /// The core has what it wanted, at that time.
    Done(VirtualTime),
}

#[derive(Clone, Copy)]
pub(super) enum ServerOf {
    Cache(u32),
    /// A core's cache that only gives its copy up.
    Loser(u32),
    Shared(u32),
    Home(u32),
    Memory(u32),
}

/// Where a request is put in order.
#[derive(Clone, Copy)]
pub(super) struct AgentAt {
    pub(super) spot: Spot,
    /// If that is a shared cache.
    pub(super) group: Option<u32>,
}
