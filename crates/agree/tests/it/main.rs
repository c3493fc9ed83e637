//! What users of the crate see, over real threads.
#![cfg(not(loom))]

mod counters;
mod replicated;
