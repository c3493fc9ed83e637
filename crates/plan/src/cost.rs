//! The cost of a tree under a pairwise model (Smelt §3.1).
//!
//! **Broadcast.** `avail(root) = 0`. The k-th child c of v is available at
//!
//! ```text
//! avail(c) = avail(v) + Σ_{m≤k} send(v, c_m) + receive(v, c)
//! ```
//!
//! because v is blocked for each send in turn and c for its receive. The latency is the greatest
//! `avail`. (The formula printed in §3.1 leaves `receive` out; the text around it and Algorithm 1
//! count it.)
//!
//! **Reduce.** Messages flow from children to parents. A member that has taken all of its children
//! at time t is blocked `send(c, p)` until its message lies ready at `t + send(c, p)`. The parent
//! takes its children *in list order*: it waits for the message of the next one, is blocked
//! `receive(c, p)` to take it, and only then looks at the one after. Leaves are ready at 0; the
//! latency is when the root has taken its last child.
//!
//! Read backwards in time this is a broadcast: the reduction over a tree costs exactly what the
//! broadcast over [`Tree::reversed`] costs under [`CostModel::mirrored`].
//!
//! **Barrier.** A fan-in and then a fan-out over one tree. The fan-out serves the lists in order.
//! The fan-in takes each list in the *reverse* order: the child that is served first has most below
//! it and therefore arrives last. Where each direction has its own tree, the fan-in is the
//! reduction over one and the fan-out the broadcast over the other, see [`two_trees`].

use corecast_model::CostModel;

use crate::operation::Operation;
use crate::tree::Tree;

/// The busy times of every member, in the model's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// For each rank the time at which it has what it waits for: the value (broadcast), all values
    /// of its sub-tree (reduce), or the permission to leave (barrier).
    pub avail: Vec<f64>,
    /// For each rank its busy times, in order and without overlap.
    pub busy: Vec<Vec<Busy>>,
    /// The greatest entry of `avail`.
    pub latency: f64,
}

impl Timeline {
    /// Makes a timeline whose latency is the greatest of `avail`.
    pub(crate) fn new(avail: Vec<f64>, busy: Vec<Vec<Busy>>) -> Self {
        Self {
            latency: max(&avail),
            avail,
            busy,
        }
    }
}

/// A time in which a member can do nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busy {
    /// Whether it sends or receives.
    pub kind: BusyKind,
    /// The rank at the other end.
    pub peer: usize,
    /// The time at which it begins.
    pub start: f64,
    /// The time at which it ends, which is not part of it.
    pub end: f64,
}

/// One end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusyKind {
    /// Writing the line.
    Send,
    /// Fetching the line.
    Receive,
}

/// The latency of an operation over a tree, in the model's unit.
///
/// # Panics
///
/// When tree and model have different numbers of members. The other functions of this module panic
/// then, too.
///
/// # Cost
///
/// Linear in the number of members.
///
/// # Examples
///
/// ```
/// use corecast_plan::{Operation, Tree, cost};
///
/// let machine = corecast_model::synthetic("core:3 send=10 receive=30").unwrap();
/// let star = Tree::from_children(0, vec![vec![1, 2], vec![], vec![]]).unwrap();
/// // Two sends in turn, then the second child receives.
/// assert_eq!(cost::latency(machine.costs(), &star, Operation::Broadcast), 50.0);
/// // Both children send at once, then the root receives in turn.
/// assert_eq!(cost::latency(machine.costs(), &star, Operation::Reduce), 70.0);
/// ```
#[must_use]
pub fn latency(costs: &CostModel, tree: &Tree, operation: Operation) -> f64 {
    match operation {
        Operation::Broadcast => max(&broadcast_avail(costs, tree)),
        Operation::Reduce => reduce_latency(costs, tree, false),
        Operation::Barrier => {
            reduce_latency(costs, tree, true) + max(&broadcast_avail(costs, tree))
        }
    }
}

/// The latency of a barrier that reduces over one tree and broadcasts over another, in the model's
/// unit.
///
/// # Panics
///
/// When the trees have different roots.
#[must_use]
pub fn two_trees(costs: &CostModel, fan_in: &Tree, fan_out: &Tree) -> f64 {
    assert_eq!(fan_in.root(), fan_out.root(), "the two trees meet");
    latency(costs, fan_in, Operation::Reduce) + latency(costs, fan_out, Operation::Broadcast)
}

/// Returns the busy times of a barrier with a tree for each direction, see [`two_trees`].
///
/// # Panics
///
/// When the trees have different roots.
///
/// # Cost
///
/// Linear in the number of members.
#[must_use]
pub fn two_trees_timeline(costs: &CostModel, fan_in: &Tree, fan_out: &Tree) -> Timeline {
    assert_eq!(fan_in.root(), fan_out.root(), "the two trees meet");
    let mut busy = vec![Vec::new(); fan_in.len()];
    let inward = reduce_avail(costs, fan_in, false);
    reduce_busy(costs, fan_in, &inward, false, &mut busy);
    let avail = broadcast_busy(costs, fan_out, inward[fan_in.root()], &mut busy);
    Timeline::new(avail, busy)
}

/// Returns for each rank the time at which it has the value of a broadcast that starts at 0.
#[must_use]
pub fn broadcast_avail(costs: &CostModel, tree: &Tree) -> Vec<f64> {
    check(costs, tree);
    let mut avail = vec![0.0; tree.len()];
    for &v in tree.order() {
        let mut clock = avail[v];
        for &c in tree.children(v) {
            clock += costs.send(v, c);
            avail[c] = clock + costs.receive(v, c);
        }
    }
    avail
}

/// Returns for each rank the time at which it has taken all its children, when all leaves are ready
/// at 0.
///
/// `reverse` takes every child list backwards, as the fan-in of a barrier does.
#[must_use]
pub fn reduce_avail(costs: &CostModel, tree: &Tree, reverse: bool) -> Vec<f64> {
    check(costs, tree);
    let mut avail = vec![0.0_f64; tree.len()];
    for &p in tree.order().iter().rev() {
        let mut clock = 0.0_f64;
        for c in in_order(tree.children(p), reverse) {
            clock = clock.max(avail[c] + costs.send(c, p)) + costs.receive(c, p);
        }
        avail[p] = clock;
    }
    avail
}

/// Returns the busy times of all members, for drawings and explanations.
///
/// # Cost
///
/// Linear in the number of members.
#[must_use]
pub fn timeline(costs: &CostModel, tree: &Tree, operation: Operation) -> Timeline {
    let mut busy = vec![Vec::new(); tree.len()];
    let avail = match operation {
        Operation::Broadcast => broadcast_busy(costs, tree, 0.0, &mut busy),
        Operation::Reduce => {
            let avail = reduce_avail(costs, tree, false);
            reduce_busy(costs, tree, &avail, false, &mut busy);
            avail
        }
        Operation::Barrier => {
            let inward = reduce_avail(costs, tree, true);
            reduce_busy(costs, tree, &inward, true, &mut busy);
            broadcast_busy(costs, tree, inward[tree.root()], &mut busy)
        }
    };
    Timeline::new(avail, busy)
}

/// Adds the busy times of a broadcast that starts at `start`. Returns when each rank has the value.
fn broadcast_busy(costs: &CostModel, tree: &Tree, start: f64, busy: &mut [Vec<Busy>]) -> Vec<f64> {
    let mut avail = vec![start; tree.len()];
    for &v in tree.order() {
        let mut clock = avail[v];
        for &c in tree.children(v) {
            let sent = clock + costs.send(v, c);
            busy[v].push(Busy {
                kind: BusyKind::Send,
                peer: c,
                start: clock,
                end: sent,
            });
            avail[c] = sent + costs.receive(v, c);
            busy[c].push(Busy {
                kind: BusyKind::Receive,
                peer: v,
                start: sent,
                end: avail[c],
            });
            clock = sent;
        }
    }
    avail
}

fn reduce_busy(
    costs: &CostModel,
    tree: &Tree,
    avail: &[f64],
    reverse: bool,
    busy: &mut [Vec<Busy>],
) {
    // Children come before parents here, because a member receives before it sends.
    for &p in tree.order().iter().rev() {
        let mut clock = 0.0_f64;
        for c in in_order(tree.children(p), reverse) {
            let ready = avail[c] + costs.send(c, p);
            busy[c].push(Busy {
                kind: BusyKind::Send,
                peer: p,
                start: avail[c],
                end: ready,
            });
            let start = clock.max(ready);
            clock = start + costs.receive(c, p);
            busy[p].push(Busy {
                kind: BusyKind::Receive,
                peer: c,
                start,
                end: clock,
            });
        }
    }
}

fn reduce_latency(costs: &CostModel, tree: &Tree, reverse: bool) -> f64 {
    reduce_avail(costs, tree, reverse)[tree.root()]
}

fn in_order(list: &[usize], reverse: bool) -> impl Iterator<Item = usize> {
    let n = list.len();
    (0..n).map(move |k| list[if reverse { n - 1 - k } else { k }])
}

/// Returns the greatest of these times, or 0.
pub(crate) fn max(times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max)
}

fn check(costs: &CostModel, tree: &Tree) {
    assert_eq!(
        costs.n(),
        tree.len(),
        "the tree and the cost model are of different teams"
    );
}
