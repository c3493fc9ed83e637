//! One direction of a cost model, read as a broadcast.

use corecast_model::CostModel;

/// What the messages of a tree stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From parent to child.
    Outward,
    /// From child to parent: what the parent pays to receive counts as its send.
    Inward,
    /// One of each, their costs added.
    Both,
}

/// Costs of the messages from parents to children, without a copy of the matrices: to mirror the
/// model of 1,024 members takes longer than a repair.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    costs: &'a CostModel,
    direction: Direction,
}

impl<'a> Way<'a> {
    pub(super) fn new(costs: &'a CostModel, direction: Direction) -> Self {
        Self { costs, direction }
    }

    /// What the message from parent v to child c costs v and costs c.
    pub(super) fn pair(self, v: usize, c: usize) -> (f64, f64) {
        let costs = self.costs;
        match self.direction {
            Direction::Outward => (costs.send(v, c), costs.receive(v, c)),
            Direction::Inward => (costs.receive(c, v), costs.send(c, v)),
            Direction::Both => (
                costs.send(v, c) + costs.receive(c, v),
                costs.receive(v, c) + costs.send(c, v),
            ),
        }
    }
}
