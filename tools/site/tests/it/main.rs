//! The documents as a site, and the packages as a registry would get them.

use std::path::PathBuf;

mod packages;
mod pages;
mod readme;

/// The repository's folder.
fn root() -> PathBuf {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../..").canonicalize().unwrap()
}

/// A file of the repository as text.
#[track_caller]
fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
