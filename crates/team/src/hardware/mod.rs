//! The fabric of real threads: flags, queues, shared lines and loans, with waits that end when the team fails.
//!
//! Each file uses those below it only.
//!
//! ```text
//! fabric.rs             the operations of a fabric: what a collective calls
//! pair_exchange.rs      operations that are one exchange of two ranks
//! cache_lines.rs        CLa's primitives: what an algorithm over lines of its own calls
//! line_operations.rs    at a line that a group shares
//! loans.rs              how a rank takes what another one lends
//! nothing_else.rs       what ends a wait for data that came by another transfer path
//! ends.rs               a rank's ends of its links and shared lines
//! waiter.rs             a rank's waits for the flags of a link
//! link.rs               a rank's end of its link to one peer
//! call_context.rs       the operation that a rank is in, and its waits
//! peer_watch.rs         what ends a wait for a peer that cannot arrive
//! context_histories.rs  what ranks have begun in a context for operations in flight
//! lines.rs              a rank's ends of shared lines
//! ```

mod cache_lines;
mod call_context;
mod context_histories;
mod ends;
mod fabric;
mod line_operations;
mod lines;
mod link;
mod loans;
mod nothing_else;
mod pair_exchange;
mod peer_watch;
mod waiter;

pub use cache_lines::{MemberLines, TeamLines};
pub(crate) use call_context::CallContext;
pub(crate) use context_histories::ContextHistories;
pub use ends::Hardware;
pub(crate) use ends::NO_LINK;
pub(crate) use lines::{SharedLines, line_ends, shared_bytes};
pub(crate) use link::Link;
pub(crate) use loans::COMBINE_BYTES;
pub(crate) use pair_exchange::{ExchangeStage, Word};
