//! What a collective may do: the few line operations that every algorithm is written in.
//!
//! An algorithm sees its own rank and the lines that join it to its peers, nothing else. So the
//! same source runs on hardware, and on any other fabric that can move a line from one rank to
//! another and say when it has arrived.
//!
//! In the words of the cache-line-aware model (CLa §2.4): `notify` is a `write` of a flag line,
//! `wait` a `wait` on it; `send` is a `write` with the payload in the flag's line, `receive` a
//! `wait` followed by a `copy`.

/// Line operations between one rank and its peers.
///
/// Between two ranks, messages of [`send`](Fabric::send) arrive in the order in which they were
/// sent, and so do notifications; the two are not ordered with each other.
pub trait Fabric {
    /// Why an operation ended without doing its work.
    type Error;

    /// This rank.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// Tells `peer` that this rank has come here: a message without payload.
    ///
    /// # Errors
    ///
    /// The fabric's own.
    fn notify(&mut self, peer: usize) -> Result<(), Self::Error>;

    /// Waits for the next [`notify`](Fabric::notify) of `peer` that was not waited for yet.
    ///
    /// # Errors
    ///
    /// The fabric's own; waiting for a peer that is lost is one.
    fn wait(&mut self, peer: usize) -> Result<(), Self::Error>;

    /// Sends `payload` to `peer`. May wait until the peer has received earlier messages.
    ///
    /// # Errors
    ///
    /// The fabric's own.
    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Self::Error>;

    /// Waits for the next message of `peer`, which must be as long as `payload`, and copies it there.
    ///
    /// # Errors
    ///
    /// The fabric's own; a message of another length or of another operation is one.
    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), Self::Error>;
}
