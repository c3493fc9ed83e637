//! A key-value store that speaks the Redis protocol.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod database;
mod extended;
mod glob;
mod keyspace;
mod number;
pub mod resp;
mod server;
mod store;

pub use arguments::Span;
pub use server::{Server, ServerOptions, Stopper};
