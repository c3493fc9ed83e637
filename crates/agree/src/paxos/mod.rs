//! 1Paxos: a log on which the members of a group agree, with one active acceptor.
//!
//! Without failures a command takes three messages: to the leader, from it to the acceptor, and a broadcast from there to
//! all. Who leads and who accepts stands in a *configuration log*. The position of an entry in it is the ballot of the
//! leader that wrote it.
//!
//! ```text
//! command ──► leader ── accept ──► acceptor ── learn ──► all members
//!                │                                  (the leader answers when it has learned)
//!                └─ a new leader or acceptor: compare-and-append ──► configuration log
//! ```
//!
//! | part | file | what it is |
//! | --- | --- | --- |
//! | [`Member`] | `member.rs` | leader and learner, a machine without I/O |
//! | [`Acceptor`] | `acceptor.rs` | the acceptor, in memory that outlives its process |
//! | [`ConfigurationLog`] | `log.rs` | compare-and-append, in memory that all share |
//! | [`Driver`] | `driver.rs` | what runs a member: time-outs, and commands that are submitted again |
//! | [`GroupMember`] | `group.rs` | members as threads, joined by queues |
//! | [`processes`] | `processes/` | members as processes, which may be killed |
//! | [`Message`], [`Configuration`] | `message.rs` | what they tell each other |
//! | [`Packet`], [`Transport`], [`SharedMemory`] | `transport.rs` | what drivers send each other, and what carries it |
//! | [`Routes`] | `routes.rs` | the trees over which what is accepted reaches all members |
//! | [`Window`] | `window.rs` | the entries that are kept |
//!
//! **Invariant 1:** what the acceptor of a configuration accepts with that configuration's ballot is chosen, and nothing else
//! is. **Invariant 2:** whatever a former acceptor may have accepted and not all members have learned is carried by the last
//! entry, or the present acceptor has accepted it. **Invariant 3:** a floor is raised only over what all members of the
//! configuration and its leader have learned.
//!
//! The rules that keep them, the faults that break them, and what was proved are in `docs/consensus.md`.
//!
//! Source: Smelt §5.6, and the 1Paxos that it cites, with an acceptor that can be changed.

mod acceptor;
mod driver;
mod due;
mod group;
mod log;
mod member;
mod message;
pub mod processes;
mod routes;
mod transport;
mod window;

#[cfg(test)]
mod model;

pub use acceptor::{Acceptor, Answer};
pub use driver::{Driver, Event, Full, Options, Snapshot};
pub use group::GroupMember;
pub use log::ConfigurationLog;
pub use member::{Input, Member, Output, Outputs, first_configuration};
pub use message::{Configuration, Message, Value};
pub use routes::Routes;
pub use transport::{Packet, SharedMemory, Submission, Transport};
pub use window::Window;
