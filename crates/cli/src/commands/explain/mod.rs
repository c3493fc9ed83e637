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
    match (&args.op, &args.size) {
        (Some(op), Some(size)) => at_size::run(global, args, op, size),
        _ => plans::run(global, args),
    }
}
