//! The search for trees with groups.
//!
//! Some trees that are obvious, and those that the count behind the bound suggests, are costed; the
//! best few and the tree that is given are changed step by step (simulated annealing: worse ones
//! are kept with a probability that falls with the loss and with time), each step evaluated exactly.
//! Members move alone or in groups, groups merge and split, members change places.
//!
//! A search is made of moves, as in [`crate::search`]: its result depends only on the costs, the
//! start, the seed and the number of moves.

use std::cell::Cell;
use std::ops::ControlFlow;

use corecast_model::{CostModel, Lines};

use super::Grouped;
use super::cost::{latency, two_ways};
use super::count::Flow;
use super::moves::{Undo, change};
use super::start::{other_roots, starts};
use super::state::{Aim, GroupedState, LatencyScratch};
use crate::operation::Operation;
use crate::pace::{FAR, Pace};
use crate::random::XorShift64Star;
use crate::search::{Effort, SearchProgress, SearchWatch};
use crate::tree::Tree;

/// The number of starts that are improved.
const IMPROVED: usize = 3;
/// Rounds of each search, which divide its moves.
const ROUNDS: u64 = 9;
/// Initial temperatures of the rounds in turn, as shares of the latency. Small teams with irregular
/// costs need the hot ones, large and regular ones the cool ones.
const HOT: [f64; 3] = [0.1, 0.03, 0.3];
/// Final temperature of each round, as a share of the latency.
const COLD: f64 = 0.0005;
/// Moves between two calls of the watcher in teams of up to so many members; fewer in larger ones.
const WATCHED: u64 = 256;
const WATCHED_MEMBERS: u64 = 32;

/// A barrier's two trees, which have one root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoWays {
    /// Towards the root; groups are taken in list order.
    pub fan_in: Grouped,
    /// From the root; groups are served in list order.
    pub fan_out: Grouped,
}

/// Returns a tree with groups that is at least as good as `start`, with the same root unless that is
/// free.
///
/// `start` is the best tree that is known. Without [`CostModel::lines`], and for a reduction, whose
/// lines are private, it is the result. For a barrier the tree serves both ways; see
/// [`search_barrier`] for one each.
///
/// The search ends when the latency is at most `lower_bound`, when all moves are made, or when the
/// watcher ends it.
///
/// # Panics
///
/// When tree and model have different numbers of members.
///
/// # Cost
///
/// The starts, which include counts of at most 60 ms each, and for each move O(n log n): 2 to 4 µs
/// at 32 members (AMD EPYC at 2.6 GHz, November 2026).
///
/// # Examples
///
/// ```
/// use std::ops::ControlFlow;
/// use corecast_plan::groups::{latency, lower_bound, search};
/// use corecast_plan::search::Effort;
/// use corecast_plan::{Operation, smelt};
///
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// let costs = machine.costs();
/// let (smelt, operation) = (smelt::tree(costs, 0), Operation::Broadcast);
/// let bound = lower_bound(costs, operation, Some(0));
/// let effort = Effort { seed: 1, moves: 1000 };
/// let go_on = &mut |_: &_| ControlFlow::Continue(());
/// let best = search(costs, operation, false, &smelt, bound, effort, go_on);
/// assert_eq!(latency(costs, &best, operation), 164.0);
/// ```
#[must_use]
pub fn search(
    costs: &CostModel,
    operation: Operation,
    free_root: bool,
    start: &Tree,
    lower_bound: f64,
    effort: Effort,
    watch: SearchWatch<'_>,
) -> Grouped {
    let given = Grouped::from(start);
    let known = latency(costs, &given, operation);
    let (aim, lines) = match (operation, costs.lines()) {
        (Operation::Broadcast, Some(lines)) => (Aim::Out, lines),
        (Operation::Barrier, Some(lines)) => (Aim::Both, lines),
        (Operation::Reduce, _) | (_, None) => return given,
    };
    let search = OneTree {
        costs,
        lines,
        aim,
        free_root,
        lower_bound,
        effort,
    };
    let found = search.run(start, watch);
    if latency(costs, &found, operation) < known {
        found
    } else {
        given
    }
}

/// Returns a fan-in and a fan-out with one root that together are at least as good as the given
/// ones.
///
/// The trees that are given must have one root; their lists are in the order in which a reduction
/// takes and a broadcast serves children. A free root is looked for in each way first, then the
/// other way is planned for it.
///
/// # Panics
///
/// When a tree and the model have different numbers of members, or when the roots differ.
///
/// # Cost
///
/// Two searches, and with a free root six; they share the moves.
#[must_use]
pub fn search_barrier(
    costs: &CostModel,
    free_root: bool,
    fan_in: &Tree,
    fan_out: &Tree,
    lower_bound: f64,
    effort: Effort,
    watch: SearchWatch<'_>,
) -> TwoWays {
    let given = TwoWays {
        fan_in: Grouped::from(fan_in),
        fan_out: Grouped::from(fan_out),
    };
    let known = given.latency(costs);
    let Some(lines) = costs.lines() else {
        return given;
    };
    let searches = if free_root { 6 } else { 2 };
    let effort = Effort {
        moves: effort.moves / searches,
        ..effort
    };
    let mut way = |aim: Aim, free_root: bool, start: &Tree| {
        let search = OneTree {
            costs,
            lines,
            aim,
            free_root,
            lower_bound: 0.0,
            effort,
        };
        search.run(start, watch)
    };
    let mut best = (known, given);
    let mut offer = |pair: TwoWays| {
        let latency = pair.latency(costs);
        if latency < best.0 {
            best = (latency, pair);
        }
        latency <= lower_bound
    };
    let done = offer(TwoWays {
        fan_in: way(Aim::In, false, fan_in),
        fan_out: way(Aim::Out, false, fan_out),
    });
    if free_root && !done {
        let out = way(Aim::Out, true, fan_out);
        let inward = way(Aim::In, false, &rooted(fan_in, out.root()));
        let done = offer(TwoWays {
            fan_in: inward,
            fan_out: out,
        });
        if !done {
            let inward = way(Aim::In, true, fan_in);
            let out = way(Aim::Out, false, &rooted(fan_out, inward.root()));
            offer(TwoWays {
                fan_in: inward,
                fan_out: out,
            });
        }
    }
    best.1
}

impl TwoWays {
    /// Returns the latency of the barrier.
    ///
    /// # Panics
    ///
    /// In the cases of [`two_ways`].
    #[must_use]
    pub fn latency(&self, costs: &CostModel) -> f64 {
        two_ways(costs, &self.fan_in, &self.fan_out)
    }
}

/// Returns the tree with the root and the given rank in each other's places.
fn rooted(tree: &Tree, rank: usize) -> Tree {
    let root = tree.root();
    let other = |r: usize| match r {
        _ if r == root => rank,
        _ if r == rank => root,
        _ => r,
    };
    let lists =
        (0..tree.len()).map(|r| tree.children(other(r)).iter().map(|&c| other(c)).collect());
    Tree::by_construction(rank, lists.collect())
}

/// A search for one tree, which may serve both directions.
struct OneTree<'a> {
    costs: &'a CostModel,
    lines: &'a Lines,
    aim: Aim,
    free_root: bool,
    lower_bound: f64,
    effort: Effort,
}

impl OneTree<'_> {
    /// Returns the best tree found, which is no worse than `start`.
    fn run(&self, start: &Tree, watch: SearchWatch<'_>) -> Grouped {
        let costs = self.costs;
        let mut judge = LatencyScratch::new(costs, self.lines, self.aim);
        let given = GroupedState::new(&Grouped::from(start));
        let best = Cell::new(judge.latency(&given));
        let way = if self.aim == Aim::In {
            Flow::In
        } else {
            Flow::Out
        };
        let mut from: Vec<(f64, GroupedState)> = vec![(best.get(), given)];
        let mut take = |grouped: Grouped, pace: &mut Pace<'_>| {
            let state = GroupedState::new(&grouped);
            let latency = judge.latency(&state);
            best.set(best.get().min(latency));
            from.push((latency, state));
            pace.spend(FAR * costs.n() as u64)
        };
        let mut ask = || {
            watch(&SearchProgress {
                latency: best.get(),
                moves: 0,
                rounds: 0,
            })
        };
        let mut pace = Pace::new(&mut ask);
        let mut ended = starts(costs, way, start.root(), &mut take, &mut pace);
        if self.free_root && ended.is_continue() {
            ended = other_roots(costs, start.root(), &mut take, &mut pace);
        }
        // The given tree is always among those that are improved. The sort is stable.
        from[1..].sort_by(|(a, _), (b, _)| a.total_cmp(b));
        from.truncate(IMPROVED);
        let best = from.iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut annealer = GroupAnnealer {
            best: best.cloned().expect("the given tree is among them"),
            random: XorShift64Star::new(self.effort.seed),
            judge,
            free_root: self.free_root,
            lower_bound: self.lower_bound,
            moves: 0,
            round: 0,
        };
        let mut from = from.into_iter();
        for _ in 0..ROUNDS {
            let start = from.next().unwrap_or_else(|| annealer.best.clone());
            let moves = self.effort.moves.div_ceil(ROUNDS);
            let over = costs.n() < 3 || ended.is_break();
            if over || annealer.run(start, moves, watch).is_break() {
                break;
            }
        }
        let (_, state) = &annealer.best;
        annealer.judge.grouped(state)
    }
}

struct GroupAnnealer<'a> {
    judge: LatencyScratch<'a>,
    best: (f64, GroupedState),
    random: XorShift64Star,
    free_root: bool,
    lower_bound: f64,
    moves: u64,
    round: u64,
}

impl GroupAnnealer<'_> {
    fn run(
        &mut self,
        (mut now, mut state): (f64, GroupedState),
        moves: u64,
        watch: &mut dyn FnMut(&SearchProgress) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut undo = Undo::default();
        let hot = HOT[self.round as usize % HOT.len()];
        let cooling = (COLD / hot).powf(1.0 / moves.max(1) as f64);
        let mut temperature = hot * now;
        // A move is evaluated with all members.
        let watched = (WATCHED * WATCHED_MEMBERS / state.parent.len() as u64).clamp(1, WATCHED);
        for step in 0..moves {
            if self.best.0 <= self.lower_bound {
                return ControlFlow::Break(());
            }
            if step.is_multiple_of(watched) {
                watch(&SearchProgress {
                    latency: self.best.0,
                    moves: self.moves,
                    rounds: self.round,
                })?;
            }
            self.moves += 1;
            temperature *= cooling;
            if !change(&mut state, &mut self.random, self.free_root, &mut undo) {
                undo.take_back(&mut state);
                continue;
            }
            let next = self.judge.latency(&state);
            let loss = next - now;
            if loss <= 0.0 || self.random.share() < (-loss / temperature).exp() {
                now = next;
                if now < self.best.0 {
                    self.best = (now, state.clone());
                }
            } else {
                undo.take_back(&mut state);
            }
        }
        self.round += 1;
        ControlFlow::Continue(())
    }
}
