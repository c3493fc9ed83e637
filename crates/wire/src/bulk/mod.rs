//! Long data: lent by the rank that has them, read where they lie.
//!
//! A queue moves 56 bytes per line and copies twice. Long data are *lent* instead: the lender names
//! a part of its buffer in one line (an offer), the borrower reads it in place, once, at the speed of
//! the memory, and returns the offer. Between threads of one process an offer names an address.
//! Between processes it names bytes of the lender's *outbox*, a part of the team's segment to which
//! they are copied first, chunk by chunk, while the borrower reads the chunks before.
//!
//! The protocol of a single offer and its invariants are in `bulk/offer.rs`.
//!
//! **Invariant 1:** an address is only offered within a [`scope`], which ends when nobody reads what
//! it has opened. **Invariant 2:** addresses travel in lines of this process's own memory, so no
//! other process can write one.

#[cfg(not(loom))]
mod offer;
#[cfg(loom)]
pub mod offer;
mod outbox;
mod window;

pub use window::{Host, Window, scope, scope_to_read};

use crate::Line;
use crate::fence::FenceKind;
use crate::park::Parker;
use crate::segment::{LineRef, LineSlice, Segment, SegmentError};
use offer::{Borrower as In, Lender as Out, OFFERS, Offer, Returns};
use outbox::{Outbox, OutboxLine};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One rank's loans: what it lends to its peers and what it borrows from them.
///
/// Nothing here waits: a caller looks, and waits by the governor in between.
///
/// # Examples
///
/// ```
/// use corecast_wire::bulk::{self, Desk, Host, Memory};
/// use corecast_wire::{Line, Parker, Segment, fence_kind};
///
/// struct Rank(Desk);
/// impl Host for Rank {
///     fn desk(&mut self) -> &mut Desk {
///         &mut self.0
///     }
/// }
/// let memory = Segment::new(bulk::link_bytes(), None)?;
/// let parker = Segment::one::<Line<Parker>>(None)?;
/// let (mut a, mut b) = (Rank(Desk::new(fence_kind())), Rank(Desk::new(fence_kind())));
/// let ends = [(&parker, &memory), (&parker, &memory)];
/// bulk::join((&mut a.0, 1, ends[0]), (&mut b.0, 4, ends[1]), Memory::Address)?;
///
/// let mut data = vec![7; 10_000];
/// bulk::scope(&mut a, &mut data, 1, |a, window| {
///     a.0.lend(window, &[0], 3, 0..10_000);
///     assert!(a.0.own(window, 0..1).is_none());
///     let piece = b.0.borrow(0).unwrap().unwrap();
///     assert_eq!((piece.tag(), piece.left(), piece.bytes()), (3, 10_000, &[7; 10_000][..]));
///     drop(piece);
///     a.0.own(window, 0..1).unwrap()[0] = 8;
/// });
/// assert_eq!(data[0], 8);
/// # Ok::<(), corecast_wire::SegmentError>(())
/// ```
#[derive(Debug)]
pub struct Desk {
    id: u64,
    links: Vec<Link>,
    lent: Vec<Lent>,
    staged: Vec<Staged>,
    outbox: Option<Outbox>,
    fence: FenceKind,
}

#[derive(Debug)]
struct Link {
    lender: Out,
    borrower: In,
    /// Where the peer sleeps.
    peer: LineRef<Line<Parker>>,
    /// What the peer sleeps for: an offer of ours, or a return of ours.
    offer_token: u32,
    return_token: u32,
    /// The peer's outbox; `None` where addresses are offered.
    theirs: Option<LineSlice<OutboxLine>>,
}

/// Addresses that a peer may read until its count of returns reaches the number.
#[derive(Debug)]
struct Lent {
    link: usize,
    number: u64,
    addresses: Range<usize>,
}

/// Peers that one staged loan can have; a loan to more is staged several times.
const STAGED_PEERS_MAX: usize = 8;

/// What has still to be copied to the outbox.
#[derive(Debug)]
struct Staged {
    links: [u32; STAGED_PEERS_MAX],
    count: usize,
    addresses: Range<usize>,
    grain: usize,
    tag: u32,
}

impl Staged {
    fn links(&self) -> impl Iterator<Item = usize> + '_ {
        self.links[..self.count].iter().map(|&link| link as usize)
    }
}

/// What an offer between two ranks names.
#[derive(Clone, Copy, Debug)]
pub enum Memory<'a> {
    /// Addresses: both are threads of this process, and their lines are in its own memory.
    Address,
    /// Bytes of an outbox in the team's segment: each rank's own.
    Outboxes([&'a OutboxMemory; 2]),
}

/// Memory for an outbox, as all ranks of the team see it.
#[derive(Clone, Debug)]
pub struct OutboxMemory(LineSlice<OutboxLine>);

impl OutboxMemory {
    /// `bytes` of a segment, a multiple of 64.
    ///
    /// # Errors
    ///
    /// [`SegmentError::Full`].
    pub fn new(segment: &Arc<Segment>, bytes: usize) -> Result<Self, SegmentError> {
        segment.lines(bytes / size_of::<OutboxLine>()).map(Self)
    }
}

/// Bytes that a link takes in each of its two ranks' segments.
pub const fn link_bytes() -> usize {
    Segment::bytes_for::<Offer>(OFFERS) + Segment::bytes_for::<Returns>(1)
}

/// One end of a link: the desk, the token of the first of its two directions, where its thread
/// sleeps, and its memory.
pub type End<'a> = (
    &'a mut Desk,
    u32,
    (&'a LineRef<Line<Parker>>, &'a Arc<Segment>),
);

/// Joins two desks; each gets its next link number. Tokens `token` and `token + 1` are what that
/// end's thread sleeps for: an offer of the other end, and a return.
///
/// # Errors
///
/// [`SegmentError::Full`].
///
/// # Panics
///
/// If addresses are to be offered in memory that other processes can write (Invariant 2).
pub fn join(a: End<'_>, b: End<'_>, memory: Memory<'_>) -> Result<(), SegmentError> {
    let (a_desk, a_token, (a_parker, a_memory)) = a;
    let (b_desk, b_token, (b_parker, b_memory)) = b;
    let [a_out, b_out] = match memory {
        Memory::Address => {
            let private = !a_memory.is_shared() && !b_memory.is_shared();
            assert!(private, "addresses in memory that other processes write");
            [None, None]
        }
        Memory::Outboxes(both) => both.map(|memory| Some(memory.0.clone())),
    };
    // What a thread polls lies in its own memory.
    let to_b: LineSlice<Offer> = b_memory.lines(OFFERS)?;
    let to_a: LineSlice<Offer> = a_memory.lines(OFFERS)?;
    let from_b: LineRef<Returns> = a_memory.lines(1)?.get(0);
    let from_a: LineRef<Returns> = b_memory.lines(1)?.get(0);
    a_desk.links.push(Link {
        lender: Out::new(to_b.clone(), from_b.clone()),
        borrower: In::new(to_a.clone(), from_a.clone()),
        peer: b_parker.clone(),
        offer_token: b_token,
        return_token: b_token + 1,
        theirs: b_out,
    });
    b_desk.links.push(Link {
        lender: Out::new(to_a, from_a),
        borrower: In::new(to_b, from_b),
        peer: a_parker.clone(),
        offer_token: a_token,
        return_token: a_token + 1,
        theirs: a_out,
    });
    Ok(())
}

impl Desk {
    /// A desk without links.
    pub fn new(fence: FenceKind) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            // Relaxed: only a name.
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            links: Vec::new(),
            lent: Vec::new(),
            staged: Vec::new(),
            outbox: None,
            fence,
        }
    }

    /// Gives the desk its outbox, for links between processes, and makes room for as many loans as
    /// its links can have, so that lending allocates nothing.
    pub fn open(&mut self, outbox: Option<(&OutboxMemory, usize)>) {
        let loans = self.links.len() * OFFERS;
        self.lent.reserve(loans);
        self.staged.reserve(loans);
        let make = |(memory, chunk): (&OutboxMemory, usize)| {
            Outbox::new(memory.0.clone(), chunk, self.links.len())
        };
        self.outbox = outbox.map(make);
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Whether another loan to `link` would go out at once.
    pub fn has_room(&self, link: usize) -> bool {
        let link = &self.links[link];
        link.theirs.is_some() || link.lender.has_room()
    }

    /// Lends a part of `window` to the peers behind `links`: by address, where there must be
    /// [room](Self::has_room); between processes the loan waits for its turn in the outbox, and
    /// [`advance`](Self::advance) goes on with it.
    ///
    /// # Panics
    ///
    /// If the window is another desk's, or there is no room.
    pub fn lend(&mut self, window: &Window<'_>, links: &[usize], tag: u32, range: Range<usize>) {
        assert_eq!(window.desk, self.id, "the window belongs to another desk");
        if let Some(outbox) = &self.outbox {
            let (grain, chunk) = (window.grain, outbox.chunk_bytes());
            assert!(
                grain <= chunk,
                "elements of {grain} bytes, chunks of {chunk}"
            );
        }
        let addresses = window.addresses(&range);
        let mut staged: Option<Staged> = None;
        for &number in links {
            let link = &mut self.links[number];
            if link.theirs.is_none() {
                assert!(link.lender.has_room(), "all offers of link {number} stand");
                let len = range.len() as u64;
                link.lender.offer(offer::Said {
                    start: addresses.start as u64,
                    len,
                    left: len,
                    tag,
                });
                link.peer.wake_for(link.offer_token, self.fence);
                self.lent.push(Lent {
                    link: number,
                    number: link.lender.made(),
                    addresses: addresses.clone(),
                });
                continue;
            }
            let loan = staged.get_or_insert_with(|| Staged {
                links: [0; STAGED_PEERS_MAX],
                count: 0,
                addresses: addresses.clone(),
                grain: window.grain,
                tag,
            });
            loan.links[loan.count] = number as u32;
            loan.count += 1;
            if loan.count == STAGED_PEERS_MAX {
                self.staged.extend(staged.take());
            }
        }
        self.staged.extend(staged);
        self.advance();
    }

    /// Copies to the outbox what fits, and offers it. Loans to one peer go in the order in which they
    /// were made.
    pub fn advance(&mut self) {
        if self.staged.is_empty() {
            return;
        }
        let Some(outbox) = &mut self.outbox else {
            unreachable!("links between processes come with an outbox");
        };
        let links = &mut self.links;
        outbox.regain(|link| links[link as usize].lender.returned());
        let mut first = 0;
        while first < self.staged.len() {
            let (before, rest) = self.staged.split_at_mut(first);
            let loan = &mut rest[0];
            let waits = |link| before.iter().any(|loan| loan.links().any(|l| l == link));
            let ready = loan
                .links()
                .all(|link| links[link].lender.has_room() && !waits(link));
            if !ready {
                first += 1;
                continue;
            }
            let left = loan.addresses.len();
            let len = left.min(outbox.chunk_bytes() / loan.grain * loan.grain);
            // SAFETY: Invariant 1: the window is open, so its bytes are there, and nobody writes them
            // while they wait here, see `own`.
            let bytes = unsafe {
                let from = core::ptr::with_exposed_provenance::<u8>(loan.addresses.start);
                core::slice::from_raw_parts(from, len)
            };
            let Some(chunk) = outbox.put(bytes) else {
                break;
            };
            for number in loan.links() {
                let link = &mut links[number];
                link.lender.offer(offer::Said {
                    start: outbox.offset(chunk),
                    len: len as u64,
                    left: left as u64,
                    tag: loan.tag,
                });
                link.peer.wake_for(link.offer_token, self.fence);
                outbox.hold(chunk, number as u32, link.lender.made());
            }
            loan.addresses.start += len;
            if loan.addresses.is_empty() {
                self.staged.remove(first);
            }
        }
    }

    /// Whether some loan has still to be copied to the outbox.
    pub fn is_staging(&self) -> bool {
        !self.staged.is_empty()
    }

    /// A link that has not settled yet.
    pub fn unsettled(&mut self) -> Option<usize> {
        self.advance();
        self.regain();
        let lent = self.lent.first().map(|lent| lent.link);
        lent.or_else(|| self.staged.first().and_then(|loan| loan.links().next()))
    }

    fn regain(&mut self) {
        let links = &self.links;
        self.lent
            .retain(|lent| links[lent.link].lender.returned() < lent.number);
    }

    /// The link of a loan of something in this part of `window`.
    pub fn holder(&mut self, window: &Window<'_>, range: &Range<usize>) -> Option<usize> {
        assert_eq!(window.desk, self.id, "the window belongs to another desk");
        let addresses = window.addresses(range);
        let meet = |loan: &Range<usize>| loan.start < addresses.end && addresses.start < loan.end;
        if self.lent.iter().any(|lent| meet(&lent.addresses)) {
            self.regain();
        }
        let lent = self.lent.iter().find(|lent| meet(&lent.addresses));
        let staged = || {
            let loan = self.staged.iter().find(|loan| meet(&loan.addresses))?;
            loan.links().next()
        };
        lent.map(|lent| lent.link).or_else(staged)
    }

    /// A part of `window` for writing; `None` while something of it is lent.
    ///
    /// # Panics
    ///
    /// If the window is another desk's, or was opened for reading.
    pub fn own<'b>(
        &mut self,
        window: &'b mut Window<'_>,
        range: Range<usize>,
    ) -> Option<&'b mut [u8]> {
        match self.holder(window, &range) {
            Some(_) => None,
            None => Some(window.part(range)),
        }
    }

    /// The next piece that the peer behind `link` lends, if it is there and was not revoked.
    ///
    /// # Errors
    ///
    /// [`Outside`]: another process names bytes outside of its outbox.
    pub fn borrow(&mut self, link: usize) -> Result<Option<Piece<'_>>, Outside> {
        let link = &mut self.links[link];
        let Some(said) = link.borrower.look() else {
            return Ok(None);
        };
        let bytes = match &link.theirs {
            Some(theirs) => match outbox::read(theirs, said.start, said.len) {
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

    /// Tag and length of the next loan of the peer behind `link`, if it is there.
    pub fn peek(&self, link: usize) -> Option<(u32, usize)> {
        let said = self.links[link].borrower.look()?;
        Some((said.tag, said.left as usize))
    }

    /// The end of a scope: takes back what is lent of these addresses.
    fn close(&mut self, addresses: &Range<usize>) {
        let inside =
            |loan: &Range<usize>| addresses.start <= loan.start && loan.end <= addresses.end;
        self.staged.retain(|loan| !inside(&loan.addresses));
        if self.lent.is_empty() {
            return;
        }
        self.regain();
        for lent in self.lent.extract_if(.., |lent| inside(&lent.addresses)) {
            self.links[lent.link].lender.revoke();
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for lent in &self.lent {
            self.links[lent.link].lender.revoke();
        }
    }
}

/// A process offers what is not in its outbox: its memory is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a peer offers {len} bytes at {start}, which are not in its outbox")]
pub struct Outside {
    /// Offset in the outbox.
    pub start: u64,
    /// Bytes.
    pub len: u64,
}

/// Bytes that a peer lends. Dropping it returns them.
#[derive(Debug)]
pub struct Piece<'d> {
    bytes: *const [u8],
    left: usize,
    tag: u32,
    link: &'d mut Link,
    fence: FenceKind,
}

impl Piece<'_> {
    /// The bytes, where they lie.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: of an outbox: `outbox::read`. Of an address: the lender's scope has opened it, and
        // does not end before this piece is returned (offer Invariants 1 and 2); only lenders of
        // this process can have written the address (Invariant 2).
        unsafe { &*self.bytes }
    }

    /// Bytes from the begin of this piece to the end of the loan.
    #[inline]
    pub fn left(&self) -> usize {
        self.left
    }

    /// The lender's tag.
    #[inline]
    pub fn tag(&self) -> u32 {
        self.tag
    }
}

impl Drop for Piece<'_> {
    #[inline]
    fn drop(&mut self) {
        self.link.borrower.give_back();
        self.link.peer.wake_for(self.link.return_token, self.fence);
    }
}
