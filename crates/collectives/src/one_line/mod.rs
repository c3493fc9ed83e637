//! The algorithms of cache-line-aware design for data of one line, in its four primitives.
//!
//! Each is written once over [`CacheLines`](corecast_wire::cache_lines::CacheLines), and runs on threads, on a machine in
//! virtual time and on the symbolic model. It is made with the lines that it needs, which it adds to a
//! [`LineSet`](corecast_wire::cache_lines::LineSet); then each rank calls its `run` once in each round, from round 1 on.
//!
//! | algorithm | source | what a team's collectives have of it |
//! | --- | --- | --- |
//! | [`ManyToOne`], same line | Figure 4a | the fan-in of the barrier `groups` |
//! | [`ManyToOne`], different lines | Figure 4b | the fan-in of the barrier `tree` |
//! | [`OneToMany`], same line | Figure 8a | the fan-out of the barrier `groups`; the broadcast `line` |
//! | [`OneToMany`], different lines | Figure 8b | the fan-out of the barrier `tree`; the broadcast `messages` |
//! | [`FlatBarrier`] | Figures 4 and 8 | the barriers `groups` and `tree` over a flat plan |
//! | [`Dissemination`] | Figure 10 | the barriers `m-way`, `multi-m`, `pair-wise`, `package-roots` |
//! | [`OneLineBroadcast`] | Figure 12 | the broadcast `groups`, which does not wait until children have copied |
//! | [`GroupedBroadcast`] | §4.1.2 | the broadcast `groups`, likewise |
//! | [`OneLineReduction`] | Figure 16 | the reduction `messages`: a child's flag is in the line of its data |
//!
//! So none of them is an algorithm of the [registry](crate::registry). The collectives have the same synchronisation,
//! and where they differ they do less: queues and broadcast rings have several slots, so nobody waits until a line was
//! read, and a message is one line where Figure 16 has a flag, a private line and a counter.
//!
//! # Source
//!
//! Ramos and Hoefler, *Cache Line Aware Algorithm Design for Cache-Coherent Architectures* (CLa), §3 to §5.

mod broadcast;
mod dissemination;
mod reduction;
mod synchronisation;
mod tree_lines;

pub use broadcast::{GroupedBroadcast, OneLineBroadcast};
pub use dissemination::Dissemination;
pub use reduction::OneLineReduction;
pub use synchronisation::{FlatBarrier, ManyToOne, OneToMany, Sharing};
