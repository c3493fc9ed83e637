//! The fabric of real threads: flags, queues, and the governor.

mod lines;

pub(crate) use lines::{SharedLines, ends, shared_bytes};

use crate::board::{Board, PeerWatch};
use crate::element::Element;
use crate::failure::Failure;
use crate::loans::{Each, Keep};
use crate::operation::{Mark, Operation};
use corecast_transfer::{Desk, Host, Window};
use corecast_wire::diary::Diary;
use corecast_wire::notice::Reader;
use corecast_wire::park::ANY;
use corecast_wire::queue::{
    DEFAULT_SLOTS, ExactError, Received, Receiver, SendError, Sender, message_bytes_max,
};
use corecast_wire::wait::Watch;
use corecast_wire::{Fabric, Governor, Line, LineRef, Parker, Signal};
use std::cell::RefCell;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// What joins a rank to one peer, both ways.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) peer: usize,
    /// Raised by this rank, in the peer's memory.
    pub(crate) out_flag: Signal,
    /// Where the peer sleeps, and for what when it waits for `out_flag`.
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
    /// What this rank sleeps for when it waits for a loan of the peer; plus one, for a return. In
    /// the desk the link has the same number as in [`Hardware::links`].
    pub(crate) loan_token: u32,
}

/// No link: the plans of the team do not join the two ranks.
pub(crate) const NO_LINK: u32 = u32::MAX;

/// Who does what: all that a failure needs to know about this side.
#[derive(Debug)]
pub(crate) struct Here {
    pub(crate) board: Arc<Board>,
    /// What all ranks do in this lane, if it is not the first.
    pub(crate) lane_diaries: Option<Arc<[LineRef<Diary>]>>,
    pub(crate) rank: usize,
    /// The operation in progress.
    pub(crate) operation: Operation,
    pub(crate) site: &'static Location<'static>,
}

impl Here {
    /// Waits until `look` finds something that `peer` brings about. A failure is the whole team's.
    #[inline(always)]
    fn wait<T>(
        &self,
        governor: &Governor,
        token: u32,
        peer: usize,
        look: impl FnMut() -> Option<T>,
    ) -> Result<T, Failure> {
        self.wait_watched(governor, token, || self.watch(peer), look)
    }

    /// The same with a watch that sees more.
    #[inline(always)]
    fn wait_watched<T, W: Watch<Error = Failure>>(
        &self,
        governor: &Governor,
        token: u32,
        watch: impl FnOnce() -> W,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T, Failure> {
        let waited = governor.wait_watched(token, watch, &mut look);
        // What ended the wait may have come with what it was for: one more look decides.
        let waited = waited.or_else(|failure| look().ok_or(failure));
        waited.map_err(|failure| self.board.fail(failure))
    }

    pub(crate) fn watch(&self, peer: usize) -> PeerWatch<'_> {
        PeerWatch {
            board: &self.board,
            lane_diaries: self.lane_diaries.as_deref(),
            rank: self.rank,
            operation: self.operation,
            site: self.site,
            peer,
        }
    }
}

/// Watches a peer that is to give something, and gives something else in the same operation: that has
/// another length than this rank expects, and both could wait for ever. What a peer gives in one
/// operation is taken in the order in which it is given, so what came before is there when what came
/// after is.
struct NothingElse<'a> {
    watch: PeerWatch<'a>,
    /// Where a message would be.
    receiver: Option<&'a Receiver>,
    /// Where a loan would be.
    desk: Option<(&'a RefCell<&'a mut Desk>, usize)>,
    /// Where a post would be.
    reader: Option<&'a Reader>,
    tag: u32,
    expected: usize,
}

impl Watch for NothingElse<'_> {
    type Error = Failure;

    fn check(&mut self, waited: Duration) -> Result<(), Failure> {
        // Looked at first: whoever has given another length may have gone on, and left.
        let sent = self.receiver.and_then(Receiver::peek);
        let sent = sent.map(|next| (next.tag, next.len));
        let lent = || {
            let (desk, link) = self.desk?;
            desk.borrow_mut().peek(link)
        };
        let posted = || Some(self.reader?.look()?).map(|post| (post.tag, post.len));
        match sent.or_else(lent).or_else(posted) {
            Some((tag, len)) if tag == self.tag => Err(self.watch.length(len, self.expected)),
            _ => self.watch.check(waited),
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
    pub(crate) desk: Desk,
    /// Lines that groups share.
    pub(crate) lines: SharedLines,
    /// For the numbers of links that one loan goes to.
    pub(crate) lend_to: Vec<usize>,
    /// An element of which a part has come.
    pub(crate) element: Element,
    pub(crate) governor: Governor,
    /// What marks the operation in progress.
    pub(crate) mark: Mark,
}

impl Hardware {
    #[inline(always)]
    pub(crate) fn link_index(&self, peer: usize) -> usize {
        let (index, rank) = (self.link_of[peer], self.here.rank);
        debug_assert_ne!(index, NO_LINK, "no plan joins ranks {rank} and {peer}");
        index as usize
    }
}

impl Host for Hardware {
    #[inline(always)]
    fn desk(&mut self) -> &mut Desk {
        &mut self.desk
    }
}

impl Fabric for Hardware {
    type Error = Failure;
    type Window<'w> = Window<'w>;

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
        if self.desk.is_staging() {
            self.stage_until(index, |link| {
                Mark::reached(link.in_count, link.in_flag.seq())
            })?;
        }
        let link = &self.links[index];
        let (mark, count) = (self.mark, link.in_count);
        let look = || Some(link.in_flag.seq()).filter(|&flag| Mark::reached(count, flag));
        let flag = self.here.wait(&self.governor, link.in_token, peer, look)?;
        if mark.agrees(count, flag) {
            return Ok(());
        }
        Err(self.here.board.fail(self.here.watch(peer).mismatch()))
    }

    #[inline(always)]
    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Failure> {
        let index = self.link_index(peer);
        if self.desk.is_staging() {
            self.stage_until(index, |link| link.sender.can_send(payload.len()))?;
        }
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
        if self.desk.is_staging() {
            self.stage_until(index, |link| link.receiver.can_receive())?;
        }
        let (tag, expected) = (self.mark.tag(), payload.len());
        let desk = RefCell::new(&mut self.desk);
        let watch = || NothingElse {
            watch: self.here.watch(peer),
            receiver: None,
            desk: Some((&desk, index)),
            reader: self.lines.long_posts_of(peer),
            tag,
            expected,
        };
        match self.links[index]
            .receiver
            .receive_exact(tag, payload, watch)
        {
            Ok(()) => Ok(()),
            Err(unexpected) => Err(self.receive_failed(peer, payload.len(), unexpected)),
        }
    }

    #[inline(always)]
    fn post(&mut self, line: usize, payload: &[u8]) -> Result<(), Failure> {
        self.post_line(line, payload)
    }

    #[inline(always)]
    fn read(&mut self, line: usize, payload: &mut [u8]) -> Result<(), Failure> {
        self.read_line(line, payload)
    }

    #[inline(always)]
    fn add(&mut self, line: usize) -> Result<(), Failure> {
        self.add_to_line(line);
        Ok(())
    }

    #[inline(always)]
    fn collect(&mut self, line: usize) -> Result<(), Failure> {
        self.collect_line(line)
    }

    #[inline(always)]
    fn meet(&mut self, line: usize) -> Result<(), Failure> {
        self.meet_at_line(line)
    }

    fn message_bytes_max(&self) -> usize {
        let longest = self
            .links
            .iter()
            .map(|link| link.sender.message_bytes_max());
        longest
            .min()
            // Alone there is nobody to send to: what a team of several has by default.
            .unwrap_or(message_bytes_max(DEFAULT_SLOTS))
    }

    fn post_bytes_max(&self, line: usize) -> usize {
        self.long_post_bytes(line)
    }

    #[cold]
    fn wrong_length(&self, peer: usize, sent: usize, expected: usize) -> Failure {
        let watch = self.here.watch(peer);
        self.here.board.fail(watch.length(sent, expected))
    }

    #[inline]
    fn with_window<R>(
        &mut self,
        data: &mut [u8],
        element: usize,
        _written: bool,
        body: impl FnOnce(&mut Self, &mut Window<'_>) -> R,
    ) -> R {
        corecast_transfer::scope(self, data, element, body)
    }

    #[inline]
    fn with_window_to_read<R>(
        &mut self,
        data: &[u8],
        element: usize,
        body: impl FnOnce(&mut Self, &mut Window<'_>) -> R,
    ) -> R {
        corecast_transfer::scope_to_read(self, data, element, body)
    }

    #[inline]
    fn view<'b>(&self, window: &'b Window<'_>, range: Range<usize>) -> &'b [u8] {
        window.view(range)
    }

    #[inline]
    fn own<'b>(
        &mut self,
        window: &'b mut Window<'_>,
        range: Range<usize>,
    ) -> Result<&'b mut [u8], Failure> {
        while let Some(link) = self.desk.holder(window, &range) {
            self.wait_for_return(link, |desk| desk.holder(window, &range) != Some(link))?;
        }
        Ok(self.desk.own(window, range).expect("nobody holds it"))
    }

    fn lends_copies(&self) -> bool {
        self.desk.copies()
    }

    fn lend(
        &mut self,
        window: &Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Failure> {
        let mut links = std::mem::take(&mut self.lend_to);
        links.clear();
        links.extend(peers.into_iter().map(|peer| self.link_index(peer)));
        let mut room = Ok(());
        for &link in &links {
            if room.is_ok() && !self.desk.has_room(link) {
                room = self.wait_for_return(link, |desk| desk.has_room(link));
            }
        }
        if room.is_ok() {
            self.desk.lend(window, &links, self.mark.tag(), range);
        }
        self.lend_to = links;
        room
    }

    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        each: impl FnMut(usize, &[u8]),
    ) -> Result<(), Failure> {
        let grain = self.desk.grain();
        self.take_loan(peer, len, Each { grain, each })
    }

    fn fetch(&mut self, peer: usize, into: &mut [u8]) -> Result<(), Failure> {
        let (len, all) = (into.len(), self.result_bytes(into.len()));
        self.take_loan(peer, len, Keep { into, all })
    }

    fn settle(&mut self) -> Result<(), Failure> {
        while let Some(link) = self.desk.unsettled() {
            self.wait_for_return(link, |desk| desk.unsettled() != Some(link))?;
        }
        Ok(())
    }
}

impl Hardware {
    /// Waits for something of the desk's, whose loans go on meanwhile.
    pub(crate) fn wait_at_desk<T>(
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

    /// Goes on copying to the outbox until all is copied, or the link is ready for what is to come.
    #[cold]
    #[inline(never)]
    fn stage_until(
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

    /// Waits for what the returns of the peer behind `link` bring about.
    fn wait_for_return(
        &mut self,
        link: usize,
        done: impl Fn(&mut Desk) -> bool,
    ) -> Result<(), Failure> {
        let (token, peer) = (self.links[link].loan_token + 1, self.links[link].peer);
        self.wait_at_desk(token, peer, |desk| done(desk).then_some(()))
    }

    /// Waits until the peer behind `link` lends something, `expected` bytes; its tag and length.
    pub(crate) fn wait_for_loan(
        &mut self,
        link: usize,
        expected: usize,
    ) -> Result<(u32, usize), Failure> {
        let (desk, here, from) = (&mut self.desk, &self.here, &self.links[link]);
        let lines = &self.lines;
        let token = desk_token(desk, from.loan_token);
        // A message or post overtakes a loan that waits for its turn in an outbox: there is no telling then.
        let in_turn = desk.borrows_addresses(link);
        let watch = || NothingElse {
            watch: here.watch(from.peer),
            receiver: in_turn.then_some(&from.receiver),
            desk: None,
            reader: lines.long_posts_of(from.peer).filter(|_| in_turn),
            tag: self.mark.tag(),
            expected,
        };
        here.wait_watched(&self.governor, token, watch, || {
            desk.advance();
            desk.peek(link)
        })
    }

    #[cold]
    #[inline(never)]
    fn receive_failed(&self, peer: usize, expected: usize, error: ExactError<Failure>) -> Failure {
        match error {
            ExactError::Ended(failure) => self.here.board.fail(failure),
            ExactError::Unexpected(next) => self.unexpected(peer, expected, next),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn unexpected(&self, peer: usize, expected: usize, next: Received) -> Failure {
        let watch = self.here.watch(peer);
        self.here.board.fail(if next.tag == self.mark.tag() {
            watch.length(next.len, expected)
        } else {
            watch.mismatch_with(Mark::seq_of_tag(next.tag, self.here.operation.seq))
        })
    }
}

/// What to sleep for at the desk: whoever still copies to its outbox goes on when any of the chunks comes
/// back.
fn desk_token(desk: &Desk, token: u32) -> u32 {
    if desk.is_staging() { ANY } else { token }
}
