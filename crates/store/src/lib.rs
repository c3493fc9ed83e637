//! A key-value store in memory, and in a folder if wanted, that speaks the Redis protocol.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`resp`] | the protocol: requests are parsed, replies written |
//! | `commands` | what each command does to the databases |
//! | `keyspace.rs`, `database.rs`, `places.rs` | one replica: runs of commands are its operations; keys, values, times |
//! | `map.rs` | [`Map`]: a replicated map for the threads of a program, without a server |
//! | `store.rs` | the replicas, by `corecast_agree::Replicated` |
//! | `durability` | the log of what is written, and snapshots |
//! | `processes` | replicas that are processes, by `corecast_agree::paxos::processes` |
//! | `server` | event loops, connections, sessions |
//! | `arguments.rs`, `number.rs`, `extended.rs`, `glob.rs` | words of a request, numbers, patterns |
//! | `bytes.rs`, `keyspace/encoded.rs`, `database/snapshot.rs` | writes and replicas as bytes, for other processes |
#![forbid(unsafe_code)]

mod arguments;
mod bytes;
mod commands;
mod counts;
mod database;
mod durability;
mod extended;
mod glob;
mod keyspace;
mod map;
mod number;
mod places;
mod processes;
pub mod resp;
mod server;
mod store;

pub use arguments::Span;
pub use corecast_agree::{Chosen, Options, Reads, ReplicaError};
pub use durability::AppendFsync;
pub use map::{Entry, Map, MapHandle};
pub use processes::{ProcessServer, Replica};
pub use server::{Server, ServerOptions, Stopper};
