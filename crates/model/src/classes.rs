//! Costs by proximity, for machines whose pairs were not measured one by one.

use crate::machine::{Machine, Proximity};
use crate::pairwise::{CostError, CostModel, Unit};

/// Send and receive cost of each [`Proximity`], nearest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassCosts {
    /// The unit of both lists.
    pub unit: Unit,
    /// The time for which the sender is blocked, by class.
    pub send: [f64; 4],
    /// The time for which the receiver is blocked, by class.
    pub receive: [f64; 4],
}

impl ClassCosts {
    /// Spreads a list of 1 to 4 costs over the four classes of proximity; `None` for any other
    /// length.
    ///
    /// | values | same core | same NUMA node | same package | other package |
    /// | --- | --- | --- | --- | --- |
    /// | `a` | a | a | a | a |
    /// | `a,b` | a | a | b | b |
    /// | `a,b,c` | a | a | b | c |
    /// | `a,b,c,d` | a | b | c | d |
    ///
    /// The meaning of a list depends on its length alone and never on the machine, so that one
    /// list can be used to compare machines.
    #[must_use]
    pub fn spread(values: &[f64]) -> Option<[f64; 4]> {
        match *values {
            [a] => Some([a; 4]),
            [a, b] => Some([a, a, b, b]),
            [a, b, c] => Some([a, a, b, c]),
            [a, b, c, d] => Some([a, b, c, d]),
            _ => None,
        }
    }

    /// Returns the pairwise model of all hardware threads of a machine, in the machine's order.
    ///
    /// # Errors
    ///
    /// A machine without threads, or a class cost outside of what [`CostModel::new`] accepts.
    ///
    /// # Cost
    ///
    /// Two comparisons for each ordered pair: 30 to 50 ms for 1,024 threads (2.5 GHz Xeon, November
    /// 2026, release build).
    pub fn model(&self, machine: &Machine) -> Result<CostModel, CostError> {
        let pus = &machine.pus;
        let class = |i: usize, j: usize| pus[i].proximity(&pus[j]) as usize;
        CostModel::from_fn(
            self.unit,
            pus.iter().map(|pu| pu.numa_node).collect(),
            |i, j| self.send[class(i, j)],
            |i, j| self.receive[class(i, j)],
        )
    }
}

const _: () = {
    // `class` above relies on these values.
    assert!(Proximity::SameCore as usize == 0 && Proximity::OtherPackage as usize == 3);
};
