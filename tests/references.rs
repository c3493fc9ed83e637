//! Data of others that tests compare with, which lie beside the checkout and not in it.
//!
//! A test program takes this file in by its path. Where the data are missing its tests say SKIPPED, and fail where
//! `CORECAST_REQUIRE_REFERENCES` is `1`: a test that compares with nothing must not look like one that passed.

use std::path::{Path, PathBuf};

/// The folder of Smelt's public machine database; `None`, with a line that says so, where the checkout has none
/// beside it.
///
/// # Panics
///
/// Where there is none and `CORECAST_REQUIRE_REFERENCES` is `1`.
pub(crate) fn machine_database() -> Option<PathBuf> {
    // Crates are two folders below the checkout.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/machinedb");
    if folder.is_dir() {
        return Some(folder);
    }
    let required = std::env::var("CORECAST_REQUIRE_REFERENCES").is_ok_and(|value| value == "1");
    assert!(
        !required,
        "CORECAST_REQUIRE_REFERENCES is set, and there is no machine database in {}",
        folder.display()
    );
    println!("SKIPPED: no machine database beside the checkout");
    None
}
