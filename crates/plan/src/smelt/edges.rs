//! The edges of a tree with their costs.
//!
//! The optimisations look at all edges again and again; in the matrix of a team of a thousand,
//! nearly every look is a cache miss.

use corecast_model::CostModel;

use crate::tree::Tree;

#[derive(Clone)]
pub(super) struct Edges {
    /// What the parent of each rank pays to send to it; 0 for the root.
    pub(super) send: Vec<f64>,
    /// What each rank pays to receive from its parent; 0 for the root.
    pub(super) receive: Vec<f64>,
}

impl Edges {
    pub(super) fn of(costs: &CostModel, tree: &Tree) -> Self {
        let cost = |c: usize, f: fn(&CostModel, usize, usize) -> f64| {
            tree.parent(c).map_or(0.0, |p| f(costs, p, c))
        };
        Self {
            send: (0..tree.len()).map(|c| cost(c, CostModel::send)).collect(),
            receive: (0..tree.len())
                .map(|c| cost(c, CostModel::receive))
                .collect(),
        }
    }

    /// Returns for each rank when it has the value, and when it is done with its sends. The sums
    /// are taken in the order of [`crate::cost::broadcast_avail`], so that both agree to the last
    /// bit.
    pub(super) fn avail_and_idle(&self, tree: &Tree) -> (Vec<f64>, Vec<f64>) {
        let mut avail = vec![0.0; tree.len()];
        let mut idle = vec![0.0; tree.len()];
        for &v in tree.order() {
            let mut clock = avail[v];
            for &c in tree.children(v) {
                clock += self.send[c];
                avail[c] = clock + self.receive[c];
            }
            idle[v] = clock;
        }
        (avail, idle)
    }

    pub(super) fn latency(&self, tree: &Tree) -> f64 {
        self.avail_and_idle(tree).0.into_iter().fold(0.0, f64::max)
    }

    /// Returns the tree in the paper's order, by decreasing latency below each child, even where
    /// that is slower. Equal sub-trees keep their order.
    pub(super) fn by_subtree(&self, tree: &Tree) -> Tree {
        let mut lists = tree.child_lists().to_vec();
        let mut below = vec![0.0_f64; tree.len()];
        for &v in tree.order().iter().rev() {
            lists[v].sort_by(|&a, &b| below[b].total_cmp(&below[a]));
            let mut clock = 0.0;
            let mut last = 0.0_f64;
            for &c in &lists[v] {
                clock += self.send[c];
                last = last.max(clock + self.receive[c] + below[c]);
            }
            below[v] = last;
        }
        Tree::by_construction(tree.root(), lists)
    }

    /// Returns the better of a tree and its [`Self::by_subtree`] order.
    pub(super) fn reordered(&self, tree: Tree) -> Tree {
        let sorted = self.by_subtree(&tree);
        if self.latency(&sorted) <= self.latency(&tree) {
            sorted
        } else {
            tree
        }
    }
}
