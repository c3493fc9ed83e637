//! The wires from outside: loans, queues, and memory that another process spoils.
#![cfg(not(loom))]

mod asleep;
mod counting;
mod desk;
mod queue;
mod queue_spoilt;
