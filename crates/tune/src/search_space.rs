//! What a team can be made of, besides algorithms: its own plans and waits, and others that may be better.

use corecast_bench::sized::Operation;
use corecast_collectives::preferences::TeamOutline;
use corecast_collectives::{Algorithms, BarrierPlan, Plans};
use corecast_plan::Tree;
use corecast_wire::WaitConfig;

/// Which plan of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Of barriers.
    Barrier,
    /// Of broadcasts.
    Broadcast,
    /// Of reductions.
    Reduce,
}

impl Part {
    /// The operation by which it is raced.
    pub const fn operation(self) -> Operation {
        match self {
            Self::Barrier => Operation::Barrier,
            Self::Broadcast => Operation::Broadcast,
            Self::Reduce => Operation::Reduce,
        }
    }
}

/// A plan in the place of a team's own.
#[derive(Clone, Debug, PartialEq)]
pub enum Other {
    /// Of barriers.
    Barrier(BarrierPlan),
    /// Of broadcasts.
    Broadcast(Tree),
    /// Of reductions.
    Reduce(Tree),
}

/// A plan that may be better than a team's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Rival {
    /// Its pattern.
    pub name: String,
    /// What the model says, in nanoseconds, where it can.
    pub predicted_ns: Option<f64>,
    /// The plan.
    pub plan: Other,
}

impl Rival {
    /// Which plan it would take the place of.
    pub fn part(&self) -> Part {
        match self.plan {
            Other::Barrier(_) => Part::Barrier,
            Other::Broadcast(_) => Part::Broadcast,
            Other::Reduce(_) => Part::Reduce,
        }
    }

    /// `plans` with it in the place of theirs.
    ///
    /// # Panics
    ///
    /// If it is for another number of ranks.
    pub fn apply(&self, plans: &Plans) -> Plans {
        let (barrier, broadcast, reduce) = (plans.barrier(), plans.broadcast(), plans.reduce());
        let made = match &self.plan {
            Other::Barrier(plan) => Plans::new(plan.clone(), broadcast.clone(), reduce.clone()),
            Other::Broadcast(tree) => Plans::new(barrier.clone(), tree.clone(), reduce.clone()),
            Other::Reduce(tree) => Plans::new(barrier.clone(), broadcast.clone(), tree.clone()),
        };
        let made = made.and_then(|made| match plans.packages() {
            Some(packages) => made.with_packages(packages.to_vec()),
            None => Ok(made),
        });
        made.expect("plans for one team")
    }
}

/// A team, and what may be changed about it.
#[derive(Clone, Debug)]
pub struct SearchSpace {
    /// The plans that it runs untuned.
    pub plans: Plans,
    /// Algorithms that stay as they are.
    pub algorithms: Algorithms,
    /// Whether ranks share hardware threads.
    pub oversubscribed: bool,
    /// Whether ranks are in several processes.
    pub processes: bool,
    /// Patterns of its own plans, and what the model says of them: barrier, broadcast, reduce.
    pub barrier: String,
    /// What the model says of the barrier, in nanoseconds.
    pub barrier_ns: Option<f64>,
    /// Of broadcasts and reductions.
    pub tree: [(String, Option<f64>); 2],
    /// Other plans.
    pub rivals: Vec<Rival>,
    /// How its members wait, in a word.
    pub waits: String,
    /// Other ways to wait.
    pub wait_configs: Vec<(String, WaitConfig)>,
}

impl SearchSpace {
    /// The team as its choices of algorithms see it, once it runs `plans`.
    pub fn setting<'a>(&self, plans: &'a Plans) -> TeamOutline<'a> {
        TeamOutline {
            oversubscribed: self.oversubscribed,
            processes: self.processes,
            ..TeamOutline::new(plans)
        }
    }

    /// Other plans for a part.
    pub fn rivals_of(&self, part: Part) -> impl Iterator<Item = &Rival> {
        self.rivals.iter().filter(move |rival| rival.part() == part)
    }

    /// Parts besides the barrier for which there are others.
    pub fn trees(&self) -> Vec<Part> {
        let parts = [Part::Broadcast, Part::Reduce].into_iter();
        parts
            .filter(|&part| self.rivals_of(part).next().is_some())
            .collect()
    }

    /// The team's own tree for a part.
    pub(crate) fn own(&self, part: Part) -> (&str, Option<f64>) {
        let (name, ns) = &self.tree[usize::from(part == Part::Reduce)];
        (name, *ns)
    }

    /// Ways to wait that may be better than `own`. All of them sleep in the end: a team that waits for an hour
    /// must use no CPU, whatever a race of microseconds says.
    pub fn wait_configs(own: WaitConfig) -> Vec<(String, WaitConfig)> {
        let longer = WaitConfig {
            spin_ns: 50_000,
            yield_ns: 100_000,
            park: true,
        };
        let patient = WaitConfig {
            spin_ns: 0,
            yield_ns: 2_000_000,
            park: true,
        };
        let all = [
            ("balanced", WaitConfig::BALANCED),
            ("crowded", WaitConfig::OVERSUBSCRIBED),
            ("spin 50 µs", longer),
            ("yield 2 ms", patient),
        ];
        let others = all
            .into_iter()
            .filter(|(_, wait_config)| *wait_config != own);
        others
            .map(|(name, wait_config)| (name.to_owned(), wait_config))
            .collect()
    }
}
