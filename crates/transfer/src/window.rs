//! A buffer of which parts can be lent while an operation runs.

use std::marker::PhantomData;
use std::ops::Range;

/// A buffer that a [`scope`](crate::scope) has opened. Borrowers read the lent parts until they return them, or fill them; the
/// rest belongs to its rank ([`Endpoint::view_mut`](crate::Endpoint::view_mut)).
#[derive(Debug)]
pub struct Window<'w> {
    pub(crate) start: *mut u8,
    pub(crate) len: usize,
    pub(crate) endpoint: u64,
    /// The element size in bytes.
    pub(crate) element_size: usize,
    writable: bool,
    data: PhantomData<&'w mut [u8]>,
}

impl Window<'_> {
    /// A window over `len` bytes from `start` on, whose loans are those of the endpoint with that number. The
    /// caller has borrowed the buffer for as long as the window lives, mutably if it is `writable`.
    pub(crate) fn new(
        (start, len): (*mut u8, usize),
        endpoint: u64,
        element_size: usize,
        writable: bool,
    ) -> Self {
        Self {
            start,
            len,
            endpoint,
            element_size,
            writable,
            data: PhantomData,
        }
    }

    /// The length in bytes.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The addresses of a part.
    #[inline]
    pub(crate) fn addresses(&self, range: &Range<usize>) -> Range<usize> {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "bytes {range:?} of a buffer of {}",
            self.len
        );
        let start = self.start.addr();
        start + range.start..start + range.end
    }

    /// Whether parts can be written.
    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    /// A part for reading; the caller has checked that no peer is to fill any of it.
    #[inline]
    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        let _ = self.addresses(&range);
        // SAFETY: within the buffer, which the scope borrows; borrowers only read, says the caller, and `part` and
        // `Endpoint::lend_to_fill` need the window for themselves.
        unsafe { core::slice::from_raw_parts(self.start.add(range.start), range.len()) }
    }

    /// A part for writing; the caller has checked that nothing of it is lent.
    #[inline]
    pub(crate) fn part(&mut self, range: Range<usize>) -> &mut [u8] {
        assert!(self.writable, "the buffer was opened for reading");
        let _ = self.addresses(&range);
        // SAFETY: within the buffer, which the scope borrows mutably (`writable`); nothing of it is
        // lent, says the caller, and this reference borrows the window, without which nothing can
        // be lent.
        unsafe { core::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}
