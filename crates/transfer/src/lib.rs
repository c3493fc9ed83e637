//! Long data: lent by the rank that has them, read where they lie.
//!
//! A queue moves 56 bytes per line and copies twice. Long data are *lent* instead: the lender names
//! a part of its buffer in one line (an offer), the borrower reads it in place, once, at the speed of
//! the memory, and returns the offer. Between threads of one process an offer names an address.
//! Between processes it names bytes of the lender's *outbox*, a part of the team's segment to which
//! they are copied first, chunk by chunk, while the borrower reads the chunks before.
//!
//! The protocol of a single offer and its invariants are in `offer.rs`; its models are in `tests/loom.rs`.
//!
//! | file | what |
//! | --- | --- |
//! | `offer.rs` | one offer: the lines by which it is made, returned and revoked |
//! | `outbox.rs`, `shelf.rs` | memory to which lent data are copied: for other processes, and for threads of this one |
//! | `far.rs` | memory of another process, read by the kernel |
//! | `link.rs`, `join.rs` | the two ends between a pair of ranks |
//! | `staged.rs` | loans that wait until the outbox has room |
//! | `window.rs`, `scope.rs` | buffers of which parts can be lent, and for how long |
//! | `piece.rs` | what a borrower reads |
//! | `desk.rs` | all of a rank's loans |
//!
//! **Invariant 1:** an address is only offered within a [`scope`], which ends when nobody reads what
//! it has opened. **Invariant 2:** addresses travel in lines of this process's own memory, so no
//! other process can write one.

mod desk;
#[cfg(not(loom))]
mod far;
#[cfg(loom)]
#[path = "modelled.rs"]
mod far;
mod join;
mod link;
#[cfg(not(loom))]
mod offer;
#[cfg(loom)]
pub mod offer;
mod outbox;
mod piece;
mod scope;
mod shelf;
mod staged;
mod unfetched;
mod window;

pub use desk::Desk;
pub use far::Process;
pub use join::{End, Memory, join};
pub use link::link_bytes;
pub use outbox::OutboxMemory;
pub use piece::{Outside, Piece};
pub use scope::{Host, scope, scope_to_read};
pub use unfetched::Unfetched;
pub use window::Window;
