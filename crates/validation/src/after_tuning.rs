//! What the tuner of the main job chooses on simulated machines, beside the best algorithm there.
//!
//! The tuner is the one that runs on hardware. What it times here are simulated times with the noise of a busy machine, by a
//! clock that stands still but for the batches that are timed; the choices are then held against the times without noise.

use crate::document::summary;
use crate::simulated_team::{SimulatedTeam, unasked};
use corecast_collectives::{Algorithms, Plans, entry};
use corecast_model::Collective;
use corecast_tune::candidates::ask;
use corecast_tune::outcome::{Outcome, Tuned};
use corecast_tune::predict::Predict;
use corecast_tune::racer::{Contender, RaceFailed, Racer, Subject};
use corecast_tune::search_space::SearchSpace;
use corecast_tune::sequential_test::SequentialTest;
use corecast_tune::tuner::{TuneRequest, tune};
use fastrand::Rng;
use std::time::Duration;

/// The time that the main job has for the team of all hardware threads, about.
const BUDGET: Duration = Duration::from_secs(17);

/// The least time of a batch of calls, their starts included, and the time of what comes before the first one.
const BATCH: Duration = Duration::from_micros(600);
const SETUP: Duration = Duration::from_millis(3);

/// How much longer or shorter a contender takes in a whole replicate, as by the place of its buffers.
const PLACEMENT: f64 = 0.03;

/// By how much the model of the machine is wrong at most.
const MODEL_WRONG: f64 = 1.25;

/// What the tuning of a simulated team has found.
#[derive(Debug)]
pub struct AfterTuning<'t> {
    team: &'t SimulatedTeam,
    unasked: Algorithms,
    outcome: Outcome,
}

impl<'t> AfterTuning<'t> {
    /// Tunes `operations` as the main job does. Each `seed` has its own noise.
    ///
    /// # Panics
    ///
    /// If no race can be run.
    pub fn of(team: &'t SimulatedTeam, operations: &[Collective], seed: u64) -> Self {
        let unasked = unasked(Some(team.half_bytes()));
        let space = SearchSpace {
            plans: team.plans().clone(),
            algorithms: unasked,
            sharing: 1,
            processes: false,
            barrier: "smelt".to_owned(),
            barrier_ns: None,
            tree: [("smelt".to_owned(), None), ("smelt".to_owned(), None)],
            rivals: Vec::new(),
            waits: "balanced".to_owned(),
            wait_configs: Vec::new(),
            transfer_paths: false,
        };
        let request = TuneRequest {
            operations: operations.to_vec(),
            budget: BUDGET,
            ..TuneRequest::default()
        };
        let mut racer = Simulated {
            team,
            rng: Rng::with_seed(seed),
            now: Duration::ZERO,
        };
        let model = Model { team, seed };
        let outcome = tune(&mut racer, &space, &model, &request, &mut |_| {});
        Self {
            team,
            unasked,
            outcome: outcome.expect("a simulated machine runs all races"),
        }
    }

    fn tuned(&self, operation: Collective) -> Option<&Tuned> {
        let mut tuned = self.outcome.operations.iter();
        tuned.find(|tuned| tuned.operation == operation)
    }

    /// The algorithm that a tuned team runs.
    pub fn runs(&self, operation: Collective, bytes: usize) -> &'static str {
        let mut asked = self.unasked;
        let tuned = self.tuned(operation);
        let algorithm = tuned.and_then(|tuned| tuned.algorithm(bytes));
        ask(&mut asked, operation, algorithm);
        self.team.runs(operation, bytes, &asked)
    }

    /// The algorithm that a tuned team runs, and its time divided by the least one.
    pub fn ratio(&self, operation: Collective, bytes: usize) -> (&'static str, f64) {
        let name = self.runs(operation, bytes);
        let time = self.team.time(operation, name, bytes);
        let (_, least) = self.team.best(operation, bytes);
        (name, time.expect("what won its race runs") / least)
    }

    /// Whether the operation was raced with blocks of this length.
    pub fn was_raced(&self, operation: Collective, bytes: usize) -> bool {
        let raced = |tuned: &Tuned| tuned.points.iter().any(|point| point.bytes == bytes);
        self.tuned(operation).is_some_and(raced)
    }
}

/// A model of the machine that is wrong by up to a quarter.
struct Model<'t> {
    team: &'t SimulatedTeam,
    seed: u64,
}

impl Predict for Model<'_> {
    fn predict(
        &self,
        operation: Collective,
        algorithm: &str,
        _plans: &Plans,
        bytes: usize,
    ) -> Option<f64> {
        let known = entry(operation.algorithms_of(), algorithm)?;
        let sized = known.sizes.map_or(&[][..], |sizes| sizes.names);
        let mut names = sized.iter().copied().chain([known.name]);
        let name = names.find(|&name| name == algorithm)?;
        let letters = operation.name().bytes().chain(known.name.bytes());
        let key = letters.fold(self.seed, |key, letter| {
            key.wrapping_mul(31).wrapping_add(u64::from(letter))
        });
        let wrong = MODEL_WRONG.powf(2.0 * Rng::with_seed(key).f64() - 1.0);
        Some(self.team.time(operation, name, bytes)? * wrong)
    }
}

/// The row of the document for a tuned team: machine and ranks, how many choices are within `within` of the least time, of the
/// lengths that were raced and of all, the mean of all, and the worst.
pub fn row(
    name: &str,
    tuned: &AfterTuning<'_>,
    cases: impl Iterator<Item = (Collective, usize)>,
    within: f64,
) -> [String; 6] {
    let (mut raced, mut all): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut worst = (0.0, String::new());
    for (operation, bytes) in cases {
        let (chosen, ratio) = tuned.ratio(operation, bytes);
        if tuned.was_raced(operation, bytes) {
            raced.push(ratio);
        }
        all.push(ratio);
        if ratio > worst.0 {
            let (best, _) = tuned.team.best(operation, bytes);
            worst = (
                ratio,
                format!("{ratio:.2}: {operation} of {bytes}, {chosen}, best {best}"),
            );
        }
    }
    let [of_raced, _] = summary(raced.into_iter(), within);
    let [of_all, mean] = summary(all.into_iter(), within);
    let ranks = tuned.team.plans().len().to_string();
    [ranks, name.to_owned(), of_raced, of_all, mean, worst.1]
}

/// Races on a simulated machine.
struct Simulated<'t> {
    team: &'t SimulatedTeam,
    rng: Rng,
    now: Duration,
}

impl Racer for Simulated<'_> {
    fn race(
        &mut self,
        subject: Subject,
        contenders: &[Contender],
        test: &mut SequentialTest,
        limit: Duration,
    ) -> Result<(), RaceFailed> {
        let (operation, bytes) = (subject.operation(), subject.bytes());
        let (begin, before) = (self.now, test.rounds());
        let time = |contender: &Contender| {
            let name = self.team.runs(operation, bytes, &contender.form.algorithms);
            self.team.time(operation, name, bytes)
        };
        let times: Vec<Option<f64>> = contenders.iter().map(time).collect();
        let mut place = || 1.0 + PLACEMENT * (2.0 * self.rng.f64() - 1.0);
        let places: Vec<f64> = contenders.iter().map(|_| place()).collect();
        for (at, time) in times.iter().enumerate() {
            if time.is_none() {
                test.fail(at, "it is not simulated".to_owned());
            }
        }
        // Checks and calibration.
        self.now += SETUP * contenders.len() as u32;
        while !test.over() && (self.now - begin < limit || test.rounds() < before + 3) {
            let drift = 1.0 + 0.5 * self.rng.f64();
            let mut samples = vec![None; contenders.len()];
            for at in test.racing() {
                self.now += BATCH.max(Duration::from_nanos(times[at].unwrap_or(0.0) as u64));
                let tail = if self.rng.u8(..20) == 0 { 5.0 } else { 1.0 };
                let noise = 1.0 + 0.02 * (self.rng.f64() - 0.5);
                samples[at] = times[at].map(|time| time * drift * noise * tail * places[at]);
            }
            test.round(&samples);
        }
        Ok(())
    }

    fn now(&self) -> Duration {
        self.now
    }
}
