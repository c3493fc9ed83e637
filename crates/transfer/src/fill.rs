//! Loans that are filled where they lie.

use crate::scope::HasEndpoint;

/// Has `body` fill the next part that the peer behind `link` [lends for it](crate::Endpoint::lend_to_fill), and returns it. What the
/// part held is still there. Nothing else of this peer can be borrowed meanwhile.
///
/// # Errors
///
/// `body`, if there is no such loan or it was revoked.
///
/// # Panics
///
/// If the peer's next loan is one to be read.
pub fn fill<H: HasEndpoint, R, B: FnOnce(&mut H, &mut [u8]) -> R>(
    server: &mut H,
    link: usize,
    body: B,
) -> Result<R, B> {
    /// Returns the part, also when `body` panics.
    struct GiveBack<'a, H: HasEndpoint> {
        server: &'a mut H,
        endpoint: u64,
        link: usize,
    }
    impl<H: HasEndpoint> Drop for GiveBack<'_, H> {
        fn drop(&mut self) {
            let endpoint = self.server.endpoint();
            if endpoint.id() != self.endpoint {
                // The link is in an endpoint that cannot be reached, so its peer could wait for ever.
                std::process::abort();
            }
            endpoint.end_fill(self.link);
        }
    }
    let endpoint = server.endpoint();
    let Some(bytes) = endpoint.begin_fill(link) else {
        return Err(body);
    };
    let filled = GiveBack {
        endpoint: endpoint.id(),
        server,
        link,
    };
    // SAFETY: the lender's scope has opened the bytes for writing, touches them no more, lends them to nobody else
    // (`Endpoint::lend_to_fill`), and does not end before they are returned (descriptor Invariants 1 and 2), which is after
    // `body`; only lenders of this process can have written the address. `body` cannot reach them otherwise: its own windows
    // are other memory.
    Ok(body(&mut *filled.server, unsafe { &mut *bytes }))
}
