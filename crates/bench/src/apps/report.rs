//! A race of an application, as text and as JSON.

use super::entrant::{OneRank, Solver, Task};
use super::streamcluster::Problem;
use super::{Over, Provider};
use crate::comparison::{Comparison, Entry};
use crate::cpu_placement::CpuPlacement;
use crate::engine::Role;
use crate::race::{self, Entrant, Progress, RaceError, Settings};
use crate::stats::{Ratio, Summary};
use crate::table::{align, known, places, range, with_interval};
use corecast_model::words::digits;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Version of [`Report`]. It rises when a field changes meaning or goes away.
pub const SCHEMA: u32 = 1;

/// Settings of a race of a whole application: a batch is one solution.
pub fn settings(quick: bool) -> Settings {
    let normal = Settings::default();
    Settings {
        batch: Duration::from_micros(1),
        warm_up_rounds: 1,
        rounds_min: if quick { 3 } else { 10 },
        rounds_max: if quick { 3 } else { 100 },
        budget: Duration::from_secs(if quick { 1 } else { 30 }),
        ..normal
    }
}

/// A race of Streamcluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The problem that was solved.
    pub problem: Problem,
    /// Number of centres of the solution.
    pub centres: usize,
    /// Number of candidates that were looked at.
    pub looks: u64,
    /// Times to solution; [`Role::Floor`] is one rank alone.
    pub comparison: Comparison,
    /// How often the ranks of each entrant synchronised in one solution.
    pub synchronisations: Vec<u64>,
}

impl Run {
    /// Races `providers` on `placements`, and one rank alone beside them.
    ///
    /// # Errors
    ///
    /// [`RaceError`] if there are no placements.
    ///
    /// # Panics
    ///
    /// If the problem does not [check out](Problem::check).
    pub fn race(
        problem: Problem,
        placements: &[CpuPlacement],
        settings: &Settings,
        providers: Vec<Box<dyn Provider + '_>>,
        progress: impl FnMut(Progress<'_>),
    ) -> Result<Run, RaceError> {
        // One rank alone meets nobody that it could lose.
        let task = Task::new(problem).map_err(|_| RaceError::Interrupted)?;
        let counts: Vec<AtomicU64> = (0..=providers.len()).map(|_| AtomicU64::new(0)).collect();
        let alone = OneRank {
            task: &task,
            ranks: placements.len(),
        };
        let mut entrants = vec![Entrant::threads(alone)];
        for (provider, count) in providers.into_iter().zip(&counts[1..]) {
            let solver = Solver {
                task: &task,
                synchronisations: count,
            };
            entrants.push(Entrant::threads(Over::new(solver, provider)));
        }
        let comparison = race::run("streamcluster", placements, settings, &entrants, progress)?;
        drop(entrants);
        Ok(Run {
            problem,
            centres: task.expected.weights.len(),
            looks: task.expected.looks,
            comparison,
            synchronisations: counts.iter().map(|c| c.load(Ordering::Relaxed)).collect(),
        })
    }

    /// Returns the JSON form.
    pub fn report(&self) -> Report {
        let race = &self.comparison;
        let (alone, peer) = (race.fastest(Role::Floor), race.fastest(Role::Peer));
        let outcome = |(entry, &synchronisations): (&Entry, &u64)| {
            let summary = entry.summary();
            let per_second = |s: Summary| synchronisations as f64 / s.median * 1e9;
            Outcome {
                name: entry.name.clone(),
                role: (entry.role != Role::Floor).then_some(entry.role),
                setting: entry.setting.clone(),
                status: entry.status.word_at_end().to_owned(),
                reason: entry.status.reason().map(str::to_owned),
                ns_to_solution: summary,
                synchronisations,
                synchronisations_per_second: summary.map(per_second),
                ratio_to_best_peer: peer.and_then(|peer| race.ratio(entry, peer)),
                ratio_to_one_rank: alone.and_then(|alone| race.ratio(entry, alone)),
            }
        };
        Report {
            schema: SCHEMA,
            kind: "application".to_owned(),
            application: race.title.clone(),
            problem: self.problem,
            centres: self.centres,
            looks: self.looks,
            ranks: race.ranks,
            placements: race.placements.clone(),
            oversubscribed: race.oversubscribed,
            rounds: race.rounds,
            best_peer: peer.map(|peer| peer.name.clone()),
            entries: race
                .entries
                .iter()
                .zip(&self.synchronisations)
                .map(outcome)
                .collect(),
            notes: race.notes.clone(),
        }
    }
}

/// JSON form of a [`Run`]. Times are nanoseconds; a ratio of 2 means twice as long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Always `application`.
    pub kind: String,
    /// Name of the application.
    pub application: String,
    /// The problem that was solved.
    pub problem: Problem,
    /// Number of centres of the solution, the same for all entrants.
    pub centres: usize,
    /// Number of candidates that were looked at, the same for all entrants.
    pub looks: u64,
    /// Number of ranks.
    pub ranks: usize,
    /// Where the ranks ran.
    #[serde(rename = "seats")]
    pub placements: String,
    /// Whether ranks had to share PUs.
    pub oversubscribed: bool,
    /// Counted rounds.
    pub rounds: usize,
    /// The fastest peer.
    pub best_peer: Option<String>,
    /// One per entrant.
    pub entries: Vec<Outcome>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// One entrant's part of a [`Report`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name.
    pub name: String,
    /// Role of the entrant; absent for one rank alone.
    pub role: Option<Role>,
    /// How it was set up.
    pub setting: String,
    /// `timed`, `skipped` or `failed`.
    pub status: String,
    /// Why it was skipped or failed.
    pub reason: Option<String>,
    /// Time from the first rank's start to the last one's end.
    pub ns_to_solution: Option<Summary>,
    /// Barriers, or collectives where the provider has some, that rank 0 called in one solution.
    pub synchronisations: u64,
    /// Their number divided by the median time.
    pub synchronisations_per_second: Option<f64>,
    /// How many times as long it takes as the fastest peer.
    pub ratio_to_best_peer: Option<Ratio>,
    /// How many times as long it takes as one rank alone.
    pub ratio_to_one_rank: Option<Ratio>,
}

impl Report {
    /// The outcome as a table, fastest first.
    pub fn render(&self) -> String {
        let mut timed: Vec<(Summary, &Outcome)> = self
            .entries
            .iter()
            .filter_map(|entry| Some((entry.ns_to_solution?, entry)))
            .collect();
        timed.sort_by(|a, b| a.0.median.total_cmp(&b.0.median));
        let header = ["name", "ms", "95 % interval", "synchronisations/s"];
        let header = header
            .into_iter()
            .chain(["/ best peer", "/ one rank", "setting"]);
        let mut rows: Vec<Vec<String>> = vec![header.map(str::to_owned).collect()];
        for (summary, entry) in timed {
            let ms = |ns: f64| digits(ns / 1e6);
            let rate = entry.synchronisations_per_second.filter(|&rate| rate > 0.0);
            rows.push(vec![
                entry.name.clone(),
                ms(summary.median),
                range(summary.interval, ms),
                known(rate, digits),
                known(entry.ratio_to_best_peer, with_interval),
                known(entry.ratio_to_one_rank, with_interval),
                entry.setting.clone(),
            ]);
        }
        let problem = &self.problem;
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{}: {} points of {} dimensions in chunks of {}, {} centres, {} candidates looked at; {} ranks on {}, {} interleaved rounds",
            self.application,
            problem.points,
            problem.dimensions,
            problem.chunk,
            self.centres,
            self.looks,
            self.ranks,
            places(&self.placements, self.oversubscribed),
            self.rounds,
        );
        align(&mut text, &rows);
        for entry in &self.entries {
            if let Some(reason) = &entry.reason {
                let _ = writeln!(
                    text,
                    "{} {}: {reason}",
                    entry.status.to_uppercase(),
                    entry.name
                );
            }
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        text
    }
}
