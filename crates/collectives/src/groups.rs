//! Lines that a group shares: the ranks that write and read them, and the number of each line at each rank.
//!
//! ```text
//! broadcast ring: one publishes, all others read  arrival counter: all others add, one collects
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
//! An algorithm that needs such lines adds them when a team is made, and gets their numbers. Its operations name a
//! line by its number at the rank, see [`Fabric`](corecast_wire::Fabric).

mod route;

pub use route::{GroupRoute, Stop};

/// The ranks that share one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The rank that publishes to the line, or collects from it.
    pub one: usize,
    /// The ranks that read the line, or add to it.
    pub others: Vec<usize>,
    /// Whether published messages may be longer than a line, on fabrics that allow it, and so replace messages and
    /// loans.
    pub long: bool,
}

/// The numbers that the line of a group has at the group's ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Its number at the one rank, among the lines that this rank publishes on, or collects.
    pub one: usize,
    /// Its number at each of the others, among the lines that the rank reads, or adds to.
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
    /// No shared lines yet, for a team of `n` ranks.
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

    /// Adds a line that `one` publishes on and all of `others` read; returns its numbers.
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

    /// Adds a line like [`ring`](Self::ring), but for published messages that may be longer than a line.
    ///
    /// # Panics
    ///
    /// Those of [`ring`](Self::ring).
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

    /// Adds a line that all of `others` add to and `one` collects; returns its numbers.
    ///
    /// # Panics
    ///
    /// Those of [`ring`](Self::ring).
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

    /// Adds a line at which all of `ranks` meet; returns its number at each of them.
    ///
    /// # Panics
    ///
    /// If there are fewer than two ranks, or one is outside of the team.
    pub fn counter_barrier(&mut self, ranks: Vec<usize>) -> Vec<usize> {
        assert!(ranks.len() > 1, "a line is shared with somebody");
        let numbers = ranks.iter().map(|&rank| next(&mut self.barrier_ends, rank));
        let numbers = numbers.collect();
        self.counter_barriers.push(ranks);
        numbers
    }

    /// The groups whose line one rank publishes on.
    pub fn rings(&self) -> &[Group] {
        &self.rings
    }

    /// The groups whose line one rank collects.
    pub fn counters(&self) -> &[Group] {
        &self.counters
    }

    /// The ranks that meet at each line of a counter barrier.
    pub fn counter_barriers(&self) -> &[Vec<usize>] {
        &self.counter_barriers
    }
}

/// Counts one more line of `rank`; returns its number.
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

#[cfg(test)]
mod tests;
