//! Lower bounds that hold when one write can inform many.
//!
//! The bounds of [`crate::bound`] do not: they count one message for each member. Here the greatest
//! of two is taken, each valid by itself:
//!
//! - **reach**: a member cannot be informed before the cheapest way in from the root delivers it,
//!   where a step is a message or the cheapest group that the member can be in;
//! - **count**: informed members multiply no faster than the prices of [`count`](super::count)
//!   allow, for each level of the machine as partition and for none.

use std::borrow::Cow;
use std::ops::ControlFlow;

use corecast_model::{CostModel, Lines, Proximity};

use super::Grouped;
use super::cost::{fan_in_latency, latency};
use super::count::{Count, Flow, Prices};
use crate::bound::reach::farthest;
use crate::bound::{lower_bound_within as without_groups, mirrored};
use crate::operation::Operation;
use crate::pace::{self, Pace};
use crate::smelt;

/// Largest team in which reach is looked at for every root when none is given.
const ROOTS_MAX: usize = 64;

/// Returns a latency that no tree with groups and this root beats; without a root, none with any
/// root.
///
/// For a barrier the bound holds even when fan-in and fan-out use different trees of one root. For
/// a reduction, whose lines are private, it is that of [`crate::bound`].
///
/// # Panics
///
/// When the root is outside of the team.
///
/// # Cost
///
/// O(n²), and for each of up to four partitions a count whose work is limited whatever n is, at
/// most 60 ms (AMD EPYC at 2.6 GHz, November 2026).
///
/// # Examples
///
/// ```
/// use corecast_plan::groups::{Grouped, latency, lower_bound};
/// use corecast_plan::Operation;
///
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// // Flat is the best that there is.
/// let flat = latency(machine.costs(), &Grouped::flat(32, 0), Operation::Broadcast);
/// assert_eq!(lower_bound(machine.costs(), Operation::Broadcast, Some(0)), flat);
/// ```
#[must_use]
pub fn lower_bound(costs: &CostModel, operation: Operation, root: Option<usize>) -> f64 {
    pace::unwatched(|pace| lower_bound_within(costs, operation, root, pace))
}

/// Returns [`lower_bound`], unless `go_on` ends the computation. It is called about every
/// millisecond: a team of thousands takes seconds.
///
/// # Panics
///
/// When the root is outside of the team.
///
/// # Examples
///
/// ```
/// use std::ops::ControlFlow;
/// use corecast_plan::groups::{lower_bound, lower_bound_while};
/// use corecast_plan::Operation;
///
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// let (costs, operation) = (machine.costs(), Operation::Broadcast);
/// let bound = lower_bound_while(costs, operation, None, &mut || ControlFlow::Continue(()));
/// assert_eq!(bound, Some(lower_bound(costs, operation, None)));
/// assert_eq!(lower_bound_while(costs, operation, None, &mut || ControlFlow::Break(())), None);
/// ```
pub fn lower_bound_while(
    costs: &CostModel,
    operation: Operation,
    root: Option<usize>,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<f64> {
    lower_bound_within(costs, operation, root, &mut Pace::new(go_on)).continue_value()
}

/// Returns [`lower_bound`], unless a watcher ends the search.
pub(crate) fn lower_bound_within(
    costs: &CostModel,
    operation: Operation,
    root: Option<usize>,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), f64> {
    match operation {
        Operation::Reduce => without_groups(costs, operation, root, pace),
        _ if costs.lines().is_none() => without_groups(costs, operation, root, pace),
        Operation::Broadcast => one_way(costs, Flow::Out, root, pace),
        Operation::Barrier => {
            let out = one_way(costs, Flow::Out, root, pace)?;
            ControlFlow::Continue(out + one_way(costs, Flow::In, root, pace)?)
        }
    }
}

/// Returns the bound for the fan-in of a barrier alone, in which all members notify the root.
///
/// # Panics
///
/// When the root is outside of the team.
///
/// # Cost
///
/// That of [`lower_bound`].
#[must_use]
pub fn fan_in_bound(costs: &CostModel, root: Option<usize>) -> f64 {
    match costs.lines() {
        None => crate::bound::lower_bound(costs, Operation::Reduce, root),
        Some(_) => pace::unwatched(|pace| one_way(costs, Flow::In, root, pace)),
    }
}

fn one_way(
    costs: &CostModel,
    way: Flow,
    root: Option<usize>,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), f64> {
    let n = costs.n();
    if let Some(root) = root {
        assert!(root < n, "root {root} is outside of a team of {n}");
    }
    let steps = Steps::new(costs, way, pace)?;
    let mut best = match root {
        Some(root) => steps.farthest(root, pace)?,
        None if n <= ROOTS_MAX => {
            let mut least = f64::INFINITY;
            for root in 0..n {
                least = least.min(steps.farthest(root, pace)?);
            }
            least
        }
        None => 0.0,
    };
    let upper = some_latency(costs, &steps.costs, way, root.unwrap_or(0), pace)?;
    for part in partitions(costs, pace)? {
        let prices = Prices::new(&steps.costs, costs.lines(), part, pace)?;
        let first = root.map_or(prices.largest(), |root| prices.size[prices.part[root]]);
        if let Some(mut count) = Count::new(&prices, way, upper) {
            best = best.max(count.first_time(first, upper, pace)?);
        }
    }
    ControlFlow::Continue(best.min(upper))
}

/// Returns the latency of Smelt's base tree or of the flat one, whichever is less. It is no less
/// than the least latency over all roots, so that it also limits a bound for any root. `away` are the
/// costs of messages away from the root, mirrored for a fan-in.
pub(super) fn some_latency(
    costs: &CostModel,
    away: &CostModel,
    way: Flow,
    root: usize,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), f64> {
    let flat = Grouped::flat(costs.n(), root);
    let tree = smelt::base_within(away, root, pace)?;
    ControlFlow::Continue(match way {
        Flow::Out => {
            let of = |grouped| latency(costs, grouped, Operation::Broadcast);
            of(&Grouped::from(&tree)).min(of(&flat))
        }
        Flow::In => {
            let tree = Grouped::from(&tree.reversed());
            fan_in_latency(costs, &tree).min(fan_in_latency(costs, &flat))
        }
    })
}

/// Returns the costs of messages away from the root, mirrored for a fan-in.
pub(super) fn away<'a>(
    costs: &'a CostModel,
    way: Flow,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Cow<'a, CostModel>> {
    ControlFlow::Continue(match way {
        Flow::Out => Cow::Borrowed(costs),
        Flow::In => Cow::Owned(mirrored(costs, pace)?),
    })
}

/// Returns the partitions whose counts are bounds: one part for each member, and one partition for
/// each level of the machine at which the team falls into several parts.
pub(super) fn partitions(
    costs: &CostModel,
    pace: &mut Pace<'_>,
) -> ControlFlow<(), Vec<Vec<usize>>> {
    let n = costs.n();
    let mut all: Vec<Vec<usize>> = vec![(0..n).collect()];
    let Some(lines) = costs.lines() else {
        return ControlFlow::Continue(all);
    };
    for level in &Proximity::ALL[..3] {
        let near = |i: usize, j: usize| lines.proximity(i, j) as usize <= *level as usize;
        let mut firsts: Vec<usize> = Vec::new();
        let mut part = Vec::with_capacity(n);
        for i in 0..n {
            pace.spend(4 * firsts.len() as u64)?;
            let known = firsts.iter().position(|&j| near(j, i));
            part.push(known.unwrap_or(firsts.len()));
            if known.is_none() {
                firsts.push(i);
            }
        }
        if firsts.len() > 1 && !all.contains(&part) {
            all.push(part);
        }
    }
    ControlFlow::Continue(all)
}

/// The least costs of a step from one member to another, by a message or by a group.
struct Steps<'a> {
    /// The costs, mirrored for a fan-in, so that a step always leads away from the root.
    costs: Cow<'a, CostModel>,
    lines: Option<&'a Lines>,
    way: Flow,
}

impl<'a> Steps<'a> {
    fn new(costs: &'a CostModel, way: Flow, pace: &mut Pace<'_>) -> ControlFlow<(), Self> {
        ControlFlow::Continue(Self {
            costs: away(costs, way, pace)?,
            lines: costs.lines(),
            way,
        })
    }

    /// Returns the least cost of a step, to `v` and `u` together, when v serves u.
    fn step(&self, v: usize, u: usize) -> f64 {
        let message = self.costs.send(v, u) + self.costs.receive(v, u);
        let Some(lines) = self.lines.filter(|_| self.costs.n() > 2) else {
            return message;
        };
        let c = lines.costs();
        let shared = match self.way {
            // The least group has two members, and its line is polled by u at least.
            Flow::Out => lines.write(v, &[u]) + lines.fetch(v, u, 2),
            // Somebody, the parent or the next member, takes the line from u; u itself writes it
            // first or takes it from another one.
            Flow::In => {
                let taken = c.transfer.iter().copied().fold(c.write, f64::min);
                taken + lines.transfer(v, u)
            }
        };
        message.min(shared)
    }

    /// Returns the greatest distance of a member from the root.
    fn farthest(&self, root: usize, pace: &mut Pace<'_>) -> ControlFlow<(), f64> {
        farthest(self.costs.n(), root, |v, u| self.step(v, u), pace)
    }
}
