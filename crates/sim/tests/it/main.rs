//! The simulator from outside.

mod bounds;
mod coherence;
mod collectives;
mod consistency;
mod drive;
mod engine;
