//! One end of the two directions between a pair of ranks, and the pieces of a loan that are read there.

use crate::bounce_buffer::BounceLine;
use crate::cma::Process;
use crate::descriptor::{
    Acks, Borrower as In, DESCRIPTORS, Descriptor, DescriptorFields, Lender as Out, Reading, Way,
};
use corecast_wire::fence::FenceKind;
use corecast_wire::{Line, LineRef, LineSlice, Parker, Segment, stream};
use std::ops::Range;
use std::sync::Arc;

/// One rank's loans to one peer and from it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) lender: Out,
    pub(crate) borrower: In,
    /// The parker on which the peer sleeps.
    pub(crate) peer: LineRef<Line<Parker>>,
    /// The token with which the peer sleeps for a descriptor of this rank. For the return of one of its
    /// own it sleeps with `ack_token`.
    pub(crate) descriptor_token: u32,
    pub(crate) ack_token: u32,
    /// The peer's bounce buffer; `None` where addresses are lent.
    pub(crate) theirs: Option<LineSlice<BounceLine>>,
    /// The peer's symmetric memory, if it is another process's and has any.
    pub(crate) symmetric: Option<LineSlice<BounceLine>>,
    /// The heap of the peer's process, where this one has mapped it.
    pub(crate) heap: Option<LineSlice<BounceLine>>,
    /// The peer's process, where this one can read its memory.
    pub(crate) kernel_copy: Option<Arc<Process>>,
    /// A copy of the peer's next descriptor, once it was looked at, so that another process cannot
    /// change it between a check and the use of what was checked.
    pub(crate) seen: Option<DescriptorFields>,
    /// Whether this rank is filling what the peer lends: until it has, nothing else of the peer's is there.
    pub(crate) fills: bool,
    /// Loans to the peer that wait for their turn in the bounce buffer.
    pub(crate) pipelined: usize,
    /// The last round of `Endpoint::advance` in which a loan to the peer had to wait.
    pub(crate) waited: u64,
}

impl Link {
    pub(crate) fn look(&mut self) -> Option<DescriptorFields> {
        if self.fills {
            return None;
        }
        if self.theirs.is_some() {
            self.seen = self.seen.or_else(|| self.borrower.look());
            return self.seen;
        }
        self.borrower.look()
    }

    /// Makes a descriptor for bytes of this process, wakes the peer, and returns the descriptor's
    /// number. There must be room.
    pub(crate) fn offer(
        &mut self,
        tag: u32,
        addresses: &Range<usize>,
        way: Way,
        fence: FenceKind,
    ) -> u64 {
        let len = addresses.len() as u64;
        self.lender.offer(DescriptorFields {
            start: addresses.start as u64,
            len,
            left: len,
            tag,
            way,
        });
        self.peer.wake_for(self.descriptor_token, fence);
        self.lender.made()
    }

    pub(crate) fn give_back(&mut self, fence: FenceKind) {
        assert!(!self.fills, "it is being filled");
        self.seen = None;
        self.borrower.give_back();
        if self.theirs.is_none() {
            self.borrower.finish();
        }
        self.peer.wake_for(self.ack_token, fence);
    }
}

/// A process lends bytes that are not in its bounce buffer, so its memory is corrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a peer offers {len} bytes at {start}, which are not in its bounce buffer")]
pub struct Outside {
    /// Offset in the bounce buffer.
    pub start: u64,
    /// The number of bytes.
    pub len: u64,
}

/// Bytes that a peer lends. Dropping it returns them.
#[derive(Debug)]
pub struct Piece<'d> {
    pub(crate) bytes: *const [u8],
    pub(crate) left: usize,
    pub(crate) tag: u32,
    pub(crate) link: &'d mut Link,
    pub(crate) fence: FenceKind,
}

impl Piece<'_> {
    /// The number of bytes.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes, in place; `None` if another process lends them. It could write them while they are looked at, so
    /// they can only be [copied](Self::copy).
    #[inline]
    pub fn bytes(&self) -> Option<&[u8]> {
        if self.link.theirs.is_some() {
            return None;
        }
        // SAFETY: the lender's scope has opened the address, and does not end before this piece is returned
        // (descriptor Invariants 1 and 2), or it is on the lender's eager buffer, in a segment that the link holds on
        // to; only lenders of this process can have written the address (Invariant 2).
        Some(unsafe { &*self.bytes })
    }

    /// Copies the bytes from `start` on to all of `into`, a part of a result of `all` bytes: a very long result goes
    /// past the caches, see [`stream`]. The lender does not write the bytes before they are returned; a process that
    /// breaks this spoils its own message, which can then hold any bytes, but they do not change once they were copied.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes.
    #[inline]
    pub fn copy(&self, start: usize, into: &mut [u8], all: usize) {
        let end = start.checked_add(into.len());
        assert!(
            end.is_some_and(|end| end <= self.len()),
            "{} bytes at {start} of a piece of {}",
            into.len(),
            self.len()
        );
        let from = self.bytes.cast::<u8>().wrapping_add(start);
        // SAFETY: within the piece, as was just checked, which lies within the peer's bounce buffer
        // (`bounce_buffer::read`), whose segment the link keeps mapped, or is open, see `bytes`. No thread of this
        // process writes either. `into` is in neither: nobody has a reference into a bounce buffer, and the bytes of an
        // address are lent, so nobody has a mutable one.
        unsafe { stream::copy_raw(into, from, all) };
    }

    /// Bytes from the beginning of this piece to the end of the loan.
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
        self.link.give_back(self.fence);
    }
}

/// Bytes that a link takes in each of its two ranks' segments.
pub const fn link_bytes() -> usize {
    Segment::bytes_for::<Descriptor>(DESCRIPTORS)
        + Segment::bytes_for::<Acks>(1)
        + Segment::bytes_for::<Reading>(1)
}
