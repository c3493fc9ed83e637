//! Machines of several hosts in virtual time: the collectives over a network, message by message.
//!
//! [`engine`](crate::engine) has each line of one machine; thousands of ranks with megabytes each are too many lines. Here
//! a part serves whole messages, and long ones in turns. All parts are servers with queues, so contention follows from
//! them.
//!
//! ```text
//!   host 0                                                    host 1
//!   core ──► memory of its region ──► port of the region      …
//!   core ──► card (out) ───────── L ──────────► card (in) ──► core
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `machine.rs` | hosts, regions, cores, cards, and what they cost |
//! | `from_file.rs` | the machine of a machine file |
//! | `part.rs` | the names of parts |
//! | `world.rs` | the parts at work, messages under way, and events |
//! | `fabric.rs` | the operations of a rank: [`HostFabric`] |
//! | `run.rs` | runs a program on all ranks: [`run_hosts`], and a [`Job`](crate::drive::Job): [`predict_hosts`] |
//!
//! **Between hosts** messages follow LogGP: a message keeps its sender busy for o, the sender's card for g + (k − 1) G, is
//! under way for L, occupies the receiver's card as long, and its receiver for o. The card is that of the rank's region,
//! or one of its host. What is lent is announced by a message without data; the borrower asks the lender's card, which
//! sends the data in turns of [`NetworkRules::turn_bytes`], so that several borrowers share a card; and the borrower
//! returns the loan by a message. Where cards cannot read memory themselves, the lender's core receives the question and
//! sends the data: it is busy for o each time, and for as long as the data take to leave.
//!
//! **Inside of a host** a message or a flag takes the time of a line, and its bytes that of two copies. A loan is read by
//! the core of its borrower, in turns: the memory of the lender's region reads it, and the port of that region passes it
//! to another one, at the same time. Where it is written to costs nothing more than the core's time.

mod fabric;
mod from_file;
mod machine;
mod part;
mod run;
mod world;

pub use fabric::HostFabric;
pub use machine::{ClusterMachine, HostParts, NetworkRules};
pub use part::{HostPart, NoPart};
pub use run::{HostsOptions, HostsOutcome, predict_hosts, run_hosts};
