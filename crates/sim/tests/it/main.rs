//! Tests of the simulator's public interface.

mod bounds;
#[path = "../../../../tests/channels.rs"]
mod channels;
mod coherence;
mod collectives;
mod consistency;
mod drive;
mod engine;
mod examples;
mod hosts;
mod one_line;
