//! Pieces of a loan, as a borrower reads them.

use crate::link::Link;
use corecast_wire::FenceKind;

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
    /// The bytes, in place.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: of a bounce buffer: `bounce_buffer::read`. Of an address: the lender's scope has opened it, and
        // does not end before this piece is returned (descriptor Invariants 1 and 2), or it is on the lender's
        // eager buffer, in a segment that the link holds on to; only lenders of this process can have written the
        // address (Invariant 2).
        unsafe { &*self.bytes }
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
