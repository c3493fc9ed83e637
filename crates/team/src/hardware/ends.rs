//! One rank's ends of its links and shared lines.

use super::call_context::CallContext;
use super::lines::SharedLines;
use super::link::Link;
use super::waiter::Waiter;
use crate::element::Element;
use crate::failure::Failure;
use crate::operation::OpFingerprint;
use corecast_transfer::{Endpoint, HasEndpoint};
use corecast_wire::WaitStrategy;
use corecast_wire::park::ANY;
use corecast_wire::queue::Received;
use std::cell::RefCell;

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
        match self.links.len() {
            // Without a look-up, which two ranks would wait for.
            1 => 0,
            _ => entry(&self.link_of, peer),
        }
    }

    /// The link to `peer`, and what a wait there needs.
    #[inline(always)]
    pub(super) fn at_link(&mut self, peer: usize) -> (&mut Link, Waiter<'_>) {
        let waiter = Waiter {
            call: &self.call,
            endpoint: &mut self.endpoint,
            link_of: &self.link_of,
            wait_strategy: &self.wait_strategy,
        };
        // As `link_index`, but without an index: it would be checked and multiplied.
        let link = match &mut self.links[..] {
            [only] => only,
            links => &mut links[entry(&self.link_of, peer)],
        };
        debug_assert_eq!(link.peer, peer, "another link");
        (link, waiter)
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
            watch.mismatch_with(OpFingerprint::seq_of_tag(
                next.tag,
                self.call.operation().seq,
            ))
        })
    }
}

/// The entry of `peer` in [`Hardware::link_of`].
#[inline(always)]
fn entry(link_of: &[u32], peer: usize) -> usize {
    let index = link_of[peer];
    debug_assert_ne!(index, NO_LINK, "no plan joins this rank and {peer}");
    index as usize
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
