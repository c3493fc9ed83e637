//! Which plan runs: the one decision that teams and `corecast explain` share.
//!
//! ```text
//!  asked for ──► raced and won, same threads ──► least predicted latency
//! ```
//!
//! A race beats the model because it was run on the machine; a wish beats both.

use std::fmt;
use std::time::{Duration, Instant};

use corecast_model::{CostModel, Machine, Profile, ProfileEntry, RacedCandidate, Unit};
use corecast_plan::{Operation, Pattern, Plan, PlanError, RootChoice, Tree, plan};
use serde::Serialize;

use crate::store::{Store, Stored};

/// What the user wants, whatever model and races say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// A pattern; for operations that it cannot do the others are looked at.
    pub pattern: Option<Pattern>,
    /// Where trees start.
    pub root: RootChoice,
}

/// The races of a machine, or why there are none.
#[derive(Clone, Debug, PartialEq)]
pub struct Races {
    profile: Option<Profile>,
    source: String,
}

impl Races {
    /// None, for a reason that ends up in explanations.
    pub fn none(why: impl fmt::Display) -> Self {
        Self {
            profile: None,
            source: format!("none: {why}"),
        }
    }

    /// Those that `store` has of `machine`.
    pub fn stored(store: &Store, machine: &Machine) -> Self {
        match store.profile(machine) {
            Stored::Found(path, profile) => Self {
                source: format!("{}, raced {}", path.display(), profile.created),
                profile: Some(profile),
            },
            Stored::Absent => Self::none("nothing has been raced on this machine yet"),
            Stored::Unusable(reason) => Self::none(reason),
        }
    }

    /// Where they come from, or why there are none.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn find(&self, operation: Operation, threads: &[u32]) -> Option<&ProfileEntry> {
        self.profile.as_ref()?.find(&operation.to_string(), threads)
    }
}

/// What decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DecidedBy {
    /// The user.
    Wish,
    /// A race on this machine with exactly these threads.
    Race,
    /// The least predicted latency.
    Model,
}

/// A plan that can run, and how long it took to find.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The plan.
    pub plan: Plan,
    /// Time for finding it and its bound.
    pub search: Duration,
}

/// The decision about one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The chosen plan first, then the others by predicted latency.
    pub candidates: Vec<Candidate>,
    /// What decided.
    pub decided_by: DecidedBy,
    /// Why, in a sentence.
    pub reason: String,
}

impl Choice {
    /// The plan that runs.
    pub fn plan(&self) -> &Plan {
        &self.candidates[0].plan
    }

    /// The plans that do not run, by predicted latency.
    pub fn runners_up(&self) -> &[Candidate] {
        &self.candidates[1..]
    }
}

/// The patterns that are considered for an operation: all but those that exist to be bad examples.
pub fn patterns(operation: Operation) -> Vec<Pattern> {
    let mut all = vec![
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
/// `threads[r]`.
///
/// # Errors
///
/// A root outside of the team, a radix below 2.
///
/// # Cost
///
/// One [`plan()`] for each of [`patterns`].
///
/// # Examples
///
/// ```
/// use corecast::choose::{DecidedBy, Races, Wish, choose};
/// use corecast::plan::Operation;
///
/// let machine = corecast::model::builtin("sandybridge-2x8").unwrap();
/// let races = Races::none("this machine is only looked at");
/// let wish = Wish::default();
/// let choice = choose(machine.costs(), machine.threads(), Operation::Barrier, &wish, &races)?;
/// assert_eq!(choice.decided_by, DecidedBy::Model);
/// assert!(choice.runners_up().iter().all(|other| other.plan.latency >= choice.plan().latency));
/// # Ok::<(), corecast::plan::PlanError>(())
/// ```
pub fn choose(
    costs: &CostModel,
    threads: &[u32],
    operation: Operation,
    wish: &Wish,
    races: &Races,
) -> Result<Choice, PlanError> {
    let mut candidates = Vec::new();
    for pattern in patterns(operation) {
        candidates.push(timed(|| plan(costs, pattern, operation, wish.root))?);
    }
    // Stable: equals stay in the order of `patterns`, which begins with those that fit machines.
    candidates.sort_by(|a, b| a.plan.latency.total_cmp(&b.plan.latency));
    let mut aside = Vec::new();
    if let Some(pattern) = wish.pattern {
        match timed(|| plan(costs, pattern, operation, wish.root)) {
            Ok(wished) => {
                put_first(&mut candidates, wished);
                let reason = "it was asked for".to_owned();
                return Ok(Choice {
                    candidates,
                    decided_by: DecidedBy::Wish,
                    reason,
                });
            }
            Err(PlanError::Unsuited { .. }) => {
                aside.push(format!(
                    "{pattern}, which was asked for, cannot {operation}"
                ));
            }
            Err(error) => return Err(error),
        }
    }
    let by_model = because_of_the_model(&candidates, costs.unit());
    let (decided_by, reason) = match races.find(operation, threads) {
        None => (DecidedBy::Model, by_model),
        Some(entry) => match timed(|| winner(costs, operation, wish, entry)) {
            Ok(won) => {
                put_first(&mut candidates, won);
                (DecidedBy::Race, because_of(entry))
            }
            Err(unusable) => {
                aside.push(format!(
                    "the winner of the race, {}, cannot run: {unusable}",
                    entry.winner
                ));
                (DecidedBy::Model, by_model)
            }
        },
    };
    aside.push(reason);
    Ok(Choice {
        candidates,
        decided_by,
        reason: aside.join("; "),
    })
}

fn timed<E>(find: impl FnOnce() -> Result<Plan, E>) -> Result<Candidate, E> {
    let start = Instant::now();
    let plan = find()?;
    Ok(Candidate {
        plan,
        search: start.elapsed(),
    })
}

/// Puts the chosen plan before all others, in place of another plan of the same pattern.
fn put_first(candidates: &mut Vec<Candidate>, chosen: Candidate) {
    candidates.retain(|other| other.plan.pattern != chosen.plan.pattern);
    candidates.insert(0, chosen);
}

/// The plan that won: the very tree that ran, even where the pattern would build another one from
/// the costs of today.
fn winner(
    costs: &CostModel,
    operation: Operation,
    wish: &Wish,
    entry: &ProfileEntry,
) -> Result<Plan, String> {
    let won = entry.winning().ok_or("it did not run")?;
    let pattern: Pattern = won.pattern.parse().map_err(|error| format!("{error}"))?;
    let Some(children) = &won.children else {
        let root = match wish.root {
            RootChoice::Auto => RootChoice::Rank(won.root),
            asked => asked,
        };
        return plan(costs, pattern, operation, root).map_err(|error| error.to_string());
    };
    if let RootChoice::Rank(root) = wish.root
        && root != won.root
    {
        return Err(format!(
            "it was raced with root {}, and root {root} was asked for",
            won.root
        ));
    }
    let tree =
        Tree::from_children(won.root, children.clone()).map_err(|error| error.to_string())?;
    Plan::of_tree(costs, pattern, operation, tree).map_err(|error| error.to_string())
}

fn because_of(entry: &ProfileEntry) -> String {
    let candidates = entry.candidates.len();
    entry.winning().map_or(String::new(), |won| {
        let RacedCandidate {
            measured_ns,
            predicted_ns,
            ..
        } = won;
        format!(
            "it won the race of {candidates} candidates on this machine with a median of \
             {measured_ns:.0} ns, predicted {predicted_ns:.0} ns"
        )
    })
}

fn because_of_the_model(candidates: &[Candidate], unit: Unit) -> String {
    let [best, next, ..] = candidates else {
        return "no other pattern can do it".to_owned();
    };
    let (best, next) = (&best.plan, &next.plan);
    if best.latency == 0.0 {
        return "a team of one has nobody to wait for".to_owned();
    }
    let equals = |other: &&Candidate| other.plan.latency <= best.latency;
    let equal = candidates[1..].iter().filter(equals).count();
    if equal > 0 {
        let others = if equal == 1 {
            "pattern is"
        } else {
            "patterns are"
        };
        return format!(
            "no pattern is predicted to be faster; {equal} other {others} equal, such as {}",
            next.pattern
        );
    }
    format!(
        "the model predicts the least latency of {} patterns; the next is {} with {}",
        candidates.len(),
        next.pattern,
        latency(next.latency, unit)
    )
}

/// A latency with its unit, as people write it.
pub(crate) fn latency(value: f64, unit: Unit) -> String {
    if value < 10.0 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}
