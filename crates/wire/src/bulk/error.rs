//! Why lent bytes cannot be read.

/// Why bytes of a loan did not come from the memory of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfetched {
    /// The lender has taken the loan back, or is gone: wait for the news of it.
    Revoked,
    /// The kernel refuses: say so, and the rest comes through the outbox.
    Refused,
    /// There are no such bytes in the loan: the lender's memory is spoilt.
    Outside,
}

/// A process offers what is not in its outbox: its memory is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a peer offers {len} bytes at {start}, which are not in its outbox")]
pub struct Outside {
    /// Offset in the outbox.
    pub start: u64,
    /// Bytes.
    pub len: u64,
}
