//! Teams of several processes: how they find each other, share memory, and notice that one of them has died.
//!
//! [`ProcessGroup`] makes a [`Team`](corecast_team::Team), which is then used like a team of threads.
//!
//! | file | what |
//! | --- | --- |
//! | `address.rs`, `rendezvous.rs`, `rendezvous_server.rs`, `message.rs` | a name or path, where the first process hands the memory to the others |
//! | `inherited.rs` | memory, rank and size from a launcher |
//! | `segment_header.rs` | the first lines of shared memory: version, options, algorithms, plans, ranks that have joined |
//! | `error.rs` | why a process cannot become part of a team |
//! | `process_group.rs`, `assembly.rs`, `backoff.rs` | a process's part of a team: created, attached, waiting for all |
//! | `survivors.rs`, `succession.rs` | how those that are left of a team agree, and go on as another one |
//! | `peer_monitor.rs`, `process_stat.rs` | one thread that the kernel wakes when another process ends, and by which others notice the end of this one |
//! | `transfer_path.rs` | whether the memory of other processes is read, and from how many bytes on |
#![forbid(unsafe_code)]

mod address;
mod assembly;
mod backoff;
mod error;
mod inherited;
mod message;
pub mod peer_monitor;
mod process_group;
mod process_stat;
mod rendezvous;
mod rendezvous_server;
mod segment_header;
#[cfg(corecast_simulated)]
mod simulated_rendezvous;
mod succession;
mod survivors;
mod transfer_path;

pub use address::Address;
pub use error::{EnterError, InheritError};
pub use inherited::{Inherited, TEAM_FD, TEAM_RANK, TEAM_SIZE, inherited};
pub use message::{Hello, RANKS_MAX, VERSION};
pub use process_group::ProcessGroup;
pub use rendezvous::{Entered, RendezvousError, enter};
pub use rendezvous_server::RendezvousServer;
pub use segment_header::SegmentHeaderError;
pub use succession::Places;
pub use survivors::Survivors;
pub use transfer_path::{CMA, COPIED};
