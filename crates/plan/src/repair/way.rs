//! One direction of a cost model, read as a broadcast.

use std::borrow::Cow;

use corecast_model::CostModel;

/// The direction of the messages of a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Messages go from parent to child.
    Outward,
    /// Messages go from child to parent: what the parent pays to receive counts as its send.
    Inward,
    /// Messages go in both directions, and their costs are added.
    Both,
}

/// Largest team whose costs are laid out anew, which takes 1 ns for each pair and halves the time
/// of all that follows. For 1,024 members it would take longer than the repair.
pub(super) const LAID_OUT_MAX: usize = 96;

/// The costs of messages from parents to children.
pub(super) struct ParentCosts<'a> {
    costs: &'a CostModel,
    direction: Direction,
    /// For each child the costs of the messages from all parents; empty for large teams.
    laid_out: Vec<(f64, f64)>,
}

impl<'a> ParentCosts<'a> {
    pub(super) fn new(costs: &'a CostModel, direction: Direction) -> Self {
        let mut way = Self {
            costs,
            direction,
            laid_out: Vec::new(),
        };
        let n = costs.n();
        if n <= LAID_OUT_MAX {
            let mut laid_out = Vec::with_capacity(n * n);
            for c in 0..n {
                laid_out.extend((0..n).map(|v| way.read(v, c)));
            }
            way.laid_out = laid_out;
        }
        way
    }

    pub(super) fn direction(&self) -> Direction {
        self.direction
    }

    /// Returns the cost model under which this is a broadcast; `None` for both directions together,
    /// and for large teams, where its use takes longer than a repair.
    pub(super) fn model(&self) -> Option<Cow<'a, CostModel>> {
        match self.direction {
            _ if self.laid_out.is_empty() => None,
            Direction::Outward => Some(Cow::Borrowed(self.costs)),
            Direction::Inward => Some(Cow::Owned(self.costs.mirrored())),
            Direction::Both => None,
        }
    }

    /// Returns what the message from parent v to child c costs v, and what it costs c.
    #[inline]
    pub(super) fn pair(&self, v: usize, c: usize) -> (f64, f64) {
        if self.laid_out.is_empty() {
            self.read(v, c)
        } else {
            self.laid_out[c * self.costs.n() + v]
        }
    }

    fn read(&self, v: usize, c: usize) -> (f64, f64) {
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
