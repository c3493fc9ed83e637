//! The search space of a tuning besides algorithms: the team's own plans and waits, and others that may be better.

use corecast_collectives::preferences::TeamOutline;
use corecast_collectives::{Algorithms, BarrierPlan, Plans};
use corecast_plan::{Operation, Tree};
use corecast_wire::WaitConfig;

/// A plan that can replace a team's own.
#[derive(Clone, Debug, PartialEq)]
pub enum Other {
    /// The plan of barriers.
    Barrier(BarrierPlan),
    /// The tree of broadcasts.
    Broadcast(Tree),
    /// The tree of reductions.
    Reduce(Tree),
}

/// A plan that may be better than a team's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Rival {
    /// The name of its pattern.
    pub name: String,
    /// The predicted time in nanoseconds, where the model has one.
    pub predicted_ns: Option<f64>,
    /// The plan.
    pub plan: Other,
}

impl Rival {
    /// The operation whose plan it would replace.
    pub fn operation(&self) -> Operation {
        match self.plan {
            Other::Barrier(_) => Operation::Barrier,
            Other::Broadcast(_) => Operation::Broadcast,
            Other::Reduce(_) => Operation::Reduce,
        }
    }

    /// Returns `plans` with this plan in the place of their own.
    ///
    /// # Panics
    ///
    /// If the plan is for another number of ranks.
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

/// A team, and the plans and waits that a tuning may give it.
#[derive(Clone, Debug)]
pub struct SearchSpace {
    /// The plans of the untuned team.
    pub plans: Plans,
    /// Requests for algorithms, which all races keep.
    pub algorithms: Algorithms,
    /// Most ranks on one hardware thread: 1 where each has one of its own.
    pub sharing: usize,
    /// Whether ranks are in several processes.
    pub processes: bool,
    /// The pattern of its own barrier plan.
    pub barrier: String,
    /// The predicted time of its own barrier in nanoseconds, where the model has one.
    pub barrier_ns: Option<f64>,
    /// Patterns and predicted times (ns) of its own trees: of broadcasts, then of reductions.
    pub tree: [(String, Option<f64>); 2],
    /// The plans that may replace its own.
    pub rivals: Vec<Rival>,
    /// The name of the way in which its members wait.
    pub waits: String,
    /// Other ways to wait, with their names.
    pub wait_configs: Vec<(String, WaitConfig)>,
    /// Whether data may go between its processes through bounce buffers or be copied by the kernel, whichever is faster.
    pub transfer_paths: bool,
}

impl SearchSpace {
    /// Whether ranks share hardware threads.
    pub fn is_oversubscribed(&self) -> bool {
        self.sharing > 1
    }

    /// The outline of the team, from which algorithms are chosen, if it runs `plans`.
    pub fn setting<'a>(&self, plans: &'a Plans) -> TeamOutline<'a> {
        TeamOutline {
            sharing: self.sharing,
            processes: self.processes,
            ..TeamOutline::new(plans)
        }
    }

    /// The plans that may replace the team's own for an operation.
    pub fn rivals_of(&self, operation: Operation) -> impl Iterator<Item = &Rival> {
        let rivals = self.rivals.iter();
        rivals.filter(move |rival| rival.operation() == operation)
    }

    /// The operations besides the barrier for which there are other plans.
    pub fn trees(&self) -> Vec<Operation> {
        let all = [Operation::Broadcast, Operation::Reduce].into_iter();
        all.filter(|&operation| self.rivals_of(operation).next().is_some())
            .collect()
    }

    /// Pattern and predicted time (ns) of the team's own tree for an operation.
    pub(crate) fn own(&self, operation: Operation) -> (&str, Option<f64>) {
        let (name, ns) = &self.tree[usize::from(operation == Operation::Reduce)];
        (name, *ns)
    }

    /// Ways to wait that may be better than `own`. All of them sleep in the end: a team that waits for an hour
    /// must use no CPU, even where spinning wins a race of microseconds.
    pub fn wait_configs(own: WaitConfig) -> Vec<(String, WaitConfig)> {
        let longer = WaitConfig {
            spin_ns: 50_000,
            ..WaitConfig::BALANCED
        };
        let patient = WaitConfig {
            yield_ns: 2_000_000,
            ..WaitConfig::OVERSUBSCRIBED
        };
        let all = [
            ("balanced", WaitConfig::BALANCED),
            ("crowded", WaitConfig::OVERSUBSCRIBED),
            ("spin 50 µs", longer),
            ("yield 2 ms", patient),
        ];
        // Whether the CPU's wait instruction pays depends on who else uses the core, so both its neighbours race.
        let in_cpu = (own.hardware_ns > 0).then_some([
            (
                "without the CPU's wait",
                WaitConfig {
                    spin_ns: own.spin_ns + own.hardware_ns,
                    hardware_ns: 0,
                    ..own
                },
            ),
            (
                "wait in the CPU 50 µs",
                WaitConfig {
                    hardware_ns: 50_000,
                    ..own
                },
            ),
        ]);
        let mut others: Vec<(String, WaitConfig)> = Vec::new();
        for (name, wait_config) in all.into_iter().chain(in_cpu.into_iter().flatten()) {
            let known = others.iter().any(|(_, other)| *other == wait_config);
            if wait_config != own && !known {
                others.push((name.to_owned(), wait_config));
            }
        }
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_in_the_cpu_race_against_polls_of_the_same_length() {
        let names = |own| -> Vec<String> {
            let all = SearchSpace::wait_configs(own);
            assert!(all.iter().all(|(_, one)| one.park && *one != own));
            all.into_iter().map(|(name, _)| name).collect()
        };
        let polls = WaitConfig::BALANCED;
        assert_eq!(names(polls), ["crowded", "spin 50 µs", "yield 2 ms"]);
        let own = WaitConfig {
            spin_ns: 800,
            hardware_ns: 2_800,
            ..polls
        };
        let in_cpu = ["without the CPU's wait", "wait in the CPU 50 µs"];
        assert_eq!(names(own)[4..], in_cpu);
        // Polls of the same length are the balanced waits here.
        let own = WaitConfig {
            hardware_ns: 2_200,
            ..own
        };
        assert_eq!(names(own)[4..], in_cpu[1..]);
    }
}
