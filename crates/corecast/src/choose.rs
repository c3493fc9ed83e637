//! Which plan runs: the one decision that teams and `corecast explain` share.
//!
//! ```text
//!  asked for ──► raced and won, same threads ──► least predicted latency
//! ```
//!
//! A race beats the model because it was run on the machine; a wish beats both.

use std::fmt;
use std::time::{Duration, Instant};

use corecast_machine::Discovery;
use corecast_model::{CostModel, Profile, ProfileEntry, Unit};
use corecast_plan::{
    Operation, Pattern, Plan, PlanError, RootChoice, Shape, Tree, cost, plan, smelt,
};
use serde::Serialize;

use crate::costs;
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

    /// Those that `store` has of this machine; for a process that may only use a part of it those
    /// of the whole also count, as far as they were raced on that part.
    pub fn here(store: &Store, here: &Discovery) -> Self {
        let mut stored = store.profile(&here.machine);
        if stored == Stored::Absent
            && let Some(whole) = costs::whole_machine(here)
        {
            stored = store.profile(&whole);
        }
        match stored {
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

/// A schedule that can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The family that it comes from.
    pub pattern: Pattern,
    /// Where its tree starts; rounds have no root, there it is what was asked for.
    pub root: usize,
    /// The schedule.
    pub shape: Shape,
    /// Predicted latency, in the model's unit.
    pub latency: f64,
    /// Time for finding it.
    pub search: Duration,
}

/// The decision about one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What it is about.
    pub operation: Operation,
    /// The chosen schedule first, then the others by predicted latency. Of patterns that come to
    /// the same schedule only the first is there.
    pub candidates: Vec<Candidate>,
    /// What decided.
    pub decided_by: DecidedBy,
    /// Why, in a sentence.
    pub reason: String,
}

impl Choice {
    /// What runs.
    pub fn chosen(&self) -> &Candidate {
        &self.candidates[0]
    }

    /// What does not run, by predicted latency.
    pub fn runners_up(&self) -> &[Candidate] {
        &self.candidates[1..]
    }
}

impl Candidate {
    /// The tree, unless it is a schedule of rounds.
    pub fn tree(&self) -> Option<&Tree> {
        match &self.shape {
            Shape::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    /// The same as a plan of `operation`, with its bound and gap, which take longer to find than
    /// the schedule.
    ///
    /// # Errors
    ///
    /// Costs of another team, or another operation than it was chosen for.
    pub fn plan(&self, costs: &CostModel, operation: Operation) -> Result<Plan, PlanError> {
        match self.tree() {
            Some(tree) => Plan::of_tree(costs, self.pattern, operation, tree.clone()),
            None => plan(costs, self.pattern, operation, RootChoice::Rank(self.root)),
        }
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
/// One tree or schedule for each of [`patterns`], and no bound: a few milliseconds for 128 ranks.
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
/// assert!(choice.runners_up().iter().all(|other| other.latency >= choice.chosen().latency));
/// # Ok::<(), corecast::plan::PlanError>(())
/// ```
pub fn choose(
    costs: &CostModel,
    threads: &[u32],
    operation: Operation,
    wish: &Wish,
    races: &Races,
) -> Result<Choice, PlanError> {
    choose_for((costs, costs), threads, operation, wish, races)
}

/// The same with costs of their own for messages towards the root and from it.
pub(crate) fn choose_for(
    costs: (&CostModel, &CostModel),
    threads: &[u32],
    operation: Operation,
    wish: &Wish,
    races: &Races,
) -> Result<Choice, PlanError> {
    let drafts = Drafts::new(costs, operation, wish.root)?;
    let mut candidates: Vec<Candidate> = Vec::new();
    for pattern in patterns(operation) {
        let candidate = drafts.of_pattern(pattern)?;
        if candidates
            .iter()
            .all(|other| other.shape != candidate.shape)
        {
            candidates.push(candidate);
        }
    }
    // Stable: equals stay in the order of `patterns`, which begins with those that fit machines.
    candidates.sort_by(|a, b| a.latency.total_cmp(&b.latency));
    let mut aside = Vec::new();
    if let Some(pattern) = wish.pattern {
        match drafts.of_pattern(pattern) {
            Ok(wished) => {
                put_first(&mut candidates, wished);
                return Ok(Choice {
                    operation,
                    candidates,
                    decided_by: DecidedBy::Wish,
                    reason: "it was asked for".to_owned(),
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
    let by_model = because_of_the_model(&candidates, costs.0.unit());
    let (decided_by, reason) = match races.find(operation, threads) {
        None => (DecidedBy::Model, by_model),
        Some(entry) => match drafts.winner(wish, entry) {
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
        operation,
        candidates,
        decided_by,
        reason: aside.join("; "),
    })
}

/// Puts the chosen schedule before all others, in place of its like.
fn put_first(candidates: &mut Vec<Candidate>, chosen: Candidate) {
    candidates.retain(|other| other.pattern != chosen.pattern && other.shape != chosen.shape);
    candidates.insert(0, chosen);
}

/// Finds schedules for one operation of one team.
struct Drafts<'a> {
    fan_in: &'a CostModel,
    fan_out: &'a CostModel,
    operation: Operation,
    root: usize,
    /// For reductions, which are broadcasts of the mirrored costs, see [`plan()`].
    mirrored: Option<CostModel>,
}

impl<'a> Drafts<'a> {
    fn new(
        (fan_in, fan_out): (&'a CostModel, &'a CostModel),
        operation: Operation,
        root: RootChoice,
    ) -> Result<Self, PlanError> {
        let last = fan_out.n() - 1;
        let root = match root {
            RootChoice::Auto => smelt::root(fan_out),
            RootChoice::Rank(root) if root > last => {
                return Err(PlanError::RootOutside { root, last });
            }
            RootChoice::Rank(root) => root,
        };
        Ok(Self {
            fan_in,
            fan_out,
            operation,
            root,
            mirrored: (operation == Operation::Reduce).then(|| fan_in.mirrored()),
        })
    }

    fn of_pattern(&self, pattern: Pattern) -> Result<Candidate, PlanError> {
        let start = Instant::now();
        if pattern.radix().is_some_and(|radix| radix < 2) {
            return Err(PlanError::Radix { pattern });
        }
        let tree = match &self.mirrored {
            Some(mirrored) => pattern
                .tree(mirrored, self.root)
                .map(|tree| tree.reversed()),
            None => pattern.tree(self.fan_out, self.root),
        };
        let barrier = self.operation == Operation::Barrier;
        let shape = match (tree, pattern.rounds(self.fan_out.n())) {
            (Some(tree), _) => Shape::Tree(tree),
            (None, Some(rounds)) if barrier => Shape::Rounds(rounds),
            _ => {
                let operation = self.operation;
                return Err(PlanError::Unsuited { pattern, operation });
            }
        };
        Ok(self.of_shape(pattern, shape, start))
    }

    fn of_shape(&self, pattern: Pattern, shape: Shape, start: Instant) -> Candidate {
        let (root, latency) = match &shape {
            Shape::Tree(tree) => (tree.root(), self.tree_latency(tree)),
            Shape::Rounds(rounds) => (self.root, rounds.latency(self.fan_out)),
            other => unreachable!("no such schedule was asked for: {other:?}"),
        };
        Candidate {
            pattern,
            root,
            shape,
            latency,
            search: start.elapsed(),
        }
    }

    fn tree_latency(&self, tree: &Tree) -> f64 {
        let (fan_in, fan_out) = (self.fan_in, self.fan_out);
        match self.operation {
            Operation::Reduce => cost::latency(fan_in, tree, Operation::Reduce),
            Operation::Barrier if !std::ptr::eq(fan_in, fan_out) => {
                cost::latency(fan_in, &tree.reversed(), Operation::Reduce)
                    + cost::latency(fan_out, tree, Operation::Broadcast)
            }
            operation => cost::latency(fan_out, tree, operation),
        }
    }

    /// What won a race: the very tree that ran, even where its pattern would build another one
    /// from the costs of today.
    fn winner(&self, wish: &Wish, entry: &ProfileEntry) -> Result<Candidate, String> {
        let start = Instant::now();
        let won = entry.winning().ok_or("it did not run")?;
        let pattern: Pattern = won.pattern.parse().map_err(|error| format!("{error}"))?;
        if let RootChoice::Rank(root) = wish.root
            && root != won.root
            && won.children.is_some()
        {
            return Err(format!(
                "it was raced with root {}, and root {root} was asked for",
                won.root
            ));
        }
        let Some(children) = &won.children else {
            return self.of_pattern(pattern).map_err(|error| error.to_string());
        };
        let tree =
            Tree::from_children(won.root, children.clone()).map_err(|error| error.to_string())?;
        Ok(self.of_shape(pattern, Shape::Tree(tree), start))
    }
}

fn because_of(entry: &ProfileEntry) -> String {
    let Some(won) = entry.winning() else {
        return String::new();
    };
    let others = entry.candidates.iter().filter(|other| *other != won);
    let next = others.min_by(|a, b| a.measured_ns.total_cmp(&b.measured_ns));
    let (measured, predicted) = (won.measured_ns, won.predicted_ns);
    let times = format!("a median of {measured:.0} ns, predicted {predicted:.0} ns");
    match next {
        Some(next) => format!(
            "it won the race of {} on this machine with {times}; the next was {} with {:.0} ns",
            entry.candidates.len(),
            next.pattern,
            next.measured_ns
        ),
        None => format!("it was raced alone on this machine, with {times}"),
    }
}

fn because_of_the_model(candidates: &[Candidate], unit: Unit) -> String {
    let [best, next, ..] = candidates else {
        return "all patterns come to the same in a team so small".to_owned();
    };
    let equals = |other: &&Candidate| other.latency <= best.latency;
    let others = match candidates[1..].iter().filter(equals).count() {
        0 => {
            return format!(
                "the model predicts the least latency of {} schedules; the next is {} with {}",
                candidates.len(),
                next.pattern,
                latency(next.latency, unit)
            );
        }
        1 => next.pattern.to_string(),
        equal => format!("{} and {} more", next.pattern, equal - 1),
    };
    format!(
        "no schedule of {} is predicted to be faster; {others} equal it",
        candidates.len()
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
