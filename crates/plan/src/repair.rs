//! Local repair: a member leaves, fails or joins, and the plan is repaired in about a millisecond
//! instead of searched anew (Smelt's future work, §6.1).
//!
//! ```text
//!   Plan + costs of the new team ──► place filled ──► bounded improvement ──► Repair { plan, moved }
//! ```
//!
//! 1. A member that **leaves** is replaced: each of its children finds the parent where the whole is
//!    fastest, or a member takes its place and its children; the best of a few such trials counts. A
//!    member that **joins** is put where the whole is fastest.
//! 2. A tabu search along the critical chain and then kicks, both of limited work, mend what became
//!    slow. Kicks move many members; what they find only counts if it saves 0.5 %. A tree that may have
//!    fallen behind is constructed anew besides, and the better one counts.
//!
//! All lists are always in their best order, see [`crate::order`]. A reduction is repaired as the
//! broadcast that it mirrors, two trees are repaired each on its own, and rounds are made anew from
//! their radix.
//!
//! **Quality.** The repaired plans were compared with the better of two fresh searches of 500,000 moves
//! each from the same root. They start from a searched tree on the seven machines of the public
//! database (16 to 48 members):
//!
//! | change | cases | worst excess | worst mean of a machine | median time | longest |
//! | --- | --- | --- | --- | --- | --- |
//! | broadcast, any one leaves or joins | 369 | 3.6 % | 1.8 % | 0.13 to 1.2 ms | 2.0 ms |
//! | broadcast, random sequences of 20 | 280 | 3.5 % | 1.9 % | 0.16 to 1.0 ms | 1.9 ms |
//! | reduction, any one leaves or joins | 369 | 4.6 % | 2.3 % | 0.5 to 2.2 ms | 3.6 ms |
//! | reduction, random sequences of 20 | 280 | 4.8 % | 1.8 % | 0.6 to 2.0 ms | 3.1 ms |
//!
//! **Above 5 %** is rare and only reductions: with `--sequences 200 --moves 100000`, where the start
//! itself is up to 2 % slower than need be, Barcelona has a single change and one sequence at 5.4 %
//! (all other sequences of reductions stay within 4.8 %, those of broadcasts within 3.2 %); of 2,800
//! sequences of reductions in a trial with other seeds one ended at 5.2 % (Shanghai) and one at 5.1 %
//! (Nehalem). No limit is proved: to be sure, compare with a new plan now and then.
//! On average 1 to 31 members move, at most 45 of 48.
//!
//! Times are the medians of each machine and change, and the longest of all: processor time, two-core
//! KVM guest, AMD EPYC at 2.6 GHz, November 2026, busy with other work. With 1,024 members a change
//! takes 3 to 5 ms; a barrier of one tree takes up to three times as long as a reduction. Command:
//! `cargo run --release -p corecast-plan --example repair -- FILE...`.

mod change;
mod draft;
mod floor;
mod improve;
mod kick;
mod polish;
mod trees;
mod vacancy;
mod way;

use corecast_model::CostModel;

use crate::operation::Operation;
use crate::pattern::Pattern;
use crate::plan::{Plan, PlanError, Shape, Space};
use crate::tree::Tree;
use change::Change;
use draft::NONE;

/// The result of a repair: a plan for a team that has changed by one member.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// The plan of the new team, with the pattern of the old plan.
    pub plan: Plan,
    /// The members of the old team whose parent has changed, who lost theirs, or who have one for the
    /// first time: new ranks in increasing order. All other members keep their lines, though the order
    /// in which they serve may change. Empty for rounds, where all lines change.
    pub moved: Vec<usize>,
}

/// Why a plan cannot be repaired.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The rank that leaves is no member, or the rank that joins would leave a hole.
    #[error("rank {rank} is outside: for this change ranks are 0 to {last}")]
    RankOutside {
        /// The rank asked for.
        rank: usize,
        /// The last possible rank.
        last: usize,
    },
    /// The costs are not those of the changed team.
    #[error(
        "the cost model has {found} members, the changed team {expected}: give the costs of the new team"
    )]
    TeamSize {
        /// Members of the cost model.
        found: usize,
        /// Members of the changed team.
        expected: usize,
    },
    /// The last member cannot leave.
    #[error("the last member cannot leave: a team has at least one")]
    LastMember,
    /// Plans with groups are not repaired: a member that shares a line affects the costs of all others
    /// that share it, so that the tree without groups is no start for a repair.
    #[error("members share lines: plans with groups are not repaired, plan anew")]
    Groups,
    /// The pattern of a plan with rounds makes no rounds.
    #[error("pattern \"{pattern}\" makes no rounds for the new team: plan anew")]
    NoRounds {
        /// The pattern of the plan.
        pattern: Pattern,
    },
}

impl Plan {
    /// Makes the plan of a schedule that is to be repaired, with the simple lower bound of repairs.
    ///
    /// # Errors
    ///
    /// The schedule has another number of members than the model, or shares lines whose costs the model lacks.
    ///
    /// # Cost
    ///
    /// One pass over the costs.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_plan::{Operation, Pattern, Plan, RootChoice, plan};
    ///
    /// let machine = corecast_model::synthetic("core:8").unwrap();
    /// let full = plan(machine.costs(), Pattern::Best, Operation::Reduce, RootChoice::Auto)?;
    /// let simple = Plan::to_repair(machine.costs(), Pattern::Best, Operation::Reduce, full.shape)?;
    /// assert!(simple.latency == full.latency && simple.lower_bound <= full.lower_bound);
    /// # Ok::<(), corecast_plan::PlanError>(())
    /// ```
    pub fn to_repair(
        costs: &CostModel,
        pattern: Pattern,
        operation: Operation,
        shape: Shape,
    ) -> Result<Self, PlanError> {
        let (found, expected) = (shape.len(), costs.n());
        if found != expected {
            return Err(PlanError::TeamSize { found, expected });
        }
        let root = shape.root().unwrap_or(0);
        let bound = quick_bound(costs, operation, &shape, root);
        Self::of_shape(costs, pattern, operation, root, shape, Some(bound))
    }

    /// Returns the plan without one member.
    ///
    /// `costs` are those of the members that stay, in their order: ranks above `rank` move down by
    /// one, as [`CostModel::subset`] of all other positions has it. When the root leaves, the
    /// member becomes root with which the whole is fastest, among the few that suit its place best;
    /// for two trees the same one in both.
    ///
    /// The lower bound of the result is valid for the new team but simple; [`Plan::certify`] takes
    /// the time for the full one. Rounds are made anew from the radix of their pattern.
    ///
    /// # Errors
    ///
    /// A rank outside of the team, costs of a team that is not one smaller, a team of one, or a plan
    /// whose members share lines.
    ///
    /// # Cost
    ///
    /// One pass over the costs for the bound, and work that is limited whatever the plan; see
    /// [`crate::repair`].
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_plan::{Operation, Pattern, RootChoice, plan};
    ///
    /// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
    /// let before = plan(machine.costs(), Pattern::Smelt, Operation::Broadcast, RootChoice::Auto)?;
    /// let stay: Vec<usize> = (0..32).filter(|&rank| rank != 5).collect();
    /// let costs = machine.costs().subset(&stay).unwrap();
    /// let after = before.without(&costs, 5).unwrap();
    /// assert_eq!(after.plan.tree().unwrap().len(), 31);
    /// // Rank 5 comes back.
    /// let again = after.plan.with(machine.costs(), 5).unwrap();
    /// assert!(again.plan.latency <= before.latency * 1.05);
    /// # Ok::<(), corecast_plan::PlanError>(())
    /// ```
    pub fn without(&self, costs: &CostModel, rank: usize) -> Result<Repair, RepairError> {
        let last = self.shape.len() - 1;
        if rank > last {
            return Err(RepairError::RankOutside { rank, last });
        }
        if last == 0 {
            return Err(RepairError::LastMember);
        }
        self.changed(costs, Change::Left(rank), last)
    }

    /// Returns the plan with one more member.
    ///
    /// `costs` are those of the new team: the newcomer is its member `rank`, and old ranks from
    /// there on move up by one; `rank` may be one past the last old one. The root stays the same
    /// member.
    ///
    /// # Errors
    ///
    /// A rank that leaves a hole, costs of a team that is not one larger, or a plan whose members share
    /// lines.
    ///
    /// # Cost
    ///
    /// That of [`Plan::without`].
    pub fn with(&self, costs: &CostModel, rank: usize) -> Result<Repair, RepairError> {
        let last = self.shape.len();
        if rank > last {
            return Err(RepairError::RankOutside { rank, last });
        }
        self.changed(costs, Change::Joined(rank), last + 1)
    }

    /// Returns the plan with the full lower bound, unless its own is better and holds for as many schedules.
    ///
    /// # Panics
    ///
    /// When `costs` are of another number of members.
    ///
    /// # Cost
    ///
    /// That of [`crate::groups::lower_bound`].
    #[must_use]
    pub fn certify(&self, costs: &CostModel) -> Self {
        assert_eq!(costs.n(), self.shape.len(), "costs of another team");
        let bound = self.shape.lower_bound(costs, self.operation, self.root);
        let mut plan = self.clone();
        let space = Space::of(costs, self.operation, &self.shape);
        let bound = match self.scope.space == space {
            true => bound.max(self.lower_bound),
            false => bound,
        };
        plan.scope.space = space;
        plan.set_lower_bound(bound);
        plan
    }

    fn changed(
        &self,
        costs: &CostModel,
        change: Change,
        expected: usize,
    ) -> Result<Repair, RepairError> {
        let found = costs.n();
        if found != expected {
            return Err(RepairError::TeamSize { found, expected });
        }
        let (shape, root) = match &self.shape {
            Shape::Tree(tree) => {
                let tree = trees::one_tree(costs, tree, self.operation, change, self.latency);
                let root = tree.root();
                (Shape::Tree(tree), root)
            }
            Shape::Trees { fan_in, fan_out } => {
                let (fan_in, fan_out) = trees::two_trees(costs, fan_in, fan_out, change);
                let root = fan_out.root();
                (Shape::of_trees(fan_in, fan_out), root)
            }
            Shape::Groups(_) | Shape::GroupedTrees { .. } => return Err(RepairError::Groups),
            Shape::Rounds(_) => {
                let pattern = self.pattern;
                let rounds = pattern.rounds(expected);
                let rounds = rounds.ok_or(RepairError::NoRounds { pattern })?;
                let gone = matches!(change, Change::Left(rank) if rank == self.root);
                let root = if gone { 0 } else { change.new_rank(self.root) };
                (Shape::Rounds(rounds), root)
            }
        };
        let moved = moved(&self.shape, &shape, change);
        let bound = Some(quick_bound(costs, self.operation, &shape, root));
        let plan = Self::of_shape(costs, self.pattern, self.operation, root, shape, bound);
        // A shape of the right size without groups is never refused.
        let mut plan = plan.unwrap_or_else(|error| unreachable!("{error}"));
        plan.scope.space = match plan.shape {
            Shape::Rounds(_) => Space::Barriers,
            _ => Space::Trees,
        };
        Ok(Repair { plan, moved })
    }
}

fn quick_bound(costs: &CostModel, operation: Operation, shape: &Shape, root: usize) -> f64 {
    let outward = || floor::bound(costs, false, root);
    let inward = || floor::bound(costs, true, root);
    match (shape, operation) {
        // The news of one arrival have to reach all members, and the news of all have to reach one.
        (Shape::Rounds(_), _) => outward().max(inward()),
        (_, Operation::Broadcast) => outward(),
        (_, Operation::Reduce) => inward(),
        (_, Operation::Barrier) => outward() + inward(),
    }
}

/// Returns the members that stay and whose parent has changed, who lost theirs, or who have one for the
/// first time.
fn moved(old: &Shape, new: &Shape, change: Change) -> Vec<usize> {
    let (Some(old), Some(new)) = (both_ways(old), both_ways(new)) else {
        return Vec::new();
    };
    let differs = |old: &Tree, new: &Tree, rank: usize| {
        let before = old.parent(rank).map(|p| match change {
            Change::Left(gone) if p == gone => NONE,
            _ => change.new_rank(p),
        });
        before != new.parent(change.new_rank(rank))
    };
    let stays = |&rank: &usize| !matches!(change, Change::Left(gone) if gone == rank);
    (0..old.0.len())
        .filter(stays)
        .filter(|&rank| differs(old.0, new.0, rank) || differs(old.1, new.1, rank))
        .map(|rank| change.new_rank(rank))
        .collect()
}

fn both_ways(shape: &Shape) -> Option<(&Tree, &Tree)> {
    match shape {
        Shape::Tree(tree) => Some((tree, tree)),
        Shape::Trees { fan_in, fan_out } => Some((fan_in, fan_out)),
        Shape::Groups(_) | Shape::GroupedTrees { .. } | Shape::Rounds(_) => None,
    }
}
