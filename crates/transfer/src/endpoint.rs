//! A rank's loans, both ways.

use crate::bounce_buffer::{self, BounceBuffer, BounceMemory};
use crate::cma::Process;
use crate::descriptor::DESCRIPTORS;
use crate::eager_buffer::EagerBuffer;
use crate::link::Link;
use crate::piece::{Outside, Piece};
use crate::pipelined::PipelinedCopy;
use crate::unfetched::Unfetched;
use crate::window::Window;
use corecast_wire::FenceKind;
use std::ops::Range;
use std::sync::Arc;

/// One rank's loans: what it lends to its peers and what it borrows from them.
///
/// Nothing here waits: a caller looks, and waits by the wait strategy in between.
///
/// # Examples
///
/// ```
/// use corecast_transfer::{self as transfer, Endpoint, HasEndpoint, Memory};
/// use corecast_wire::{Line, Parker, Segment, fence_kind};
///
/// struct Rank(Endpoint);
/// impl HasEndpoint for Rank {
///     fn endpoint(&mut self) -> &mut Endpoint {
///         &mut self.0
///     }
/// }
/// let memory = Segment::new(transfer::link_bytes(), None)?;
/// let parker = Segment::one::<Line<Parker>>(None)?;
/// let (mut a, mut b) = (Rank(Endpoint::new(fence_kind())), Rank(Endpoint::new(fence_kind())));
/// let ends = [(&parker, &memory), (&parker, &memory)];
/// transfer::join((&mut a.0, 1, ends[0]), (&mut b.0, 4, ends[1]), Memory::Address)?;
///
/// let mut data = vec![7; 10_000];
/// transfer::scope(&mut a, &mut data, 1, |a, window| {
///     a.0.lend(window, &[0], 3, 0..10_000);
///     assert!(a.0.view_mut(window, 0..1).is_none());
///     let piece = b.0.borrow(0).unwrap().unwrap();
///     assert_eq!((piece.tag(), piece.left(), piece.bytes()), (3, 10_000, &[7; 10_000][..]));
///     drop(piece);
///     a.0.view_mut(window, 0..1).unwrap()[0] = 8;
/// });
/// assert_eq!(data[0], 8);
/// # Ok::<(), corecast_wire::SegmentError>(())
/// ```
#[derive(Debug)]
pub struct Endpoint {
    id: u64,
    pub(crate) links: Vec<Link>,
    lent: Vec<Lent>,
    pipelined: Vec<PipelinedCopy>,
    /// Rounds of staging so far.
    round: u64,
    bounce_buffer: Option<BounceBuffer>,
    /// Copies of short loans to threads of this process.
    eager_buffer: Option<EagerBuffer>,
    fence: FenceKind,
    /// Bytes of an element, and in all, of the window that was opened last.
    shape: (usize, usize),
    /// From how many bytes on a loan is read where it lies by processes that can.
    kernel_copy_from: usize,
}

/// Addresses that a peer may read until its count of returns reaches the number.
#[derive(Debug)]
struct Lent {
    link: usize,
    number: u64,
    addresses: Range<usize>,
}

impl Endpoint {
    /// An endpoint without links.
    pub fn new(fence: FenceKind) -> Self {
        Self {
            id: corecast_wire::sync::fresh_name(),
            links: Vec::new(),
            lent: Vec::new(),
            pipelined: Vec::new(),
            round: 0,
            bounce_buffer: None,
            eager_buffer: None,
            fence,
            shape: (1, 0),
            kernel_copy_from: usize::MAX,
        }
    }

    /// Bytes of an element, of the window that was opened last. Pieces of other processes' loans are made
    /// of whole elements, unless one is longer than a chunk: then no piece has bytes of two.
    #[inline]
    pub fn element_size(&self) -> usize {
        self.shape.0
    }

    /// Bytes of the window that was opened last; 0 if none is open.
    #[inline]
    pub fn span(&self) -> usize {
        self.shape.1
    }

    /// Sets the current window's element size and length; returns the previous ones, which the caller restores.
    pub(crate) fn set_shape(&mut self, shape: (usize, usize)) -> (usize, usize) {
        std::mem::replace(&mut self.shape, shape)
    }

    /// Gives the endpoint its bounce buffer, in chunks of so many bytes, for links between processes, and makes
    /// room for as many loans as its links can have. Nothing allocates after that.
    ///
    /// Loans flow while there are two chunks and more for each link to another process.
    ///
    /// # Panics
    ///
    /// If the bounce buffer is not made of whole chunks, a chunk not of lines, or there are fewer chunks
    /// than links to other processes: each must have one that no other peer can keep.
    pub fn open(&mut self, bounce_buffer: Option<(&BounceMemory, usize)>) {
        let loans = self.links.len() * DESCRIPTORS;
        self.lent.reserve(loans);
        self.pipelined.reserve(loans);
        let others = self.links.iter().filter(|link| link.theirs.is_some());
        let counts = (self.links.len(), others.count());
        self.bounce_buffer =
            bounce_buffer.map(|(memory, chunk)| BounceBuffer::new(memory.lines(), chunk, counts));
    }

    /// Gives the endpoint an eager buffer, in chunks of so many bytes, a multiple of 64: what is not longer, and is
    /// lent to threads of this process, is copied there while there is a free chunk, and its lender need
    /// not wait until it is returned. The memory is the endpoint's own, and in a segment to which every peer
    /// holds on that has a link here.
    pub fn copy_short_loans(&mut self, memory: &BounceMemory, chunk_bytes: usize) {
        let all_here = self.links.iter().all(|link| link.theirs.is_none());
        assert!(all_here, "other processes do not read addresses");
        self.eager_buffer = Some(EagerBuffer::new(memory, chunk_bytes, self.links.len()));
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// From now on loans of so many bytes and more are not copied for processes that can read this one's
    /// memory.
    pub fn lend_by_kernel_from(&mut self, bytes: usize) {
        self.kernel_copy_from = bytes;
    }

    /// The peer behind `link` is that process, whose memory this one can read: so the peer may lend
    /// without copying.
    ///
    /// # Panics
    ///
    /// If the peer lends addresses of this process.
    pub fn reads(&mut self, link: usize, process: Arc<Process>) {
        let link = &mut self.links[link];
        assert!(
            link.theirs.is_some(),
            "a thread of this process lends itself"
        );
        link.kernel_copy = Some(process);
        link.borrower.reads();
    }

    /// Whether it copies what it lends.
    pub fn copies(&self) -> bool {
        self.bounce_buffer.is_some()
    }

    /// Whether the peer behind `link` lends addresses: such loans are there as soon as they are made.
    pub fn borrows_addresses(&self, link: usize) -> bool {
        self.links[link].theirs.is_none()
    }

    /// Whether `link` takes another loan.
    #[inline]
    pub fn has_room(&self, link: usize) -> bool {
        let link = &self.links[link];
        match link.theirs {
            Some(_) => link.pipelined < DESCRIPTORS,
            None => link.lender.has_room(),
        }
    }

    /// Lends a part of `window` to the peers behind `links`: by address at once; between processes
    /// the loan waits for its turn in the bounce buffer, and [`advance`](Self::advance) goes on with it.
    ///
    /// # Panics
    ///
    /// If the window is another endpoint's, or there is no [room](Self::has_room).
    pub fn lend(&mut self, window: &Window<'_>, links: &[usize], tag: u32, range: Range<usize>) {
        assert_eq!(
            window.endpoint, self.id,
            "the window belongs to another endpoint"
        );
        let addresses = window.addresses(&range);
        if !links.is_empty()
            && let Some(eager_buffer) = &mut self.eager_buffer
            && let Some(copy) = eager_buffer.put(&self.links, window.view(range))
        {
            for &number in links {
                let link = &mut self.links[number];
                let room = link.lender.has_room();
                assert!(room, "link {number} takes no more loans");
                eager_buffer.hold(number, link.offer(tag, &copy, self.fence));
            }
            return;
        }
        let mut pipelined: Option<PipelinedCopy> = None;
        for &number in links {
            assert!(self.has_room(number), "link {number} takes no more loans");
            if self.links[number].theirs.is_none() {
                self.lend_address(number, tag, addresses.clone());
                continue;
            }
            self.links[number].pipelined += 1;
            if addresses.len() >= self.kernel_copy_from && self.links[number].lender.is_read() {
                let kernel_copy =
                    PipelinedCopy::kernel_copy(addresses.clone(), window.element_size, tag, number);
                self.pipelined.extend(pipelined.take());
                self.pipelined.push(kernel_copy);
                continue;
            }
            if pipelined.as_ref().is_some_and(|loan| !loan.takes(number)) {
                self.pipelined.extend(pipelined.take());
            }
            pipelined
                .get_or_insert_with(|| {
                    PipelinedCopy::new(addresses.clone(), window.element_size, tag)
                })
                .add(number);
        }
        self.pipelined.extend(pipelined);
        self.advance();
    }

    fn lend_address(&mut self, number: usize, tag: u32, addresses: Range<usize>) {
        if self.lent.len() == self.lent.capacity() {
            // What stands is less than the room that was reserved.
            self.regain();
        }
        let made = self.links[number].offer(tag, &addresses, self.fence);
        self.lent.push(Lent {
            link: number,
            number: made,
            addresses,
        });
    }

    /// Copies to the bounce buffer what fits, and offers it. Loans to one peer go in the order in which they
    /// were made; a peer that returns nothing holds up its own loans alone.
    ///
    /// # Cost
    ///
    /// While something waits a load of each peer's line of returns, and a look at each loan.
    pub fn advance(&mut self) {
        if self.pipelined.is_empty() {
            return;
        }
        let (bounce_buffer, links) = (self.bounce_buffer.as_mut().expect(OPENED), &mut self.links);
        for (number, link) in links.iter().enumerate() {
            if link.theirs.is_some() {
                bounce_buffer.regain(number, link.lender.returned());
            }
        }
        self.round += 1;
        let (round, fence) = (self.round, self.fence);
        self.pipelined.retain_mut(|loan| {
            let first = loan.links().all(|link| links[link].waited != round);
            let done = first && loan.go(bounce_buffer, links, fence);
            for link in loan.links() {
                match done {
                    true => links[link].pipelined -= 1,
                    false => links[link].waited = round,
                }
            }
            !done
        });
    }

    /// Whether some loan has still to be copied to the bounce buffer.
    #[inline]
    pub fn is_staging(&self) -> bool {
        !self.pipelined.is_empty()
    }

    /// A link that has not settled yet.
    pub fn unsettled(&mut self) -> Option<usize> {
        self.advance();
        self.regain();
        let lent = self.lent.first().map(|lent| lent.link);
        lent.or_else(|| self.pipelined.first().and_then(|loan| loan.links().next()))
    }

    fn regain(&mut self) {
        let links = &self.links;
        self.lent
            .retain(|lent| links[lent.link].lender.returned() < lent.number);
    }

    /// The link of a loan of something in this part of `window`.
    ///
    /// # Panics
    ///
    /// If the window is another endpoint's.
    pub fn holder(&mut self, window: &Window<'_>, range: &Range<usize>) -> Option<usize> {
        assert_eq!(
            window.endpoint, self.id,
            "the window belongs to another endpoint"
        );
        let addresses = window.addresses(range);
        let arrive_and_wait =
            |loan: &Range<usize>| loan.start < addresses.end && addresses.start < loan.end;
        if self
            .lent
            .iter()
            .any(|lent| arrive_and_wait(&lent.addresses))
        {
            self.regain();
        }
        let lent = self
            .lent
            .iter()
            .find(|lent| arrive_and_wait(&lent.addresses));
        let pipelined = || {
            let loan = self
                .pipelined
                .iter()
                .find(|loan| arrive_and_wait(&loan.addresses))?;
            loan.links().next()
        };
        lent.map(|lent| lent.link).or_else(pipelined)
    }

    /// A part of `window` for writing; `None` while something of it is lent.
    ///
    /// # Panics
    ///
    /// If the window is another endpoint's, or was opened for reading.
    pub fn view_mut<'b>(
        &mut self,
        window: &'b mut Window<'_>,
        range: Range<usize>,
    ) -> Option<&'b mut [u8]> {
        match self.holder(window, &range) {
            Some(_) => None,
            None => Some(window.part(range)),
        }
    }

    /// Tag and length of the next loan of the peer behind `link`, if it is there.
    #[inline]
    pub fn peek(&mut self, link: usize) -> Option<(u32, usize)> {
        let said = self.links[link].look()?;
        Some((said.tag, said.left as usize))
    }

    /// The next piece that the peer behind `link` lends, if it is there and was not revoked. It says
    /// of itself what [`peek`](Self::peek) said.
    ///
    /// # Errors
    ///
    /// [`Outside`]: another process names bytes outside of its bounce buffer.
    pub fn borrow(&mut self, link: usize) -> Result<Option<Piece<'_>>, Outside> {
        let link = &mut self.links[link];
        let Some(said) = link.look() else {
            return Ok(None);
        };
        let bytes = match &link.theirs {
            Some(theirs) => match bounce_buffer::read(theirs, &said) {
                Some(bytes) => core::ptr::from_ref(bytes),
                None => {
                    return Err(Outside {
                        start: said.start,
                        len: said.len,
                    });
                }
            },
            None => {
                if !link.borrower.begin() {
                    return Ok(None);
                }
                let start = core::ptr::with_exposed_provenance(said.start as usize);
                core::ptr::slice_from_raw_parts(start, said.len as usize)
            }
        };
        Ok(Some(Piece {
            bytes,
            left: said.left as usize,
            tag: said.tag,
            link,
            fence: self.fence,
        }))
    }

    /// Whether the next loan of the peer behind `link` is there and lies in its process's memory: then
    /// [`fetch`](Self::fetch) it instead of borrowing it, and [`give_back`](Self::give_back) it.
    pub fn is_by_kernel(&mut self, link: usize) -> bool {
        let link = &mut self.links[link];
        link.theirs.is_some() && link.look().is_some_and(|said| said.kernel_copy)
    }

    /// Copies what comes from `at` on in the next loan of the peer behind `link`, which
    /// [is far](Self::is_by_kernel).
    ///
    /// # Errors
    ///
    /// [`Unfetched`]; what was copied is of no use then.
    ///
    /// # Cost
    ///
    /// Two system calls, and some 100 ns for each page.
    pub fn fetch(&mut self, link: usize, at: usize, into: &mut [u8]) -> Result<(), Unfetched> {
        let link = &mut self.links[link];
        let (Some(said), Some(process)) = (link.look(), &link.kernel_copy) else {
            return Err(Unfetched::Outside);
        };
        let end = (at as u64).checked_add(into.len() as u64);
        if !said.kernel_copy || said.len != said.left || end.is_none_or(|end| end > said.len) {
            return Err(Unfetched::Outside);
        }
        let read = process.read(said.start.wrapping_add(at as u64), into);
        if !link.borrower.stands() {
            link.seen = None;
            return Err(Unfetched::Revoked);
        }
        read
    }

    /// Returns the next loan of the peer behind `link`, which was far.
    pub fn give_back(&mut self, link: usize) {
        self.links[link].give_back(self.fence);
    }

    /// Returns a descriptor of which the kernel [refused](Unfetched::Refused) the rest after `done` bytes. The rest, and
    /// later loans of this peer, come through the bounce buffer.
    #[cold]
    pub fn refuse(&mut self, link: usize, done: usize) {
        self.links[link].borrower.refuse(done as u64);
        self.give_back(link);
    }

    /// The end of a scope: takes back what is lent of these addresses.
    pub(crate) fn close(&mut self, addresses: &Range<usize>) {
        let inside =
            |loan: &Range<usize>| addresses.start <= loan.start && loan.end <= addresses.end;
        for loan in self
            .pipelined
            .extract_if(.., |loan| inside(&loan.addresses))
        {
            for link in loan.links() {
                self.links[link].pipelined -= 1;
                if loan.is_reading() {
                    self.links[link].lender.revoke_by_kernel();
                }
            }
        }
        if self.lent.is_empty() {
            return;
        }
        self.regain();
        for lent in self.lent.extract_if(.., |lent| inside(&lent.addresses)) {
            self.links[lent.link].lender.revoke();
        }
    }
}

/// What is wrong when there is no bounce buffer.
const OPENED: &str = "an endpoint with links between processes is opened with a bounce buffer";

impl Drop for Endpoint {
    fn drop(&mut self) {
        for lent in &self.lent {
            self.links[lent.link].lender.revoke();
        }
        for loan in self.pipelined.iter().filter(|loan| loan.is_reading()) {
            loan.links()
                .for_each(|link| self.links[link].lender.revoke_by_kernel());
        }
    }
}
