//! What coordinators and participants tell each other.

/// The number of a transaction: those of a later start of the coordinator are higher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Transaction {
    /// How often the coordinator has started.
    pub incarnation: u64,
    /// Transactions of this incarnation count from 0.
    pub number: u64,
}

/// What becomes of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// All participants apply it.
    Commit,
    /// None does.
    Abort,
}

/// Votes of any number of participants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Votes {
    /// Those that voted yes, a bit each.
    pub yes: u64,
    /// Whether one voted no.
    pub no: bool,
}

impl Votes {
    /// The vote of one participant.
    pub fn of(participant: usize, yes: bool) -> Self {
        Self {
            yes: if yes { 1 << participant } else { 0 },
            no: !yes,
        }
    }

    /// The votes of both: associative, commutative and idempotent, so that they may be merged in any order along a tree.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_agree::commit::Votes;
    ///
    /// let votes = Votes::of(0, true).merge(Votes::of(1, true));
    /// assert_eq!((votes.yes, votes.no), (0b11, false));
    /// assert!(votes.merge(Votes::of(2, false)).no);
    /// ```
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            yes: self.yes | other.yes,
            no: self.no || other.no,
        }
    }
}
