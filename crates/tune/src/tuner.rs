//! Runs the whole tuning of a team.
//!
//! ```text
//! barrier plans + algorithms ─► trees ─► waits, or transfer path ─► all operations at some sizes ─► at the others
//! ─► confirmation ─► segments and groups ─► confirmation ─► guidelines ─► limits
//! ```
//!
//! Each race has a share of the time that is left, three shares for long data, so races that end early leave time to
//! later ones. An operation at a size gets two replicates at first. Then all races that are not
//! [settled](SequentialTest::enough) get one more replicate in turn, until they are or the time is over. So the
//! replicates of one race are some seconds apart, and a disturbance does not decide it, as when a hypervisor puts both
//! cores of a guest on one.

mod barrier;
mod limits;
mod operations;
mod sizes;
mod transfer_path;
mod tree;
mod waits;

use crate::candidates::{
    Asked, CandidateSet, Proposal, SHORT_BYTES_MAX, ask, candidate_set, name, with,
};
use crate::guidelines::{Finding, Suspect, Table};
use crate::outcome::{Outcome, Point, TeamRace, Tuned};
use crate::predict::Predict;
use crate::racer::{Contender, Form, RaceFailed, Racer, Subject, replicates};
use crate::ranges::ranges;
use crate::search_space::SearchSpace;
use crate::sequential_test::SequentialTest;
use crate::transfer_paths;
use crate::unconfirmed::{Unconfirmed, UnconfirmedRaces};
use corecast_bench::sized::Task;
use corecast_collectives::{Algorithms, Plans};
use corecast_model::Collective;
use corecast_team::KernelCopies;
use corecast_wire::WaitConfig;
use std::sync::Arc;
use std::time::Duration;

pub use crate::request::{BUDGET, SIZES, TuneRequest};

/// The progress of a tuning.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The part that is done, from 0 to 1.
    pub done: f64,
    /// The race that runs now, for the user.
    pub what: String,
}

/// Part of the time that first races leave to further replicates, guidelines and limits.
const AFTERWARDS: f64 = 0.6;

/// Part of the time for the sizes of segments and groups, further replicates included.
const SIZED: f64 = 0.2;

/// How often races of sizes begin or go on. Each time has half of the time that is left for them.
const SIZE_TURNS: u32 = 3;

/// Part of the time that further replicates at the requested sizes leave to guidelines and limits.
const FINISH: f64 = 0.1;

/// Replicates of the first race of an operation at a size.
const FIRST_REPLICATES: u32 = 2;

/// Shares of the time of a race of long data, which has more contenders and more replicates.
const SHARES_LONG: usize = 3;

/// The most and the least time that a race gets; less is not worth the preparation.
const RACE_MAX: Duration = Duration::from_millis(1500);
const RACE_MIN: Duration = Duration::from_millis(10);

/// Part of a race's share that its rounds get; the rest goes to checks.
const ROUNDS: f64 = 0.7;

/// Tunes a team: races what `search_space` and `model` propose on `racer`.
///
/// # Errors
///
/// [`RaceFailed`] where a race cannot be run at all.
///
/// # Cost
///
/// The time of [`TuneRequest::budget`], or less.
pub fn tune(
    racer: &mut dyn Racer,
    search_space: &SearchSpace,
    model: &dyn Predict,
    request: &TuneRequest,
    progress: &mut dyn FnMut(Step),
) -> Result<Outcome, RaceFailed> {
    let mut tuner = Tuner::new(racer, search_space, model, request, progress);
    tuner.team()?;
    tuner.operations()?;
    tuner.kept = Duration::ZERO;
    // Further replicates may have another algorithm or size win, from which the race of sizes goes on in the next turn.
    for turn in 0..SIZE_TURNS {
        let sizes = SIZED / f64::from(1 << turn);
        tuner.resolve(request.budget.mul_f64(FINISH + sizes))?;
        tuner.kept = request.budget.mul_f64(FINISH + sizes / 2.0);
        tuner.sizes()?;
        tuner.kept = Duration::ZERO;
    }
    tuner.resolve(request.budget.mul_f64(FINISH))?;
    tuner.guidelines()?;
    tuner.limits()?;
    tuner.resolve(Duration::ZERO)?;
    Ok(tuner.finish())
}

/// The race of sizes of an operation's algorithm at a length.
struct Sized {
    operation: Collective,
    bytes: usize,
    /// The result of the race of algorithms, whose winner it began from.
    base: Point,
    /// Its result.
    point: Point,
}

struct Tuner<'t> {
    racer: &'t mut dyn Racer,
    search_space: &'t SearchSpace,
    model: &'t dyn Predict,
    request: &'t TuneRequest,
    progress: &'t mut dyn FnMut(Step),
    /// Shares of the time: of the races so far, and of all races.
    races: (usize, usize),
    /// Time that is kept for the work after the first races of all operations.
    kept: Duration,
    /// The races of sizes.
    sized: Vec<Sized>,
    /// Races whose winners are not confirmed.
    unconfirmed_races: UnconfirmedRaces,
    plans: Arc<Plans>,
    wait_config: Option<WaitConfig>,
    kernel_copies: Option<KernelCopies>,
    /// The algorithms that every race uses: those of the search space, and the tuned barrier.
    base: Algorithms,
    team: Vec<TeamRace>,
    tuned: Vec<Tuned>,
    findings: Vec<Finding>,
    notes: Vec<String>,
}

impl<'t> Tuner<'t> {
    fn new(
        racer: &'t mut dyn Racer,
        search_space: &'t SearchSpace,
        model: &'t dyn Predict,
        request: &'t TuneRequest,
        progress: &'t mut dyn FnMut(Step),
    ) -> Self {
        let sized = request
            .operations
            .iter()
            .filter(|&&o| o != Collective::Barrier);
        let of_sizes: usize = request.sizes.iter().map(|&bytes| shares(bytes)).sum();
        let mut all = sized.count() * of_sizes;
        all += usize::from(request.operations.contains(&Collective::Barrier));
        all += usize::from(!search_space.wait_configs.is_empty());
        all += search_space.trees().len();
        if transfer_paths::is_raced(search_space, request) {
            let of_path = transfer_paths::SIZES.iter().map(|&bytes| shares(bytes));
            all += transfer_paths::OPERATIONS.len() * of_path.sum::<usize>();
        }
        Self {
            racer,
            model,
            request,
            progress,
            races: (0, all),
            kept: request.budget.mul_f64(AFTERWARDS),
            sized: Vec::new(),
            unconfirmed_races: UnconfirmedRaces::default(),
            plans: Arc::new(search_space.plans.clone()),
            wait_config: None,
            kernel_copies: None,
            base: search_space.algorithms,
            team: Vec::new(),
            tuned: Vec::new(),
            findings: Vec::new(),
            notes: Vec::new(),
            search_space,
        }
    }

    fn ranks(&self) -> usize {
        self.plans.len()
    }

    fn left(&self) -> Duration {
        self.request.budget.saturating_sub(self.racer.now())
    }

    fn task(&self, operation: Collective, bytes: usize) -> Subject {
        Subject::Task(Task {
            operation,
            ranks: self.ranks(),
            bytes,
        })
    }

    /// The subject of races of barriers.
    fn barrier(&self) -> Subject {
        let ranks = self.ranks();
        match self.search_space.is_oversubscribed() {
            true => Subject::BarrierThenBroadcast { ranks },
            false => self.task(Collective::Barrier, 0),
        }
    }

    /// The subject of races of an operation.
    fn subject(&self, operation: Collective, bytes: usize) -> Subject {
        match operation {
            Collective::Barrier => self.barrier(),
            _ => self.task(operation, bytes),
        }
    }

    fn form(&self, operation: Collective, algorithm: Asked) -> Form {
        Form {
            plans: Arc::clone(&self.plans),
            wait_config: self.wait_config,
            algorithms: with(&self.base, operation, algorithm),
            kernel_copies: self.kernel_copies,
        }
    }

    fn candidate_set(&self, operation: Collective, bytes: usize) -> CandidateSet {
        let setting = self.search_space.setting(&self.plans);
        let most = self.request.most;
        candidate_set(operation, bytes, &setting, &self.base, self.model, most)
    }

    /// Reports progress. The remaining time is an estimate: each further share takes as long as those so far, their
    /// confirmation included.
    fn tell(&mut self, what: String) {
        let now = self.racer.now();
        let (done, all) = self.races;
        let unconfirmed_races = self.unconfirmed_races.time_at_most();
        let share = (now + unconfirmed_races).div_f64(done.max(1) as f64);
        let rest = share.mul_f64(all.saturating_sub(done) as f64) + unconfirmed_races;
        let rest = rest.min(self.left()).as_secs_f64();
        let done = match now.is_zero() {
            true => 0.0,
            false => now.as_secs_f64() / (now.as_secs_f64() + rest),
        };
        (self.progress)(Step { done, what });
    }

    /// Runs a race with its share of the time that is left, of at most `most` replicates, or of the planned ones if
    /// that is `None`. Contenders at `favoured` win ties. Returns `None` if it was interrupted, or there was no time.
    fn race(
        &mut self,
        subject: Subject,
        what: &str,
        contenders: &[Contender],
        favoured: Vec<usize>,
        most: Option<u32>,
    ) -> Result<Option<SequentialTest>, RaceFailed> {
        let (done, all) = self.races;
        self.tell(format!(
            "{subject}: {what}, {} contenders",
            contenders.len()
        ));
        let shares = shares(subject.bytes());
        self.races.0 += shares;
        let left = self.left().saturating_sub(self.kept);
        if self.left().is_zero() || self.racer.interrupted() {
            return Ok(None);
        }
        let part = shares as f64 / all.saturating_sub(done).max(shares) as f64;
        let limit = left.mul_f64(part * ROUNDS).clamp(RACE_MIN, RACE_MAX);
        let rules = match subject.bytes() > SHORT_BYTES_MAX {
            true => self.request.rules.of_long_data(),
            false => self.request.rules,
        };
        let mut test = SequentialTest::new(contenders.len(), rules).favouring(favoured);
        let most = most.unwrap_or(rules.replicates);
        replicates(self.racer, subject, contenders, &mut test, most, limit)?;
        Ok((!self.racer.interrupted()).then_some(test))
    }

    /// Tunes the barrier, the trees, the waits and the transfer path.
    fn team(&mut self) -> Result<(), RaceFailed> {
        if self.request.operations.contains(&Collective::Barrier) {
            self.tune_barrier()?;
        }
        for operation in self.search_space.trees() {
            self.tune_tree(operation)?;
        }
        if !self.search_space.wait_configs.is_empty() {
            self.tune_waits()?;
        }
        if transfer_paths::is_raced(self.search_space, self.request) {
            self.tune_transfer_path()?;
        }
        Ok(())
    }

    /// Runs a race of `candidate_set`, of `first` replicates, or of the planned ones if that is `None`. Returns its
    /// result, and the race, to which replicates can be added.
    fn point(
        &mut self,
        operation: Collective,
        bytes: usize,
        candidate_set: CandidateSet,
        favoured: &[Asked],
        incumbent: Option<Asked>,
        first: Option<u32>,
    ) -> Result<Option<(Point, Unconfirmed)>, RaceFailed> {
        let contender = |p: &Proposal| Contender {
            name: name(p.algorithm).to_owned(),
            form: self.form(operation, p.algorithm),
        };
        let contenders: Vec<Contender> = candidate_set.racing.iter().map(contender).collect();
        let place = |asked: &Asked| {
            candidate_set
                .racing
                .iter()
                .position(|p| p.algorithm == *asked)
        };
        let favoured: Vec<usize> = favoured.iter().filter_map(place).collect();
        let incumbent = incumbent.as_ref().and_then(place);
        let subject = self.subject(operation, bytes);
        let begin = self.racer.now();
        let Some(test) = self.race(subject, "algorithms", &contenders, favoured, first)? else {
            return Ok(None);
        };
        let test = test.incumbent(incumbent);
        let replicate = (self.racer.now() - begin) / test.replicates();
        Ok(Point::of(bytes, &candidate_set, &test).map(|point| {
            let unconfirmed = Unconfirmed {
                operation,
                bytes,
                sizes_of: None,
                candidate_set,
                contenders,
                test,
                replicate,
            };
            (point, unconfirmed)
        }))
    }

    /// Gives unconfirmed races one more replicate in turn, until only `kept` of the time is left.
    fn resolve(&mut self, kept: Duration) -> Result<(), RaceFailed> {
        while !self.racer.interrupted() {
            let left = self.left().saturating_sub(kept);
            let Some(mut unconfirmed) = self.unconfirmed_races.next(left) else {
                return Ok(());
            };
            let (operation, bytes) = (unconfirmed.operation, unconfirmed.bytes);
            let subject = self.subject(operation, bytes);
            let replicates = unconfirmed.test.replicates();
            self.tell(format!("{subject}: replicate {replicates}, for certainty"));
            let begin = self.racer.now();
            let limit = left.min(RACE_MAX);
            let contenders = &unconfirmed.contenders;
            self.racer
                .race(subject, contenders, &mut unconfirmed.test, limit)?;
            unconfirmed.replicate = self.racer.now() - begin;
            if let Some(point) = Point::of(bytes, &unconfirmed.candidate_set, &unconfirmed.test) {
                self.set_point(operation, unconfirmed.sizes_of, point);
            }
            // The race from which it began may have another winner now.
            if unconfirmed.sizes_of.is_none() || self.sized_at(operation, bytes).is_some() {
                self.unconfirmed_races.add(unconfirmed);
            }
        }
        Ok(())
    }

    /// The times of the chosen algorithms.
    fn table(&self) -> Table {
        let mut table = Table::new(self.ranks());
        table.barriers_are_followed =
            self.search_space.is_oversubscribed() && !self.search_space.processes;
        for tuned in &self.tuned {
            for point in &tuned.points {
                if let Some(time) = point.winner().time() {
                    table.set(tuned.operation, point.bytes, point.algorithm(), time);
                }
            }
        }
        table
    }

    /// Races suspected violations of guidelines against their remedies, until there is no new suspicion: an operation
    /// that became faster may bound others.
    fn guidelines(&mut self) -> Result<(), RaceFailed> {
        loop {
            let mut suspects = self.table().suspects();
            let known = |s: &Suspect| {
                let same = |f: &Finding| f.operation == s.operation.name() && f.bytes == s.bytes;
                self.findings.iter().any(same)
            };
            suspects.retain(|suspect| !known(suspect));
            if suspects.is_empty() {
                return Ok(());
            }
            self.examine(suspects)?;
        }
    }

    fn examine(&mut self, suspects: Vec<Suspect>) -> Result<(), RaceFailed> {
        for suspect in suspects {
            let Some(place) = self.place(suspect.operation, suspect.bytes) else {
                continue;
            };
            let chosen = self.tuned[place.0].points[place.1].algorithm();
            let able = |asked: &&Asked| {
                let name = asked.unwrap_or_default();
                let unable = crate::candidates::unable(suspect.operation, name, &self.plans);
                **asked != chosen && unable.is_none()
            };
            let remedies: Vec<Asked> = suspect.remedies.iter().filter(able).copied().collect();
            let mut finding = Finding {
                operation: suspect.operation.name(),
                bytes: suspect.bytes,
                measured_ns: suspect.ns,
                bound_ns: suspect.bound_ns,
                bound: suspect.bound,
                mended_by: None,
                said: "no other algorithm does what is faster".to_owned(),
            };
            if !remedies.is_empty() {
                finding.said = "there was no time to race a remedy".to_owned();
                let all = [&[chosen][..], &remedies].concat();
                let proposal = |algorithm: &Asked| Proposal {
                    algorithm: *algorithm,
                    predicted_ns: None,
                };
                let candidate_set = CandidateSet {
                    racing: all.iter().map(proposal).collect(),
                    left_out: Vec::new(),
                };
                self.races.1 += shares(suspect.bytes);
                let race = self.point(
                    suspect.operation,
                    suspect.bytes,
                    candidate_set,
                    &[chosen],
                    None,
                    None,
                )?;
                if let Some((race, _)) = race {
                    self.mend(place, chosen, &race, &mut finding);
                }
            }
            self.findings.push(finding);
        }
        Ok(())
    }

    /// Replaces the chosen algorithm by the winner of `race`, if that is another one, and completes `finding`.
    fn mend(
        &mut self,
        (at, size): (usize, usize),
        chosen: Asked,
        race: &Point,
        finding: &mut Finding,
    ) {
        let algorithm = race.algorithm();
        if algorithm == chosen {
            finding.said = match race.candidates.get(1).and_then(|remedy| remedy.ratio) {
                Some(ratio) => format!(
                    "kept: in a race of its own {} takes {ratio:.2} times as long",
                    race.candidates[1].name
                ),
                None => "kept: nothing else worked".to_owned(),
            };
            return;
        }
        let times = race.times(chosen).unwrap_or(f64::NAN);
        finding.said = format!(
            "mended: {} takes the place of {}, which took {times:.2} times as long in a race of its own",
            name(algorithm),
            name(chosen),
        );
        finding.mended_by = Some(name(algorithm).to_owned());
        self.unconfirmed_races
            .forget(self.tuned[at].operation, finding.bytes);
        let point = &mut self.tuned[at].points[size];
        point.mended = Some(format!(
            "{} was slower than {}: {}",
            name(chosen),
            finding.bound,
            finding.said
        ));
        let winner = race.winner().clone();
        match point.algorithms.iter().position(|one| *one == algorithm) {
            Some(place) => {
                point.candidates[place] = winner;
                point.chosen = place;
            }
            None => {
                point.algorithms.push(algorithm);
                point.candidates.push(winner);
                point.chosen = point.candidates.len() - 1;
            }
        }
        let tuned = &mut self.tuned[at];
        tuned.ranges = ranges(&mut tuned.points);
        if tuned.operation == Collective::Barrier {
            ask(&mut self.base, Collective::Barrier, algorithm);
        }
    }

    fn place(&self, operation: Collective, bytes: usize) -> Option<(usize, usize)> {
        let at = self.tuned.iter().position(|t| t.operation == operation)?;
        let points = &self.tuned[at].points;
        Some((at, points.iter().position(|p| p.bytes == bytes)?))
    }

    fn finish(mut self) -> Outcome {
        let interrupted = self.racer.interrupted();
        let sizes = self.request.sizes.len();
        let unraced = self.tuned.iter().filter(|tuned| {
            tuned.operation != Collective::Barrier && tuned.points.is_empty() && sizes > 0
        });
        let unraced: Vec<&str> = unraced.map(|tuned| tuned.operation.name()).collect();
        if !unraced.is_empty() {
            let unraced = unraced.join(", ");
            self.notes
                .push(format!("there was no time left to race {unraced}"));
        }
        self.tuned.retain(|tuned| !tuned.points.is_empty());
        (self.progress)(Step {
            done: 1.0,
            what: "done".to_owned(),
        });
        Outcome {
            start: self.request.start,
            team: self.team,
            plans: Arc::unwrap_or_clone(self.plans),
            wait_config: self.wait_config,
            kernel_copies: self.kernel_copies,
            operations: self.tuned,
            findings: self.findings,
            interrupted,
            notes: self.notes,
        }
    }
}

/// The number of shares of the time that a race with blocks of `bytes` has.
fn shares(bytes: usize) -> usize {
    match bytes > SHORT_BYTES_MAX {
        true => SHARES_LONG,
        false => 1,
    }
}
