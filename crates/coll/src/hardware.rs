//! The fabric of real threads: flags, queues, and the governor.

use crate::board::{Board, PeerWatch};
use crate::failure::Failure;
use crate::operation::{Mark, Operation};
use corecast_wire::diary::Diary;
use corecast_wire::queue::{ExactError, Receiver, SendError, Sender};
use corecast_wire::{Fabric, Flag, Governor, Line, LineRef, Parker};
use std::panic::Location;
use std::sync::Arc;

/// What joins a rank to one peer, both ways.
#[derive(Debug)]
pub(crate) struct Link {
    /// Raised by this rank, in the peer's memory.
    pub(crate) out_flag: LineRef<Flag>,
    /// Where the peer sleeps, and for what when it waits for `out_flag`.
    pub(crate) out_parker: LineRef<Line<Parker>>,
    pub(crate) out_token: u32,
    /// Raised by the peer, in this rank's memory.
    pub(crate) in_flag: LineRef<Flag>,
    pub(crate) in_token: u32,
    /// Notifications sent and received so far.
    pub(crate) out_count: u64,
    pub(crate) in_count: u64,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
}

/// No link: the plans of the team do not join the two ranks.
pub(crate) const NO_LINK: u32 = u32::MAX;

/// Who does what: all that a failure needs to know about this side.
#[derive(Debug)]
pub(crate) struct Here {
    pub(crate) board: Arc<Board>,
    pub(crate) rank: usize,
    /// The operation in progress.
    pub(crate) operation: Operation,
    pub(crate) site: &'static Location<'static>,
}

impl Here {
    fn watch(&self, peer: usize) -> PeerWatch<'_> {
        PeerWatch {
            board: &self.board,
            rank: self.rank,
            operation: self.operation,
            site: self.site,
            peer,
        }
    }
}

/// One rank's ends of all of its links.
#[derive(Debug)]
pub struct Hardware {
    pub(crate) here: Here,
    /// For each peer the entry in `links`, or [`NO_LINK`].
    pub(crate) link_of: Vec<u32>,
    pub(crate) links: Vec<Link>,
    pub(crate) governor: Governor,
    pub(crate) diary: LineRef<Diary>,
    /// How many operations have begun.
    pub(crate) seq: u64,
    /// What marks the operation in progress.
    pub(crate) mark: Mark,
}

impl Hardware {
    #[inline(always)]
    fn link_index(&self, peer: usize) -> usize {
        let (index, rank) = (self.link_of[peer], self.here.rank);
        debug_assert_ne!(index, NO_LINK, "no plan joins ranks {rank} and {peer}");
        index as usize
    }
}

impl Fabric for Hardware {
    type Error = Failure;

    #[inline(always)]
    fn rank(&self) -> usize {
        self.here.rank
    }

    #[inline(always)]
    fn size(&self) -> usize {
        self.link_of.len()
    }

    #[inline(always)]
    fn notify(&mut self, peer: usize) -> Result<(), Failure> {
        let index = self.link_index(peer);
        let link = &mut self.links[index];
        link.out_count += 1;
        link.out_flag.raise(self.mark.flag(link.out_count));
        link.out_parker
            .wake_for(link.out_token, self.governor.fence());
        Ok(())
    }

    #[inline(always)]
    fn wait(&mut self, peer: usize) -> Result<(), Failure> {
        let index = self.link_index(peer);
        self.links[index].in_count += 1;
        let link = &self.links[index];
        let (mark, count) = (self.mark, link.in_count);
        let look = || Some(link.in_flag.seq()).filter(|&flag| Mark::reached(count, flag));
        let watch = || self.here.watch(peer);
        let waited = self.governor.wait_watched(link.in_token, watch, look);
        // What ended the wait may have come with the flag: one more look decides.
        match waited.or_else(|failure| look().ok_or(failure)) {
            Ok(flag) if mark.agrees(count, flag) => Ok(()),
            Ok(_) => Err(self.here.board.fail(watch().mismatch())),
            Err(failure) => Err(self.here.board.fail(failure)),
        }
    }

    #[inline(always)]
    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Failure> {
        let index = self.link_index(peer);
        let watch = || self.here.watch(peer);
        let tag = self.mark.tag();
        match self.links[index].sender.send_watched(tag, payload, watch) {
            Ok(()) => Ok(()),
            Err(SendError::Ended(failure)) => Err(self.here.board.fail(failure)),
            Err(other) => unreachable!("members split messages to fit: {other}"),
        }
    }

    #[inline(always)]
    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), Failure> {
        let index = self.link_index(peer);
        let watch = || self.here.watch(peer);
        let tag = self.mark.tag();
        match self.links[index]
            .receiver
            .receive_exact(tag, payload, watch)
        {
            Ok(()) => Ok(()),
            Err(unexpected) => Err(self.receive_failed(peer, payload.len(), unexpected)),
        }
    }
}

impl Hardware {
    #[cold]
    #[inline(never)]
    fn receive_failed(&self, peer: usize, expected: usize, error: ExactError<Failure>) -> Failure {
        let watch = self.here.watch(peer);
        self.here.board.fail(match error {
            ExactError::Ended(failure) => failure,
            ExactError::Unexpected(next) if next.tag == self.mark.tag() => {
                watch.length(next.len, expected)
            }
            ExactError::Unexpected(next) => {
                watch.mismatch_with(Mark::seq_of_tag(next.tag, self.here.operation.seq))
            }
        })
    }
}
