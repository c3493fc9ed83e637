//! Loans that are filled where they lie.

use crate::scope::HasEndpoint;

/// Has `body` fill the next part that the peer behind `link` [lends for it](crate::Endpoint::lend_to_fill), and returns it. What the
/// part held is still there. Nothing else of this peer can be borrowed meanwhile. A part that `body` did not fill, as it panicked or
/// failed, is not returned: its lender waits until it takes it back.
///
/// # Errors
///
/// `body`, if there is no such loan or it was revoked.
///
/// # Panics
///
/// If the peer's next loan is one to be read.
pub fn fill<H: HasEndpoint, E, B: FnOnce(&mut H, &mut [u8]) -> Result<(), E>>(
    server: &mut H,
    link: usize,
    body: B,
) -> Result<Result<(), E>, B> {
    /// Ends the fill, also when `body` panics.
    struct End<'a, H: HasEndpoint> {
        server: &'a mut H,
        endpoint: u64,
        link: usize,
        is_filled: bool,
    }
    impl<H: HasEndpoint> Drop for End<'_, H> {
        fn drop(&mut self) {
            let endpoint = self.server.endpoint();
            if endpoint.id() != self.endpoint {
                // The link is in an endpoint that cannot be reached, so its peer could wait for ever.
                std::process::abort();
            }
            endpoint.end_fill(self.link, self.is_filled);
        }
    }
    let endpoint = server.endpoint();
    let Some(bytes) = endpoint.begin_fill(link) else {
        return Err(body);
    };
    let mut end = End {
        endpoint: endpoint.id(),
        server,
        link,
        is_filled: false,
    };
    // SAFETY: the lender's scope has opened the bytes for writing, touches them no more, lends them to nobody else
    // (`Endpoint::lend_to_fill`), and does not end before the fill has (descriptor Invariants 1 and 2), which is after `body`;
    // only lenders of this process can have written the address. `body` cannot reach them otherwise: its own windows are other
    // memory.
    let result = body(&mut *end.server, unsafe { &mut *bytes });
    end.is_filled = result.is_ok();
    Ok(result)
}
