//! Agreement by messages whose costs are known: 1Paxos and a store on it, as Smelt measured them (§5.6, §5.7).
//!
//! The members are those of `corecast_agree`: what programs run takes each step here too. A core does one thing at a time. A message
//! keeps its sender busy for the pairwise cost of sending and its receiver for that of receiving, in the order in which messages come
//! (Smelt §3.1). So nobody is told who is the bottleneck: whoever has more to do than the others makes them wait.
//!
//! | file | what |
//! | --- | --- |
//! | `machines.rs` | costs, and which cores are replicas and clients |
//! | `cores.rs` | cores in virtual time |
//! | `cluster.rs` | replicas and clients on such cores |
//! | `runs.rs` | the runs of the paper's figures |

mod cluster;
mod cores;
pub mod machines;
pub mod runs;
