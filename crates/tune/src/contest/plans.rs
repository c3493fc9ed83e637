//! Which plans of a team race, and the race.

use std::ops::ControlFlow;
use std::time::Instant;

use corecast::choose::{ONE_TREE, Preferences, Races, compare};
use corecast_bench::contestant::method;
use corecast_bench::cpu_placement::{CpuPlacement, allowed_pus, free};
use corecast_bench::peers::Selection;
use corecast_bench::{
    Comparison, Contestant, Entrant, Entry, Exercise, Progress, Role, Settings, floor, peers, race,
};
use corecast_collectives::{BarrierPlan, Plans, barrier};
use corecast_model::{Collective, CostBasis, CostModel};
use corecast_plan::search::{Effort, improve};
use corecast_plan::{Members, Operation, Pattern, Plan, RootChoice, Shape, Tree};

use super::error::ContestError;
use super::timed::Timed;

type Result<T> = std::result::Result<T, ContestError>;

/// How many plans are raced if no pattern is named.
const CANDIDATES: usize = 4;

/// Moves of the search that improves each tree of `best` before a race: about 0.1 s for 64 members.
const MOVES: u64 = 500_000;

/// The note below a table without peers.
pub const NO_PEERS: &str = "no peers take part: this version races them for barriers";

/// Bytes of data that a message of one cache line holds.
const LINE_BYTES: usize = 56;

/// Patterns that race where ranks share hardware threads. No model knows what a switch of context costs, so these
/// range from few rounds to few messages.
const OVERSUBSCRIBED: [Pattern; 5] = [
    Pattern::Sequential,
    Pattern::Binary,
    Pattern::Binomial,
    Pattern::Dissemination { radix: 2 },
    Pattern::Smelt,
];

/// The settings of races of one team.
pub struct Contest<'a> {
    team: &'a Members,
    basis: CostBasis,
    /// Patterns to race; if empty, the races choose them.
    pub named: Vec<Pattern>,
    /// Bytes of data.
    pub bytes: usize,
    /// Hardware threads that the ranks may use together.
    pub usable: usize,
    /// Whether each rank stays on its hardware thread.
    pub pinned: bool,
    /// Which peers take part.
    pub peers: Option<Selection>,
    /// The rank that data come from and go to; `None` leaves it to the plans.
    pub root: Option<usize>,
}

/// A plan that may race.
pub struct Candidate {
    /// The pattern's name.
    pub pattern: String,
    /// The plans of the team that runs it.
    pub plans: Plans,
    /// The rank that data come from or go to.
    pub root: usize,
    predicted: f64,
    /// The plan; absent for an allreduce, which runs over two plans, and for a barrier over one line, which has none.
    pub timed: Option<Timed>,
}

/// A finished race.
pub struct Race {
    /// The collective that was raced.
    pub collective: Collective,
    /// The times.
    pub comparison: Comparison,
    /// The plans.
    pub candidates: Vec<Candidate>,
}

impl Race {
    /// How many of Corecast's own entrants gave wrong results or failed.
    pub fn wrong(&self) -> usize {
        self.comparison.failed(Role::Corecast)
    }

    /// The candidates that were timed, each with its entry, fastest first.
    pub fn ranking(&self) -> Vec<(&Candidate, &Entry)> {
        let mut ranking: Vec<(f64, &Candidate, &Entry)> = Vec::new();
        for candidate in &self.candidates {
            let name = entrant_name(&candidate.pattern);
            let mut own = self.comparison.entries.iter();
            if let Some(entry) = own.find(|e| e.role == Role::Corecast && e.name == name)
                && let Some(summary) = entry.summary()
            {
                ranking.push((summary.median, candidate, entry));
            }
        }
        ranking.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranking.into_iter().map(|(_, c, e)| (c, e)).collect()
    }
}

fn entrant_name(pattern: &str) -> String {
    format!("corecast {pattern}")
}

impl<'a> Contest<'a> {
    /// Pinned races of `team`, each member of which has a hardware thread of its own, with 8 bytes
    /// of data and without peers.
    pub fn new(team: &'a Members, basis: CostBasis) -> Self {
        Contest {
            team,
            basis,
            named: Vec::new(),
            bytes: corecast_bench::contestant::ELEMENT_BYTES,
            usable: team.threads.len(),
            pinned: true,
            peers: None,
            root: None,
        }
    }

    fn ranks(&self) -> usize {
        self.team.threads.len()
    }

    /// The root of broadcasts and reductions is the one asked for, else the one of `smelt`; that of a barrier does not
    /// show, so the planner picks it.
    fn root_choice(&self, operation: Operation) -> RootChoice {
        match (operation, self.root) {
            (Operation::Barrier, _) => RootChoice::Auto,
            (Operation::Broadcast | Operation::Reduce, Some(root)) => RootChoice::Rank(root),
            (Operation::Broadcast | Operation::Reduce, None) => RootChoice::Smelt,
        }
    }

    /// The placement of each rank.
    ///
    /// # Errors
    ///
    /// This process may not use the hardware threads.
    pub fn placements(&self) -> Result<Vec<CpuPlacement>> {
        match self.pinned {
            true => pinned(&self.team.threads),
            false => Ok(free(self.ranks())),
        }
    }

    /// Whether ranks share hardware threads.
    pub fn oversubscribed(&self) -> bool {
        self.ranks() > self.usable
    }

    /// Whether a message is one cache line, as in the floors and in the measured costs.
    fn fits_line(&self, collective: Collective) -> bool {
        collective == Collective::Barrier || self.bytes <= LINE_BYTES
    }

    /// Races plans for `collective` against the floor and, for barriers, against peers.
    ///
    /// # Errors
    ///
    /// This process may not use the hardware threads, a pattern cannot do the operation, or a team cannot be made.
    pub fn race(
        &self,
        collective: Collective,
        settings: &Settings,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Race> {
        self.race_among(collective, self.candidates(collective)?, settings, progress)
    }

    /// Races `candidates`, as [`race`](Self::race) does.
    ///
    /// # Errors
    ///
    /// This process may not use the hardware threads, a pattern cannot do the operation, or a team cannot be made.
    pub fn race_among(
        &self,
        collective: Collective,
        candidates: Vec<Candidate>,
        settings: &Settings,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Race> {
        let placements = self.placements()?;
        let mut entrants: Vec<Entrant<'_>> = Vec::new();
        for candidate in &candidates {
            entrants.push(Entrant::threads(self.contestant(collective, candidate)?));
        }
        if self.ranks() == 2 && !self.oversubscribed() && self.fits_line(collective) {
            entrants.extend(match collective {
                Collective::Barrier => Vec::from(floor::barrier_floors()),
                Collective::Allreduce => Vec::from(floor::value_exchanges()),
                _ => Vec::from(floor::round_trips()),
            });
        }
        if let (Collective::Barrier, Some(selection)) = (collective, self.peers) {
            entrants.extend(peers::barriers(&placements, selection));
        }
        let title = match collective {
            Collective::Barrier => collective.to_string(),
            _ => format!("{collective} of {} bytes", self.bytes),
        };
        let mut comparison = race::run(&title, &placements, settings, &entrants, progress)?;
        comparison
            .notes
            .push(method(collective, self.oversubscribed()).to_owned());
        if collective != Collective::Barrier && self.peers.is_some() {
            comparison.notes.push(NO_PEERS.to_owned());
        }
        Ok(Race {
            collective,
            comparison,
            candidates,
        })
    }

    fn contestant(&self, collective: Collective, candidate: &Candidate) -> Result<Contestant> {
        // Measured costs are those of a message of one line, and costs that were not measured predict nothing.
        let sound = self.basis == CostBasis::Measured && !self.oversubscribed();
        let exercise = Exercise {
            name: entrant_name(&candidate.pattern),
            collective,
            root: candidate.root,
            bytes: match collective {
                Collective::Barrier => 0,
                _ => self.bytes,
            },
            usable: self.usable,
            predicted_ns: (sound && self.fits_line(collective)).then_some(candidate.predicted),
        };
        Contestant::new(exercise, &candidate.plans).map_err(ContestError::Team)
    }

    /// The plans of the named patterns, else those that the planner proposes. Plans of equal shape race once.
    pub fn candidates(&self, collective: Collective) -> Result<Vec<Candidate>> {
        let Some(operation) = planned(collective) else {
            return self.allreduces();
        };
        let root = self.root_choice(operation);
        let search = |&pattern: &Pattern| Timed::search(self.team, pattern, operation, root);
        let plans: Vec<Timed> = if !self.named.is_empty() {
            self.named
                .iter()
                .map(search)
                .collect::<std::result::Result<_, _>>()?
        } else if self.oversubscribed() {
            let able = OVERSUBSCRIBED
                .iter()
                .filter_map(|pattern| search(pattern).ok());
            distinct(able, OVERSUBSCRIBED.len())
        } else {
            return self.rivals(operation);
        };
        let mut candidates: Vec<Candidate> = plans
            .into_iter()
            .map(|timed| self.candidate(timed))
            .collect::<Result<_>>()?;
        if self.named.is_empty() && collective == Collective::Barrier {
            candidates.extend(candidates.first().map(counted).transpose()?);
        }
        Ok(candidates)
    }

    /// The schedules with the best predicted times. Where `best` is a barrier of two trees, the barrier over its
    /// fan-out tree alone races too, as the model does not know what the lines of a second tree cost.
    fn rivals(&self, operation: Operation) -> Result<Vec<Candidate>> {
        let races = Races::none("they are yet to be run");
        let (costs, threads) = (&self.team.costs, &self.team.threads);
        let mut preferences = Preferences::default();
        if let Some(root) = self.root {
            preferences.root = RootChoice::Rank(root);
        }
        let choice = compare(costs, threads, operation, &preferences, &races)?;
        let mut rivals = Vec::new();
        for candidate in choice.candidates.iter().take(CANDIDATES) {
            let mut timed = Timed::of_choice(self.team, &choice, candidate)?;
            if candidate.pattern == Pattern::Best {
                timed = deepened(costs, timed)?;
            }
            if let Some((_, fan_out)) = timed.plan.two_trees() {
                let plan = Plan::of_tree(costs, Pattern::Best, operation, fan_out.clone())?;
                let search_ms = timed.search_ms;
                let mut one_tree = self.candidate(Timed { plan, search_ms })?;
                ONE_TREE.clone_into(&mut one_tree.pattern);
                rivals.push(one_tree);
            }
            rivals.push(self.candidate(timed)?);
        }
        rivals.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
        Ok(rivals)
    }

    fn candidate(&self, timed: Timed) -> Result<Candidate> {
        let plan = &timed.plan;
        Ok(Candidate {
            pattern: plan.pattern.to_string(),
            plans: self.plans(plan)?,
            root: plan.root,
            predicted: plan.latency,
            timed: Some(timed),
        })
    }

    /// Plans with `plan` for its own operation, and plans that need no further lines for the others.
    fn plans(&self, plan: &Plan) -> Result<Plans> {
        if let Some((_, fan_out)) = plan.two_trees() {
            return Ok(Plans::of_tree(fan_out).with_barrier(BarrierPlan::of_plan(plan)?)?);
        }
        let Some(tree) = plan.tree() else {
            let barrier = BarrierPlan::of_plan(plan)?;
            let rest = Plans::of_pattern(&self.team.costs, Pattern::Smelt, None)?;
            return Ok(rest.with_barrier(barrier)?);
        };
        let alike = Plans::of_tree(tree);
        Ok(match plan.operation {
            Operation::Reduce => Plans::new(
                alike.barrier().clone(),
                alike.broadcast().clone(),
                tree.clone(),
            )?,
            Operation::Barrier | Operation::Broadcast => alike,
        })
    }

    /// Allreduces, each with one pattern for fan-in and fan-out. A team of two exchanges its data whatever the pattern.
    fn allreduces(&self) -> Result<Vec<Candidate>> {
        let patterns = match &self.named[..] {
            [] if self.ranks() == 2 => vec![Pattern::Smelt],
            [] if self.oversubscribed() => OVERSUBSCRIBED.to_vec(),
            [] => [&[Pattern::Best][..], &OVERSUBSCRIBED].concat(),
            named => named.to_vec(),
        };
        let mut candidates: Vec<Candidate> = Vec::new();
        for pattern in patterns {
            let way = |operation| {
                Timed::search(self.team, pattern, operation, self.root_choice(operation))
            };
            let (fan_in, fan_out) = match (way(Operation::Reduce), way(Operation::Broadcast)) {
                (Ok(fan_in), Ok(fan_out)) => (fan_in.plan, fan_out.plan),
                (Err(error), _) | (_, Err(error)) if !self.named.is_empty() => {
                    return Err(error.into());
                }
                _ => continue,
            };
            let candidate = self.allreduce(&fan_in, &fan_out)?;
            if candidates.iter().all(|c| c.plans != candidate.plans) {
                candidates.push(candidate);
            }
        }
        if candidates.is_empty() {
            return Err(ContestError::NoPattern);
        }
        Ok(candidates)
    }

    /// The candidate of an allreduce over these two plans.
    ///
    /// # Errors
    ///
    /// A plan is a schedule of rounds, which carries no data.
    pub fn allreduce(&self, fan_in: &Plan, fan_out: &Plan) -> Result<Candidate> {
        let (Some(reduce), Some(broadcast)) = (fan_in.tree(), fan_out.tree()) else {
            return Err(ContestError::NoTree(fan_in.pattern.to_string()));
        };
        let pattern = match self.ranks() {
            2 => "exchange".to_owned(),
            _ if fan_in.pattern == fan_out.pattern => fan_in.pattern.to_string(),
            _ => format!("{}+{}", fan_in.pattern, fan_out.pattern),
        };
        let barrier = BarrierPlan::of_tree(broadcast);
        Ok(Candidate {
            pattern,
            plans: Plans::new(barrier, broadcast.clone(), reduce.clone())?,
            root: broadcast.root(),
            predicted: match self.ranks() {
                2 => fan_in.latency.max(fan_out.latency),
                _ => fan_in.latency + fan_out.latency,
            },
            timed: None,
        })
    }
}

/// The barrier that a team runs by default if its ranks share hardware threads: a counter in one line. The trees of
/// `other` carry its data.
fn counted(other: &Candidate) -> Result<Candidate> {
    let ranks = other.plans.len();
    Ok(Candidate {
        pattern: barrier::Algorithm::Counter.name().to_owned(),
        plans: (other.plans.clone()).with_barrier(BarrierPlan::Counter(ranks))?,
        root: other.root,
        predicted: f64::INFINITY,
        timed: None,
    })
}

/// The planner's operation for `collective`; `None` for those that are not planned themselves, such as an allreduce,
/// which runs over plans of two others.
pub fn planned(collective: Collective) -> Option<Operation> {
    match collective {
        Collective::Barrier => Some(Operation::Barrier),
        Collective::Broadcast => Some(Operation::Broadcast),
        Collective::Reduce => Some(Operation::Reduce),
        _ => None,
    }
}

/// The plan with its trees improved by a longer search, for which a race has time but a starting program has not.
fn deepened(costs: &CostModel, found: Timed) -> Result<Timed> {
    let start = Instant::now();
    let better = |costs: &CostModel, tree: &Tree| {
        let effort = Effort {
            seed: 1,
            moves: MOVES,
        };
        improve(costs, tree, false, 0.0, effort, &mut |_| {
            ControlFlow::Continue(())
        })
    };
    let inward = |tree: &Tree| better(&costs.mirrored(), &tree.reversed()).reversed();
    let plan = &found.plan;
    let (pattern, operation) = (plan.pattern, plan.operation);
    let plan = match (&plan.shape, operation) {
        (Shape::Tree(tree), Operation::Broadcast) => {
            Plan::of_tree(costs, pattern, operation, better(costs, tree))?
        }
        (Shape::Tree(tree), Operation::Reduce) => {
            Plan::of_tree(costs, pattern, operation, inward(tree))?
        }
        (Shape::Tree(tree), Operation::Barrier) => Plan::of_trees(
            costs,
            pattern,
            inward(&tree.reversed()),
            better(costs, tree),
        )?,
        (Shape::Trees { fan_in, fan_out }, _) => {
            Plan::of_trees(costs, pattern, inward(fan_in), better(costs, fan_out))?
        }
        _ => return Ok(found),
    };
    Ok(Timed {
        plan,
        search_ms: found.search_ms + start.elapsed().as_secs_f64() * 1e3,
    })
}

/// The first `most` of `plans` that differ in shape.
fn distinct(plans: impl IntoIterator<Item = Timed>, most: usize) -> Vec<Timed> {
    let mut chosen: Vec<Timed> = Vec::new();
    for timed in plans {
        if chosen.len() < most && chosen.iter().all(|c| c.plan.shape != timed.plan.shape) {
            chosen.push(timed);
        }
    }
    chosen
}

/// A placement on each of `threads`, which the process must be allowed to use.
fn pinned(threads: &[u32]) -> Result<Vec<CpuPlacement>> {
    let allowed = allowed_pus();
    if let Some(pu) = threads
        .iter()
        .find(|pu| !allowed.is_empty() && !allowed.contains(pu))
    {
        return Err(ContestError::NotAllowed(*pu));
    }
    Ok(threads.iter().map(|&pu| CpuPlacement::Pu(pu)).collect())
}
