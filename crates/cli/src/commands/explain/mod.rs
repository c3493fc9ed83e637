//! `corecast explain`: says which plan would run, or which algorithm at one size, and why.

mod args;
mod at_size;
mod plans;

use std::process::ExitCode;

use anyhow::Result;

pub(crate) use args::ExplainArgs;

use crate::options::Global;

/// Runs the command.
pub(crate) fn run(global: &Global, args: &ExplainArgs) -> Result<ExitCode> {
    match &args.size {
        Some(size) => at_size::run(global, args, size),
        None => plans::run(global, args),
    }
}
