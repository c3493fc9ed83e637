//! Collectives over several hosts: a team of ranks on each host, and a [`Network`] between the ranks that act for their hosts.
//!
//! | file | what |
//! | --- | --- |
//! | `hosts.rs` | which rank is on which host, and who acts for it |
//! | `node.rs` | the ranks of one host: a team, or a single rank |
//! | `plans.rs` | trees and segments, by the costs of a message |
//! | `member.rs` | one rank of all, and what every operation needs |
//! | `buffers.rs` | what operations keep their data in between steps |
//! | `reductions.rs`, `moves.rs`, `scans.rs` | the operations, each composed of one on each level |
//!
//! Source: NUMA clusters §3 (three-level trees, of which a team's own plans make the lower two; segments).
//!
//! **Architecture invariant:** in every operation a rank that acts for its host has sent everything before it leaves, and
//! waits until all of it may be forgotten. So a rank that computes between two operations holds nobody up.
#![forbid(unsafe_code)]

mod buffers;
mod error;
mod hosts;
mod member;
mod moves;
mod node;
mod plans;
mod reductions;
mod scans;

pub use corecast_collectives::pipeline::PipelineSegments;
pub use corecast_network::Network;
pub use error::ClusterError;
pub use hosts::Hosts;
pub use member::{ClusterMember, ClusterOptions};
pub use plans::pattern;
