//! Tests of the site, of the README and the guide, and of the metadata of all packages.

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
