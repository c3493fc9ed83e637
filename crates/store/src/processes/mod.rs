//! A server whose replicas are processes, each of which may be killed.
//!
//! | file | what |
//! | --- | --- |
//! | `supervisor.rs` | [`ProcessServer`]: the process that listens, starts the others, and starts those again that end |
//! | `replica.rs` | [`Replica`]: one of these, with an event loop |
//! | `handover.rs` | what a replica is given by its parent: options, and descriptors |
//! | `replica_store.rs` | the store as the event loop has it: writes through 1Paxos, reads once the replica is current |
//! | `offers.rs` | snapshots from replica to replica |
//! | `limits.rs` | how many there may be, and how long they wait |
//!
//! ```text
//! corecast serve ──┬── replica ── event loop ── connections        all accept from one listening socket
//!  memory, socket  ├── replica                                     1Paxos in the memory, a bell for each
//!                  └── replica ◄── a snapshot, when it is started again
//! ```

mod handover;
mod limits;
mod offers;
mod replica;
mod replica_store;
mod supervisor;

pub use replica::Replica;
pub(crate) use replica_store::ReplicaStore;
pub use supervisor::ProcessServer;
