//! Tests of the public interface: loans by address and through bounce buffers.
#![cfg(not(loom))]

#[path = "../../../wire/tests/it/by_itself.rs"]
mod by_itself;
mod counting;
mod denied;
mod endpoint;
mod forked;
#[path = "../../../wire/tests/it/sandbox.rs"]
mod sandbox;
