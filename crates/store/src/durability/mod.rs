//! Durability: a log of what is written, and snapshots, in a folder.
//!
//! ```text
//!  event loops ──► order of writes ──► follower ──► records ──► segments  log-…       recovery: the newest whole snapshot,
//!      ▲                                                 │                               and the records after it
//!      └── replies, once what they depend on is there ◄──┘
//!                  a replica ──► snapshot-…, and older segments are removed
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `policy.rs` | when what was written is made durable |
//! | `journal.rs` | who writes the entries of the order, and up to where replies may go out |
//! | `source.rs` | what gives these entries |
//! | `tail.rs`, `group_log.rs` | where replicas are processes: what each keeps until it is in the log, and what all see of it |
//! | `saver.rs` | when snapshots are taken |
//! | `background.rs` | all of it together, and its threads |
//! | `entry.rs`, `dump.rs`, `bytes.rs` | entries and databases as bytes |
//! | `log.rs`, `record.rs`, `header.rs` | the files of the log |
//! | `snapshot.rs` | those of snapshots |
//! | `recovery.rs` | what a server begins with |
//! | `disk.rs`, `directory.rs` | the file system |
//! | `fault.rs`, `simulated.rs`, `failing.rs`, `simulation.rs`, `takeover.rs`, `tests.rs`, `journal/tests.rs` | tests: disks that crash or fail, and faults that they must find |
//!
//! **Architecture invariant:** a reply goes out when the entries that it depends on are in the log, and under `always` durable:
//! those that its replica had applied. So nobody is told what could be lost.

mod background;
mod bytes;
mod directory;
mod disk;
mod dump;
mod entry;
#[cfg(test)]
mod failing;
pub(crate) mod fault;
mod group_log;
mod header;
mod journal;
mod log;
mod policy;
mod record;
mod recovery;
mod saver;
#[cfg(test)]
pub(crate) mod simulated;
#[cfg(test)]
mod simulation;
mod snapshot;
mod source;
mod tail;
#[cfg(test)]
mod takeover;
#[cfg(test)]
mod tests;

pub(crate) use background::{Durability, Persistence, SEGMENT_BYTES};
pub(crate) use directory::Directory;
pub(crate) use disk::Disk;
pub(crate) use entry::Entry;
#[cfg(test)]
pub(crate) use failing::{FAILS, FailingDisk};
#[cfg(test)]
pub(crate) use fault::OF_PROCESS;
pub(crate) use group_log::GroupLog;
pub(crate) use journal::{Commit, Journal};
pub use policy::AppendFsync;
pub(crate) use recovery::reopen;
pub(crate) use saver::{GROWN_BYTES_MIN, Saver};
pub(crate) use tail::Tail;
