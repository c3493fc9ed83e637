//! The barrier of two ranks in one line, in as few instructions as may be.
//!
//! A row of such barriers takes a transfer of the line each time, and twice what a rank does from seeing the other's flag to raising its
//! own next one: a rank gets the line when the other one has raised a flag, and has to raise its own before the other one gets it back.
//! So nothing is done here that only a longer wait needs, and nothing is called: registers are not saved for what seldom happens.

use super::ends::Hardware;
use super::waiter::claim_after;
use crate::failure::Failure;
use crate::operation::{OpFingerprint, Operation};
use corecast_collectives::Collective;
use corecast_wire::op_history::OpHistory;
use std::panic::Location;

/// How far a rank that has come to such a barrier has come with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// It may have to wake the other one.
    Come,
    /// It has waited through the first phase of a wait.
    Waited,
    /// Both have come.
    Met,
}

impl Hardware {
    /// Begins operation number `seq`, this barrier, and waits for the only peer, but not for long. `None` if nothing was done, since
    /// something else is due as well.
    #[inline(always)]
    pub(crate) fn meet(
        &mut self,
        seq: u64,
        history: &OpHistory,
        site: &'static Location<'static>,
    ) -> Option<Meeting> {
        let (call, [link]) = (&mut self.call, &mut self.links[..]) else {
            return None;
        };
        if self.endpoint.is_staging() {
            return None;
        }
        let pauses = link.flag_pause.next_amid_row()?;
        let operation = Operation::blocking(seq, Collective::Barrier, 0).entry();
        call.fingerprint.advance(operation, seq);
        history.enter(operation, site);
        link.out_count += 1;
        link.out_flag
            .raise(call.fingerprint.flag(link.out_count, 0));
        link.in_count += 1;
        if !link.out_parker.is_awake(self.wait_strategy.fence()) {
            return Some(Meeting::Come);
        }
        let (link, expected) = (&*link, call.fingerprint.flag(link.in_count, 0));
        let mut claim = claim_after(pauses, |link| link.in_flag.claim());
        let look =
            || Some(link.in_flag.seq()).filter(|&found| OpFingerprint::reached(expected, found));
        match self.wait_strategy.briefly_after(|| claim(link), look) {
            Some(found) if OpFingerprint::agrees(expected, found) => Some(Meeting::Met),
            _ => Some(Meeting::Waited),
        }
    }

    /// Ends what [`meet`](Self::meet) has begun.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    pub(crate) fn meet_late(&mut self, met: Meeting) -> Result<(), Failure> {
        let peer = self.links[0].peer;
        let (link, waiter) = self.at_link(peer);
        let expected = (waiter.call.fingerprint.flag(link.in_count, 0), 0);
        match met {
            Meeting::Met => Ok(()),
            Meeting::Come => {
                waiter.wake(link);
                waiter.wait_for_flag(link, expected, |link| &link.in_flag, |_| {})
            }
            Meeting::Waited => waiter.wait_on_for_flag(link, expected, &link.in_flag),
        }
    }
}
