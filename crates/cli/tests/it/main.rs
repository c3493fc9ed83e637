//! The `corecast` command from outside, one module for each subcommand.

mod absurd;
mod all;
mod bench;
mod bench_algorithms;
mod common;
mod contradictions;
mod doctor;
mod errors;
mod explain;
mod explain_at_size;
mod graph;
mod install_docs;
mod interrupt;
mod plan;
mod probe;
#[path = "../../../../tests/references.rs"]
mod references;
mod report;
mod run;
mod serve;
mod sim;
mod topo;
mod tune;
