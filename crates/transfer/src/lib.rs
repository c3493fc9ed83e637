//! Transfer of long data: the rank that has them lends them, and others read them in place.
//!
//! A queue moves 56 bytes per line and copies twice. Long data are *lent* instead: the lender names
//! a part of its buffer in one line (a descriptor), the borrower reads it in place, once, at the speed of
//! the memory, and returns the descriptor. Between threads of one process a descriptor names an address.
//! Between processes it names bytes of the lender's *bounce buffer*, a part of the team's segment to which
//! they are copied first, chunk by chunk, while the borrower reads the chunks before. What lies in *symmetric
//! memory*, another part of the segment, is read in place there too.
//!
//! The protocol of a single descriptor and its invariants are in `descriptor.rs`; its models are in `tests/loom.rs`.
//!
//! | file | what |
//! | --- | --- |
//! | `descriptor.rs` | the lines by which a descriptor is sent, acknowledged and revoked |
//! | `bounce_buffer.rs`, `eager_buffer.rs` | memory to which lent data are copied: for other processes, and for threads of this one |
//! | `cma.rs` | memory of another process, read by the kernel (`process_vm_readv`) |
//! | `symmetric.rs` | buffers that all processes of a team have mapped |
//! | `heap.rs` | buffers of a process that the processes of all of its teams map |
//! | `regions.rs` | memory that processes share by means of somebody else's |
//! | `link.rs`, `join.rs` | the two ends between a pair of ranks; the pieces of a loan, as a borrower reads them |
//! | `pipelined.rs` | loans that wait until the bounce buffer has room |
//! | `window.rs`, `scope.rs` | buffers of which parts can be lent, and for how long |
//! | `endpoint.rs` | all of a rank's loans |
//!
//! **Invariant 1:** an address is only exposed within a [`scope`], which ends only when no rank reads what
//! it has opened. **Invariant 2:** addresses travel in lines of this process's own memory, so no
//! other process can write one.

mod bounce_buffer;
#[cfg(not(loom))]
mod cma;
#[cfg(loom)]
#[path = "modelled.rs"]
mod cma;
#[cfg(not(loom))]
mod descriptor;
#[cfg(loom)]
pub mod descriptor;
mod eager_buffer;
mod endpoint;
mod fill;
#[cfg(not(loom))]
mod heap;
mod join;
mod link;
mod pipelined;
mod regions;
mod scope;
#[cfg(not(loom))]
mod symmetric;
mod unfetched;
mod window;

pub use bounce_buffer::{BounceMemory, loan_room};
pub use cma::Process;
pub use endpoint::Endpoint;
pub use fill::fill;
#[cfg(not(loom))]
pub use heap::{HeapName, MappedHeap, SymmetricHeap};
pub use join::{End, Memory, join};
pub use link::{Outside, Piece, link_bytes};
pub use regions::{SharedMapping, SharedRegion, SharedRegions};
pub use scope::{HasEndpoint, scope, scope_to_read};
#[cfg(not(loom))]
pub use symmetric::{AllocError, SymmetricBytes, SymmetricMemory};
pub use unfetched::Unfetched;
pub use window::Window;
