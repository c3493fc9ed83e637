//! Chooses the plan that runs. Teams and `corecast explain` share this one decision.
//!
//! ```text
//!  asked for ──► raced and won, same threads ──► least predicted latency
//! ```
//!
//! A race beats the model because it was run on the machine, and a preference beats both. Where one of
//! them decides, nothing is searched. Otherwise all [`patterns`] are planned, `best` among them;
//! [`choose`] says how long `best` is searched for.

mod best;
mod candidate;
mod drafts;
mod races;
mod reasons;
mod repaired;
#[cfg(test)]
mod tests;

pub use candidate::{Candidate, ONE_TREE};
pub use races::Races;
pub(crate) use reasons::latency;
pub(crate) use repaired::Before;

use std::time::{Duration, Instant};

use corecast_model::{CostModel, ProfileEntry, Unit};
use corecast_plan::{Operation, Pattern, PlanError, RootChoice};
use serde::Serialize;

use drafts::Drafts;
use reasons::{because_of, because_of_the_model};

/// CPU time after which a team of up to 128 members looks for no better trees. This is a guard: today's
/// machines make all moves in less time.
const GUARD: Duration = Duration::from_millis(9);

/// The user's preferences, which override model and races.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    /// The pattern. Operations that it cannot do are chosen without a preference.
    pub pattern: Option<Pattern>,
    /// The root of all trees.
    pub root: RootChoice,
}

/// The source of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DecidedBy {
    /// The user.
    #[serde(rename = "wish")]
    User,
    /// A race on this machine with exactly these threads.
    Race,
    /// The model: this plan has the least predicted latency.
    Model,
    /// The team before, whose plan was repaired when it lost ranks.
    Repair,
    /// Corecast itself: ranks share hardware threads, which the model does not cover.
    Sharing,
}

/// The decision about one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The operation.
    pub operation: Operation,
    /// The chosen schedule, followed by the others in the order of predicted latency. The others are
    /// all patterns, or those that lost the race that decided, or none where a preference did. Of
    /// several patterns with the same schedule only the first is listed.
    pub candidates: Vec<Candidate>,
    /// The source of the decision.
    pub decided_by: DecidedBy,
    /// Why, in a sentence.
    pub reason: String,
}

impl Choice {
    /// The schedule that runs.
    pub fn chosen(&self) -> &Candidate {
        &self.candidates[0]
    }

    /// The schedules that do not run, by predicted latency.
    pub fn runners_up(&self) -> &[Candidate] {
        &self.candidates[1..]
    }
}

/// The patterns that are considered for an operation: all but those that exist to be bad examples,
/// and `optimal`, whose search may take minutes.
pub fn patterns(operation: Operation) -> Vec<Pattern> {
    let mut all = vec![
        Pattern::Best,
        Pattern::Smelt,
        Pattern::Mst,
        Pattern::MstBinary,
        Pattern::Cluster,
    ];
    all.extend(Pattern::oblivious());
    if operation == Operation::Barrier {
        all.extend([2, 3, 4].map(|radix| Pattern::Dissemination { radix }));
    }
    all
}

/// Chooses the plan of `operation` for the team whose rank r has row r of `costs` and runs on PU
/// `threads[r]`, as a team does that starts.
///
/// Without a preference and a race all [`patterns`] are planned. `best` gets a number of moves that
/// depends on the number of members alone, so the same costs give the same plan on every machine.
/// This function reads no clock; a team that starts has a guard, see [`choose_all`].
///
/// Where a preference or a race decides no other pattern is planned: [`compare`] does that.
///
/// # Errors
///
/// A root outside of the team, a radix below 2.
///
/// # Cost
///
/// At most one tree or schedule for each of [`patterns`], without lower bounds. That takes a few
/// milliseconds at 128 members, and much less where a race has decided.
///
/// # Examples
///
/// ```
/// use corecast::choose::{DecidedBy, Races, Preferences, choose};
/// use corecast::plan::Operation;
///
/// let machine = corecast::model::builtin("sandybridge-2x8").unwrap();
/// let races = Races::none("this machine is only looked at");
/// let preferences = Preferences::default();
/// let choice = choose(machine.costs(), machine.threads(), Operation::Barrier, &preferences, &races)?;
/// assert_eq!(choice.decided_by, DecidedBy::Model);
/// assert!(choice.runners_up().iter().all(|other| other.latency >= choice.chosen().latency));
/// # Ok::<(), corecast::plan::PlanError>(())
/// ```
pub fn choose(
    costs: &CostModel,
    threads: &[u32],
    operation: Operation,
    preferences: &Preferences,
    races: &Races,
) -> Result<Choice, PlanError> {
    Chooser::new((costs, costs), threads, preferences, races)?.choose(operation)
}

/// The decisions of [`choose`] for all operations of a starting team, in the order of
/// [`Operation::ALL`]. A tree that several operations need is searched once.
///
/// Unlike [`choose`] it reads a clock as a guard: with up to 128 members, the search for better trees
/// ends after 9 ms of the thread's own CPU time. Only a machine much slower than today's needs so
/// long; [`Builder::build`](crate::Builder::build) has figures.
///
/// # Errors
///
/// The errors of [`choose`].
pub fn choose_all(
    costs: &CostModel,
    threads: &[u32],
    preferences: &Preferences,
    races: &Races,
) -> Result<Vec<Choice>, PlanError> {
    let chooser = Chooser::new((costs, costs), threads, preferences, races)?.guarded();
    Operation::ALL
        .into_iter()
        .map(|operation| chooser.choose(operation))
        .collect()
}

/// The decision of [`choose`], with all other patterns planned for comparison in any case.
///
/// # Errors
///
/// The errors of [`choose`].
///
/// # Cost
///
/// The cost of [`choose`] where neither preference nor race decides.
pub fn compare(
    costs: &CostModel,
    threads: &[u32],
    operation: Operation,
    preferences: &Preferences,
    races: &Races,
) -> Result<Choice, PlanError> {
    Chooser::new((costs, costs), threads, preferences, races)?.compare(operation)
}

/// Chooses the plans of one team. A tree that several operations need is searched once.
#[derive(Debug)]
pub(crate) struct Chooser<'a> {
    drafts: Drafts<'a>,
    unit: Unit,
    threads: &'a [u32],
    preferences: &'a Preferences,
    races: &'a Races,
    /// The team that has lost ranks, of which this one goes on.
    before: Option<&'a Before<'a>>,
    /// Whether ranks share hardware threads, so that a barrier counts unless a preference or a race decides.
    counts: bool,
}

/// A decision about one operation, before the notes on sources that could not decide are added.
struct Settled {
    candidates: Vec<Candidate>,
    by: DecidedBy,
    reason: String,
}

impl<'a> Chooser<'a> {
    /// `costs` are those of messages towards the root, and from it.
    pub(crate) fn new(
        costs: (&'a CostModel, &'a CostModel),
        threads: &'a [u32],
        preferences: &'a Preferences,
        races: &'a Races,
    ) -> Result<Self, PlanError> {
        Ok(Self {
            drafts: Drafts::new(costs, preferences.root)?,
            unit: costs.1.unit(),
            threads,
            preferences,
            races,
            before: None,
            counts: false,
        })
    }

    /// Says that a barrier counts where the model decides: then nothing better is searched for, which takes most of the time.
    pub(crate) fn counting(self, counts: bool) -> Self {
        Self { counts, ..self }
    }

    /// Sets the guard: the search for better trees ends after [`GUARD`] of CPU time, more in large
    /// teams.
    pub(crate) fn guarded(mut self) -> Self {
        // The time of constructions grows with the square of the team, and the guard does not end them.
        let times = (self.threads.len() / 128).max(1) as u32;
        self.drafts.searcher.guard(GUARD * times * times);
        self
    }

    /// For a team of the ranks of `before` that stay: where neither a preference nor a race decides, the plan of the team
    /// before is repaired, or made anew where no repair can be.
    pub(crate) fn after(self, before: Option<&'a Before<'a>>) -> Self {
        Self { before, ..self }
    }

    pub(crate) fn choose(&self, operation: Operation) -> Result<Choice, PlanError> {
        self.decide(operation, false)
    }

    pub(crate) fn compare(&self, operation: Operation) -> Result<Choice, PlanError> {
        self.decide(operation, true)
    }

    fn decide(&self, operation: Operation, everything: bool) -> Result<Choice, PlanError> {
        let mut aside = Vec::new();
        let mut settled = self.by_wish(operation, &mut aside)?;
        if settled.is_none() {
            settled = self.by_race(operation, &mut aside);
        }
        if settled.is_none() {
            settled = self.by_repair(operation);
        }
        let settled = match settled {
            Some(mut settled) => {
                if everything {
                    let mut all = self.all(operation)?;
                    put_first(&mut all, settled.candidates.swap_remove(0));
                    settled.candidates = all;
                }
                settled
            }
            None => {
                let candidates = self.all(operation)?;
                Settled {
                    reason: because_of_the_model(&candidates, self.unit),
                    candidates,
                    by: DecidedBy::Model,
                }
            }
        };
        aside.push(settled.reason);
        Ok(Choice {
            operation,
            candidates: settled.candidates,
            decided_by: settled.by,
            reason: aside.join("; "),
        })
    }

    fn by_wish(
        &self,
        operation: Operation,
        aside: &mut Vec<String>,
    ) -> Result<Option<Settled>, PlanError> {
        let Some(pattern) = self.preferences.pattern else {
            return Ok(None);
        };
        match self.drafts.of_pattern(pattern, operation) {
            Ok(wished) => Ok(Some(Settled {
                candidates: vec![wished],
                by: DecidedBy::User,
                reason: "it was asked for".to_owned(),
            })),
            Err(PlanError::Unsuited { .. }) => {
                aside.push(format!(
                    "{pattern}, which was asked for, cannot {operation}"
                ));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The winner of a race, followed by the candidates that it beat.
    fn by_race(&self, operation: Operation, aside: &mut Vec<String>) -> Option<Settled> {
        let entry = self.races.find(operation, self.threads)?;
        let winner = match self.winner(operation, entry) {
            Ok(winner) => winner,
            Err(unusable) => {
                let name = &entry.winner;
                aside.push(format!(
                    "the winner of the race, {name}, cannot run: {unusable}"
                ));
                return None;
            }
        };
        let rounds = |name: &str| name.parse().is_ok_and(|p: Pattern| p.rounds(2).is_some());
        let beaten = entry.candidates.iter().filter(|ran| {
            ran.pattern != entry.winner && (ran.children.is_some() || rounds(&ran.pattern))
        });
        let mut beaten: Vec<Candidate> = beaten
            .filter_map(|ran| self.drafts.raced(ran, operation).ok())
            .collect();
        beaten.sort_by(|a, b| a.latency.total_cmp(&b.latency));
        beaten.insert(0, winner);
        Some(Settled {
            candidates: beaten,
            by: DecidedBy::Race,
            reason: because_of(entry),
        })
    }

    /// The repaired plan of the team before, if there was one.
    fn by_repair(&self, operation: Operation) -> Option<Settled> {
        let begin = Instant::now();
        let repaired = self.before?.repaired(operation)?;
        let (pattern, shape) = (repaired.pattern, repaired.shape);
        let candidate = self
            .drafts
            .candidate(pattern, operation, shape, begin.elapsed());
        Some(Settled {
            candidates: vec![candidate],
            by: DecidedBy::Repair,
            reason: repaired.reason,
        })
    }

    fn winner(&self, operation: Operation, entry: &ProfileEntry) -> Result<Candidate, String> {
        let won = entry.winning().ok_or("it did not run")?;
        if let RootChoice::Rank(root) = self.preferences.root
            && root != won.root
            && won.children.is_some()
        {
            return Err(format!(
                "it was raced with root {}, and root {root} was asked for",
                won.root
            ));
        }
        self.drafts.raced(won, operation)
    }

    /// The schedules of all patterns, by predicted latency.
    fn all(&self, operation: Operation) -> Result<Vec<Candidate>, PlanError> {
        let mut candidates: Vec<Candidate> = Vec::new();
        let searches = !(self.counts && operation == Operation::Barrier);
        for pattern in patterns(operation) {
            if pattern == Pattern::Best && !searches {
                continue;
            }
            let candidate = self.drafts.of_pattern(pattern, operation)?;
            if candidates.iter().all(|c| c.shape != candidate.shape) {
                candidates.push(candidate);
            }
        }
        // The sort is stable: equal ones stay in the order of `patterns`, which begins with
        // machine-aware ones.
        candidates.sort_by(|a, b| a.latency.total_cmp(&b.latency));
        Ok(candidates)
    }
}

/// Puts the chosen schedule first, and removes others of its pattern or shape.
fn put_first(candidates: &mut Vec<Candidate>, chosen: Candidate) {
    candidates.retain(|other| other.pattern != chosen.pattern && other.shape != chosen.shape);
    candidates.insert(0, chosen);
}
