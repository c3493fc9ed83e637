//! The façade from outside. The house rules are a program of their own, `tidy`, since they need nothing of the crate.

mod examples;
mod processes;
mod profiles;
mod teams;
mod waits;
