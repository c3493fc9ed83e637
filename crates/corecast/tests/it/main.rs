//! Tests of the crate's public interface. Rules about the repository's files are tested by the program `tidy`,
//! which needs nothing of this crate.

mod examples;
mod kernel_texts;
mod learning;
mod processes;
mod profiles;
mod records;
mod succession;
mod teams;
mod waits;
