//! The reasons why a kernel copy fails.

/// The reason why bytes of a loan were not copied from the memory of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfetched {
    /// The lender has taken the loan back or has ended. The caller waits for news of that.
    Revoked,
    /// The kernel refuses. The caller passes this on by
    /// [`Endpoint::refuse`](crate::Endpoint::refuse), and the rest comes through the bounce buffer.
    Refused,
    /// The loan has no such bytes, so the lender's memory is corrupt.
    Outside,
}
