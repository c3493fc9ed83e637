//! Checks a plan independently: that it is a schedule, and that it takes as long as it says.
//!
//! The checker shares no code with planner, search, costs or bounds. A plan is read as data (the root
//! and the child lists, or the rounds), turned into the actions of each member, and played message by
//! message:
//!
//! ```text
//! child lists ──► spanning ──► script: rank r sends to 3, receives from 5, ... ──► events ──► latency
//! ```
//!
//! - `spanning`: every rank once, from the root, without a cycle;
//! - `script`: what each member does, by operation and shape;
//! - `shared`: lines that a group shares, see [`crate::groups`];
//! - `events`: a clock that goes from event to event, where [`crate::cost`] has closed recursions.
//!
//! Messages carry the ranks that their sender has heard of, so that the play also shows whether the
//! operation is done: a broadcast's value has reached everybody, a reduction has every contribution
//! exactly once, and no member leaves a barrier before all have entered.
//!
//! A new [`Shape`] needs a script, and an arm in [`plan`].
//!
//! The checker does *not* show that the bound holds: that takes all other schedules, which the tests
//! of bounds try by brute force.

mod error;
mod events;
mod ranks;
mod script;
mod shared;
mod spanning;

pub use error::CheckError;

use corecast_model::CostModel;

use crate::operation::Operation;
use crate::plan::{Plan, Shape};
use crate::rounds::Rounds;
use events::Played;
use script::Script;

/// The relative difference up to which two sums of the same costs count as equal: the order of
/// additions changes the last digits.
const ROUNDING: f64 = 1e-9;

/// How far below the latency a bound may lie and still prove it, see [`Plan::proved_optimal`]: proofs
/// count in ticks.
const PROVED: f64 = 1e-7;

/// The latency, the times and the messages that the checker found by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// When the last member is done, in the model's unit.
    pub latency: f64,
    /// For each rank the time at which its last message is sent or taken, in the model's unit.
    pub done: Vec<f64>,
    /// Messages that were sent. A line that a group polls counts once, one that a group adds to once
    /// for each member.
    pub messages: usize,
}

/// Checks that a plan is a schedule of its operation and that all its numbers are right.
///
/// # Errors
///
/// The first fault found, in the order of [`CheckError`].
///
/// # Cost
///
/// O(m · (n / 64 + log n)) for m messages between n members; n² / 8 bytes.
///
/// # Examples
///
/// ```
/// use corecast_plan::{Operation, Pattern, RootChoice, check, plan};
///
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// let mut plan = plan(machine.costs(), Pattern::Smelt, Operation::Reduce, RootChoice::Auto)?;
/// assert_eq!(check::plan(machine.costs(), &plan).unwrap().messages, 31);
/// plan.latency *= 0.9;
/// assert!(check::plan(machine.costs(), &plan).is_err());
/// # Ok::<(), corecast_plan::PlanError>(())
/// ```
pub fn plan(costs: &CostModel, plan: &Plan) -> Result<Checked, CheckError> {
    let operation = plan.operation;
    let checked = match &plan.shape {
        Shape::Tree(tree) => {
            same_root(plan.root, tree.root())?;
            self::tree(costs, operation, tree.root(), tree.child_lists())?
        }
        Shape::Trees { fan_in, fan_out } if operation == Operation::Barrier => {
            same_root(plan.root, fan_in.root())?;
            same_root(plan.root, fan_out.root())?;
            two_trees(
                costs,
                plan.root,
                fan_in.child_lists(),
                fan_out.child_lists(),
            )?
        }
        Shape::Groups(groups) => {
            same_root(plan.root, groups.root())?;
            self::grouped(costs, operation, groups.root(), groups.group_lists())?
        }
        Shape::GroupedTrees { fan_in, fan_out } if operation == Operation::Barrier => {
            same_root(plan.root, fan_in.root())?;
            same_root(plan.root, fan_out.root())?;
            let (inward, outward) = (fan_in.group_lists(), fan_out.group_lists());
            two_grouped(costs, plan.root, inward, outward)?
        }
        Shape::Rounds(rounds) if operation == Operation::Barrier => self::rounds(costs, rounds)?,
        Shape::Trees { .. } | Shape::GroupedTrees { .. } | Shape::Rounds(_) => {
            return Err(CheckError::Unsuited { operation });
        }
    };
    numbers(plan, checked.latency)?;
    Ok(checked)
}

/// Plays an operation over one tree, given as its root and its child lists.
///
/// Lists are read as [`crate::cost`] says: in order, and backwards on the way in of a barrier.
///
/// # Errors
///
/// Lists that are no tree over the model's team.
///
/// # Examples
///
/// ```
/// use corecast_plan::{Operation, check};
///
/// let machine = corecast_model::synthetic("core:3 send=10 receive=30").unwrap();
/// let star = [vec![1, 2], vec![], vec![]];
/// let checked = check::tree(machine.costs(), Operation::Broadcast, 0, &star).unwrap();
/// assert_eq!((checked.latency, checked.done), (50.0, vec![20.0, 40.0, 50.0]));
/// ```
pub fn tree(
    costs: &CostModel,
    operation: Operation,
    root: usize,
    children: &[Vec<usize>],
) -> Result<Checked, CheckError> {
    spanning::check(costs.n(), root, children)?;
    let mut script = Script::new(costs.n());
    match operation {
        Operation::Broadcast => script.broadcast(children),
        Operation::Reduce => script.reduce(children),
        Operation::Barrier => {
            script.reduce(&backwards(children));
            script.broadcast(children);
        }
    }
    perform(costs, operation, root, script)
}

/// Plays a barrier whose way in and way out are different trees with one root.
///
/// `inward` lists children in the order in which they are taken, `outward` in the order in which
/// they are served.
///
/// # Errors
///
/// Lists that are no trees over the model's team.
pub fn two_trees(
    costs: &CostModel,
    root: usize,
    inward: &[Vec<usize>],
    outward: &[Vec<usize>],
) -> Result<Checked, CheckError> {
    spanning::check(costs.n(), root, inward)?;
    spanning::check(costs.n(), root, outward)?;
    let mut script = Script::new(costs.n());
    script.reduce(inward);
    script.broadcast(outward);
    perform(costs, Operation::Barrier, root, script)
}

/// Plays an operation over one tree with groups, given as its root and, for each rank, the groups
/// that it serves.
///
/// Lists are read as those of [`tree`]. A reduction shares no lines, whatever the groups are.
///
/// # Errors
///
/// Groups that are no tree over the model's team, or shared lines without costs.
///
/// # Examples
///
/// ```
/// use corecast_plan::{Operation, check};
///
/// let machine = corecast_model::synthetic("core:4 send=10 receive=30 write=20 transfer=5").unwrap();
/// let flat = [vec![vec![1, 2, 3]], vec![], vec![], vec![]];
/// let play = |operation| check::grouped(machine.costs(), operation, 0, &flat).unwrap().latency;
/// assert_eq!(play(Operation::Broadcast), 25.0);
/// // In: a write, two more members that add, and the parent; then out.
/// assert_eq!(play(Operation::Barrier), 35.0 + 25.0);
/// ```
pub fn grouped(
    costs: &CostModel,
    operation: Operation,
    root: usize,
    groups: &[Vec<Vec<usize>>],
) -> Result<Checked, CheckError> {
    no_empty_group(groups)?;
    let children = flattened(groups);
    spanning::check(costs.n(), root, &children)?;
    let mut script = Script::new(costs.n());
    match operation {
        Operation::Broadcast => script.fan_out(groups),
        Operation::Reduce => script.reduce(&children),
        Operation::Barrier => {
            script.fan_in(&backwards(groups));
            script.fan_out(groups);
        }
    }
    perform(costs, operation, root, script)
}

/// Plays a barrier whose way in and way out are different trees with groups, with one root.
///
/// Groups of `inward` are taken and those of `outward` served in list order.
///
/// # Errors
///
/// The errors of [`grouped`].
pub fn two_grouped(
    costs: &CostModel,
    root: usize,
    inward: &[Vec<Vec<usize>>],
    outward: &[Vec<Vec<usize>>],
) -> Result<Checked, CheckError> {
    for groups in [inward, outward] {
        no_empty_group(groups)?;
        spanning::check(costs.n(), root, &flattened(groups))?;
    }
    let mut script = Script::new(costs.n());
    script.fan_in(inward);
    script.fan_out(outward);
    perform(costs, Operation::Barrier, root, script)
}

/// Plays a barrier in rounds.
///
/// # Errors
///
/// Another team, a member that waits for ever or leaves too early, or a message that is never taken.
pub fn rounds(costs: &CostModel, rounds: &Rounds) -> Result<Checked, CheckError> {
    let n = costs.n();
    if rounds.len() != n {
        let (found, expected) = (rounds.len(), n);
        return Err(CheckError::TeamSize { found, expected });
    }
    let mut script = Script::new(n);
    for round in 0..rounds.count() {
        for rank in 0..n {
            script.round(
                rank,
                rounds.targets(round, rank),
                rounds.sources(round, rank),
            )?;
        }
    }
    perform(costs, Operation::Barrier, 0, script)
}

/// Plays a script and checks that the operation is done at its end.
fn perform(
    costs: &CostModel,
    operation: Operation,
    root: usize,
    script: Script,
) -> Result<Checked, CheckError> {
    let n = costs.n();
    let played = events::play(costs, script)?;
    let unheard = match operation {
        Operation::Broadcast => (0..n)
            .map(|rank| (rank, root))
            .find(|&at| !has(&played, at)),
        Operation::Reduce => (0..n).map(|of| (root, of)).find(|&at| !has(&played, at)),
        Operation::Barrier => {
            let pairs = (0..n).flat_map(|rank| (0..n).map(move |of| (rank, of)));
            pairs.into_iter().find(|&at| !has(&played, at))
        }
    };
    if let Some((rank, unheard)) = unheard {
        return Err(CheckError::Unheard {
            operation,
            rank,
            unheard,
        });
    }
    if let (Operation::Reduce, Some((rank, of))) = (operation, played.twice) {
        return Err(CheckError::Twice { rank, of });
    }
    Ok(Checked {
        latency: played.done.iter().copied().fold(0.0, f64::max),
        done: played.done,
        messages: played.messages,
    })
}

fn has(played: &Played, (rank, of): (usize, usize)) -> bool {
    played.heard[rank].contains(of)
}

/// Checks that latency, bound, gap and claim agree with each other and with what was played.
fn numbers(plan: &Plan, latency: f64) -> Result<(), CheckError> {
    let bound = plan.lower_bound;
    for (what, value) in [
        ("latency", plan.latency),
        ("bound", bound),
        ("gap", plan.gap),
    ] {
        if !(value.is_finite() && value >= 0.0) {
            let value = value.to_string();
            return Err(CheckError::Number { what, value });
        }
    }
    if (plan.latency - latency).abs() > ROUNDING * latency {
        let (said, found) = (plan.latency, latency);
        return Err(CheckError::Latency { said, found });
    }
    if bound > latency * (1.0 + ROUNDING) {
        return Err(CheckError::Bound { bound, latency });
    }
    let gap = if latency > 0.0 {
        (latency - bound) / latency
    } else {
        0.0
    };
    if (plan.gap - gap).abs() > 2.0 * ROUNDING {
        let (said, found) = (plan.gap, gap);
        return Err(CheckError::Gap { said, found });
    }
    if plan.proved_optimal && bound * (1.0 + PROVED) < latency * (1.0 - ROUNDING) {
        return Err(CheckError::NotProved { bound, latency });
    }
    Ok(())
}

fn same_root(plan: usize, tree: usize) -> Result<(), CheckError> {
    if plan == tree {
        Ok(())
    } else {
        Err(CheckError::Root { plan, tree })
    }
}

fn backwards<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let list = |list: &Vec<T>| list.iter().rev().cloned().collect();
    lists.iter().map(list).collect()
}

fn flattened(groups: &[Vec<Vec<usize>>]) -> Vec<Vec<usize>> {
    groups.iter().map(|list| list.concat()).collect()
}

fn no_empty_group(groups: &[Vec<Vec<usize>>]) -> Result<(), CheckError> {
    for (rank, list) in groups.iter().enumerate() {
        if let Some(group) = list.iter().position(Vec::is_empty) {
            return Err(CheckError::EmptyGroup { rank, group });
        }
    }
    Ok(())
}
