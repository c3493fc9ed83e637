//! Exact search: a lower bound that rises until a tree meets it.
//!
//! **The recursion.** Let `f(v, S)` be the least time in which v, free to send, can have all of S
//! informed. Whom v sends to first, and what that child takes over, splits the rest in two:
//!
//! ```text
//! f(v, S) = min over c ∈ S, A ⊆ S∖c of  send(v, c) + max( receive(v, c) + f(c, A),  f(v, S∖c∖A) )
//! ```
//!
//! There are n·2ⁿ pairs (v, S). What makes the recursion usable is a *refinement chain* of partitions, from
//! one group of all members to groups of one. On each step members of a group are taken for alike,
//! so that S is a vector of counts, and every message takes the least send and receive found
//! between the two groups: `f` is a lower bound there. Only what the coarser step leaves open is
//! looked at on the finer one:
//!
//! 1. *Limit.* Trees of at most a given latency are looked for. The start has all of it as its
//!    budget; a child has its parent's budget less send and receive, what remains for the parent
//!    the budget less send. The greatest budget over all open splits is handed down; a pair whose
//!    `f` exceeds its budget is out.
//! 2. *Enough.* The same recursion with the greatest costs between groups says how long *any*
//!    concrete holder and members that a pair stands for need at most. An optimal tree can be built
//!    of optimal parts, so no part needs a larger budget than that.
//! 3. *Order.* A finer pair tries its splits in the order of what they take on the coarser step and
//!    stops when none can be better than what was found.
//! 4. *Multipliers* (`exact/multipliers.rs`) give a bound of their own, and say of each state how long its holder
//!    needs at least, and how long it can have at most. Small teams are done before they pay.
//!
//! No tree within the limit exists when no start is left: then the limit is a certified bound. In a
//! partition into single members the bound is exact, and the tree is read off. Where the greatest
//! costs give a tree below the limit, it is read off earlier.
//!
//! The recursion and the use of classes with least costs are folklore for small broadcast problems;
//! refinement chain, budgets, enough and multipliers for trees are Corecast's. The costs are counted in whole ticks
//! ([`Proof`]).

mod extract;
mod level;
mod multipliers;
mod places;
mod proof;
mod prover;
mod refine;
mod refinement_chain;
mod split;
mod ticks;

use corecast_model::CostModel;

pub use proof::{Limits, MEMBERS_MAX, Proof, ProofWatch};
use prover::Prover;
use ticks::Ticks;

use crate::cost;
use crate::operation::Operation;
use crate::tree::Tree;

/// Proves that no broadcast tree is faster than `upper`, or finds a faster one.
///
/// Without `root`, trees with any root are searched. `lower_bound` is a bound that is known already. Where limits
/// or the watcher end the proof, the result has the bound reached so far. Teams of more than [`MEMBERS_MAX`]
/// members only get the bound by multipliers, where the work is enough for it.
///
/// # Panics
///
/// When tree and model have different numbers of members, or the root is not the tree's.
///
/// # Cost
///
/// Up to the limits. Finished on real machines with 16 members in milliseconds, with 20 to 32 in
/// about a second; with 48 a gap of 1 to 2 % is left. See docs/planner.md.
///
/// # Examples
///
/// ```
/// use std::ops::ControlFlow;
/// use corecast_plan::exact::{Limits, prove};
/// use corecast_plan::{Operation, cost, smelt};
///
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// let costs = machine.costs().subset(&[0, 1, 2, 8, 9, 10, 16, 24]).unwrap();
/// let smelt = smelt::tree(&costs, 0);
/// let unwatched = &mut |_, _| ControlFlow::Continue(());
/// let proof = prove(&costs, Some(0), &smelt, 0.0, Limits::default(), unwatched);
/// assert!(proof.optimal);
/// let best = proof.tree.as_ref().unwrap_or(&smelt);
/// assert_eq!(cost::latency(&costs, best, Operation::Broadcast), proof.lower_bound);
/// ```
#[must_use]
pub fn prove(
    costs: &CostModel,
    root: Option<usize>,
    upper: &Tree,
    lower_bound: f64,
    limits: Limits,
    watch: ProofWatch<'_>,
) -> Proof {
    assert_eq!(
        costs.n(),
        upper.len(),
        "the tree and the cost model are of different teams"
    );
    assert!(
        root.is_none_or(|root| root == upper.root()),
        "the tree has another root"
    );
    let latency = cost::latency(costs, upper, Operation::Broadcast);
    let mut proof = Proof {
        lower_bound: lower_bound.min(latency),
        tree: None,
        optimal: latency <= lower_bound,
        work: 0,
    };
    if latency <= 0.0 {
        proof.optimal = true;
    }
    let too_large = costs.n() > MEMBERS_MAX && limits.work < multipliers::work(costs.n()).0;
    if proof.optimal || too_large {
        return proof;
    }
    let mut best = (latency, upper.clone());
    loop {
        let ticks = Ticks::new(costs, best.0);
        let (before, known) = (best.0, proof.lower_bound);
        let mut prover = Prover {
            latency: ticks.latency(&best.1),
            lower: ticks.at_least(proof.lower_bound),
            ticks: &ticks,
            tree: None,
            limits,
            spent: proof.work,
            quota: 0,
            is_told: false,
            watch: &mut |bound, work| watch(known.max(bound), work),
        };
        prover.run(root);
        proof.optimal = prover.lower >= prover.latency;
        proof.work = prover.spent;
        let bound = f64::from(prover.lower) * ticks.tick;
        proof.lower_bound = proof.lower_bound.max(bound);
        if let Some(tree) = prover.tree {
            let latency = cost::latency(costs, &tree, Operation::Broadcast);
            if latency < best.0 {
                best = (latency, tree);
            }
        }
        proof.lower_bound = proof.lower_bound.min(best.0);
        // Ticks that were small for a bad tree may be long for a good one.
        if ticks.are_exact || best.0 > 0.5 * before || best.0 <= 0.0 || !proof.optimal {
            break;
        }
    }
    if best.0 < latency {
        proof.tree = Some(best.1);
    }
    proof
}

/// Returns the work that multipliers for one root take in a team of n: for a fair bound, and for the best one.
pub(crate) fn pricing(n: usize) -> (u64, u64) {
    multipliers::work(n)
}
