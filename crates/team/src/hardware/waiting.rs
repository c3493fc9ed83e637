//! How a rank waits for a peer: the context of its call, and what ends a wait that cannot succeed.

use crate::failure::Failure;
use crate::operation::Operation;
use crate::team_state::{PeerWatch, TeamState};
use corecast_transfer::Endpoint;
use corecast_wire::broadcast_ring::Reader;
use corecast_wire::op_history::OpHistory;
use corecast_wire::queue::Receiver;
use corecast_wire::wait::Watch;
use corecast_wire::{LineRef, WaitStrategy};
use std::cell::RefCell;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// The operation that this rank is in: what a failure reports about this side.
#[derive(Debug)]
pub(crate) struct CallContext {
    pub(crate) state: Arc<TeamState>,
    /// The histories of all ranks in this context, if it is one for operations in flight.
    pub(crate) context_histories: Option<Arc<[LineRef<OpHistory>]>>,
    pub(crate) rank: usize,
    /// The operation in progress.
    pub(crate) operation: Operation,
    pub(crate) site: &'static Location<'static>,
}

impl CallContext {
    /// Waits until `look` finds something that `peer` brings about. A failure becomes that of the whole team.
    #[inline(always)]
    pub(super) fn wait<T>(
        &self,
        wait_strategy: &WaitStrategy,
        token: u32,
        peer: usize,
        look: impl FnMut() -> Option<T>,
    ) -> Result<T, Failure> {
        self.wait_watched(wait_strategy, token, || self.watch(peer), look)
    }

    /// Like [`wait`](Self::wait), with a watch that can also detect a message of the wrong kind.
    #[inline(always)]
    pub(super) fn wait_watched<T, W: Watch<Error = Failure>>(
        &self,
        wait_strategy: &WaitStrategy,
        token: u32,
        watch: impl FnOnce() -> W,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T, Failure> {
        let waited = wait_strategy.wait_watched(token, watch, &mut look);
        // The awaited event may have come together with the one that ended the wait, so look once more.
        let waited = waited.or_else(|failure| look().ok_or(failure));
        waited.map_err(|failure| self.state.fail(failure))
    }

    /// The watch over `peer` for the operation in progress.
    pub(super) fn watch(&self, peer: usize) -> PeerWatch<'_> {
        PeerWatch {
            state: &self.state,
            context_histories: self.context_histories.as_deref(),
            rank: self.rank,
            operation: self.operation,
            site: self.site,
            peer,
        }
    }
}

/// Detects that the peer has sent the data of this operation by another transfer path, which happens when the two ranks
/// disagree about their length. Without it both could wait without end.
///
/// A rank takes the data of a peer in one operation in the order in which the peer gives them. So earlier data
/// of the peer are visible whenever later data are.
pub(super) struct NothingElse<'a> {
    pub(super) watch: PeerWatch<'a>,
    /// The queue that a message would come through.
    pub(super) receiver: Option<&'a Receiver>,
    /// The endpoint that a loan would come to, and the number of the peer's link.
    pub(super) endpoint: Option<(&'a RefCell<&'a mut Endpoint>, usize)>,
    /// The broadcast ring that a message to all would come through.
    pub(super) reader: Option<&'a Reader>,
    /// The tag of the operation in progress.
    pub(super) tag: u32,
    /// The length that this rank expects.
    pub(super) expected: usize,
}

impl Watch for NothingElse<'_> {
    type Error = Failure;

    fn check(&mut self, waited: Duration) -> Result<(), Failure> {
        // Look at the data before the peer's state: a peer that sent another length may have left the team
        // since.
        let sent = self.receiver.and_then(Receiver::peek);
        let sent = sent.map(|next| (next.tag, next.len));
        let lent = || {
            let (endpoint, link) = self.endpoint?;
            endpoint.borrow_mut().peek(link)
        };
        let published = || Some(self.reader?.look()?).map(|publish| (publish.tag, publish.len));
        match sent.or_else(lent).or_else(published) {
            Some((tag, len)) if tag == self.tag => Err(self.watch.length(len, self.expected)),
            _ => self.watch.check(waited),
        }
    }
}
