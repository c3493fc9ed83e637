//! How a buffer is opened for loans, and closed again whatever happens.

use super::desk::Desk;
use super::window::Window;
use std::marker::PhantomData;
use std::ops::Range;

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
