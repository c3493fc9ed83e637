//! The transfer of long data from outside: loans by address and over bounce buffers.
#![cfg(not(loom))]

mod counting;
mod endpoint;
