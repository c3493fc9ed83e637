//! One rank's ends of its links, and its waits at them.

use super::call_context::CallContext;
use super::lines::SharedLines;
use crate::element::Element;
use crate::failure::Failure;
use crate::operation::OpFingerprint;
use corecast_transfer::{Endpoint, HasEndpoint};
use corecast_wire::claim_pause::ClaimPause;
use corecast_wire::park::ANY;
use corecast_wire::queue::{Received, Receiver, Sender};
use corecast_wire::{Line, LineRef, Parker, Signal, Swaps, WaitStrategy};
use std::cell::RefCell;

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
    /// What both ranks give each other.
    pub(crate) swaps: Swaps,
    /// How waits for either are begun.
    pub(crate) flag_pause: ClaimPause,
    pub(crate) swap_pause: ClaimPause,
    /// Whether both flags are in one line, which a rank that waits can take, as it will write its own flag there.
    pub(crate) one_line: bool,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// The token of this rank's wait for a loan of the peer; the next higher one is that of its wait for an
    /// acknowledgement.
    pub(crate) loan_token: u32,
}

impl Link {
    /// The flag of the next notification that this rank waits for, and the count that it has then.
    #[inline(always)]
    pub(super) fn notification(&self) -> (&Signal, u64) {
        (&self.in_flag, self.in_count)
    }

    /// The flag of the swap that this rank is in, and the count that it has then.
    #[inline(always)]
    pub(super) fn swap(&self) -> (&Signal, u64) {
        (self.swaps.other(), self.swaps.count())
    }
}

/// The entry in [`Hardware::link_of`] of a peer that no plan of the team joins with this rank.
pub(crate) const NO_LINK: u32 = u32::MAX;

/// One rank's ends of its links and shared lines: the fabric of real threads.
#[derive(Debug)]
pub struct Hardware {
    pub(crate) call: CallContext,
    /// For each peer the entry in `links`, or [`NO_LINK`].
    pub(crate) link_of: Vec<u32>,
    pub(crate) links: Vec<Link>,
    pub(crate) endpoint: Endpoint,
    /// The lines that this rank shares with groups.
    pub(crate) lines: SharedLines,
    /// Scratch for the numbers of the links that one loan goes to.
    pub(crate) lend_to: Vec<usize>,
    /// An element that arrives in several pieces.
    pub(crate) element: Element,
    pub(crate) wait_strategy: WaitStrategy,
}

impl Hardware {
    /// The number of the link to `peer`.
    #[inline(always)]
    pub(super) fn link_index(&self, peer: usize) -> usize {
        // Without a look-up, which a barrier of two ranks would wait for.
        if self.links.len() == 1 {
            debug_assert_eq!(self.links[0].peer, peer, "the only link");
            return 0;
        }
        let (index, rank) = (self.link_of[peer], self.call.rank);
        debug_assert_ne!(index, NO_LINK, "no plan joins ranks {rank} and {peer}");
        index as usize
    }

    /// Waits until `look` finds something at the endpoint. This rank's own loans make progress meanwhile.
    pub(super) fn wait_at_endpoint<T>(
        &mut self,
        token: u32,
        peer: usize,
        look: impl Fn(&mut Endpoint) -> Option<T>,
    ) -> Result<T, Failure> {
        let token = endpoint_token(&self.endpoint, token);
        let (endpoint, call) = (RefCell::new(&mut self.endpoint), &self.call);
        let watch = || call.watch(peer).staging(&endpoint, &self.link_of);
        call.wait_watched(&self.wait_strategy, token, watch, || {
            let endpoint = &mut **endpoint.borrow_mut();
            endpoint.advance();
            look(endpoint)
        })
    }

    /// Goes on copying to the bounce buffer until all is copied, or `ready` returns `true`.
    #[cold]
    #[inline(never)]
    pub(super) fn stage_until(
        &mut self,
        index: usize,
        mut ready: impl FnMut(&mut Link) -> bool,
    ) -> Result<(), Failure> {
        let endpoint = RefCell::new(&mut self.endpoint);
        let (link, call) = (&mut self.links[index], &self.call);
        let peer = link.peer;
        let watch = || call.watch(peer).staging(&endpoint, &self.link_of);
        call.wait_watched(&self.wait_strategy, ANY, watch, || {
            let mut endpoint = endpoint.borrow_mut();
            endpoint.advance();
            (!endpoint.is_staging() || ready(link)).then_some(())
        })
    }

    /// Waits until acknowledgements from the peer behind `link` make `done` return `true`.
    pub(super) fn wait_for_ack(
        &mut self,
        link: usize,
        done: impl Fn(&mut Endpoint) -> bool,
    ) -> Result<(), Failure> {
        let (token, peer) = (self.links[link].loan_token + 1, self.links[link].peer);
        self.wait_at_endpoint(token, peer, |endpoint| done(endpoint).then_some(()))
    }

    /// The failure for data of `peer` that do not belong to this operation, or have another length.
    #[cold]
    #[inline(never)]
    pub(super) fn unexpected(&self, peer: usize, expected: usize, next: Received) -> Failure {
        let watch = self.call.watch(peer);
        self.call.fail(if next.tag == self.call.fingerprint.tag() {
            watch.length(next.len, expected)
        } else {
            watch.mismatch_with(OpFingerprint::seq_of_tag(next.tag, self.call.operation.seq))
        })
    }
}

impl HasEndpoint for Hardware {
    #[inline(always)]
    fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }
}

/// The token of a wait at the endpoint. A rank that still copies to its bounce buffer goes on when any chunk is
/// acknowledged, whichever peer it waits for.
pub(super) fn endpoint_token(endpoint: &Endpoint, token: u32) -> u32 {
    if endpoint.is_staging() { ANY } else { token }
}
