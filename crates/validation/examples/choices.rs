//! Writes docs/choices.md anew: what the symbolic model chooses on the machines of its paper.
//!
//! ```text
//! cargo run --release -p corecast-validation --example choices
//! ```

use std::path::Path;

fn main() -> std::io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/choices.md");
    std::fs::write(path, corecast_validation::choose::report())
}
