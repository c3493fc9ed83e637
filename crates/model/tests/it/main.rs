//! Tests of the file formats by the public interface.

mod database;
mod garbage;
#[path = "../../../../tests/references.rs"]
mod references;
