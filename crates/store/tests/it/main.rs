//! The server from outside: against Redis itself, its tools and clients, and clients that mean no good.

mod abuse;
mod client;
mod commands;
mod differential;
mod documents;
mod durable;
mod frames;
mod limits;
mod map;
mod observing;
mod pause;
mod processes;
mod replicas;
mod replies;
mod servers;
mod sessions;
mod tools;
