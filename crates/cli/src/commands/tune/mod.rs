//! `corecast tune`: races algorithms, plans and waits for each operation and size, and keeps the winners.
//!
//! The tuner is in `corecast_tune` and described in docs/tuning.md; this module has the arguments and the output.

mod args;
mod brief;
mod course;
mod dry;
mod report;
mod tuning;

use std::process::ExitCode;

use anyhow::{Result, bail};
use corecast_tune::tuner::TuneRequest;

pub(crate) use args::{TuneArgs, chosen};
pub(crate) use brief::{BriefTunings, brief};
pub(crate) use report::Team as TunedTeam;

use crate::options::Global;
use crate::{failure, interrupt, source};
use args::request;
use course::{Course, Models, course};
use tuning::tuned;

/// Runs the command.
pub(crate) fn run(global: &Global, args: &TuneArgs) -> Result<ExitCode> {
    if let Some(machine) = &global.machine {
        bail!("tune measures this machine, not {machine:?}: leave -i out");
    }
    let request = request(args)?;
    let source = source::open(None)?;
    let teams = match &args.ranks[..] {
        [] => vec![None],
        ranks => ranks.iter().copied().map(Some).collect(),
    };
    let mut models = Models::default();
    let courses = teams
        .iter()
        .map(|&ranks| course(&source, &mut models, args, ranks));
    let courses: Vec<Course> = courses.collect::<Result<_>>()?;
    if args.dry_run {
        dry::show(global, &courses, &request)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut tunings = Vec::new();
    let count = courses.len() as u32;
    let request = TuneRequest {
        budget: request.budget / count,
        ..request
    };
    for course in courses {
        if interrupt::happened() {
            break;
        }
        let mut tuning = tuned(course, &source, &request, args)?;
        if !args.no_save && !args.check_only {
            tuning.keep();
        }
        tunings.push(tuning);
    }
    report::show(global, &source, &request, &tunings)?;
    let mut checks = tunings.iter().flat_map(|t| t.checked.iter().flatten());
    Ok(failure::checked(!checks.any(|check| check.is_slower())))
}
