//! What members tell each other and the configuration log.

use super::Window;

/// What one index of the log holds: a command, or nothing, by which a new leader fills a gap.
pub type Value<C> = Option<C>;

/// An entry of the configuration log. The position of an entry is a *ballot*, that of its leader.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration<C> {
    /// The member that wrote the entry. It leads, if the entry changes the leader not before its prepare is answered.
    pub leader: usize,
    /// The active acceptor: what it accepts is chosen.
    pub acceptor: usize,
    /// The members that must have learned an entry before it is dropped, a bit each.
    pub members: u64,
    /// All that an acceptor before this one may have accepted and that not all members are known to have learned.
    pub carried: Window<Value<C>>,
}

/// A message from member to member. Messages may be lost, delayed, doubled and reordered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Message<C> {
    /// From a new leader to the acceptor: accept nothing of a lower ballot, and report.
    Prepare {
        /// The leader's ballot.
        ballot: u64,
    },
    /// The acceptor's answer.
    Promise {
        /// The ballot that was prepared.
        ballot: u64,
        /// All that it has accepted and not dropped.
        accepted: Window<Value<C>>,
    },
    /// From the leader to the acceptor.
    Accept {
        /// The leader's ballot.
        ballot: u64,
        /// The index in the log.
        index: u64,
        /// What is proposed for it.
        value: Value<C>,
        /// All members have learned what is below.
        floor: u64,
    },
    /// From the acceptor to all, or from a member that has learned it to one that asks: the value is chosen.
    Learn {
        /// The index in the log.
        index: u64,
        /// What is chosen for it.
        value: Value<C>,
        /// All members have learned what is below.
        floor: u64,
    },
    /// The acceptor has promised a higher ballot.
    Nack {
        /// The ballot that came.
        ballot: u64,
        /// The ballot that was promised.
        promised: u64,
    },
    /// From a member to the leader: it has learned all entries below.
    Learned {
        /// The first index that it has not learned.
        next: u64,
    },
    /// From a member to another one: please tell what you have learned from this index on.
    Ask {
        /// The first index that is missing.
        next: u64,
    },
}
