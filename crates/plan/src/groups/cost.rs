//! The cost of a tree with groups, and the best order of its groups. The formulas are in
//! [`crate::groups`].

use corecast_model::{CostModel, Lines};

use super::Grouped;
use crate::cost::{self, Busy, BusyKind, Timeline, max};
use crate::operation::Operation;

/// The latency of an operation over a tree with groups, in the model's unit.
///
/// A barrier is a fan-in that takes each list in the *reverse* order, and a fan-out.
///
/// # Panics
///
/// When tree and model have different numbers of members, or when a line is shared and the model
/// has no costs of shared lines ([`CostModel::lines`]). The other functions of this module panic
/// then, too.
///
/// # Cost
///
/// Linear in the number of members, but for the fan-in, which sorts each group: O(n log n).
///
/// # Examples
///
/// ```
/// use corecast_plan::groups::{Grouped, latency};
/// use corecast_plan::{Operation, Tree, cost};
///
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// let costs = machine.costs();
/// // CLa, Equation 15: R_I + R_Q.
/// assert_eq!(latency(costs, &Grouped::flat(32, 0), Operation::Broadcast), 70.0 + 94.0);
/// // One group for each child is Smelt's tree.
/// let tree = corecast_plan::smelt::tree(costs, 0);
/// let same = latency(costs, &Grouped::from(&tree), Operation::Broadcast);
/// assert_eq!(same, cost::latency(costs, &tree, Operation::Broadcast));
/// ```
#[must_use]
pub fn latency(costs: &CostModel, grouped: &Grouped, operation: Operation) -> f64 {
    match operation {
        Operation::Broadcast => max(&fan_out_avail(costs, grouped)),
        Operation::Reduce => cost::latency(costs, grouped.tree(), operation),
        Operation::Barrier => {
            let inward = fan_in_avail(costs, grouped, true);
            inward[grouped.root()] + max(&fan_out_avail(costs, grouped))
        }
    }
}

/// Returns the time at which the root of a fan-in, which carries no values, knows that all members
/// have arrived; groups are taken in list order.
#[must_use]
pub fn fan_in_latency(costs: &CostModel, grouped: &Grouped) -> f64 {
    fan_in_avail(costs, grouped, false)[grouped.root()]
}

/// Returns the latency of a barrier with a tree for each direction.
///
/// The fan-in takes groups in list order, the fan-out serves them in list order.
///
/// # Panics
///
/// In the cases of [`latency`], and when the roots differ.
#[must_use]
pub fn two_ways(costs: &CostModel, fan_in: &Grouped, fan_out: &Grouped) -> f64 {
    assert_eq!(fan_in.root(), fan_out.root(), "both ways have one root");
    fan_in_latency(costs, fan_in) + latency(costs, fan_out, Operation::Broadcast)
}

/// Returns for each rank the time at which it has the value or the notification of a fan-out that
/// starts at 0.
#[must_use]
pub fn fan_out_avail(costs: &CostModel, grouped: &Grouped) -> Vec<f64> {
    fan_out(costs, grouped, 0.0, |_, _| {})
}

/// Returns for each rank the time at which it knows that everybody below it has arrived, when all
/// members arrive at 0.
///
/// `reverse` takes every list of groups backwards, as the fan-in of a barrier over one tree does.
#[must_use]
pub fn fan_in_avail(costs: &CostModel, grouped: &Grouped, reverse: bool) -> Vec<f64> {
    fan_in(costs, grouped, reverse, |_, _| {})
}

/// Returns the busy times of all members, for drawings and explanations.
///
/// The write of a shared line is one [`BusyKind::Send`] of the parent whose peer is the group's
/// first member. In a fan-in each member's add is its [`BusyKind::Send`], and the parent's
/// [`BusyKind::Receive`] names the last one to add.
#[must_use]
pub fn timeline(costs: &CostModel, grouped: &Grouped, operation: Operation) -> Timeline {
    match operation {
        Operation::Broadcast => blocked(costs, None, grouped),
        Operation::Reduce => cost::timeline(costs, grouped.tree(), operation),
        Operation::Barrier => blocked(costs, Some((grouped, true)), grouped),
    }
}

/// Returns the busy times of a barrier with a tree for each direction, see [`two_ways`].
///
/// # Panics
///
/// In the cases of [`two_ways`].
#[must_use]
pub fn two_ways_timeline(costs: &CostModel, inward: &Grouped, outward: &Grouped) -> Timeline {
    assert_eq!(inward.root(), outward.root(), "both ways have one root");
    blocked(costs, Some((inward, false)), outward)
}

/// Returns the busy times of a fan-out, and of a fan-in before it where one is given. Its flag says
/// whether the fan-in takes lists backwards.
fn blocked(costs: &CostModel, inward: Option<(&Grouped, bool)>, outward: &Grouped) -> Timeline {
    let mut busy = vec![Vec::new(); outward.len()];
    let mut keep = |rank: usize, span| busy[rank].push(span);
    let turn = inward.map_or(0.0, |(inward, reverse)| {
        fan_in(costs, inward, reverse, &mut keep)[inward.root()]
    });
    let avail = fan_out(costs, outward, turn, keep);
    Timeline::new(avail, busy)
}

/// Returns the tree with every list of groups in the order that gives the least latency, and with
/// the members of each group by rank.
///
/// A fan-out serves groups by decreasing *tail*, the longest time from the end of the write until
/// the last of those below the group has the value: the exchange argument of [`crate::order`] holds
/// whatever a single service costs. A reduction keeps to [`crate::order`]. For a barrier the
/// fan-out decides.
///
/// # Cost
///
/// O(n log n).
#[must_use]
pub fn best_order(costs: &CostModel, grouped: &Grouped, operation: Operation) -> Grouped {
    if operation == Operation::Reduce {
        return Grouped::from(&crate::order::best_order(costs, grouped.tree(), operation));
    }
    let lines = lines_of(costs, grouped);
    let mut lists = grouped.group_lists().to_vec();
    let mut below = vec![0.0_f64; grouped.len()];
    for &v in grouped.tree().order().iter().rev() {
        let serve = |group: &[usize]| Serve::new(costs, lines, v, group, |c| below[c]);
        let mut list: Vec<(Serve, Vec<usize>)> = Vec::with_capacity(lists[v].len());
        for mut group in std::mem::take(&mut lists[v]) {
            group.sort_unstable();
            list.push((serve(&group), group));
        }
        list.sort_by(|(a, _), (b, _)| b.tail.total_cmp(&a.tail));
        let (mut clock, mut last) = (0.0, 0.0_f64);
        for (serve, group) in list {
            clock += serve.blocked;
            last = last.max(clock + serve.tail);
            lists[v].push(group);
        }
        below[v] = last;
    }
    Grouped::by_construction(grouped.root(), lists)
}

/// The cost of serving a group in a fan-out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Serve {
    /// The time for which the parent is blocked.
    pub(super) blocked: f64,
    /// The time from then until all members of the group, and all below them, have the value.
    pub(super) tail: f64,
}

impl Serve {
    #[inline]
    pub(super) fn new(
        costs: &CostModel,
        lines: Option<&Lines>,
        parent: usize,
        group: &[usize],
        below: impl Fn(usize) -> f64,
    ) -> Self {
        if let &[child] = group {
            return Self {
                blocked: costs.send(parent, child),
                tail: costs.receive(parent, child) + below(child),
            };
        }
        let lines = known(lines);
        let tail = |&c: &usize| lines.fetch(parent, c, group.len()) + below(c);
        Self {
            blocked: lines.write(parent, group),
            tail: group.iter().map(tail).fold(0.0, f64::max),
        }
    }
}

/// The cost of taking a group in a fan-in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Take {
    /// The time at which the line is complete.
    pub(super) ready: f64,
    /// The time for which the parent is blocked, from `ready` or from when it is free.
    pub(super) blocked: f64,
    /// The member that wrote last.
    last: usize,
}

impl Take {
    /// Sorts the group by arrival and adds to its line in that order; `added` hears who was blocked
    /// from when to when.
    #[inline]
    pub(super) fn new(
        costs: &CostModel,
        lines: Option<&Lines>,
        parent: usize,
        group: &mut [usize],
        avail: impl Fn(usize) -> f64,
        mut added: impl FnMut(usize, f64, f64),
    ) -> Self {
        if let &mut [child] = group {
            let ready = avail(child) + costs.send(child, parent);
            added(child, avail(child), ready);
            return Self {
                ready,
                blocked: costs.receive(child, parent),
                last: child,
            };
        }
        let lines = known(lines);
        group.sort_unstable_by(|&a, &b| avail(a).total_cmp(&avail(b)).then(a.cmp(&b)));
        let mut ready = 0.0_f64;
        let mut before = None;
        for &c in group.iter() {
            let start = ready.max(avail(c));
            ready =
                start + before.map_or(lines.costs().write, |before| lines.transfer(parent, before));
            added(c, start, ready);
            before = Some(c);
        }
        let last = before.unwrap_or(parent);
        Self {
            ready,
            blocked: lines.transfer(parent, last),
            last,
        }
    }
}

fn fan_out(
    costs: &CostModel,
    grouped: &Grouped,
    start: f64,
    mut busy: impl FnMut(usize, Busy),
) -> Vec<f64> {
    let lines = lines_of(costs, grouped);
    let mut avail = vec![start; grouped.len()];
    for &v in grouped.tree().order() {
        let mut clock = avail[v];
        for group in grouped.groups(v) {
            let sent = clock + Serve::new(costs, lines, v, group, |_| 0.0).blocked;
            busy(v, span(BusyKind::Send, group[0], clock, sent));
            for &c in group {
                avail[c] = sent
                    + match group.len() {
                        1 => costs.receive(v, c),
                        readers => known(lines).fetch(v, c, readers),
                    };
                busy(c, span(BusyKind::Receive, v, sent, avail[c]));
            }
            clock = sent;
        }
    }
    avail
}

fn fan_in(
    costs: &CostModel,
    grouped: &Grouped,
    reverse: bool,
    mut busy: impl FnMut(usize, Busy),
) -> Vec<f64> {
    let lines = lines_of(costs, grouped);
    let mut avail = vec![0.0_f64; grouped.len()];
    let mut members = Vec::new();
    // Children come before parents here, because a member takes before it adds.
    for &p in grouped.tree().order().iter().rev() {
        let list = grouped.groups(p);
        let mut clock = 0.0_f64;
        for k in 0..list.len() {
            members.clone_from(&list[if reverse { list.len() - 1 - k } else { k }]);
            let take = Take::new(
                costs,
                lines,
                p,
                &mut members,
                |c| avail[c],
                |c, start, end| {
                    busy(c, span(BusyKind::Send, p, start, end));
                },
            );
            let start = clock.max(take.ready);
            clock = start + take.blocked;
            busy(p, span(BusyKind::Receive, take.last, start, clock));
        }
        avail[p] = clock;
    }
    avail
}

fn span(kind: BusyKind, peer: usize, start: f64, end: f64) -> Busy {
    Busy {
        kind,
        peer,
        start,
        end,
    }
}

fn known(lines: Option<&Lines>) -> &Lines {
    lines.expect("a line is shared, and the cost model does not say what that costs")
}

fn lines_of<'a>(costs: &'a CostModel, grouped: &Grouped) -> Option<&'a Lines> {
    assert_eq!(
        costs.n(),
        grouped.len(),
        "the tree and the cost model are of different teams"
    );
    costs.lines()
}
