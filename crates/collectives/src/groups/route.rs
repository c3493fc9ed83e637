//! One rank's part of a fan-in or a fan-out over groups: the links and the shared lines on its way.

use super::{Groups, Numbers};
use corecast_plan::groups::Grouped;

/// The place where a notification goes to, or comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The link to this rank, which is a group by itself.
    Rank(usize),
    /// The shared line with this number.
    Line(usize),
}

/// One rank's part of a fan-in or a fan-out over [groups](corecast_plan::groups).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupRoute {
    /// The way to its parent; `None` at the root.
    pub parent: Option<Stop>,
    /// The ways to its groups, in their order.
    pub groups: Vec<Stop>,
}

impl GroupRoute {
    /// The parts of all ranks of a fan-in. Adds an arrival counter for each group of two or more.
    pub fn fan_in(plan: &Grouped, groups: &mut Groups) -> Vec<Self> {
        Self::all(plan, 2, |parent, members| groups.counter(parent, members))
    }

    /// The parts of [`fan_in`](Self::fan_in) with an arrival counter for each group, also of one: where ranks are not
    /// linked as the plan has them.
    pub fn fan_in_over_lines(plan: &Grouped, groups: &mut Groups) -> Vec<Self> {
        Self::all(plan, 1, |parent, members| groups.counter(parent, members))
    }

    /// The parts of all ranks of a fan-out. Adds a broadcast ring for each group of two or more.
    pub fn fan_out(plan: &Grouped, groups: &mut Groups) -> Vec<Self> {
        Self::all(plan, 2, |parent, members| groups.ring(parent, members))
    }

    /// The parts of [`fan_out`](Self::fan_out) with a broadcast ring for each group, also of one.
    pub fn fan_out_over_lines(plan: &Grouped, groups: &mut Groups) -> Vec<Self> {
        Self::all(plan, 1, |parent, members| groups.ring(parent, members))
    }

    /// Groups of fewer than `least` ranks have links instead of a line.
    fn all(
        plan: &Grouped,
        least: usize,
        mut share: impl FnMut(usize, Vec<usize>) -> Numbers,
    ) -> Vec<Self> {
        let mut all = vec![Self::default(); plan.len()];
        for (parent, groups) in plan.group_lists().iter().enumerate() {
            for members in groups {
                if let [member] = members[..]
                    && least > 1
                {
                    all[parent].groups.push(Stop::Rank(member));
                    all[member].parent = Some(Stop::Rank(parent));
                    continue;
                }
                let numbers = share(parent, members.clone());
                all[parent].groups.push(Stop::Line(numbers.one));
                for (&member, line) in members.iter().zip(numbers.others) {
                    all[member].parent = Some(Stop::Line(line));
                }
            }
        }
        all
    }
}
