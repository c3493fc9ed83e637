//! The search for the best trees when a program starts, and its limits.
//!
//! **Moves, not time.** The same costs give the same trees on every machine, however busy it is: the
//! number of moves depends on the number of members alone and takes a part of the time that a start
//! may take. A limit of CPU time is only a guard for a machine that is many times slower; it ends
//! the moves, and what was found by then runs. It counts the thread's own time, so that a plan does
//! not depend on what else a machine does.
//!
//! **Roots.** A broadcast and a reduction share Smelt's root, the member whose sends are cheapest: an
//! application that does both starts both there, an allreduce turns round there, and their lines serve barriers
//! too. So the best fan-in tree and the best fan-out tree together are a barrier already. A barrier has no root
//! that a program names, so some members that are near to all others are tried as well, as many as there is
//! time for; one takes over where its pair of trees is better.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use corecast_model::CostModel;
use corecast_plan::search::{Effort, construct, improve};
use corecast_plan::{Operation, Pattern, PlanError, RootChoice, Shape, Tree, cost, plan_with};
use rustix::time::{ClockId, clock_gettime};

/// The limits of the search for one team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// Moves for each tree.
    pub(super) moves: u64,
    /// Roots that are tried for a barrier besides the team's own.
    pub(super) roots: usize,
}

impl Budget {
    /// The effort for `n` members. A move takes 0.2 µs at 16 members and 0.4 µs at 128. A
    /// construction grows with n², from 0.05 ms to 1.9 ms (two-core KVM guest, AMD EPYC at 2.6 GHz,
    /// November 2026, `cargo run --release -p corecast --example startup`).
    pub(super) fn of(n: usize) -> Self {
        Self {
            moves: MOVES_MAX.min(160_000 / n as u64),
            roots: (6_144 / (n * n)).min(ROOTS_MAX).min(n - 1),
        }
    }
}

/// Most moves for a tree. Twice as many make the trees of 16 to 32 members better by less than 1 %.
const MOVES_MAX: u64 = 2_500;

/// Most roots that are tried for a barrier: the best is nearly always among the first few.
const ROOTS_MAX: usize = 6;

/// CPU time for each tree of pattern `optimal`.
const OPTIMAL_LIMIT: Duration = Duration::from_secs(1);

/// Seed of the search. It is fixed so that plans are reproducible.
const SEED: u64 = 1;

/// Counts of what the search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SearchTally {
    /// Constructions of a tree.
    pub(super) constructions: usize,
    /// Trees that were improved.
    pub(super) improvements: usize,
    /// Moves that were allowed for.
    pub(super) moves: u64,
    /// Trees that were to be proved optimal.
    pub(super) proofs: usize,
}

/// A tree by which messages leave the root; that of a reduction was found with mirrored costs.
#[derive(Clone, Debug)]
pub(super) struct FoundTree {
    pub(super) tree: Tree,
    pub(super) latency: f64,
    /// Its predicted latency before any move.
    pub(super) constructed: f64,
    pub(super) took: Duration,
}

/// Constructs and improves trees, counts this work, and ends moves at its limit.
#[derive(Debug, Default)]
pub(super) struct Searcher {
    /// The moment on this thread's clock of CPU time from which no moves are made.
    limit: Option<Duration>,
    search_counts: Cell<SearchTally>,
}

/// The CPU time that this thread has used.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime)
        .try_into()
        .unwrap_or_default()
}

impl Searcher {
    #[cfg(test)]
    pub(super) fn search_counts(&self) -> SearchTally {
        self.search_counts.get()
    }

    /// Makes no moves once this thread has used `cpu` more CPU time.
    pub(super) fn guard(&mut self, cpu: Duration) {
        self.limit = Some(cpu_time() + cpu);
    }

    pub(super) fn is_late(&self) -> bool {
        self.limit.is_some_and(|limit| cpu_time() >= limit)
    }

    pub(super) fn construct(&self, costs: &CostModel, root: usize) -> FoundTree {
        let start = Instant::now();
        let mut search_counts = self.search_counts.get();
        search_counts.constructions += 1;
        self.search_counts.set(search_counts);
        let tree = construct(costs, Some(root));
        let latency = cost::latency(costs, &tree, Operation::Broadcast);
        FoundTree {
            tree,
            latency,
            constructed: latency,
            took: start.elapsed(),
        }
    }

    /// The tree of pattern `optimal`, which runs only where a user asks for it. Costs of shared
    /// lines are left out, since no probe measures them.
    pub(super) fn optimal(&self, costs: &CostModel, root: usize) -> Result<FoundTree, PlanError> {
        let (start, limit) = (Instant::now(), cpu_time() + OPTIMAL_LIMIT);
        let mut search_counts = self.search_counts.get();
        search_counts.proofs += 1;
        self.search_counts.set(search_counts);
        let mut guard = |_: &_| match cpu_time() < limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let (operation, root) = (Operation::Broadcast, RootChoice::Rank(root));
        let (pattern, effort) = (Pattern::Optimal, Effort::default());
        let costs = costs.without_lines();
        let plan = plan_with(&costs, pattern, operation, root, effort, &mut guard)?;
        let latency = plan.latency;
        match plan.shape {
            Shape::Tree(tree) => Ok(FoundTree {
                tree,
                latency,
                constructed: latency,
                took: start.elapsed(),
            }),
            _ => Err(PlanError::Unsuited { pattern, operation }),
        }
    }

    pub(super) fn improve(&self, costs: &CostModel, mut found: FoundTree) -> FoundTree {
        let moves = Budget::of(costs.n()).moves;
        if costs.n() < 3 || self.is_late() {
            return found;
        }
        let start = Instant::now();
        let mut search_counts = self.search_counts.get();
        search_counts.improvements += 1;
        search_counts.moves += moves;
        self.search_counts.set(search_counts);
        let effort = Effort { seed: SEED, moves };
        let mut guard = |_: &_| match self.is_late() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        found.tree = improve(costs, &found.tree, false, 0.0, effort, &mut guard);
        found.latency = cost::latency(costs, &found.tree, Operation::Broadcast);
        found.took += start.elapsed();
        found
    }
}

/// The members whose messages to and from all others are cheapest, without `root`.
pub(super) fn other_roots(outward: &CostModel, inward: &CostModel, root: usize) -> Vec<usize> {
    let all = (0..outward.n()).filter(|&rank| rank != root);
    let mut near: Vec<(f64, usize)> = all
        .map(|rank| (outward.send_mean(rank) + inward.send_mean(rank), rank))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    near.truncate(Budget::of(outward.n()).roots);
    near.into_iter().map(|(_, rank)| rank).collect()
}
