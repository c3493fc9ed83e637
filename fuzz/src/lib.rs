//! What the fuzzer calls: each function takes any bytes, and panics when Corecast is wrong.
//!
//! The same functions replay the corpus in a plain test, without the fuzzer.
#![deny(unsafe_code)]

mod c_interface;
mod case;
mod grouped;
mod limits;
mod lines;
#[path = "../../crates/plan/tests/it/common/optima.rs"]
mod optima;
mod planner;
mod proofs;
mod readers;
mod rendezvous;
mod repairs;
mod resp;
mod searches;
mod truth;

pub use c_interface::c_interface;
pub use lines::lines;
pub use planner::planner;
pub use readers::{machine_file, profile, words};
pub use rendezvous::rendezvous;
pub use resp::resp;

/// A function that takes any bytes.
pub type Target = fn(&[u8]);

/// All targets by the name of their folder in the corpus.
pub const TARGETS: [(&str, Target); 8] = [
    ("machine_file", machine_file),
    ("words", words),
    ("profile", profile),
    ("planner", planner),
    ("c_interface", c_interface),
    ("rendezvous", rendezvous),
    ("lines", lines),
    ("resp", resp),
];

/// Runs a target on each file that the command line names, as the fuzzer's own binaries do.
///
/// # Panics
///
/// When a file cannot be read, and when the target panics.
pub fn replay_arguments(target: Target) {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        println!("{path}: {} bytes", bytes.len());
        target(&bytes);
    }
}
