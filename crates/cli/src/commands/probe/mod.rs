//! `corecast probe`: measures the costs of messages between this machine's hardware threads, and saves them for
//! the other commands.

mod args;
mod depth;
mod pairs;

use std::process::ExitCode;

use anyhow::Result;

pub(crate) use args::ProbeArgs;

use crate::options::Global;

/// Runs the command.
pub(crate) fn run(global: &Global, args: &ProbeArgs) -> Result<ExitCode> {
    match args.deep || args.coherence {
        true => depth::run(global, args),
        false => pairs::run(global, args),
    }
}
