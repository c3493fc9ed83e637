//! The wires from outside: queues, and memory that another process spoils.
#![cfg(not(loom))]

mod asleep;
mod queue;
mod queue_corrupt;
