//! Tests of the public interface: queues, and memory that another process corrupts.
#![cfg(not(loom))]

mod asleep;
mod queue;
mod queue_corrupt;
mod waits;
