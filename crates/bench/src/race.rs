//! Rounds, calibration and the stopping rule.
//!
//! ```text
//! verify each ─► calibrate each ─► warm-up rounds ─► rounds ─► comparison
//!                                                    │
//!           round r: every entrant runs one batch, in rotated order,
//!           until all intervals are narrow, or rounds or time run out
//! ```
//!
//! The order rotates, and is reversed in every other rotation, so that no
//! entrant always runs after the same neighbour.

use crate::comparison::{Comparison, Entry, Status};
use crate::cpu_placement::{self, CpuPlacement};
use crate::crew::{Crew, Mustered};
use crate::engine::{Engine, Role};
use crate::external::External;
use crate::session::Session;
use crate::sized::{RankTimes, Task};
use crate::stats::Summary;
use corecast_wire::ending;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Rounds that a program or session may miss before it has failed. On a busy
/// machine even a sound peer hangs now and then, and a race without the
/// strongest peer would flatter all others.
const MISSES_MAX: u32 = 1;

/// Most operations that a session checks: where polling ranks share PUs, each operation may take as
/// many time slices of the scheduler as there are ranks.
const SESSION_CHECKS: u64 = 8;

/// How long, how often and how precisely a race measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Time that one batch should take.
    pub batch: Duration,
    /// Most operations of one batch; a limit saves time where much untimed work lies between them.
    pub operations_max: u64,
    /// Operations that the check before timing looks at.
    pub verify_rounds: u64,
    /// Rounds that are run and not counted: at least so many, and one for each [team](Engine::teams) of an entrant.
    pub warm_up_rounds: usize,
    /// Counted rounds at least.
    pub rounds_min: usize,
    /// Counted rounds at most.
    pub rounds_max: usize,
    /// Half-width of the interval of the median, as a part of the median, at
    /// which an entrant needs no more samples.
    pub precision: f64,
    /// Time after which no new round begins (past `rounds_min`).
    pub budget: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            batch: Duration::from_millis(1),
            operations_max: 1 << 40,
            verify_rounds: 128,
            warm_up_rounds: 3,
            rounds_min: 20,
            rounds_max: 300,
            precision: 0.02,
            budget: Duration::from_secs(10),
        }
    }
}

impl Settings {
    /// Settings that take a fraction of a second, for smoke tests: intervals will be wide.
    pub fn quick() -> Settings {
        Settings {
            batch: Duration::from_micros(300),
            operations_max: 1 << 40,
            verify_rounds: 32,
            warm_up_rounds: 1,
            rounds_min: 6,
            rounds_max: 30,
            precision: 0.1,
            budget: Duration::from_millis(300),
        }
    }
}

/// One participant of a race.
pub struct Entrant<'a> {
    kind: Kind<'a>,
    unpinned: bool,
}

enum Kind<'a> {
    Threads(Box<dyn Engine + 'a>),
    Process(External),
    Session(Arc<Session>, Task),
    Absent {
        name: String,
        setting: String,
        reason: String,
    },
}

impl<'a> Entrant<'a> {
    /// An engine on threads of this process, on the placements of the race.
    pub fn threads(engine: impl Engine + 'a) -> Entrant<'a> {
        Entrant::boxed(Box::new(engine))
    }

    /// Like [`threads`](Self::threads), for an engine that is boxed already.
    pub fn boxed(engine: Box<dyn Engine + 'a>) -> Entrant<'a> {
        Entrant {
            kind: Kind::Threads(engine),
            unpinned: false,
        }
    }

    /// A program of its own, launched once per round.
    pub fn process(external: External) -> Entrant<'a> {
        Entrant {
            kind: Kind::Process(external),
            unpinned: false,
        }
    }

    /// One operation in the processes of a session, which place themselves.
    pub fn session(session: Arc<Session>, task: Task) -> Entrant<'a> {
        Entrant {
            kind: Kind::Session(session, task),
            unpinned: false,
        }
    }

    /// An entrant that cannot take part, for `reason`. The comparison lists it, so
    /// that its absence is not taken for an omission.
    pub fn absent(
        name: impl Into<String>,
        setting: impl Into<String>,
        reason: impl Into<String>,
    ) -> Entrant<'a> {
        Entrant {
            kind: Kind::Absent {
                name: name.into(),
                setting: setting.into(),
                reason: reason.into(),
            },
            unpinned: false,
        }
    }

    /// Runs an engine's ranks wherever the operating system puts them instead
    /// of on the placements of the race. A process places itself: no effect there.
    #[must_use]
    pub fn unpinned(mut self) -> Entrant<'a> {
        self.unpinned = true;
        self
    }

    /// The reason, if this entrant stands for an absent one.
    pub fn reason_absent(&self) -> Option<&str> {
        match &self.kind {
            Kind::Absent { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// Name as it will appear in the comparison.
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::Threads(engine) => engine.name(),
            Kind::Process(external) => &external.name,
            Kind::Session(session, _) => session.name(),
            Kind::Absent { name, .. } => name,
        }
    }

    fn entry(&self, placements: &[CpuPlacement]) -> Entry {
        let (setting, role, status) = match &self.kind {
            Kind::Threads(engine) => {
                let places = match self.unpinned || cpu_placement::describe(placements) == "any" {
                    true => "unpinned",
                    false => "pinned",
                };
                let setting = match engine.setting() {
                    own if own.is_empty() => places.to_owned(),
                    own => format!("{own}, {places}"),
                };
                (setting, engine.role(), Status::Pending)
            }
            Kind::Process(external) => (external.setting.clone(), Role::Peer, Status::Pending),
            Kind::Session(session, _) => (
                session.setting().to_owned(),
                session.role(),
                Status::Pending,
            ),
            Kind::Absent {
                setting, reason, ..
            } => (setting.clone(), Role::Peer, Status::Skipped(reason.clone())),
        };
        Entry {
            name: self.name().to_owned(),
            role,
            setting,
            algorithm: None,
            predicted_ns: match &self.kind {
                Kind::Threads(engine) => engine.predicted_ns(),
                _ => None,
            },
            forecast: None,
            status,
            batch: 0,
            misses: 0,
            operations: 0,
            rank_times: Vec::new(),
            samples: Vec::new(),
        }
    }
}

impl fmt::Debug for Entrant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entrant({})", self.name())
    }
}

/// What a race is about to do, for progress displays. An engine that never
/// returns stops the race; the last progress reported tells where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress<'p> {
    /// Checks and calibrates this entrant, the `index`-th of `of`.
    Preparing {
        /// Name of the entrant.
        name: &'p str,
        /// Its place among the entrants, from 0.
        index: usize,
        /// Number of entrants.
        of: usize,
    },
    /// Begins a counted round.
    Round {
        /// Number of the round, from 0.
        round: usize,
        /// Part of the race that is over, from 0 to 1: of the time budget or of
        /// the rounds, whichever runs out first.
        done: f64,
    },
}

/// Why a race did not begin. The failure of one entrant is reported in its
/// [`Entry`] instead, and does not stop the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RaceError {
    /// No placements were given.
    #[error("a race needs at least one placement: name the PUs to run on")]
    NoPlacements,
    /// No entrants were given.
    #[error("a race needs at least one entrant")]
    NoEntrants,
    /// This process was asked to end before the race began.
    #[error("interrupted before a round of the race was done")]
    Interrupted,
}

/// Races `entrants` on `placements`, one rank per placement, and returns when the
/// stopping rule of `settings` says so, or with the rounds so far when this process is
/// asked to end ([`corecast_wire::ending`]).
///
/// # Errors
///
/// [`RaceError`] if there are no entrants or no placements.
///
/// # Cost
///
/// About `rounds × entrants × batch` time, plus a process launch per round for
/// each external entrant. Between batches all threads sleep.
pub fn run(
    title: &str,
    placements: &[CpuPlacement],
    settings: &Settings,
    entrants: &[Entrant<'_>],
    progress: impl FnMut(Progress<'_>),
) -> Result<Comparison, RaceError> {
    run_decided(title, placements, settings, entrants, progress, |_| {
        Ruling::default()
    })
}

/// The decision after a round, of [`run_decided`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ruling {
    /// Indices of entrants that take part no longer; their samples so far stay.
    pub out: Vec<usize>,
    /// Whether the race ends after this round.
    pub over: bool,
}

/// Like [`run`], with a function `decide` that gets the samples of each round, one per entrant in
/// nanoseconds per operation, and decides which entrants go on.
///
/// # Errors
///
/// [`RaceError`] if there are no entrants or no placements.
pub fn run_decided(
    title: &str,
    placements: &[CpuPlacement],
    settings: &Settings,
    entrants: &[Entrant<'_>],
    mut progress: impl FnMut(Progress<'_>),
    mut decide: impl FnMut(&[Option<f64>]) -> Ruling,
) -> Result<Comparison, RaceError> {
    if placements.is_empty() {
        return Err(RaceError::NoPlacements);
    }
    if entrants.is_empty() {
        return Err(RaceError::NoEntrants);
    }
    let mut comparison = Comparison {
        title: title.to_owned(),
        task: None,
        conditions: None,
        precision: settings.precision,
        ranks: placements.len(),
        placements: cpu_placement::describe(placements),
        oversubscribed: cpu_placement::oversubscribed(placements),
        rounds: 0,
        entries: entrants.iter().map(|e| e.entry(placements)).collect(),
        notes: Vec::new(),
    };

    let mut crews = [
        Crew::new(placements),
        Crew::new(&cpu_placement::free(placements.len())),
    ];
    let runners: Vec<Runner<'_>> = entrants
        .iter()
        .map(|entrant| match &entrant.kind {
            Kind::Threads(engine) => {
                let crew = usize::from(entrant.unpinned);
                let engine = engine.as_ref();
                Runner::Threads {
                    crew,
                    number: crews[crew].add(engine),
                    engine,
                }
            }
            Kind::Process(external) => Runner::Process(external),
            Kind::Session(session, task) => Runner::Session(session, task),
            Kind::Absent { .. } => Runner::Absent,
        })
        .collect();

    thread::scope(|scope| {
        let crews = crews.each_ref().map(|crew| crew.muster(scope));
        comparison.notes.extend(crews[0].pin());
        let mut race = Race {
            crews: &crews,
            runners: &runners,
            settings,
            comparison: &mut comparison,
            lost: Duration::ZERO,
            out: vec![false; entrants.len()],
        };
        race.prepare(&mut progress);
        race.rounds(&mut progress, &mut decide);
    });
    if ending::is_asked() {
        let rounds = comparison.rounds;
        let note =
            format!("interrupted after {rounds} rounds: intervals are wider than they would be");
        comparison.notes.push(note);
    }
    Ok(comparison)
}

#[derive(Clone, Copy)]
enum Runner<'a> {
    Threads {
        crew: usize,
        number: usize,
        engine: &'a dyn Engine,
    },
    Process(&'a External),
    Session(&'a Session, &'a Task),
    Absent,
}

/// One batch of one entrant.
struct Sample {
    /// Nanoseconds per operation, the slowest rank's.
    ns: f64,
    operations: u64,
    times: Option<RankTimes>,
}

struct Race<'r, 's> {
    crews: &'r [Mustered<'s>; 2],
    runners: &'r [Runner<'r>],
    settings: &'r Settings,
    comparison: &'r mut Comparison,
    /// Time spent on entrants that failed, which does not count against the budget.
    lost: Duration,
    /// For each entrant, whether a [`Ruling`] has put it out.
    out: Vec<bool>,
}

impl Race<'_, '_> {
    fn prepare(&mut self, progress: &mut impl FnMut(Progress<'_>)) {
        let of = self.runners.len();
        for (index, runner) in self.runners.iter().enumerate() {
            if ending::is_asked() {
                return;
            }
            let name = self.comparison.entries[index].name.clone();
            progress(Progress::Preparing {
                name: &name,
                index,
                of,
            });
            let outcome = match *runner {
                Runner::Threads {
                    crew,
                    number,
                    engine,
                } => self.crews[crew]
                    .verify(number, self.settings.verify_rounds)
                    .and_then(|()| {
                        self.comparison.entries[index].algorithm = engine.algorithm();
                        self.calibrate(|operations| {
                            let (took, _) = self.crews[crew].batch(number, operations)?;
                            Ok((took, operations))
                        })
                    }),
                Runner::Session(session, task) => {
                    let rounds = self.settings.verify_rounds.min(SESSION_CHECKS);
                    match session.ranks() == self.comparison.ranks {
                        true => session.check(task, rounds).map_err(|e| e.to_string()),
                        false => Err(format!("the peer has {} ranks", session.ranks())),
                    }
                    .and_then(|ran| {
                        self.comparison.entries[index].algorithm = ran;
                        self.calibrate(|operations| {
                            let timed = session.time(task, operations);
                            timed
                                .map(|timed| (timed.took, timed.operations))
                                .map_err(|e| e.to_string())
                        })
                    })
                }
                Runner::Process(_) | Runner::Absent => continue,
            };
            if outcome.is_err() && ending::is_asked() {
                return;
            }
            match outcome {
                Ok(batch) => self.comparison.entries[index].batch = batch,
                Err(reason) => self.comparison.entries[index].fail(reason),
            }
        }
    }

    /// Finds how many operations fill the batch time, with batches that grow towards it.
    fn calibrate(
        &self,
        mut batch: impl FnMut(u64) -> Result<(Duration, u64), String>,
    ) -> Result<u64, String> {
        let target = self.settings.batch.as_secs_f64();
        let mut operations = 1_u64;
        loop {
            let (took, done) = batch(operations)?;
            let took = took.as_secs_f64();
            let most = self.settings.operations_max.max(1);
            if took >= target / 2.0 || operations >= most || done < operations {
                let fitting = done as f64 * target / took.max(1e-9);
                return Ok((fitting as u64).clamp(1, most));
            }
            // Early batches are mostly start-up: grow stepwise.
            let factor = (target / took.max(1e-9)).clamp(2.0, 16.0);
            operations = ((operations as f64 * factor) as u64).min(most);
        }
    }

    fn rounds(
        &mut self,
        progress: &mut impl FnMut(Progress<'_>),
        decide: &mut impl FnMut(&[Option<f64>]) -> Ruling,
    ) {
        let warm_up = |runner: &Runner<'_>| match runner {
            Runner::Threads { engine, .. } => engine.teams().max(self.settings.warm_up_rounds),
            _ => self.settings.warm_up_rounds,
        };
        let warm_ups: Vec<usize> = self.runners.iter().map(warm_up).collect();
        for round in 0..warm_ups.iter().copied().max().unwrap_or(0) {
            for index in order(round, self.runners.len()) {
                if ending::is_asked() {
                    return;
                }
                if round < warm_ups[index] {
                    self.sample(index);
                }
            }
        }
        let begin = Instant::now();
        self.lost = Duration::ZERO;
        loop {
            let round = self.comparison.rounds;
            let spent = begin.elapsed().saturating_sub(self.lost);
            if self.finished(round, spent) {
                return;
            }
            let budget = self.settings.budget.as_secs_f64().max(1e-9);
            let done = (spent.as_secs_f64() / budget)
                .max(round as f64 / self.settings.rounds_max.max(1) as f64)
                .min(1.0);
            progress(Progress::Round { round, done });
            let mut samples: Vec<Option<Sample>> = self.runners.iter().map(|_| None).collect();
            for index in order(round, self.runners.len()) {
                samples[index] = self.sample(index);
                // A round that is not whole would favour those that came first.
                if ending::is_asked() {
                    return;
                }
            }
            let seen = samples.iter().map(|sample| Some(sample.as_ref()?.ns));
            let ruling = decide(&seen.collect::<Vec<_>>());
            for (entry, sample) in self.comparison.entries.iter_mut().zip(samples) {
                entry.operations += sample.as_ref().map_or(0, |sample| sample.operations);
                let times = sample.as_ref().and_then(|sample| sample.times);
                entry.rank_times.extend(times);
                entry.samples.push(sample.map(|sample| sample.ns));
            }
            self.comparison.rounds += 1;
            ruling.out.iter().for_each(|&index| self.out[index] = true);
            if ruling.over {
                return;
            }
        }
    }

    fn finished(&self, round: usize, spent: Duration) -> bool {
        let settings = self.settings;
        let racing = || self.comparison.entries.iter().filter(|e| e.is_racing());
        if round >= settings.rounds_max || racing().next().is_none() {
            return true;
        }
        if round < settings.rounds_min {
            return false;
        }
        // A look after every round would stop the race at the first lucky interval.
        let settled = round.is_multiple_of(5)
            && racing().all(|entry| {
                Summary::of(&entry.timed()).is_some_and(|s| s.settled(settings.precision))
            });
        settled || spent >= settings.budget
    }

    /// Runs one batch of one entrant; `None` if the entrant is out of the race or missed the round.
    fn sample(&mut self, index: usize) -> Option<Sample> {
        let entry = &mut self.comparison.entries[index];
        if self.out[index] || !entry.is_racing() {
            return None;
        }
        let begin = Instant::now();
        let outcome = match self.runners[index] {
            Runner::Threads {
                crew,
                number,
                engine,
            } => self.crews[crew]
                .batch(number, entry.batch)
                .and_then(|(took, times)| match engine.failure() {
                    Some(reason) => Err(reason),
                    None => {
                        let (operations, parts) = (entry.batch, engine.parts());
                        let ns = took.as_nanos() as f64 / operations as f64 / f64::from(parts);
                        entry.batch = refit(operations, took, self.settings);
                        Ok(Sample {
                            ns,
                            operations: operations * u64::from(parts),
                            // A rank sees both ways of a round trip, not one.
                            times: times.filter(|_| parts == 1),
                        })
                    }
                }),
            Runner::Process(external) => external
                .measure()
                .map(|found| Sample {
                    ns: found.ns,
                    operations: found.operations,
                    times: found.rank_times,
                })
                .map_err(|e| e.to_string()),
            Runner::Session(session, task) => session
                .time(task, entry.batch)
                .map(|timed| {
                    let (took, operations) = (timed.took, timed.operations);
                    entry.batch = refit(operations, took, self.settings);
                    Sample {
                        ns: took.as_nanos() as f64 / operations as f64,
                        operations,
                        times: timed.rank_times,
                    }
                })
                .map_err(|e| e.to_string()),
            Runner::Absent => return None,
        };
        if outcome.is_err() && ending::is_asked() {
            return None;
        }
        match outcome {
            Ok(sample) => {
                entry.status = Status::Timed;
                Some(sample)
            }
            Err(reason) => {
                self.lost += begin.elapsed();
                entry.misses += 1;
                match self.runners[index] {
                    Runner::Process(_) | Runner::Session(..) if entry.misses <= MISSES_MAX => {
                        let note = format!(
                            "{} ({}) missed a round: {reason}",
                            entry.name, entry.setting
                        );
                        self.comparison.notes.push(note);
                    }
                    _ => entry.fail(reason),
                }
                None
            }
        }
    }
}

/// The next batch size. Calibration may have seen a better or worse moment than
/// the rounds do: spinning ranks that come to share a PU take a scheduler's
/// slice per operation, and would hold up the race for minutes.
fn refit(batch: u64, took: Duration, settings: &Settings) -> u64 {
    let factor = settings.batch.as_secs_f64() / took.as_secs_f64().max(1e-9);
    match (0.25..=4.0).contains(&factor) {
        true => batch,
        false => ((batch as f64 * factor.min(4.0)) as u64).clamp(1, settings.operations_max.max(1)),
    }
}

/// Order of the entrants in a round: rotated by one each round, and reversed in
/// every other rotation.
fn order(round: usize, entrants: usize) -> impl Iterator<Item = usize> {
    let reversed = (round / entrants) % 2 == 1;
    (0..entrants).map(move |place| {
        let index = (place + round) % entrants;
        if reversed {
            entrants - 1 - index
        } else {
            index
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_holds_every_entrant_once_and_starts_rotate() {
        for n in 1..=5 {
            let mut firsts = vec![0; n];
            for round in 0..2 * n {
                let mut seen: Vec<usize> = order(round, n).collect();
                firsts[seen[0]] += 1;
                seen.sort_unstable();
                assert_eq!(seen, (0..n).collect::<Vec<_>>());
            }
            assert_eq!(firsts, vec![2; n]);
        }
        assert_eq!(order(3, 3).collect::<Vec<_>>(), [2, 1, 0]);
    }

    #[test]
    fn batches_are_refitted_when_they_are_far_off() {
        let ms = Duration::from_millis;
        let of = |batch| Settings {
            batch: ms(batch),
            ..Settings::default()
        };
        assert_eq!(refit(1000, ms(2), &of(1)), 1000);
        assert_eq!(refit(1000, ms(1000), &of(1)), 1);
        assert_eq!(refit(1000, ms(10), &of(1)), 100);
        assert_eq!(refit(1000, ms(1), &of(100)), 4000);
        assert_eq!(refit(1, Duration::ZERO, &of(1)), 4);
        let few = Settings {
            operations_max: 8,
            ..of(100)
        };
        assert_eq!(refit(8, ms(1), &few), 8);
    }
}
