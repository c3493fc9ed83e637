//! A server whose replicas are processes, each of which may be killed.
//!
//! | file | what |
//! | --- | --- |
//! | `supervisor.rs` | [`ProcessServer`]: the process that listens, starts the others, and starts those again that end |
//! | `generation.rs` | what replicas share that are there at a time, and what they begin with |
//! | `replica.rs` | [`Replica`]: one of these, with an event loop |
//! | `handover.rs` | what a replica is given by its parent: options, and descriptors |
//! | `replica_store.rs` | the store as the event loop has it: writes through 1Paxos, reads once the replica is current |
//! | `offers.rs`, `asking.rs` | snapshots from replica to replica: the lines that they share; who is asked, and for how long |
//! | `answers.rs` | what writes were answered that a replica finds in a snapshot |
//! | `replica_log.rs`, `log_writer.rs` | the log in a folder, as each replica has it; the threads of the one that writes it |
//! | `limits.rs` | how many there may be, and how long they wait |
//!
//! ```text
//! corecast serve ──┬── replica ── event loop ── connections        all accept from one listening socket
//!  memory, socket  ├── replica                                     1Paxos in the memory, a bell for each
//!                  └── replica ◄── a snapshot, when it is started again
//! ```

mod answers;
mod asking;
mod generation;
mod handover;
mod limits;
mod log_writer;
mod offers;
mod replica;
mod replica_log;
mod replica_store;
mod supervisor;
#[cfg(test)]
mod tests;

pub use replica::Replica;
pub(crate) use replica_store::ReplicaStore;
pub use supervisor::ProcessServer;
