//! `corecast bench`: races Corecast's operations against MPI, OpenMP and other peers in one run.
//!
//! Entrants take turns round by round, so noise of the machine hits all alike; each is verified
//! before it is timed. The exit code is 1 when one of Corecast's own gives wrong results.
//!
//! Barriers race back to back, over several plans; operations with data race at each size, timed as
//! [`corecast_bench::sized`] says.

mod algorithms;
mod app;
mod app_args;
mod args;
mod conditions;
mod forecasts;
mod laid;
mod op;
mod overheads;
mod own;
mod processes;
mod programs;
mod racers;
mod races;
mod show;

use std::process::ExitCode;

use anyhow::Result;
use corecast_bench::Role;
use corecast_bench::comparison::Report;

pub(crate) use args::BenchArgs;
pub(crate) use processes::{RankArgs, rank, session_in};
pub(crate) use show::extent;

use crate::failure;
use crate::options::Global;
use races::races;
use show::{show, show_osu};

/// Runs the command.
pub(crate) fn run(global: &Global, args: &BenchArgs) -> Result<ExitCode> {
    if args.app.app.is_some() || args.overheads {
        return programs::run(global, args);
    }
    let races = races(global, args)?;
    match args.osu {
        true => show_osu(&races)?,
        false => show(global, args.algorithms(), &races)?,
    }
    let mut failed = races.iter().map(|r| r.comparison.failed(Role::Corecast));
    Ok(failure::checked(failed.all(|count| count == 0)))
}

/// The reports of the races with these arguments, for commands that show them in another form.
///
/// # Errors
///
/// Options do not fit each other or this machine, or a race fails.
pub(crate) fn reports(global: &Global, args: &BenchArgs) -> Result<Vec<Report>> {
    let races = races(global, args)?;
    Ok(races.iter().map(|race| race.comparison.report()).collect())
}
