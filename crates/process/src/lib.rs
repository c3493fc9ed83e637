//! What teams of several processes need before they share a line: finding each other, and noticing
//! that one of them has died.
//!
//! A team is a [`Team`](corecast_team::Team) like any other once it is there: [`ProcessGroup`] makes it.
//!
//! | file | what |
//! | --- | --- |
//! | `address.rs`, `rendezvous.rs`, `host.rs`, `message.rs` | a name or path, where the first process hands the memory to the others |
//! | `inherited.rs` | memory, rank and size from a launcher |
//! | `front.rs` | the first lines of shared memory: version, options, algorithms, plans, who has come |
//! | `error.rs` | why a process cannot become part of a team |
//! | `party.rs` | a process's part of a team: created, attached, waiting for all |
//! | `keeper.rs`, `life.rs` | one thread that the kernel wakes when another process ends |
//! | `reach.rs` | whether the memory of other processes is read, and from how many bytes on |
#![forbid(unsafe_code)]

mod address;
mod error;
mod front;
mod host;
mod inherited;
pub mod keeper;
mod life;
mod message;
mod party;
mod reach;
mod rendezvous;

pub use address::Address;
pub use error::{EnterError, InheritError};
pub use front::FrontError;
pub use host::HostGuard;
pub use inherited::{Inherited, TEAM_FD, TEAM_RANK, TEAM_SIZE, inherited};
pub use message::{Hello, VERSION};
pub use party::ProcessGroup;
pub use reach::CMA;
pub use rendezvous::{Entered, RendezvousError, enter};
