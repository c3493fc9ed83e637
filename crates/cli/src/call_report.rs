//! The call that `sim` and `graph` are about, as their JSON and their text begin.

use corecast_plan::Pattern;
use corecast_sim::drive::{Call, Collective};
use serde::Serialize;

/// A call of a collective on some threads of a machine.
#[derive(Debug, Serialize)]
pub(crate) struct CallReport<'a> {
    schema: u32,
    machine: &'a str,
    op: &'static str,
    algorithm: &'a str,
    pattern: String,
    root: usize,
    size: usize,
    threads: &'a [u32],
}

impl<'a> CallReport<'a> {
    /// The report of `call`, with blocks of `size` bytes.
    pub(crate) fn new(
        call: &'a Call,
        size: usize,
        pattern: Pattern,
        (machine, threads): (&'a str, &'a [u32]),
    ) -> Self {
        Self {
            schema: 1,
            machine,
            op: call.collective.name(),
            algorithm: &call.algorithm,
            pattern: pattern.to_string(),
            root: call.root,
            size,
            threads,
        }
    }
}

/// A line that says what is called, with blocks of `size` bytes, and `on` what.
pub(crate) fn title(call: &Call, size: usize, pattern: Pattern, on: &str) -> String {
    let bytes = match call.collective {
        Collective::Barrier => String::new(),
        _ => format!(" {size} bytes,"),
    };
    let (collective, algorithm) = (call.collective, &call.algorithm);
    format!("{collective}, {algorithm},{bytes} pattern {pattern}, on {on}")
}
