//! `corecast plan`: finds a tree or rounds for an operation, with cost, lower bound and gap.

mod args;
mod compare;
mod hosts;
mod one;
mod pictures;

use std::process::ExitCode;

use anyhow::Result;

pub(crate) use args::PlanArgs;

use crate::options::Global;

/// Runs the command.
pub(crate) fn run(global: &Global, args: &PlanArgs) -> Result<ExitCode> {
    match args.compare || args.pattern == "all" {
        true => compare::run(global, args),
        false => one::run(global, args),
    }
}
