//! The tuning of the main job within a given time: the team of all hardware threads and one in which ranks share them, as
//! threads and as processes. Teams of other sizes run what the most similar of these has found.

use std::time::Duration;

use anyhow::Result;
use corecast_model::Collective;
use corecast_tune::tuner::{SIZES, TuneRequest};

use super::args::TuneArgs;
use super::course::{Models, course};
use super::report;
use super::tuning::{Tuning, tuned};
use crate::interrupt;
use crate::source::Source;

/// The parts of the time for threads and for processes. Processes have fewer races, as theirs take over the plans and what was
/// simulated for threads.
const PARTS: [(bool, f64); 2] = [(false, 0.6), (true, 0.4)];

/// The part of the time, where there is enough, for teams whose ranks share hardware threads, and its parts: each algorithm has
/// processes of its own, which start and end in turn.
const SHARING: f64 = 0.45;
const PARTS_OF_SHARING: [(bool, f64); 2] = [(false, 0.35), (true, 0.65)];

/// The operations that race where ranks share hardware threads, at fewer sizes as well: races take longer there. Allgathers
/// and gathers of processes tell the transfer path.
const OF_SHARING: [Collective; 5] = [
    Collective::Broadcast,
    Collective::Allreduce,
    Collective::Reduce,
    Collective::Allgather,
    Collective::Gather,
];

/// Ranks per hardware thread where ranks share them.
const SHARE: usize = 4;

/// The most ranks of a team whose ranks share hardware threads: more of them take longer than there is time.
const SHARING_MAX: usize = 64;

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
    let mut models = Models::default();
    let sharing_ranks = SHARE * source.file.threads().len();
    let (alone, sharing) = match time >= ENOUGH && sharing_ranks <= SHARING_MAX {
        true => (
            1.0 - SHARING,
            Some((Some(sharing_ranks), SHARING, PARTS_OF_SHARING)),
        ),
        false => (1.0, None),
    };
    let teams = std::iter::once((None, alone, PARTS)).chain(sharing);
    let teams = teams.flat_map(|(ranks, part, parts)| {
        parts.map(|(processes, of_part)| (processes, ranks, time.mul_f64(part * of_part)))
    });
    for (processes, ranks, budget) in teams {
        let kind = if processes { "processes" } else { "threads" };
        let what = match ranks {
            Some(ranks) => format!("{ranks} {kind} that share hardware threads"),
            None => kind.to_owned(),
        };
        let request = TuneRequest {
            operations: match ranks {
                Some(_) => OF_SHARING.to_vec(),
                None => operations.clone(),
            },
            budget,
            sizes: sizes(if ranks.is_some() { budget } else { time }),
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
        let names = request
            .operations
            .iter()
            .map(|operation| operation.to_string());
        let args = TuneArgs {
            op: names.collect(),
            processes,
            budget: request.budget.as_secs_f64(),
            ..TuneArgs::default()
        };
        let course = course(source, &mut models, &args, ranks)?;
        let mut tuning = tuned(course, source, &request, &args)?;
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
    if sharing.is_none() {
        let why = format!(
            "teams with more ranks than hardware threads were not tuned: that takes longer, see corecast tune --ranks {sharing_ranks}"
        );
        all.notes.push(why);
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
