//! The loans of one rank, to its peers and from them.

use crate::bounce_buffer::{self, BounceBuffer, BounceLine, BounceMemory, loan_room};
use crate::cma::Process;
use crate::descriptor::{DESCRIPTORS, DescriptorFields, Way};
use crate::eager_buffer::EagerBuffer;
#[cfg(not(loom))]
use crate::heap::{MappedHeap, SymmetricHeap};
use crate::link::{Link, Outside, Piece};
use crate::pipelined::PipelinedCopy;
use crate::regions::{KnownRegions, SharedRegions, offset};
use crate::unfetched::Unfetched;
use crate::window::Window;
#[cfg(not(loom))]
use corecast_wire::fork::{ForkDetector, forked_since};
use corecast_wire::sync::mutated;
use corecast_wire::{FenceKind, LineSlice, stream};
use std::ops::Range;
use std::sync::Arc;

/// One rank's loans: what it lends to its peers and what it borrows from them.
///
/// No method waits. A caller polls, and waits by its wait strategy in between.
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
///     assert_eq!((piece.tag(), piece.left(), piece.bytes()), (3, 10_000, Some(&[7; 10_000][..])));
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
    /// How many of `lent` are to be filled.
    filling: usize,
    pipelined: Vec<PipelinedCopy>,
    /// The number of rounds of [`advance`](Self::advance) so far.
    round: u64,
    bounce_buffer: Option<BounceBuffer>,
    /// Copies of short loans to threads of this process.
    eager_buffer: Option<EagerBuffer>,
    fence: FenceKind,
    /// The element size and the length in bytes of the window that was opened last.
    shape: (usize, usize),
    /// Loans of so many bytes or more go by kernel copy to processes that can read this one's memory.
    kernel_copy_from: usize,
    /// That number for loans that are combined.
    kernel_combine_from: usize,
    /// Bytes of a piece of a long loan that is combined.
    combine_piece: usize,
    /// The addresses of this rank's symmetric memory.
    symmetric: Range<usize>,
    /// The addresses of this process's heap.
    heap: Range<usize>,
    /// Memory that the processes of the team share otherwise.
    regions: KnownRegions,
    /// Tells whether this is a copy in a forked process.
    #[cfg(not(loom))]
    fork_detector: ForkDetector,
}

/// Addresses that a peer may read, or write if it `fills` them, until its count of returned descriptors reaches `number`.
#[derive(Debug)]
struct Lent {
    link: usize,
    number: u64,
    addresses: Range<usize>,
    fills: bool,
}

impl Lent {
    fn overlaps(&self, addresses: &Range<usize>) -> bool {
        overlap(&self.addresses, addresses)
    }
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

impl Endpoint {
    /// An endpoint without links.
    pub fn new(fence: FenceKind) -> Self {
        Self {
            id: corecast_wire::sync::fresh_name(),
            links: Vec::new(),
            lent: Vec::new(),
            filling: 0,
            pipelined: Vec::new(),
            round: 0,
            bounce_buffer: None,
            eager_buffer: None,
            fence,
            shape: (1, 0),
            kernel_copy_from: usize::MAX,
            kernel_combine_from: usize::MAX,
            combine_piece: usize::MAX,
            symmetric: 0..0,
            heap: 0..0,
            regions: KnownRegions::default(),
            #[cfg(not(loom))]
            fork_detector: ForkDetector::now(),
        }
    }

    /// Whether this is a copy in a forked process. The peers borrow from the original, which alone may take loans back:
    /// a copy would strike descriptors that stand, and would wait for readers that are not in this process.
    fn is_copy(&self) -> bool {
        #[cfg(not(loom))]
        return forked_since(&self.fork_detector);
        #[cfg(loom)]
        false
    }

    /// The element size in bytes of the window that was opened last. Pieces of other processes' loans are made of whole
    /// elements. If an element is longer than a chunk, no piece has bytes of two elements.
    #[inline]
    pub fn element_size(&self) -> usize {
        self.shape.0
    }

    /// The length in bytes of the window that was opened last; 0 if none is open.
    #[inline]
    pub fn span(&self) -> usize {
        self.shape.1
    }

    /// Sets the current window's element size and length; returns the previous ones, which the caller restores.
    pub(crate) fn set_shape(&mut self, shape: (usize, usize)) -> (usize, usize) {
        std::mem::replace(&mut self.shape, shape)
    }

    /// Gives the endpoint its bounce buffer for links between processes, with the size of a chunk in bytes, and its
    /// symmetric memory if it has any, and reserves room for as many loans as its links can have. No later call allocates.
    ///
    /// With at least two chunks for each link to another process, the lender copies while the borrower reads.
    ///
    /// # Panics
    ///
    /// If the bounce buffer is no multiple of a chunk, a chunk is no multiple of a line, or there are fewer chunks than
    /// links to other processes: each needs one that no other peer can hold. If the memory is another buffer's already.
    pub fn open(&mut self, bounce_buffer: Option<(&BounceMemory, usize)>) {
        let loans = self.links.len() * DESCRIPTORS;
        self.lent.reserve(loans);
        self.pipelined.reserve(loans);
        let others = self.links.iter().filter(|link| link.theirs.is_some());
        let counts = (self.links.len(), others.count());
        if let Some(symmetric) = bounce_buffer.and_then(|(memory, _)| memory.symmetric()) {
            let start = symmetric.as_ptr().addr();
            self.symmetric = start..start + size_of_val(&*symmetric);
        }
        self.bounce_buffer =
            bounce_buffer.map(|(memory, chunk)| BounceBuffer::new(memory.own(), chunk, counts));
    }

    /// Gives the endpoint an eager buffer in chunks of `chunk_bytes`, a multiple of 64. A loan to threads of this
    /// process that fits a chunk is copied there while a chunk is free, and its lender need not wait for the return.
    /// The endpoint has all of its links by then.
    ///
    /// # Panics
    ///
    /// If the memory is another buffer's already, or does not lie in the segment with which this endpoint was
    /// [joined](crate::join) to all of its peers: their links keep that segment alive, and read loans that stand when
    /// this endpoint is dropped.
    pub fn copy_short_loans(&mut self, memory: &BounceMemory, chunk_bytes: usize) {
        let all_here = self.links.iter().all(|link| link.theirs.is_none());
        assert!(all_here, "other processes do not read addresses");
        let segment = memory.segment();
        let kept = |link: &Link| Arc::ptr_eq(link.lender.segment(), segment);
        assert!(
            self.links.iter().all(kept),
            "no peer keeps the memory of this eager buffer: take it from the segment of the links"
        );
        self.eager_buffer = Some(EagerBuffer::new(memory, chunk_bytes, self.links.len()));
    }

    /// Adds a link.
    pub(crate) fn join(&mut self, link: Link) {
        let is_open = self.bounce_buffer.is_some() || self.eager_buffer.is_some();
        assert!(
            !is_open,
            "an endpoint is joined to its peers before it has a buffer"
        );
        self.links.push(link);
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// From now on loans of at least `bytes` go by kernel copy to processes that can read this one's memory.
    pub fn lend_by_kernel_from(&mut self, bytes: usize) {
        self.kernel_copy_from = bytes;
    }

    /// That for loans that peers [combine](Self::lend_to_combine).
    pub fn combine_by_kernel_from(&mut self, bytes: usize) {
        self.kernel_combine_from = bytes;
    }

    /// Loans that peers [combine](Self::lend_to_combine), and for which a link has no room as a whole, go through the bounce buffer
    /// in pieces of `bytes` from now on, if a chunk has more. Lender and borrower then copy the same few chunks to and fro, which
    /// stay in their first caches. For ranks that share a core whole chunks are better: more is there when the other one runs.
    pub fn combine_in_pieces_of(&mut self, bytes: usize) {
        self.combine_piece = bytes;
    }

    /// Says that the peer behind `link` is `process`, whose memory this process can read. The peer may then lend by
    /// kernel copy.
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

    /// From now on what lies in `heap` is lent without a copy to processes that have mapped it.
    #[cfg(not(loom))]
    pub fn lends_heap(&mut self, heap: &SymmetricHeap) {
        self.heap = heap.addresses();
    }

    /// From now on what lies in one of these regions is lent without a copy to other processes, and what they lend so is read.
    pub fn lends_regions(&mut self, regions: Arc<SharedRegions>) {
        self.regions = KnownRegions::new(regions);
    }

    /// Says that the peer behind `link` belongs to a process whose heap this one has mapped. The peer may then lend what lies
    /// there without a copy.
    ///
    /// # Panics
    ///
    /// If the peer lends addresses of this process.
    #[cfg(not(loom))]
    pub fn maps_heap(&mut self, link: usize, heap: &MappedHeap) {
        let link = &mut self.links[link];
        assert!(
            link.theirs.is_some(),
            "a thread of this process lends itself"
        );
        link.heap = Some(heap.lines());
        link.borrower.maps();
    }

    /// Whether the endpoint has a bounce buffer, to which it copies what it lends to other processes.
    pub fn copies(&self) -> bool {
        self.bounce_buffer.is_some()
    }

    /// Whether the peer behind `link` lends addresses. Such loans are there as soon as they are made.
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
    /// the loan waits for its turn, and [`advance`](Self::advance) goes on with it. There it is read where it lies if it is
    /// in this rank's symmetric memory, its process's heap or a region, or by kernel copy, and else goes through the bounce buffer.
    ///
    /// # Panics
    ///
    /// If the window is another endpoint's, a peer is to fill some of the part, or there is no [room](Self::has_room).
    pub fn lend(&mut self, window: &Window<'_>, links: &[usize], tag: u32, range: Range<usize>) {
        self.lend_by(
            window,
            links,
            tag,
            range,
            (self.kernel_copy_from, usize::MAX),
        );
    }

    /// [Lends](Self::lend) what the peers combine with data of their own.
    ///
    /// # Panics
    ///
    /// As [`lend`](Self::lend).
    pub fn lend_to_combine(
        &mut self,
        window: &Window<'_>,
        links: &[usize],
        tag: u32,
        range: Range<usize>,
    ) {
        let room = |buffer: &BounceBuffer| loan_room(buffer.chunk_bytes());
        let piece_bytes = match self.bounce_buffer.as_ref().map(room) {
            Some(room) if range.len() > room => self.combine_piece,
            _ => usize::MAX,
        };
        let ways = (self.kernel_combine_from, piece_bytes);
        self.lend_by(window, links, tag, range, ways);
    }

    /// Lends; the kernel copies from `kernel_from` bytes on, and the bounce buffer takes pieces of `piece_bytes`.
    fn lend_by(
        &mut self,
        window: &Window<'_>,
        links: &[usize],
        tag: u32,
        range: Range<usize>,
        (kernel_from, piece_bytes): (usize, usize),
    ) {
        let addresses = self.addresses(window, &range);
        self.assert_not_filled(&addresses);
        if !links.is_empty()
            && let Some(eager_buffer) = &mut self.eager_buffer
            && let Some(copy) = eager_buffer.put(&self.links, window.bytes(range))
        {
            for &number in links {
                let link = &mut self.links[number];
                let room = link.lender.has_room();
                assert!(room, "link {number} takes no more loans");
                eager_buffer.hold(number, link.offer(tag, &copy, Way::InPlace, self.fence));
            }
            return;
        }
        let mut pipelined: Option<PipelinedCopy> = None;
        let symmetric = offset(&self.symmetric, &addresses).map(|start| (start, Way::Symmetric));
        let heap = offset(&self.heap, &addresses).map(|start| (start, Way::Heap));
        let region = || Some((self.regions.lend(&addresses)?, Way::Region));
        let symmetric = symmetric.or_else(region);
        let kernel =
            (addresses.len() >= kernel_from).then_some((addresses.start as u64, Way::KernelCopy));
        for &number in links {
            assert!(self.has_room(number), "link {number} takes no more loans");
            if self.links[number].theirs.is_none() {
                let made = self.links[number].offer(tag, &addresses, Way::InPlace, self.fence);
                self.note_loan(number, made, addresses.clone(), false);
                continue;
            }
            self.links[number].pipelined += 1;
            let lender = &self.links[number].lender;
            let place = symmetric
                .or_else(|| heap.filter(|_| lender.is_mapped()))
                .or_else(|| kernel.filter(|_| lender.is_read()));
            if let Some(place) = place {
                let (size, addresses) = (window.element_size, addresses.clone());
                let loan = PipelinedCopy::direct(addresses, place, size, tag, number)
                    .in_pieces_of(piece_bytes);
                self.pipelined.extend(pipelined.take());
                self.pipelined.push(loan);
                continue;
            }
            if pipelined.as_ref().is_some_and(|loan| !loan.takes(number)) {
                self.pipelined.extend(pipelined.take());
            }
            pipelined
                .get_or_insert_with(|| {
                    PipelinedCopy::new(addresses.clone(), window.element_size, tag)
                        .in_pieces_of(piece_bytes)
                })
                .add(number);
        }
        self.pipelined.extend(pipelined);
        self.advance();
    }

    /// Lends a part of `window` to the peer behind `link`, which is a thread of this process and
    /// [fills](crate::fill) it. Until it was returned nobody else may read or write it.
    ///
    /// # Panics
    ///
    /// If the window is another endpoint's or was opened for reading, the peer belongs to another process, some of the part is
    /// lent, or there is no [room](Self::has_room).
    pub fn lend_to_fill(
        &mut self,
        window: &mut Window<'_>,
        link: usize,
        tag: u32,
        range: Range<usize>,
    ) {
        assert!(window.is_writable(), "the buffer was opened for reading");
        assert_eq!(self.holder(window, &range), None, "the part is lent");
        assert!(
            self.borrows_addresses(link),
            "another process does not write here"
        );
        assert!(self.has_room(link), "link {link} takes no more loans");
        let addresses = self.addresses(window, &range);
        let made = self.links[link].offer(tag, &addresses, Way::Fill, self.fence);
        self.note_loan(link, made, addresses, true);
    }

    fn note_loan(&mut self, link: usize, number: u64, addresses: Range<usize>, fills: bool) {
        if self.lent.len() == self.lent.capacity() {
            // Fewer loans stand than there is room reserved for.
            self.regain();
        }
        self.filling += usize::from(fills);
        self.lent.push(Lent {
            link,
            number,
            addresses,
            fills,
        });
    }

    /// The addresses of a part of a window, which must be this endpoint's.
    #[inline]
    fn addresses(&self, window: &Window<'_>, range: &Range<usize>) -> Range<usize> {
        assert_eq!(
            window.endpoint, self.id,
            "the window belongs to another endpoint"
        );
        window.addresses(range)
    }

    #[inline]
    fn assert_not_filled(&self, addresses: &Range<usize>) {
        let filled = |lent: &Lent| {
            lent.fills
                && lent.overlaps(addresses)
                && self.links[lent.link].lender.returned() < lent.number
        };
        let is_filled = self.filling > 0 && self.lent.iter().any(filled);
        assert!(!is_filled, "a peer fills this part");
    }

    /// Copies as much of the waiting loans to the bounce buffer as fits, and makes descriptors for it. Loans to one
    /// peer go in the order in which they were made. A peer that returns nothing holds up only its own loans.
    ///
    /// # Cost
    ///
    /// While a loan waits: a load of each peer's acknowledgement line, and a check of each waiting loan.
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

    /// Whether a loan has still to be copied to the bounce buffer, or was not returned by a peer that reads it where it
    /// lies.
    #[inline]
    pub fn is_staging(&self) -> bool {
        !self.pipelined.is_empty()
    }

    /// Whether a loan to the peer behind `link` has still to be copied, or was not returned by it where it reads it in
    /// its place. Until then the peer has ended no operation that takes the loan. No loan goes to a link that there is not.
    #[inline]
    pub fn is_staging_for(&self, link: usize) -> bool {
        let link = self.links.get(link);
        link.is_some_and(|link| link.pipelined > 0)
    }

    /// A link with a loan that still needs the memory of its window, if there is one.
    pub fn unsettled(&mut self) -> Option<usize> {
        self.advance();
        self.regain();
        let lent = self.lent.first().map(|lent| lent.link);
        lent.or_else(|| self.pipelined.first().and_then(|loan| loan.links().next()))
    }

    fn regain(&mut self) {
        let (links, filling) = (&self.links, &mut self.filling);
        self.lent.retain(|lent| {
            let stands = links[lent.link].lender.returned() < lent.number;
            *filling -= usize::from(lent.fills && !stands);
            stands
        });
    }

    /// The link of a loan that overlaps this part of `window` and still needs its memory, if there is one.
    ///
    /// # Panics
    ///
    /// If the window is another endpoint's.
    pub fn holder(&mut self, window: &Window<'_>, range: &Range<usize>) -> Option<usize> {
        let addresses = self.addresses(window, range);
        if self.lent.iter().any(|lent| lent.overlaps(&addresses)) {
            self.regain();
        }
        let lent = self.lent.iter().find(|lent| lent.overlaps(&addresses));
        let pipelined = || {
            let loan = self
                .pipelined
                .iter()
                .find(|loan| overlap(&loan.addresses, &addresses))?;
            loan.links().next()
        };
        lent.map(|lent| lent.link).or_else(pipelined)
    }

    /// A part of `window` for reading, whether it is lent or not.
    ///
    /// # Panics
    ///
    /// If the window is another endpoint's, or a peer is to fill some of the part and has not returned it.
    #[inline]
    pub fn view<'b>(&self, window: &'b Window<'_>, range: Range<usize>) -> &'b [u8] {
        self.assert_not_filled(&self.addresses(window, &range));
        window.bytes(range)
    }

    /// A part of `window` for writing; `None` while any of it is lent.
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

    /// The next piece that the peer behind `link` lends, if it is there and was not revoked. It has the tag and the
    /// length left that [`peek`](Self::peek) returns.
    ///
    /// # Errors
    ///
    /// [`Outside`] if another process names bytes outside of its bounce buffer.
    pub fn borrow(&mut self, link: usize) -> Result<Option<Piece<'_>>, Outside> {
        let link = &mut self.links[link];
        let Some(said) = link.look() else {
            return Ok(None);
        };
        let bytes = match &link.theirs {
            Some(theirs) => match bounce_buffer::read(theirs, &said) {
                Some(bytes) => bytes,
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

    /// Begins to fill the next part that the peer behind `link` lends for it, if it is there and was not revoked.
    ///
    /// # Panics
    ///
    /// If the loan is there and is one to be read.
    pub(crate) fn begin_fill(&mut self, link: usize) -> Option<*mut [u8]> {
        let link = &mut self.links[link];
        let said = link.look()?;
        let here = link.theirs.is_none() && said.way == Way::Fill;
        assert!(here, "the peer lends what is to be read");
        if !link.borrower.begin() {
            return None;
        }
        link.fills = true;
        let start = core::ptr::with_exposed_provenance_mut(said.start as usize);
        Some(core::ptr::slice_from_raw_parts_mut(
            start,
            said.len as usize,
        ))
    }

    /// Returns what [`begin_fill`](Self::begin_fill) has begun to fill, if it `is_filled`. Else it stands until the peer takes it
    /// back.
    pub(crate) fn end_fill(&mut self, link: usize, is_filled: bool) {
        self.links[link].fills = false;
        match is_filled || mutated!(ReturnsUnfilled) {
            true => self.give_back(link),
            false => self.links[link].borrower.finish(),
        }
    }

    /// Whether the next loan of the peer behind `link` is there and read where it lies in another process: by kernel copy
    /// or in memory that this process has mapped. The caller then calls [`fetch`](Self::fetch) and [`give_back`](Self::give_back) instead of
    /// [`borrow`](Self::borrow).
    pub fn is_direct(&mut self, link: usize) -> bool {
        let link = &mut self.links[link];
        let is_direct = |said: DescriptorFields| said.way != Way::InPlace;
        link.theirs.is_some() && link.look().is_some_and(is_direct)
    }

    /// Whether the next loan of the peer behind `link` is there and in symmetric memory, a heap or a region.
    pub fn is_symmetric(&mut self, link: usize) -> bool {
        let said = self.links[link].look();
        said.is_some_and(|said| matches!(said.way, Way::Symmetric | Way::Heap | Way::Region))
    }

    /// Copies the bytes from offset `at` on of the next loan of the peer behind `link`, which is read [where it
    /// lies](Self::is_direct), to `into`, a part of a result of `all` bytes: a very long result goes past the caches, see
    /// [`stream`].
    ///
    /// # Errors
    ///
    /// [`Unfetched`]; the contents of `into` are then of no use.
    ///
    /// # Cost
    ///
    /// The copy; by the kernel two system calls as well, and some 100 ns for each page.
    pub fn fetch(
        &mut self,
        link: usize,
        at: usize,
        into: &mut [u8],
        all: usize,
    ) -> Result<(), Unfetched> {
        let link = &mut self.links[link];
        let said = link.look().ok_or(Unfetched::Outside)?;
        let end = (at as u64).checked_add(into.len() as u64);
        if said.len != said.left || end.is_none_or(|end| end > said.len) {
            return Err(Unfetched::Outside);
        }
        let whole =
            |lines: &LineSlice<BounceLine>| (lines.as_ptr().cast::<u8>(), size_of_val(&**lines));
        let mut kept = None;
        let (mapped, start) = match said.way {
            Way::Symmetric => (link.symmetric.as_ref().map(whole), said.start),
            Way::Heap => (link.heap.as_ref().map(whole), said.start),
            Way::Region => {
                kept = self.regions.read(said.start);
                let found = kept.as_ref();
                let start = found.map_or(0, |&(_, offset)| offset);
                (found.map(|(region, _)| region.bytes()), start)
            }
            Way::InPlace | Way::KernelCopy | Way::Fill => (None, 0),
        };
        let read = match (said.way, &link.kernel_copy, mapped) {
            (Way::KernelCopy, Some(process), _) => {
                process.read(said.start.wrapping_add(at as u64), into)
            }
            (_, _, Some((first, bytes))) => {
                let from = start.checked_add(at as u64);
                let is_there = |from: &u64| {
                    let end = from.checked_add(into.len() as u64);
                    end.is_some_and(|end| end <= bytes as u64)
                };
                let from = from.filter(is_there).ok_or(Unfetched::Outside)?;
                let from = first.wrapping_add(from as usize);
                // SAFETY: within the peer's symmetric memory or heap, as was just checked, whose segment the link keeps
                // mapped, or within a region, which `kept` does. Its rank writes there only once it has struck the descriptor
                // out, and what was copied is not believed then. `into` is not there: no rank has a reference to another one's
                // symmetric memory or heap, and nobody has one to these addresses of a region.
                unsafe { stream::copy_raw(into, from, all) };
                Ok(())
            }
            _ => return Err(Unfetched::Outside),
        };
        drop(kept);
        if !link.borrower.stands() {
            link.seen = None;
            return Err(Unfetched::Revoked);
        }
        read
    }

    /// Returns the next loan of the peer behind `link`, which was read where it lies, or is not needed.
    pub fn give_back(&mut self, link: usize) {
        self.links[link].give_back(self.fence);
    }

    /// Returns the next loan of the peer behind `link`, of which the kernel has [refused](Unfetched::Refused) the rest
    /// after `done` bytes. The rest, and later loans of this peer, come through the bounce buffer.
    #[cold]
    pub fn refuse(&mut self, link: usize, done: usize) {
        self.links[link].borrower.refuse(done as u64);
        self.give_back(link);
    }

    /// Ends a scope: takes back all loans within these addresses. A copy in a forked process forgets its loans.
    pub(crate) fn close(&mut self, addresses: &Range<usize>) {
        if self.lent.is_empty() && self.pipelined.is_empty() {
            return;
        }
        if self.is_copy() {
            self.lent.clear();
            self.filling = 0;
            self.pipelined.clear();
            return;
        }
        let inside =
            |loan: &Range<usize>| addresses.start <= loan.start && loan.end <= addresses.end;
        for loan in self
            .pipelined
            .extract_if(.., |loan| inside(&loan.addresses))
        {
            for link in loan.links() {
                self.links[link].pipelined -= 1;
                if loan.is_reading() {
                    self.links[link].lender.revoke_direct();
                }
            }
        }
        if self.lent.is_empty() {
            return;
        }
        self.regain();
        for lent in self.lent.extract_if(.., |lent| inside(&lent.addresses)) {
            self.links[lent.link].lender.revoke(lent.number);
            self.filling -= usize::from(lent.fills);
        }
    }
}

/// The panic message where an endpoint has no bounce buffer.
const OPENED: &str = "an endpoint with links between processes is opened with a bounce buffer";

impl Drop for Endpoint {
    fn drop(&mut self) {
        if self.is_copy() {
            return;
        }
        for lent in &self.lent {
            self.links[lent.link].lender.revoke(lent.number);
        }
        for loan in self.pipelined.iter().filter(|loan| loan.is_reading()) {
            loan.links()
                .for_each(|link| self.links[link].lender.revoke_direct());
        }
    }
}
