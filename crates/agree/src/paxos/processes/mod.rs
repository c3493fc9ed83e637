//! Members of a group as processes, each of which may be killed at any time and started again.
//!
//! What has to outlive a member is in one segment, which whoever starts the members makes and keeps: acceptors, the
//! configuration log, packets under way, and the watermark of reads. So a leader and an acceptor that are killed together, or all
//! members but one, lose nothing that was delivered anywhere.
//!
//! | part | file | written by | if its writer is killed amid it |
//! | --- | --- | --- | --- |
//! | [`AcceptorMemory`] | `acceptor_memory.rs` | its member, but for promises | the entry is not accepted |
//! | [`ConfigurationMemory`] | `configuration_memory.rs` | all | the entry is not appended |
//! | rings of packets | `packet_ring.rs` | one end each | the packet was never sent |
//! | the watermark | `member.rs` | all | it is a word |
//! | who runs | `group.rs` | who starts the members | it is a word each |
//!
//! None of these has a lock: each step takes effect by one write. So a member that is stopped holds up no other one either.
//!
//! | more | file |
//! | --- | --- |
//! | [`ProcessGroup`], [`ProcessMember`] | `group.rs`, `member.rs` |
//! | commands of any length | `piece.rs`, `unfinished.rs` |
//! | where what lies | `layout.rs`, `word_stream.rs` |
//! | how members reach each other | `wires.rs` |
//! | who is silent because it waits for a CPU | `starvation.rs` |
//! | kills at any write, for tests | `writes.rs` |
//!
//! **Reads** by the watermark: a member raises it over an entry before it delivers the entry to its user, and reads are answered once
//! all below it was delivered there. So a read that begins after any answer that shows an entry finds the entry.

mod acceptor_memory;
mod configuration_memory;
#[cfg(not(loom))]
mod group;
#[cfg(not(loom))]
mod layout;
#[cfg(not(loom))]
mod member;
#[cfg(not(loom))]
mod packet_ring;
mod piece;
#[cfg(not(loom))]
mod starvation;
#[cfg(not(loom))]
mod unfinished;
#[cfg(not(loom))]
mod wires;
mod word_stream;
mod writes;

pub use acceptor_memory::AcceptorMemory;
pub use configuration_memory::ConfigurationMemory;
#[cfg(not(loom))]
pub use group::{ProcessGroup, Ring};
#[cfg(not(loom))]
pub use member::{Delivery, ProcessMember};
pub use piece::Piece;
