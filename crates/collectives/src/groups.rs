//! Lines that a group shares: who writes them, who reads them, and how each rank numbers its own.
//!
//! ```text
//! notice: one posts, all others read              tally: all others add, one collects
//!
//!            ┌──► reader                               adder ──┐
//!   writer ──┼──► reader      one line                 adder ──┼──► reader     one line
//!            └──► reader                               adder ──┘
//!
//! counter barrier: all add, and all watch
//!
//!   member ◄──┐
//!   member ◄──┼──► one line
//!   member ◄──┘
//! ```
//!
//! An algorithm that needs such lines asks for them when a team is made, and gets their numbers; its
//! operations say only which of the rank's lines they mean, see [`Fabric`](corecast_wire::Fabric).

use corecast_plan::groups::Grouped;

/// The ranks that share one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The rank that publishes to the line, or collects from it.
    pub one: usize,
    /// The ranks that read the line, or add to it.
    pub others: Vec<usize>,
    /// Whether posts may be longer than a line, where the fabric has such, and stand in for messages and
    /// loans.
    pub long: bool,
}

/// How the ranks of a group number its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The line among those that the one publishes on, or collects.
    pub one: usize,
    /// The line among those that each of the others reads, or adds to.
    pub others: Vec<usize>,
}

/// All shared lines of a team, in an order that all ranks agree on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    rings: Vec<Group>,
    counters: Vec<Group>,
    counter_barriers: Vec<Vec<usize>>,
    publishes: Vec<usize>,
    reads: Vec<usize>,
    adds: Vec<usize>,
    collects: Vec<usize>,
    barrier_ends: Vec<usize>,
}

impl Groups {
    /// None, for a team of `n`.
    pub fn new(n: usize) -> Self {
        Self {
            publishes: vec![0; n],
            reads: vec![0; n],
            adds: vec![0; n],
            collects: vec![0; n],
            barrier_ends: vec![0; n],
            ..Self::default()
        }
    }

    /// A line that `one` publishes on and all of `others` read.
    ///
    /// # Panics
    ///
    /// If `others` is empty, or a rank is outside of the team.
    pub fn ring(&mut self, one: usize, others: Vec<usize>) -> Numbers {
        self.ring_of(Group {
            one,
            others,
            long: false,
        })
    }

    /// The same for published messages that may be longer than a line.
    ///
    /// # Panics
    ///
    /// As [`ring`](Self::ring).
    pub fn long_ring(&mut self, one: usize, others: Vec<usize>) -> Numbers {
        self.ring_of(Group {
            one,
            others,
            long: true,
        })
    }

    fn ring_of(&mut self, group: Group) -> Numbers {
        let numbers = number(&group, &mut self.publishes, &mut self.reads);
        self.rings.push(group);
        numbers
    }

    /// A line that all of `others` add to and `one` collects.
    ///
    /// # Panics
    ///
    /// As [`ring`](Self::ring).
    pub fn counter(&mut self, one: usize, others: Vec<usize>) -> Numbers {
        let group = Group {
            one,
            others,
            long: false,
        };
        let numbers = number(&group, &mut self.collects, &mut self.adds);
        self.counters.push(group);
        numbers
    }

    /// A line at which all of `ranks` meet; how each of them numbers it.
    ///
    /// # Panics
    ///
    /// If they are fewer than two, or one is outside of the team.
    pub fn counter_barrier(&mut self, ranks: Vec<usize>) -> Vec<usize> {
        assert!(ranks.len() > 1, "a line is shared with somebody");
        let numbers = ranks.iter().map(|&rank| next(&mut self.barrier_ends, rank));
        let numbers = numbers.collect();
        self.counter_barriers.push(ranks);
        numbers
    }

    /// Lines that one publishes on.
    pub fn rings(&self) -> &[Group] {
        &self.rings
    }

    /// Lines that one collects.
    pub fn counters(&self) -> &[Group] {
        &self.counters
    }

    /// Who meets at each line of counter barriers.
    pub fn counter_barriers(&self) -> &[Vec<usize>] {
        &self.counter_barriers
    }
}

/// Counts a line of `rank`: its number.
fn next(counts: &mut [usize], rank: usize) -> usize {
    counts[rank] += 1;
    counts[rank] - 1
}

fn number(group: &Group, ones: &mut [usize], others: &mut [usize]) -> Numbers {
    assert!(!group.others.is_empty(), "a line is shared with somebody");
    Numbers {
        one: next(ones, group.one),
        others: group
            .others
            .iter()
            .map(|&rank| next(others, rank))
            .collect(),
    }
}

/// Where a notification goes to, or comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A group of one: the link to this rank.
    Rank(usize),
    /// This rank's line of that number.
    Line(usize),
}

/// One rank's part of a way over [groups](corecast_plan::groups), in or out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupRoute {
    /// Its parent, unless it is the root.
    pub parent: Option<Stop>,
    /// Its groups, in their order.
    pub groups: Vec<Stop>,
}

impl GroupRoute {
    /// The parts of all ranks of a way in, and an arrival counter for each group of two or more.
    pub fn fan_in(plan: &Grouped, groups: &mut Groups) -> Vec<Self> {
        Self::all(plan, |parent, members| groups.counter(parent, members))
    }

    /// The parts of all ranks of a way out, and a broadcast ring for each group of two or more.
    pub fn fan_out(plan: &Grouped, groups: &mut Groups) -> Vec<Self> {
        Self::all(plan, |parent, members| groups.ring(parent, members))
    }

    fn all(plan: &Grouped, mut share: impl FnMut(usize, Vec<usize>) -> Numbers) -> Vec<Self> {
        let mut all = vec![Self::default(); plan.len()];
        for (parent, groups) in plan.group_lists().iter().enumerate() {
            for members in groups {
                if let [member] = members[..] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_numbers_its_own_lines() {
        let mut groups = Groups::new(4);
        let first = groups.ring(0, vec![1, 2]);
        let second = groups.ring(0, vec![3, 2]);
        let third = groups.counter(2, vec![0, 1]);
        assert_eq!((first.one, &first.others[..]), (0, &[0, 0][..]));
        assert_eq!((second.one, &second.others[..]), (1, &[0, 1][..]));
        assert_eq!((third.one, &third.others[..]), (0, &[0, 0][..]));
        assert_eq!(groups.counter_barrier(vec![3, 1]), [0, 0]);
        assert_eq!(groups.counter_barrier(vec![1, 2]), [1, 0]);
        assert_eq!((groups.rings().len(), groups.counters().len()), (2, 1));
        assert_eq!(groups.counter_barriers(), [[3, 1], [1, 2]]);
    }

    #[test]
    fn groups_of_one_are_links() {
        let lists = vec![vec![vec![3], vec![1, 2]], vec![], vec![], vec![]];
        let plan = Grouped::from_groups(0, lists).unwrap();
        let mut groups = Groups::new(4);
        let fan_in = GroupRoute::fan_in(&plan, &mut groups);
        let fan_out = GroupRoute::fan_out(&plan, &mut groups);
        assert_eq!(fan_in[0].groups, [Stop::Rank(3), Stop::Line(0)]);
        assert_eq!(fan_out[0].groups, fan_in[0].groups);
        assert_eq!((fan_in[0].parent, fan_out[0].parent), (None, None));
        assert_eq!(fan_in[3].parent, Some(Stop::Rank(0)));
        assert_eq!(fan_out[2].parent, Some(Stop::Line(0)));
        assert_eq!((groups.rings().len(), groups.counters().len()), (1, 1));
    }
}
