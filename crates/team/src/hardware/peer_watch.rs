//! What ends a wait for a peer that cannot arrive.

use super::context_histories::ContextHistories;
use crate::failure::{Failure, Loss, RankActivity, Site};
use crate::operation::Operation;
use crate::team_state::TeamState;
use corecast_transfer::Endpoint;
use corecast_wire::op_history::{Entry, OpHistory, Presence};
use corecast_wire::sync::mutated;
use corecast_wire::wait::Watch;
use std::cell::RefCell;
use std::panic::Location;
use std::time::Duration;

/// Checks, while a member waits for a peer, whether the peer can still arrive.
///
/// A peer that is in the same operation, or behind, can arrive. **Invariant:** in every algorithm a member has
/// sent all of an operation's messages before it ends it; so a peer that is ahead *in the same operation context*, has
/// noted the end there, or has left, has sent all that it will ever send, and one more look decides.
#[derive(Clone, Copy)]
pub(super) struct PeerWatch<'a> {
    pub(super) state: &'a TeamState,
    /// The operation histories of the operation context, if it is not the first.
    pub(super) in_flight: Option<&'a ContextHistories>,
    pub(super) rank: usize,
    pub(super) operation: Operation,
    pub(super) site: &'static Location<'static>,
    /// The bytes of the operation, if it has the same number on all ranks.
    pub(super) bytes: Option<usize>,
    /// The number of the operation, all of its bits.
    pub(super) number: u64,
    pub(super) peer: usize,
    /// This rank's loans, where some may have still to be copied.
    pub(super) staging: Option<Staging<'a>>,
}

/// What a rank lends while it waits. Another borrower than the peer that it waits for can hold it up, because all of them
/// take a chunk before its room is used again.
#[derive(Clone, Copy)]
pub(super) struct Staging<'a> {
    pub(super) endpoint: &'a RefCell<&'a mut Endpoint>,
    /// For each rank the number of its link; one that no link has if it has none.
    pub(super) link_of: &'a [u32],
}

impl Staging<'_> {
    fn is_for(&self, rank: usize) -> bool {
        let link = self.link_of[rank] as usize;
        self.endpoint.borrow().is_staging_for(link)
    }
}

impl PeerWatch<'_> {
    /// The same in a wait in which this rank may have still to copy some of what it lends.
    pub(super) fn staging<'s>(
        self,
        endpoint: &'s RefCell<&'s mut Endpoint>,
        link_of: &'s [u32],
    ) -> PeerWatch<'s>
    where
        Self: 's,
    {
        PeerWatch {
            staging: Some(Staging { endpoint, link_of }),
            ..self
        }
    }

    fn local(&self) -> RankActivity {
        RankActivity {
            rank: self.rank,
            operation: Some(self.operation),
            site: Some(Site::Local(self.site)),
        }
    }

    /// The failure of a peer whose operations are not the same as this rank's.
    pub(super) fn mismatch(&self) -> Failure {
        self.mismatch_with(self.operation.seq)
    }

    /// The failure, if the histories show an operation in which the two ranks differ.
    pub(super) fn difference(&self) -> Option<Failure> {
        let ranks = (self.rank, self.peer);
        let (local, remote) = self.state.first_difference(ranks, self.operation.seq)?;
        Some(Failure::Mismatch { local, remote })
    }

    /// Whether the peer is in this very operation.
    pub(super) fn is_there(&self) -> bool {
        let (now, own) = self.now();
        now == own
    }

    /// The mismatch with the peer, of which operation number `seq` does not fit.
    pub(super) fn mismatch_with(&self, seq: u32) -> Failure {
        let (local, remote) = self
            .state
            .first_difference((self.rank, self.peer), self.operation.seq)
            .unwrap_or_else(|| (self.local(), self.other_activity(seq)));
        Failure::Mismatch { local, remote }
    }

    /// Operation number `seq` of the peer. If that is this very operation, the peer has gone on without its part of it,
    /// after a call that was refused perhaps, and what it does now says more.
    fn other_activity(&self, seq: u32) -> RankActivity {
        let theirs = self.state.activity_at(self.peer, seq);
        match theirs.operation == Some(self.operation) {
            true => self.state.activity(self.peer),
            false => theirs,
        }
    }

    pub(super) fn length(&self, sent: usize, expected: usize) -> Failure {
        let remote = self.state.activity_at(self.peer, self.operation.seq);
        let local = self.local();
        Failure::Length {
            local,
            remote,
            sent,
            expected,
        }
    }

    /// The failure of a peer whose memory holds values that no member writes.
    pub(super) fn corrupt(&self) -> Failure {
        let remote = self.state.activity_at(self.peer, self.operation.seq);
        Failure::Corrupt {
            local: self.local(),
            remote,
        }
    }

    /// Whether the peer does, or has done, something else than this operation, or has ended its part of it.
    fn differs(&self) -> bool {
        if let Some(context) = self.in_flight {
            // The peer's other operation contexts may be far ahead, or behind: only this operation counts.
            let (entry, history) = (self.operation.entry(), &self.state.histories[self.peer]);
            let page = history.entry_at(entry.seq);
            if page.is_some_and(|(theirs, _)| theirs != entry) {
                return true;
            }
            if !mutated!(EndUnseen) && self.has_ended(context, history.now()) {
                return true;
            }
        }
        let (now, own) = self.now();
        let ahead = now.seq.wrapping_sub(own.seq) as i32;
        ahead > 0 || (ahead == 0 && now != own) || self.has_ended_all()
    }

    /// The history of a rank's operations in this operation context.
    pub(super) fn history(&self, rank: usize) -> &OpHistory {
        match self.in_flight {
            None => &self.state.histories[rank],
            Some(context) => &context.ranks[rank],
        }
    }

    /// Whether the peer, whose last operation is `last`, has ended its part of this operation in flight. It may have begun
    /// no other one in this context, where it waits for a rank that waits here.
    fn has_ended(&self, context: &ContextHistories, last: Entry) -> bool {
        let ahead = last.seq.wrapping_sub(self.operation.seq) as i32;
        (ahead > 0 && Operation::blocks(last)) || context.ranks[self.peer].has_ended(context.seq)
    }

    /// Whether the peer has ended this operation, and all others that it has begun.
    fn has_ended_all(&self) -> bool {
        let history = &self.state.histories[self.peer];
        let last = history.now().seq;
        let ahead = last.wrapping_sub(self.operation.seq) as i32;
        ahead >= 0 && history.has_ended(last)
    }

    /// The operation that the peer entered last in this operation context, and this rank's.
    fn now(&self) -> (Entry, Entry) {
        let own = self.operation.entry();
        let own = self
            .in_flight
            .map_or(own, |context| context.entry(self.operation));
        (self.history(self.peer).now(), own)
    }

    fn lost(&self, rank: usize, how: Loss) -> Failure {
        Failure::PeerLost {
            local: self.local(),
            remote: self.state.activity(rank),
            how,
        }
    }

    /// The failure that follows from the state of a peer that cannot arrive: it has left, never came, or differs.
    fn can_arrive(&self, slept: Duration) -> Result<(), Failure> {
        let lost = |how| self.lost(self.peer, how);
        match self.state.histories[self.peer].presence() {
            Presence::Left => return Err(lost(Loss::Left)),
            // The next run of its process begins when this rank, too, has come to the end of this one.
            Presence::Resting if self.state.is_own(self.peer) && !mutated!(OwnRestUnseen) => {
                return Err(lost(Loss::Left));
            }
            Presence::Panicked => return Err(lost(Loss::Panicked)),
            Presence::Died => return Err(lost(Loss::Died)),
            Presence::Absent if slept >= self.state.join_limit => {
                return Err(Failure::NeverJoined {
                    local: self.local(),
                    missing: self.peer,
                    waited: slept,
                });
            }
            Presence::Absent | Presence::Present | Presence::Resting => {}
        }
        match self.differs() {
            true => Err(self.mismatch()),
            false => Ok(()),
        }
    }

    /// The failure of a peer that cannot take any more what this rank has still to copy for it.
    fn borrowers_can_arrive(&self, slept: Duration) -> Result<(), Failure> {
        let Some(staging) = self.staging else {
            return Ok(());
        };
        for peer in (0..staging.link_of.len()).filter(|&rank| staging.is_for(rank)) {
            let borrower = Self { peer, ..*self };
            if let Err(failure) = borrower.can_arrive(slept) {
                // It may have gone after it had returned the last of it.
                staging.endpoint.borrow_mut().advance();
                if staging.is_for(peer) {
                    return Err(failure);
                }
            }
        }
        Ok(())
    }

    /// Compares the bytes of the operation with those that others have stated which wait for long in it, too. Ranks that
    /// disagree may run different algorithms, in which neither waits for the other.
    fn agree_in_bytes(&self) -> Result<(), Failure> {
        let Some(bytes) = self.bytes else {
            return Ok(());
        };
        // Once, so that it stays in the caches of those who read it.
        let own = self.history(self.rank);
        if own.stated_bytes(self.number).is_none() {
            own.state_bytes(self.number, bytes);
        }
        for peer in (0..self.state.histories.len()).filter(|&peer| peer != self.rank) {
            let other = Self { peer, ..*self };
            let stated = other.history(peer).stated_bytes(self.number);
            if let Some(sent) = stated.filter(|&sent| sent != bytes)
                && other.is_there()
            {
                return Err(other.length(sent, bytes));
            }
        }
        Ok(())
    }

    /// Whether this rank has still to copy some of what it lends.
    fn is_staging(&self) -> bool {
        self.staging
            .is_some_and(|staging| staging.endpoint.borrow().is_staging())
    }

    /// An error if the team has failed, or the operation was cancelled.
    pub(super) fn stops(&self) -> Result<(), Failure> {
        self.state.stops(self.rank, self.operation.seq)
    }

    /// The failure that follows from the state of the peer, or of another one that holds this rank up: it cannot arrive, or
    /// takes longer than a limit.
    fn verdict(&self, slept: Duration) -> Result<(), Failure> {
        self.can_arrive(slept)?;
        if !mutated!(BorrowersUnwatched) {
            self.borrowers_can_arrive(slept)?;
        }
        // The peer may wait for such a rank, and takes it for one that comes again.
        if let Some(rank) = self.state.own_that_rests_before(self.operation.seq) {
            return Err(self.lost(rank, Loss::Left));
        }
        if !slept.is_zero() {
            if !self.is_staging() {
                self.history(self.rank).rest();
            }
            let unstated = [mutated!(LengthsUnstated), mutated!(RestUnseen)];
            if unstated == [false; 2] {
                self.agree_in_bytes()?;
            }
        }
        if self
            .state
            .patience
            .is_some_and(|patience| slept >= patience)
        {
            return Err(Failure::Stalled {
                local: self.local(),
                remote: self.state.activity(self.peer),
                waited: slept,
            });
        }
        Ok(())
    }
}

impl Watch for PeerWatch<'_> {
    type Error = Failure;

    fn check(&mut self, slept: Duration) -> Result<(), Failure> {
        self.stops()?;
        // If the team has stopped meanwhile, that is why the peer went on or left, and it is reported first.
        self.verdict(slept)
            .or_else(|failure| self.stops().and(Err(failure)))
    }
}
