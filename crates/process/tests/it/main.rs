//! Tests of the collectives through the public interface, one module for each subject.
//!
//! Tests that need other processes start this program again, as a test of one exact name; see
//! [`by_itself`] for those that need a process of their own.

mod algorithms;
mod arguments;
mod by_bytes;
#[path = "../../../wire/tests/it/by_itself.rs"]
mod by_itself;
mod by_length;
#[path = "../../../../tests/channels.rs"]
mod channels;
mod chosen;
mod claims;
mod cma;
mod collectives;
mod common;
mod double_fetch;
mod ends;
mod forked;
mod hot_path;
mod learning;
mod lines;
mod lines_killed;
mod long;
mod misuse;
mod one_line;
mod operators;
mod oracle;
mod other_fabric;
mod overlap;
mod own_process;
mod peer_monitor;
mod periodic;
mod processes;
mod programs;
mod recorded;
mod rendezvous;
mod runs;
mod survivors;
mod symmetric;
mod sync;
mod unequal_parts;
mod wraps;
