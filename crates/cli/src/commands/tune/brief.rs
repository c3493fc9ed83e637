//! The tuning of the main job: the team of all hardware threads, as threads and as processes, within a given time.

use std::time::Duration;

use anyhow::Result;
use corecast_model::Collective;
use corecast_tune::tuner::{SIZES, TuneRequest};

use super::args::TuneArgs;
use super::course::course;
use super::report;
use super::tuning::{Tuning, tuned};
use crate::interrupt;
use crate::source::Source;

/// The parts of the time for threads and for processes. Processes have fewer races, as theirs take over the plans.
const PARTS: [(bool, f64); 2] = [(false, 0.6), (true, 0.4)];

/// Less time than this is not enough for a race of each operation at each size.
const LEAST: Duration = Duration::from_secs(2);

/// So much time is enough for races at all sizes.
const ENOUGH: Duration = Duration::from_secs(15);

/// The tunings of a main job.
pub(crate) struct BriefTunings {
    tunings: Vec<Tuning>,
    /// What was not tuned, and why.
    pub(crate) notes: Vec<String>,
}

/// Tunes all operations but barriers, which the main job has raced, within `time`.
///
/// # Errors
///
/// A race fails.
pub(crate) fn brief(source: &Source, time: Duration) -> Result<BriefTunings> {
    let mut operations = Collective::WITH_ALGORITHMS.to_vec();
    operations.retain(|&operation| operation != Collective::Barrier);
    let mut all = BriefTunings {
        tunings: Vec::new(),
        notes: Vec::new(),
    };
    for (processes, part) in PARTS {
        let what = if processes { "processes" } else { "threads" };
        let request = TuneRequest {
            operations: operations.clone(),
            budget: time.mul_f64(part),
            sizes: sizes(time),
            ..TuneRequest::default()
        };
        if interrupt::happened() || request.budget < LEAST {
            let why = match interrupt::happened() {
                true => "interrupted",
                false => "there was no time left, see corecast tune",
            };
            all.notes.push(format!("{what} were not tuned: {why}"));
            continue;
        }
        // With a list of operations earlier races of plans and waits stay.
        let names = operations.iter().map(|operation| operation.to_string());
        let args = TuneArgs {
            op: names.collect(),
            processes,
            budget: request.budget.as_secs_f64(),
            ..TuneArgs::default()
        };
        let mut tuning = tuned(course(source, &args, None)?, source, &request, &args)?;
        if tuning.outcome.interrupted {
            all.notes
                .push(format!("{what} were not tuned: interrupted"));
            continue;
        }
        let unraced = tuning.outcome.notes.iter();
        all.notes
            .extend(unraced.map(|note| format!("{what}: {note}")));
        tuning.keep();
        all.tunings.push(tuning);
    }
    Ok(all)
}

/// The sizes at which operations race: fewer where there is little time.
fn sizes(time: Duration) -> Vec<usize> {
    let every = if time < ENOUGH { 3 } else { 1 };
    SIZES.into_iter().step_by(every).collect()
}

impl BriefTunings {
    /// For each team the operations with the algorithm of each range of lengths.
    pub(crate) fn text(&self) -> String {
        let texts = self.tunings.iter().map(report::brief);
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The teams as `corecast tune --json` has them.
    pub(crate) fn report(&self) -> Vec<report::Team<'_>> {
        self.tunings.iter().map(report::team).collect()
    }
}
