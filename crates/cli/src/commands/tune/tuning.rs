//! Tunes a team: runs the races, checks the result, and saves it.

use std::time::{Duration, Instant};

use anyhow::Result;
use corecast::Planned;
use corecast::choose::Races;
use corecast::process::{CMA, COPIED};
use corecast::rules::{self, CORECAST_ALGO, Fit, Rules};
use corecast::store::{Store, Stored};
use corecast_collectives::Algorithms;
use corecast_model::Collective;
use corecast_model::profile::Mode;
use corecast_tune::check::{self, Checked};
use corecast_tune::hardware::Hardware;
use corecast_tune::keep::{TunedTeam, keep};
use corecast_tune::outcome::Outcome;
use corecast_tune::racer::{Form, Racer};
use corecast_tune::tuner::{self, TuneRequest};
use tempfile::TempDir;

use super::args::TuneArgs;
use super::course::Course;
use crate::commands::bench::session_in;
use crate::source::Source;
use crate::{interrupt, output, progress};

/// A tuned team, with the results of the races and of the check.
pub(super) struct Tuning {
    pub(super) planned: Planned,
    pub(super) pinned: bool,
    pub(super) mode: Mode,
    pub(super) outcome: Outcome,
    pub(super) checked: Option<Vec<Checked>>,
    /// How long the races took; `None` where the team was only checked.
    pub(super) took: Option<Duration>,
    /// A sentence that says where the result was saved, or why it was not.
    pub(super) saved: Option<String>,
}

impl Tuning {
    /// Saves the result in this machine's profile. If that fails it warns, since the result is worth printing all the
    /// same.
    pub(super) fn keep(&mut self) {
        let team = TunedTeam {
            planned: &self.planned,
            pinned: self.pinned,
            mode: self.mode,
            outcome: &self.outcome,
        };
        self.saved = Some(output::kept("", keep(&team)));
    }
}

/// Tunes the team of `course`, and checks it if the arguments ask for it.
///
/// # Errors
///
/// A race fails.
pub(super) fn tuned(
    course: Course,
    source: &Source,
    request: &TuneRequest,
    args: &TuneArgs,
) -> Result<Tuning> {
    let begin = Instant::now();
    let mode = match args.processes {
        true => Mode::Processes,
        false => Mode::Threads,
    };
    let home = match args.processes {
        true => Some(home(source)?),
        false => None,
    };
    let launch = |form: &Form| {
        let folder = home
            .as_ref()
            .map_or("/".into(), |home| home.path().display().to_string());
        let mut environment = vec![
            ("XDG_CACHE_HOME".to_owned(), folder),
            (CORECAST_ALGO.to_owned(), form.algorithms.to_string()),
        ];
        if let Some(copies) = form.kernel_copies {
            // As teams take it from a profile.
            environment.push((CMA.to_owned(), format!("{COPIED}{copies}")));
        }
        session_in(&course.placements, environment).expect("this command lies somewhere")
    };
    let racer = || {
        let placements = course.placements.clone();
        let (start, interrupted) = (request.start, &interrupt::happened);
        match args.processes {
            true => Hardware::processes(placements, start, &launch, interrupted),
            false => {
                let options = course.planned.options.clone();
                Hardware::threads(placements, start, options, interrupted)
            }
        }
    };
    let (outcome, took) = match args.check_only {
        true => (as_it_is(&course, request, mode)?, None),
        false => {
            let outcome = raced(&course, request, &mut racer())?;
            (outcome, Some(begin.elapsed()))
        }
    };
    let checked = match (args.check || args.check_only) && !interrupt::happened() {
        false => None,
        true => {
            let bar = progress::bar("checking");
            let found = check::check(
                &mut racer(),
                &outcome,
                &course.search_space,
                &request.sizes,
                request.budget,
                &mut |done, what| bar.at(done, &what),
            );
            bar.finish();
            Some(found?)
        }
    };
    Ok(Tuning {
        planned: course.planned.clone(),
        pinned: course.pinned,
        mode,
        outcome,
        checked,
        took,
        saved: None,
    })
}

/// The result of the races of a team.
fn raced(course: &Course, request: &TuneRequest, racer: &mut dyn Racer) -> Result<Outcome> {
    let bar = progress::bar("tuning");
    let mut started = false;
    let mut outcome = tuner::tune(
        racer,
        &course.search_space,
        course.model.as_ref(),
        request,
        &mut |step| {
            if !started {
                bar.start();
                started = true;
            }
            bar.at(step.done, &step.what);
        },
    )?;
    outcome.notes.extend(course.note.clone());
    bar.finish();
    Ok(outcome)
}

/// What the team of a course runs now.
fn as_it_is(course: &Course, request: &TuneRequest, mode: Mode) -> Result<Outcome> {
    let here = corecast_machine::discover();
    let options = &course.planned.options;
    let fit = Fit {
        threads: &course.planned.rank_pus,
        pinned: course.pinned,
        mode,
        start: request.start,
        similar: !options.learn,
    };
    let rules = Rules::new(Algorithms::default(), rules::environment()?)?;
    let races = Races::here(&Store::standard(), &here);
    let rules = rules.with_tuning(&races, &fit, &rules::circumstances(&here));
    let runs = |operation: Collective, bytes| {
        let asked = rules.algorithms().asked(operation.name(), bytes);
        asked.expect("an operation with algorithms")
    };
    let outcome = Outcome::unraced(
        request.start,
        course.planned.plans.clone(),
        &request.operations,
        &request.sizes,
        &runs,
    );
    Ok(Outcome {
        wait_config: options.wait_config,
        kernel_copies: rules.kernel_copies(),
        notes: vec![format!("tuning: {}", rules.source())],
        ..outcome
    })
}

/// A temporary cache folder for processes that race. It has the measured costs and the plans that have won, but no
/// earlier tuning, which would change what runs.
fn home(source: &Source) -> Result<TempDir> {
    let (home, store) = source.cache_of_costs()?;
    let machine = corecast_machine::discover().machine;
    if let Stored::Found(_, mut profile) = Store::standard().profile(&machine) {
        profile.tunings.clear();
        store.save_profile(&machine, &profile)?;
    }
    Ok(home)
}
