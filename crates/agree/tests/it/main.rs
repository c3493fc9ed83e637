//! What users of the crate see, over real threads.
#![cfg(not(loom))]

mod counters;
mod linearizability;
mod processes;
mod replicated;
mod watermark;
