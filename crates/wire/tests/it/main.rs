//! Tests of the public interface: queues, and memory that another process corrupts.
#![cfg(not(loom))]

mod asleep;
mod by_itself;
mod denied;
mod queue;
mod queue_corrupt;
mod sandbox;
mod waits;
