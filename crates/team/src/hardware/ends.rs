//! One rank's ends of its links, and its waits at them.

use super::lines::SharedLines;
use super::waiting::Here;
use crate::element::Element;
use crate::failure::Failure;
use crate::operation::Mark;
use corecast_transfer::{Desk, Host};
use corecast_wire::park::ANY;
use corecast_wire::queue::{Received, Receiver, Sender};
use corecast_wire::{Governor, Line, LineRef, Parker, Signal};

/// A rank's end of the link to one peer: a flag and a queue in each direction.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) peer: usize,
    /// Raised by this rank, in the peer's memory.
    pub(crate) out_flag: Signal,
    /// The parker that the peer sleeps on, and the token of its wait for `out_flag`.
    pub(crate) out_parker: LineRef<Line<Parker>>,
    pub(crate) out_token: u32,
    /// Raised by the peer, in this rank's memory.
    pub(crate) in_flag: Signal,
    pub(crate) in_token: u32,
    /// Notifications sent and received so far.
    pub(crate) out_count: u64,
    pub(crate) in_count: u64,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// The token of this rank's wait for a loan of the peer; plus one, for a return. In the desk the link has the
    /// same number as in [`Hardware::links`].
    pub(crate) loan_token: u32,
}

/// Stands in [`Hardware::link_of`] where the plans of the team do not join the two ranks.
pub(crate) const NO_LINK: u32 = u32::MAX;

/// One rank's ends of its links and shared lines: the fabric of real threads.
#[derive(Debug)]
pub struct Hardware {
    pub(crate) here: Here,
    /// For each peer the entry in `links`, or [`NO_LINK`].
    pub(crate) link_of: Vec<u32>,
    pub(crate) links: Vec<Link>,
    pub(crate) desk: Desk,
    /// The lines that this rank shares with groups.
    pub(crate) lines: SharedLines,
    /// Room for the numbers of the links that one loan goes to.
    pub(crate) lend_to: Vec<usize>,
    /// An element of which only a part has arrived.
    pub(crate) element: Element,
    pub(crate) governor: Governor,
    /// The fingerprint of the operation in progress.
    pub(crate) mark: Mark,
}

impl Hardware {
    /// The number of the link to `peer`.
    #[inline(always)]
    pub(super) fn link_index(&self, peer: usize) -> usize {
        let (index, rank) = (self.link_of[peer], self.here.rank);
        debug_assert_ne!(index, NO_LINK, "no plan joins ranks {rank} and {peer}");
        index as usize
    }

    /// Waits until `look` finds something at the desk. This rank's own loans make progress meanwhile.
    pub(super) fn wait_at_desk<T>(
        &mut self,
        token: u32,
        peer: usize,
        look: impl Fn(&mut Desk) -> Option<T>,
    ) -> Result<T, Failure> {
        let (desk, here) = (&mut self.desk, &self.here);
        let token = desk_token(desk, token);
        here.wait(&self.governor, token, peer, || {
            desk.advance();
            look(desk)
        })
    }

    /// Goes on copying to the bounce buffer until all is copied, or the link is ready for the next call.
    #[cold]
    #[inline(never)]
    pub(super) fn stage_until(
        &mut self,
        index: usize,
        mut ready: impl FnMut(&mut Link) -> bool,
    ) -> Result<(), Failure> {
        let (desk, link, here) = (&mut self.desk, &mut self.links[index], &self.here);
        here.wait(&self.governor, ANY, link.peer, || {
            desk.advance();
            (!desk.is_staging() || ready(link)).then_some(())
        })
    }

    /// Waits until `done`, which acknowledgements of the peer behind `link` bring about.
    pub(super) fn wait_for_return(
        &mut self,
        link: usize,
        done: impl Fn(&mut Desk) -> bool,
    ) -> Result<(), Failure> {
        let (token, peer) = (self.links[link].loan_token + 1, self.links[link].peer);
        self.wait_at_desk(token, peer, |desk| done(desk).then_some(()))
    }

    /// The failure for data of `peer` that do not belong to this operation, or have another length.
    #[cold]
    #[inline(never)]
    pub(super) fn unexpected(&self, peer: usize, expected: usize, next: Received) -> Failure {
        let watch = self.here.watch(peer);
        self.here.board.fail(if next.tag == self.mark.tag() {
            watch.length(next.len, expected)
        } else {
            watch.mismatch_with(Mark::seq_of_tag(next.tag, self.here.operation.seq))
        })
    }
}

impl Host for Hardware {
    #[inline(always)]
    fn desk(&mut self) -> &mut Desk {
        &mut self.desk
    }
}

/// The token of a wait at the desk. A rank that still copies to its bounce buffer goes on when any chunk is
/// acknowledged, whichever peer it waits for.
pub(super) fn desk_token(desk: &Desk, token: u32) -> u32 {
    if desk.is_staging() { ANY } else { token }
}
