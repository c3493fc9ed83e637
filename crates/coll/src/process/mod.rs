//! What teams of several processes need before they share a line: finding each other, and noticing
//! that one of them has died.

mod address;
mod book;
mod front;
mod host;
mod inherited;
pub mod keeper;
mod life;
mod message;
mod party;
mod reach;
mod record;
mod rendezvous;

pub use address::Address;
pub(crate) use book::{Book, Pen, SITES};
pub use front::FrontError;
pub use host::HostGuard;
pub use inherited::{InheritError, Inherited, TEAM_FD, TEAM_RANK, TEAM_SIZE, inherited};
pub use message::{Hello, VERSION};
pub use party::EnterError;
pub(crate) use party::Party;
pub(crate) use reach::Processes;
pub use reach::{CMA, Reach};
pub(crate) use record::{RECORD_LINES, Record};
pub use rendezvous::{Entered, RendezvousError, enter};
