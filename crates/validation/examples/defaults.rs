//! Writes docs/defaults.md anew: what teams run where nothing was measured, beside the best on simulated machines.
//!
//! ```text
//! cargo run --release -p corecast-validation --example defaults
//! cargo run --release -p corecast-validation --example defaults -- --check
//! ```
//!
//! The second form writes nothing, and fails where the document differs from what would be written.

use std::path::Path;
use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/defaults.md");
    let report = corecast_validation::defaults::report();
    if std::env::args().nth(1).as_deref() != Some("--check") {
        std::fs::write(path, report)?;
    } else if std::fs::read_to_string(path)? != report {
        eprintln!("docs/defaults.md is not what would be written: run this without --check");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
