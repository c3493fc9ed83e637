//! What is borrowed.

use super::link::Link;
use crate::fence::FenceKind;

/// Bytes that a peer lends. Dropping it returns them.
#[derive(Debug)]
pub struct Piece<'d> {
    pub(super) bytes: *const [u8],
    pub(super) left: usize,
    pub(super) tag: u32,
    pub(super) link: &'d mut Link,
    pub(super) fence: FenceKind,
}

impl Piece<'_> {
    /// The bytes, where they lie.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: of an outbox: `outbox::read`. Of an address: the lender's scope has opened it, and
        // does not end before this piece is returned (offer Invariants 1 and 2), or it is on the
        // lender's shelf, in a segment that the link holds on to; only lenders of this process can have
        // written the address (Invariant 2).
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
        self.link.give_back(self.fence);
    }
}
