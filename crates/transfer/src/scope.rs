//! For how long parts of a buffer can be lent: as long as an operation runs.

use crate::endpoint::Endpoint;
use crate::window::Window;
use std::ops::Range;

/// Who has an endpoint.
pub trait HasEndpoint {
    /// The same endpoint each time.
    fn endpoint(&mut self) -> &mut Endpoint;
}

/// Opens `data`, whose elements have `element_size` bytes, for as long as `body` runs. What is still lent
/// then is revoked, so nobody reads `data` afterwards.
///
/// # Examples
///
/// See [`Endpoint`].
pub fn scope<H: HasEndpoint, R>(
    server: &mut H,
    data: &mut [u8],
    element_size: usize,
    body: impl FnOnce(&mut H, &mut Window<'_>) -> R,
) -> R {
    open(
        server,
        (data.as_mut_ptr(), data.len()),
        element_size,
        true,
        body,
    )
}

/// The same for data that are only read.
pub fn scope_to_read<H: HasEndpoint, R>(
    server: &mut H,
    data: &[u8],
    element_size: usize,
    body: impl FnOnce(&mut H, &mut Window<'_>) -> R,
) -> R {
    let data = (data.as_ptr().cast_mut(), data.len());
    open(server, data, element_size, false, body)
}

fn open<H: HasEndpoint, R>(
    server: &mut H,
    (start, len): (*mut u8, usize),
    element_size: usize,
    writable: bool,
    body: impl FnOnce(&mut H, &mut Window<'_>) -> R,
) -> R {
    // Borrowers make pointers of addresses again.
    let _ = start.expose_provenance();
    let mut window = Window::new(
        (start, len),
        server.endpoint().id(),
        element_size.max(1),
        writable,
    );
    /// Closes also when `body` panics.
    struct Close<'a, H: HasEndpoint> {
        server: &'a mut H,
        endpoint: u64,
        addresses: Range<usize>,
        outer: (usize, usize),
    }
    impl<H: HasEndpoint> Drop for Close<'_, H> {
        fn drop(&mut self) {
            let endpoint = self.server.endpoint();
            if endpoint.id() != self.endpoint {
                // The loans are in an endpoint that we cannot reach: nothing else is safe.
                std::process::abort();
            }
            endpoint.set_shape(self.outer);
            endpoint.close(&self.addresses);
        }
    }
    let addresses = window.addresses(&(0..len));
    let close = Close {
        outer: server.endpoint().set_shape((window.element_size, len)),
        endpoint: window.endpoint,
        addresses,
        server,
    };
    body(&mut *close.server, &mut window)
}
