//! The `corecast` command from outside, one module for each subcommand.

mod all;
mod bench;
mod common;
mod doctor;
mod errors;
mod explain;
mod explain_at_size;
mod plan;
mod probe;
mod report;
mod run;
mod sim;
mod topo;
mod tune;
