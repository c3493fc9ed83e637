//! `corecast sim`: runs a collective on a simulated machine, with the code that runs on hardware.

mod args;
mod compare;
mod one;
mod place;

use std::process::ExitCode;

use anyhow::Result;

pub(crate) use args::SimArgs;

use crate::options::Global;

/// Runs the command.
pub(crate) fn run(global: &Global, args: &SimArgs) -> Result<ExitCode> {
    match args.compare {
        true => compare::run(global, args),
        false => one::run(global, args),
    }
}
