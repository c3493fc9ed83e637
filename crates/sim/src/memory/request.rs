//! Requests for a line, the agents that put them in order, and how far a request has come.

use crate::VirtualTime;
use crate::machine::Spot;

/// The number of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineId(pub(crate) u32);

impl LineId {
    /// The line that is `lines` after this one; both were allocated together.
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

/// What a core does to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    /// Writes the word.
    Store,
    /// Writes the whole line, so its old content is not fetched.
    Fresh,
    /// Adds to the word.
    Add,
    /// Gets the only copy, for a later store.
    Own,
    /// Writes into the cache of the line's home, and keeps no copy.
    Push,
}

/// The kind of agent that puts a request in order.
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
    /// The word that is written or added; afterwards the word that was read.
    pub(crate) word: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The request arrives at its next agent at this time.
    Arrives(VirtualTime),
    /// The line is busy until this time.
    Busy(VirtualTime),
    /// The request is done at this time.
    Done(VirtualTime),
}

#[derive(Clone, Copy)]
pub(super) enum ServerOf {
    Cache(u32),
    /// A core's cache that drops its copy.
    Loser(u32),
    Shared(u32),
    Home(u32),
    Memory(u32),
}

/// The agent that puts a request in order.
#[derive(Clone, Copy)]
pub(super) struct AgentAt {
    pub(super) spot: Spot,
    /// The group, if the agent is a shared cache.
    pub(super) group: Option<u32>,
}
