//! How the processes of a team that has lost ranks agree on who goes on. They do so in rounds, by words in the memory of
//! the old team, which outlives any of them.
//!
//! ```text
//!  arrive ──► members ─────────────────────► enter the next team ──► all have registered ──► verdict: done
//!    ▲        (each rank comes or is gone)                  │
//!    │                                                      └ a member is gone ─► verdict: given up ─┐
//!    └──────────────────────────── the next round ◄───────────────────────────────────────────────────┘
//! ```
//!
//! **Invariant 1:** the vote of a rank in a round is written once: by its own process, which comes, or by any process that
//! has seen that it is gone. So all find the same members. **Invariant 2:** the verdict of a round is written once, and
//! done only by a process that has seen all members registered in the memory of the next team. So whoever gives up a
//! round knows that nobody goes on with it. **Invariant 3:** nobody arrives in a round before the verdict on the round
//! before is that it was given up.

/// What the processes of a team share to agree.
pub(crate) trait Ballots {
    /// Number of ranks of the team.
    fn size(&self) -> usize;
    /// The vote of a rank, 0 at first.
    fn vote(&self, rank: usize) -> u64;
    /// Replaces the vote of a rank if it is `old`, and returns whether it was.
    fn replace_vote(&self, rank: usize, old: u64, new: u64) -> bool;
    /// The verdict, 0 at first.
    fn verdict(&self) -> u64;
    /// Replaces the verdict if it is `old`, and returns whether it was.
    fn replace_verdict(&self, old: u64, new: u64) -> bool;
    /// Whether the process of a rank has ended, or has dropped its team; once it has, for good.
    fn is_gone(&self, rank: usize) -> bool;
}

/// What becomes of the places of lost ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// The next team has a rank less for each of them.
    Closed,
    /// Other processes take them, and the next team has as many ranks.
    Refilled,
}

/// The last two bits of a vote, below the number of the round.
const COMES: u64 = 1;
const COMES_REFILLED: u64 = 2;
const GONE: u64 = 3;

/// Why no round begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The team has a successor.
    Done,
    /// The others have gone on without this rank.
    Excluded(usize),
}

/// What a look at the votes of a round finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Votes {
    /// The ranks that come, in increasing order.
    Members(Vec<usize>),
    /// A rank that has neither come nor gone yet.
    Missing(usize),
    /// The round was given up.
    GivenUp,
    /// A rank that wants something else done with lost places.
    Differs(usize),
}

/// One round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) number: u64,
    pub(crate) places: Places,
}

impl Round {
    /// Arrives with the ranks `own` in the round that follows the last verdict; those in `leaving` are gone from it on.
    pub(crate) fn arrive(
        ballots: &impl Ballots,
        own: &[usize],
        leaving: &[usize],
        places: Places,
    ) -> Result<Self, Refused> {
        let verdict = ballots.verdict();
        if verdict & 1 == 1 {
            return Err(Refused::Done);
        }
        let number = (verdict >> 1) + 1;
        let round = Self { number, places };
        for &rank in own {
            let vote = match leaving.contains(&rank) {
                true => GONE,
                false => round.comes(),
            };
            round.vote(ballots, rank, vote);
            if vote != GONE && ballots.vote(rank) == number << 2 | GONE {
                return Err(Refused::Excluded(rank));
            }
        }
        Ok(round)
    }

    fn comes(self) -> u64 {
        match self.places {
            Places::Closed => COMES,
            Places::Refilled => COMES_REFILLED,
        }
    }

    /// Votes for a rank, unless somebody has in this round.
    fn vote(self, ballots: &impl Ballots, rank: usize, vote: u64) {
        loop {
            let old = ballots.vote(rank);
            if old >> 2 >= self.number || ballots.replace_vote(rank, old, self.number << 2 | vote) {
                return;
            }
        }
    }

    /// Looks who comes.
    pub(crate) fn votes(self, ballots: &impl Ballots) -> Votes {
        let mut members = Vec::new();
        for rank in 0..ballots.size() {
            if ballots.verdict() >> 1 >= self.number {
                return Votes::GivenUp;
            }
            if ballots.vote(rank) >> 2 < self.number {
                if !ballots.is_gone(rank) {
                    return Votes::Missing(rank);
                }
                // It may have come before it went.
                self.vote(ballots, rank, GONE);
            }
            let vote = ballots.vote(rank);
            match vote & 3 {
                _ if vote >> 2 > self.number => return Votes::GivenUp,
                GONE => {}
                vote if vote == self.comes() => members.push(rank),
                _ => return Votes::Differs(rank),
            }
        }
        Votes::Members(members)
    }

    /// Says whether the round is done, unless somebody has said so; returns what was said first.
    pub(crate) fn decide(self, ballots: &impl Ballots, is_done: bool) -> bool {
        loop {
            let verdict = ballots.verdict();
            if verdict >> 1 >= self.number {
                return verdict == self.number << 1 | 1;
            }
            if ballots.replace_verdict(verdict, self.number << 1 | u64::from(is_done)) {
                return is_done;
            }
        }
    }

    /// Whether there is a verdict, or one of the members is gone, so that there will be.
    pub(crate) fn is_over(self, ballots: &impl Ballots, members: &[usize]) -> bool {
        let is_decided = ballots.verdict() >> 1 >= self.number;
        is_decided || members.iter().any(|&rank| ballots.is_gone(rank))
    }

    /// Looks whether the round can end, of which this process has registered in the next team: `Some(true)` if it is done,
    /// `Some(false)` if it was given up. `is_complete` says whether all have registered there.
    pub(crate) fn look(
        self,
        ballots: &impl Ballots,
        members: &[usize],
        is_complete: impl FnOnce() -> bool,
    ) -> Option<bool> {
        if is_complete() {
            return Some(self.decide(ballots, true));
        }
        if self.is_over(ballots, members) {
            // If others have seen it complete, so will this process.
            return (!self.decide(ballots, false)).then_some(false);
        }
        None
    }
}

#[cfg(test)]
mod tests;
