//! What ends a wait for data that the peer has sent by another transfer path.

use super::peer_watch::PeerWatch;
use crate::failure::Failure;
use corecast_transfer::Endpoint;
use corecast_wire::broadcast_ring::Reader;
use corecast_wire::op_history::OpHistory;
use corecast_wire::queue::Receiver;
use corecast_wire::sync::mutated;
use corecast_wire::wait::Watch;
use std::cell::RefCell;
use std::time::Duration;

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
    /// The queue, where a message of it can overtake earlier loans that the peer has still to copy.
    pub(super) overtaking: Option<Overtaking<'a>>,
    /// The tag of the operation in progress.
    pub(super) tag: u32,
    /// The length that this rank expects.
    pub(super) expected: usize,
}

/// A queue whose messages can overtake loans.
pub(super) struct Overtaking<'a> {
    pub(super) receiver: &'a Receiver,
    /// How often the peer had rested when its next message was found.
    pub(super) rests: Option<u32>,
}

impl Overtaking<'_> {
    /// The length of a message of the operation that has overtaken nothing: its sender has rested since, so all that it
    /// lent before would be there.
    fn first(&mut self, tag: u32, sender: &OpHistory) -> Option<usize> {
        let next = self.receiver.peek().filter(|next| next.tag == tag)?;
        let rests = sender.rests();
        (*self.rests.get_or_insert(rests) != rests).then_some(next.len)
    }
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
        let overtaking = self.overtaking.as_mut().filter(|_| !mutated!(RestUnseen));
        let len = match sent.or_else(lent).or_else(published) {
            Some((tag, len)) if tag == self.tag => Some(len),
            _ => {
                let sender = self.watch.history(self.watch.peer);
                overtaking.and_then(|it| it.first(self.tag, sender))
            }
        };
        let Some(len) = len else {
            return self.watch.check(waited);
        };
        // Where the operation was cancelled, its sender has taken back what it lent. It had seen that it was, so this rank sees it as well.
        if !mutated!(CancelUnseen) {
            self.watch.stops()?;
        }
        Err(self.watch.length(len, self.expected))
    }
}
