//! Tests of the public interface: loans by address and through bounce buffers.
#![cfg(not(loom))]

mod counting;
mod endpoint;
