//! The whole tuning of a team.
//!
//! ```text
//! barrier plans + algorithms ─► trees ─► waits ─► operation by operation, size by size ─► doubts ─► guidelines ─► limits
//! ```
//!
//! Each race has a share of the time that is left, three times as much of it for long data, so those that end early give to the
//! ones after them. Operations at sizes have two heats at first. Then all that are not settled get one more heat each, again
//! and again, until each is [settled](Judge::enough) or the time is over: so the heats of one race are some seconds apart, and
//! no moment decides, as when a hypervisor has put both cores of a guest on one.

use crate::doubts::{Doubt, Doubts};
use crate::field::{Asked, Field, Proposal, SHORT_BYTES_MAX, ask, field, name, with};
use crate::guidelines::{Finding, Suspect, Table, Time};
use crate::judge::{Judge, Rules};
use crate::menu::{Menu, Part};
use crate::outcome::{Outcome, Point, Raced, TeamRace, Tuned, raced};
use crate::predict::Predict;
use crate::racer::{Contender, Form, RaceFailed, Racer, Subject, Synchrony, heats};
use crate::ranges::{between, ranges};
use corecast_bench::sized::{ELEMENT_BYTES, Operation, Task};
use corecast_collectives::{Algorithms, Plans};
use corecast_wire::Policy;
use std::sync::Arc;
use std::time::Duration;

/// What is to be tuned.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// Which operations.
    pub operations: Vec<Operation>,
    /// Sizes in bytes of a block, multiples of 8; barriers have none.
    pub sizes: Vec<usize>,
    /// How operations are kept apart.
    pub synchrony: Synchrony,
    /// Contenders of a race at most, where the model tells them apart: with blocks of up to
    /// [`SHORT_BYTES_MAX`].
    pub most: usize,
    /// Time for everything.
    pub budget: Duration,
    /// When a race is over.
    pub rules: Rules,
}

/// Sizes unless others are asked for.
pub const SIZES: [usize; 8] = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20];

/// Time for a tuning unless another one is asked for: with what comes before and after it stays under a minute.
pub const BUDGET: Duration = Duration::from_secs(50);

impl Default for Wish {
    fn default() -> Self {
        Self {
            operations: Operation::CHOSEN.into(),
            sizes: SIZES.into(),
            synchrony: Synchrony::Strict,
            most: 8,
            budget: BUDGET,
            rules: Rules::default(),
        }
    }
}

/// How far a tuning has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// From 0 to 1.
    pub done: f64,
    /// What is raced now.
    pub what: String,
}

/// Part of the time that is kept for further heats, guidelines and limits.
const AFTERWARDS: f64 = 0.6;

/// Part of the time that doubts about the sizes asked for leave to guidelines and limits.
const FINISH: f64 = 0.1;

/// Heats of an operation at a size at first.
const FIRST_HEATS: u32 = 2;

/// How many shares of the time a race has: of long data it has more contenders and more heats.
const SHARES_LONG: usize = 3;

/// A race takes no more, and is not worth its preparation with less.
const RACE_MAX: Duration = Duration::from_millis(1500);
const RACE_MIN: Duration = Duration::from_millis(10);

/// Part of a race's share that its rounds get; the rest is for checks.
const ROUNDS: f64 = 0.7;

/// Sizes nearer than this need no limit between them.
const NEAR: usize = 2;

/// Tunes a team: races what `menu` and `model` propose on `racer`.
///
/// # Errors
///
/// [`RaceFailed`] where nothing can be raced at all.
///
/// # Cost
///
/// The time of [`Wish::budget`], or less.
pub fn tune(
    racer: &mut dyn Racer,
    menu: &Menu,
    model: &dyn Predict,
    wish: &Wish,
    progress: &mut dyn FnMut(Step),
) -> Result<Outcome, RaceFailed> {
    let mut tuner = Tuner::new(racer, menu, model, wish, progress);
    tuner.team()?;
    tuner.operations()?;
    tuner.kept = Duration::ZERO;
    tuner.resolve(wish.budget.mul_f64(FINISH))?;
    tuner.guidelines()?;
    tuner.limits()?;
    tuner.resolve(Duration::ZERO)?;
    Ok(tuner.finish())
}

struct Tuner<'t> {
    racer: &'t mut dyn Racer,
    menu: &'t Menu,
    model: &'t dyn Predict,
    wish: &'t Wish,
    progress: &'t mut dyn FnMut(Step),
    /// Shares of the time of the races done, and of those that there will be.
    races: (usize, usize),
    /// Time that is kept for what comes after the races of all operations.
    kept: Duration,
    /// Races whose winners are not confirmed.
    doubts: Doubts,
    plans: Arc<Plans>,
    policy: Option<Policy>,
    /// The barrier's, which every race uses.
    base: Algorithms,
    team: Vec<TeamRace>,
    tuned: Vec<Tuned>,
    findings: Vec<Finding>,
    notes: Vec<String>,
}

impl<'t> Tuner<'t> {
    fn new(
        racer: &'t mut dyn Racer,
        menu: &'t Menu,
        model: &'t dyn Predict,
        wish: &'t Wish,
        progress: &'t mut dyn FnMut(Step),
    ) -> Self {
        let sized = wish.operations.iter().filter(|&&o| o != Operation::Barrier);
        let of_sizes: usize = wish.sizes.iter().map(|&bytes| shares(bytes)).sum();
        let mut all = sized.count() * of_sizes;
        all += usize::from(wish.operations.contains(&Operation::Barrier));
        all += usize::from(!menu.policies.is_empty());
        all += menu.trees().len();
        Self {
            racer,
            model,
            wish,
            progress,
            races: (0, all),
            kept: wish.budget.mul_f64(AFTERWARDS),
            doubts: Doubts::default(),
            plans: Arc::new(menu.plans.clone()),
            policy: None,
            base: menu.algorithms,
            team: Vec::new(),
            tuned: Vec::new(),
            findings: Vec::new(),
            notes: Vec::new(),
            menu,
        }
    }

    fn ranks(&self) -> usize {
        self.plans.len()
    }

    fn left(&self) -> Duration {
        self.wish.budget.saturating_sub(self.racer.now())
    }

    fn task(&self, operation: Operation, bytes: usize) -> Subject {
        Subject::Task(Task {
            operation,
            ranks: self.ranks(),
            bytes,
        })
    }

    /// What barriers are raced as.
    fn barrier(&self) -> Subject {
        let ranks = self.ranks();
        match self.menu.crowded {
            true => Subject::BarrierThenBroadcast { ranks },
            false => self.task(Operation::Barrier, 0),
        }
    }

    /// What an operation is raced as.
    fn subject(&self, operation: Operation, bytes: usize) -> Subject {
        match operation {
            Operation::Barrier => self.barrier(),
            _ => self.task(operation, bytes),
        }
    }

    fn form(&self, operation: Operation, algorithm: Asked) -> Form {
        Form {
            plans: Arc::clone(&self.plans),
            policy: self.policy,
            algorithms: with(&self.base, operation, algorithm),
        }
    }

    fn field(&self, operation: Operation, bytes: usize) -> Field {
        let setting = self.menu.setting(&self.plans);
        let most = self.wish.most;
        field(operation, bytes, &setting, &self.base, self.model, most)
    }

    /// Says what comes now. What is still to come is guessed by what was: each share of a race as long as those so far, its
    /// doubts included.
    fn tell(&mut self, what: String) {
        let now = self.racer.now();
        let (done, all) = self.races;
        let doubts = self.doubts.time_at_most();
        let share = (now + doubts).div_f64(done.max(1) as f64);
        let rest = share.mul_f64(all.saturating_sub(done) as f64) + doubts;
        let rest = rest.min(self.left()).as_secs_f64();
        let done = match now.is_zero() {
            true => 0.0,
            false => now.as_secs_f64() / (now.as_secs_f64() + rest),
        };
        (self.progress)(Step { done, what });
    }

    /// Holds a race of a share of the time that is left for those to come; `most` heats at most, or those that
    /// are planned. Contenders at `favoured` win ties. `None`: it was interrupted, or there was no time.
    fn race(
        &mut self,
        subject: Subject,
        what: &str,
        contenders: &[Contender],
        favoured: Vec<usize>,
        most: Option<u32>,
    ) -> Result<Option<Judge>, RaceFailed> {
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
            true => self.wish.rules.of_long_data(),
            false => self.wish.rules,
        };
        let mut judge = Judge::new(contenders.len(), rules).favouring(favoured);
        let most = most.unwrap_or(rules.heats);
        heats(self.racer, subject, contenders, &mut judge, most, limit)?;
        Ok((!self.racer.interrupted()).then_some(judge))
    }

    /// Plans, waits, and the barrier.
    fn team(&mut self) -> Result<(), RaceFailed> {
        if self.wish.operations.contains(&Operation::Barrier) {
            self.tune_barrier()?;
        }
        for part in self.menu.trees() {
            self.tune_tree(part)?;
        }
        if !self.menu.policies.is_empty() {
            self.tune_waits()?;
        }
        Ok(())
    }

    /// Plans of barriers and algorithms of barriers in one race.
    fn tune_barrier(&mut self) -> Result<(), RaceFailed> {
        let rivals: Vec<_> = self.menu.rivals_of(Part::Barrier).collect();
        let mut field = self.field(Operation::Barrier, 0);
        // Plans of trees and of rounds race by their own names.
        if !rivals.is_empty() {
            field
                .racing
                .retain(|p| !matches!(p.algorithm, Some("tree" | "dissemination")));
        }
        field.racing[0].predicted_ns = field.racing[0].predicted_ns.or(self.menu.barrier_ns);
        let of_field = |p: &Proposal| Contender {
            name: match p.algorithm {
                None => self.menu.barrier.clone(),
                algorithm => name(algorithm).to_owned(),
            },
            form: self.form(Operation::Barrier, p.algorithm),
        };
        let mut contenders: Vec<Contender> = field.racing.iter().map(of_field).collect();
        let mut names: Vec<_> = field.racing.iter().map(|p| p.predicted_ns).collect();
        for rival in &rivals {
            contenders.push(Contender {
                name: rival.name.clone(),
                form: Form {
                    plans: Arc::new(rival.apply(&self.plans)),
                    policy: self.policy,
                    algorithms: self.base,
                },
            });
            names.push(rival.predicted_ns);
        }
        let subject = self.barrier();
        let Some(judge) = self.race(subject, "plans and algorithms", &contenders, vec![0], None)?
        else {
            return Ok(());
        };
        let named: Vec<(String, Option<f64>)> = contenders
            .iter()
            .zip(names)
            .map(|(contender, predicted)| (contender.name.clone(), predicted))
            .collect();
        let Some(winner) = judge.winner() else {
            self.notes
                .push("no barrier worked: nothing was tuned".to_owned());
            return Ok(());
        };
        let algorithms = field.racing.len();
        self.team.push(TeamRace {
            what: "barrier".to_owned(),
            subject: subject.to_string(),
            candidates: raced(&judge, &named, Some(winner)),
            winner,
        });
        let mut chosen = 0;
        if winner >= algorithms {
            self.plans = Arc::clone(&contenders[winner].form.plans);
        } else {
            chosen = winner;
            let algorithm = field.racing[winner].algorithm;
            if algorithm.is_some() {
                ask(&mut self.base, Operation::Barrier, algorithm);
            }
        }
        let mut candidates = raced(&judge, &named, Some(winner));
        // A plan that won is what runs unasked from now on.
        if winner >= algorithms {
            candidates.swap(0, winner);
        }
        candidates.truncate(algorithms);
        let mut points = vec![Point {
            bytes: 0,
            candidates,
            algorithms: field.racing.iter().map(|p| p.algorithm).collect(),
            left_out: field.left_out,
            chosen,
            decided: judge.ended() == crate::judge::Ended::Decided,
            mended: None,
        }];
        let ranges = ranges(&mut points);
        self.tuned.push(Tuned {
            operation: Operation::Barrier,
            points,
            ranges,
        });
        Ok(())
    }

    /// The tree of broadcasts or of reductions.
    fn tune_tree(&mut self, part: Part) -> Result<(), RaceFailed> {
        let operation = part.operation();
        let rivals: Vec<_> = self.menu.rivals_of(part).collect();
        // In messages, which go by the tree whatever the team would rather do.
        let mut algorithms = self.base;
        ask(&mut algorithms, operation, Some("messages"));
        let form = |plans| Form {
            plans: Arc::new(plans),
            policy: self.policy,
            algorithms,
        };
        let (own, own_ns) = self.menu.own(part);
        let mut named = vec![(own.to_owned(), own_ns)];
        let mut contenders = vec![Contender {
            name: own.to_owned(),
            form: form((*self.plans).clone()),
        }];
        for rival in rivals {
            named.push((rival.name.clone(), rival.predicted_ns));
            contenders.push(Contender {
                name: rival.name.clone(),
                form: form(rival.apply(&self.plans)),
            });
        }
        let subject = self.task(operation, ELEMENT_BYTES);
        let Some(judge) = self.race(subject, "trees", &contenders, vec![0], None)? else {
            return Ok(());
        };
        if let Some(winner) = judge.winner() {
            self.plans = Arc::clone(&contenders[winner].form.plans);
            self.team.push(TeamRace {
                what: format!("{operation} tree"),
                subject: subject.to_string(),
                candidates: raced(&judge, &named, Some(winner)),
                winner,
            });
        }
        Ok(())
    }

    /// How members wait.
    fn tune_waits(&mut self) -> Result<(), RaceFailed> {
        let mut named = vec![(self.menu.waits.clone(), None)];
        let mut contenders = vec![Contender {
            name: self.menu.waits.clone(),
            form: self.form(Operation::Barrier, None),
        }];
        for (name, policy) in &self.menu.policies {
            let mut form = self.form(Operation::Barrier, None);
            form.policy = Some(*policy);
            named.push((name.clone(), None));
            contenders.push(Contender {
                name: name.clone(),
                form,
            });
        }
        let subject = self.barrier();
        let Some(judge) = self.race(subject, "waits", &contenders, vec![0], None)? else {
            return Ok(());
        };
        if let Some(winner) = judge.winner() {
            self.policy = contenders[winner].form.policy;
            self.team.push(TeamRace {
                what: "waits".to_owned(),
                subject: subject.to_string(),
                candidates: raced(&judge, &named, Some(winner)),
                winner,
            });
        }
        Ok(())
    }

    /// Every operation with data at every size.
    fn operations(&mut self) -> Result<(), RaceFailed> {
        let sized = self.wish.operations.iter().copied();
        for operation in sized.filter(|&o| o != Operation::Barrier) {
            let most = self.racer.bytes_max(operation);
            let mut points: Vec<Point> = Vec::new();
            for &bytes in &self.wish.sizes {
                if bytes > most {
                    self.races.1 -= shares(bytes);
                    continue;
                }
                let field = self.field(operation, bytes);
                let favoured = [None, points.last().and_then(Point::algorithm)];
                if let Some((point, doubt)) =
                    self.point(operation, bytes, field, &favoured, Some(FIRST_HEATS))?
                {
                    points.push(point);
                    self.doubts.add(doubt);
                }
                if self.racer.interrupted() {
                    // What is not whole is not kept.
                    return Ok(());
                }
            }
            if self.wish.sizes.iter().any(|&bytes| bytes > most) {
                self.notes.push(format!(
                    "{operation} was not raced with more than {most} bytes, whose buffers would take too much memory"
                ));
            }
            self.tuned.push(Tuned {
                operation,
                ranges: ranges(&mut points),
                points,
            });
        }
        Ok(())
    }

    /// A race of `field`, of `first` heats or of those that are planned; it may go on.
    fn point(
        &mut self,
        operation: Operation,
        bytes: usize,
        field: Field,
        favoured: &[Asked],
        first: Option<u32>,
    ) -> Result<Option<(Point, Doubt)>, RaceFailed> {
        let contender = |p: &Proposal| Contender {
            name: name(p.algorithm).to_owned(),
            form: self.form(operation, p.algorithm),
        };
        let contenders: Vec<Contender> = field.racing.iter().map(contender).collect();
        let place = |asked: &Asked| field.racing.iter().position(|p| p.algorithm == *asked);
        let favoured: Vec<usize> = favoured.iter().filter_map(place).collect();
        let subject = self.subject(operation, bytes);
        let begin = self.racer.now();
        let Some(judge) = self.race(subject, "algorithms", &contenders, favoured, first)? else {
            return Ok(None);
        };
        let heat = (self.racer.now() - begin) / judge.heats();
        Ok(Point::of(bytes, &field, &judge).map(|point| {
            let doubt = Doubt {
                operation,
                bytes,
                field,
                contenders,
                judge,
                heat,
            };
            (point, doubt)
        }))
    }

    /// Gives what is in doubt more heats in turn, until `kept` of the time is left.
    fn resolve(&mut self, kept: Duration) -> Result<(), RaceFailed> {
        while !self.racer.interrupted() {
            let left = self.left().saturating_sub(kept);
            let Some(mut doubt) = self.doubts.next(left) else {
                return Ok(());
            };
            let (operation, bytes) = (doubt.operation, doubt.bytes);
            let subject = self.subject(operation, bytes);
            let heats = doubt.judge.heats();
            self.tell(format!("{subject}: heat {heats}, for certainty"));
            let begin = self.racer.now();
            let limit = left.min(RACE_MAX);
            let contenders = &doubt.contenders;
            self.racer
                .race(subject, contenders, &mut doubt.judge, limit)?;
            doubt.heat = self.racer.now() - begin;
            let point = Point::of(bytes, &doubt.field, &doubt.judge);
            if let (Some((at, size)), Some(point)) = (self.place(operation, bytes), point) {
                let tuned = &mut self.tuned[at];
                tuned.points[size] = point;
                tuned.ranges = ranges(&mut tuned.points);
            }
            self.doubts.add(doubt);
        }
        Ok(())
    }

    /// The times of what was chosen.
    fn table(&self) -> Table {
        let mut table = Table::new(self.ranks());
        table.barriers_are_followed = self.menu.crowded && !self.menu.processes;
        for tuned in &self.tuned {
            for point in &tuned.points {
                if let Some(time) = time(point.winner()) {
                    table.set(tuned.operation, point.bytes, point.algorithm(), time);
                }
            }
        }
        table
    }

    /// Races what guidelines suspect against its remedies, until nothing new is suspected: what was mended is a
    /// bound for others.
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
                let unable = crate::field::unable(suspect.operation, name, &self.plans);
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
                let field = Field {
                    racing: all.iter().map(proposal).collect(),
                    left_out: Vec::new(),
                };
                self.races.1 += shares(suspect.bytes);
                let race = self.point(suspect.operation, suspect.bytes, field, &[chosen], None)?;
                if let Some((race, _)) = race {
                    self.mend(place, chosen, &race, &mut finding);
                }
            }
            self.findings.push(finding);
        }
        Ok(())
    }

    /// Puts the winner of `race` where a guideline was violated.
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
        self.doubts.forget(self.tuned[at].operation, finding.bytes);
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
        if tuned.operation == Operation::Barrier {
            ask(&mut self.base, Operation::Barrier, algorithm);
        }
    }

    fn place(&self, operation: Operation, bytes: usize) -> Option<(usize, usize)> {
        let at = self.tuned.iter().position(|t| t.operation == operation)?;
        let points = &self.tuned[at].points;
        Some((at, points.iter().position(|p| p.bytes == bytes)?))
    }

    /// Races between sizes with different winners, as long as there is time.
    fn limits(&mut self) -> Result<(), RaceFailed> {
        loop {
            let mut open = Vec::new();
            for (at, tuned) in self.tuned.iter().enumerate() {
                for pair in tuned.points.windows(2) {
                    let apart = pair[1].bytes / pair[0].bytes.max(1) > NEAR;
                    if apart && pair[0].algorithm() != pair[1].algorithm() {
                        let middle = middle(pair[0].bytes, pair[1].bytes);
                        open.push((at, middle, [pair[0].algorithm(), pair[1].algorithm()]));
                    }
                }
            }
            if open.is_empty() {
                return Ok(());
            }
            let to_come: usize = open.iter().map(|(_, bytes, _)| shares(*bytes)).sum();
            self.races.1 = self.races.0 + to_come;
            for (at, bytes, rivals) in open {
                let operation = self.tuned[at].operation;
                let mut all = vec![None];
                all.extend(rivals.into_iter().filter(Option::is_some));
                all.dedup();
                let proposal = |algorithm: Asked| Proposal {
                    algorithm,
                    predicted_ns: algorithm
                        .and_then(|name| self.model.predict(operation, name, &self.plans, bytes)),
                };
                let field = Field {
                    racing: all.into_iter().map(proposal).collect(),
                    left_out: Vec::new(),
                };
                let favoured = [None, rivals[0], rivals[1]];
                let Some((point, doubt)) =
                    self.point(operation, bytes, field, &favoured, Some(FIRST_HEATS))?
                else {
                    return Ok(());
                };
                self.doubts.add(doubt);
                let tuned = &mut self.tuned[at];
                let place = tuned.points.partition_point(|p| p.bytes < bytes);
                tuned.points.insert(place, point);
                tuned.ranges = ranges(&mut tuned.points);
            }
        }
    }

    fn finish(mut self) -> Outcome {
        let interrupted = self.racer.interrupted();
        let sizes = self.wish.sizes.len();
        for tuned in &self.tuned {
            if tuned.operation != Operation::Barrier && tuned.points.is_empty() && sizes > 0 {
                self.notes.push(format!(
                    "{} was not raced: there was no time left",
                    tuned.operation
                ));
            }
        }
        self.tuned.retain(|tuned| !tuned.points.is_empty());
        (self.progress)(Step {
            done: 1.0,
            what: "done".to_owned(),
        });
        Outcome {
            synchrony: self.wish.synchrony,
            team: self.team,
            plans: Arc::unwrap_or_clone(self.plans),
            policy: self.policy,
            operations: self.tuned,
            findings: self.findings,
            interrupted,
            notes: self.notes,
        }
    }
}

/// How many shares of the time a race with blocks of `bytes` has.
fn shares(bytes: usize) -> usize {
    match bytes > SHORT_BYTES_MAX {
        true => SHARES_LONG,
        false => 1,
    }
}

/// A power of two between two sizes, or what lies between them.
fn middle(small: usize, large: usize) -> usize {
    let mean = between(small, large);
    let power = mean.next_power_of_two() / if mean.is_power_of_two() { 1 } else { 2 };
    match small < power && power < large && power >= ELEMENT_BYTES {
        true => power,
        false => mean,
    }
}

fn time(raced: &Raced) -> Option<Time> {
    let (low, high) = raced.interval_ns?;
    Some(Time {
        ns: raced.measured_ns?,
        low,
        high,
    })
}
