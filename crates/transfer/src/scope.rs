//! Scopes: parts of a buffer can be lent for as long as an operation runs.

use crate::endpoint::Endpoint;
use crate::window::Window;
use std::ops::Range;

/// A type that has an endpoint.
pub trait HasEndpoint {
    /// Returns the endpoint, which is the same one at each call.
    fn endpoint(&mut self) -> &mut Endpoint;
}

/// Opens `data`, whose elements have `element_size` bytes, for as long as `body` runs. Loans that still
/// stand then are revoked, so no rank reads `data` afterwards.
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

/// Opens `data` as [`scope`] does, for loans only: the window gives out no part for writing.
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
    // Borrowers turn the addresses into pointers again.
    let _ = start.expose_provenance();
    let mut window = Window::new(
        (start, len),
        server.endpoint().id(),
        element_size.max(1),
        writable,
    );
    /// Closes the window, also when `body` panics.
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
                // The loans are in an endpoint that cannot be reached, so nothing else is safe.
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
