//! A buffer of which parts can be lent while an operation runs.

use super::Desk;
use std::marker::PhantomData;
use std::ops::Range;

/// A buffer that a [`scope`] has opened. What is lent of it is read by others until it is returned;
/// the rest belongs to its rank ([`Desk::own`]).
#[derive(Debug)]
pub struct Window<'w> {
    pub(super) start: *mut u8,
    pub(super) len: usize,
    pub(super) desk: u64,
    /// Bytes that are not to be parted: an element.
    pub(super) grain: usize,
    writable: bool,
    data: PhantomData<&'w mut [u8]>,
}

impl Window<'_> {
    /// Bytes in all.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The addresses of a part.
    #[inline]
    pub(super) fn addresses(&self, range: &Range<usize>) -> Range<usize> {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "bytes {range:?} of a buffer of {}",
            self.len
        );
        let start = self.start.addr();
        start + range.start..start + range.end
    }

    /// A part for reading, whether it is lent or not.
    #[inline]
    pub fn view(&self, range: Range<usize>) -> &[u8] {
        let _ = self.addresses(&range);
        // SAFETY: within the buffer, which the scope borrows; borrowers only read, and `own` needs
        // the window for itself.
        unsafe { core::slice::from_raw_parts(self.start.add(range.start), range.len()) }
    }

    /// A part for writing; the caller has checked that nothing of it is lent.
    #[inline]
    pub(super) fn part(&mut self, range: Range<usize>) -> &mut [u8] {
        assert!(self.writable, "the buffer was opened for reading");
        let _ = self.addresses(&range);
        // SAFETY: within the buffer, which the scope borrows mutably (`writable`); nothing of it is
        // lent, says the caller, and this reference borrows the window, without which nothing can
        // be lent.
        unsafe { core::slice::from_raw_parts_mut(self.start.add(range.start), range.len()) }
    }
}

/// Who has a desk.
pub trait Host {
    /// The same desk each time.
    fn desk(&mut self) -> &mut Desk;
}

/// Opens `data`, whose elements have `grain` bytes, for as long as `body` runs. What is still lent
/// then is revoked, so nobody reads `data` afterwards.
///
/// # Examples
///
/// See [`Desk`].
pub fn scope<H: Host, R>(
    host: &mut H,
    data: &mut [u8],
    grain: usize,
    body: impl FnOnce(&mut H, &mut Window<'_>) -> R,
) -> R {
    open(host, (data.as_mut_ptr(), data.len()), grain, true, body)
}

/// The same for data that are only read.
pub fn scope_to_read<H: Host, R>(
    host: &mut H,
    data: &[u8],
    grain: usize,
    body: impl FnOnce(&mut H, &mut Window<'_>) -> R,
) -> R {
    let data = (data.as_ptr().cast_mut(), data.len());
    open(host, data, grain, false, body)
}

fn open<H: Host, R>(
    host: &mut H,
    (start, len): (*mut u8, usize),
    grain: usize,
    writable: bool,
    body: impl FnOnce(&mut H, &mut Window<'_>) -> R,
) -> R {
    // Borrowers make pointers of addresses again.
    let _ = start.expose_provenance();
    let mut window = Window {
        start,
        len,
        desk: host.desk().id(),
        grain: grain.max(1),
        writable,
        data: PhantomData,
    };
    /// Closes also when `body` panics.
    struct Close<'a, H: Host> {
        host: &'a mut H,
        desk: u64,
        addresses: Range<usize>,
        outer: (usize, usize),
    }
    impl<H: Host> Drop for Close<'_, H> {
        fn drop(&mut self) {
            let desk = self.host.desk();
            if desk.id() != self.desk {
                // The loans are in a desk that we cannot reach: nothing else is safe.
                std::process::abort();
            }
            desk.set_shape(self.outer);
            desk.close(&self.addresses);
        }
    }
    let addresses = window.addresses(&(0..len));
    let close = Close {
        outer: host.desk().set_shape((window.grain, len)),
        desk: window.desk,
        addresses,
        host,
    };
    body(&mut *close.host, &mut window)
}
