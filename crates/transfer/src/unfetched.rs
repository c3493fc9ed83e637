//! Why a copy by the kernel did not come about.

/// Why bytes of a loan did not come from the memory of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfetched {
    /// The lender has taken the loan back, or is gone: wait for the news of it.
    Revoked,
    /// The kernel refuses: say so, and the rest comes through the bounce buffer.
    Refused,
    /// There are no such bytes in the loan: the lender's memory is corrupt.
    Outside,
}
