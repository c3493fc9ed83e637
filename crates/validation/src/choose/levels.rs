//! Finds trees level by level: the best number of children for each number of ranks below a parent.

use super::candidates::grouped;
use corecast_plan::groups::Grouped;

/// How the ranks that are not children are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LevelSplit {
    /// Among the children.
    Children,
    /// Among the children and their parent, which goes on with another group (§3.2, §4.1.2).
    ChildrenAndParent,
}

/// The best levels for each number of ranks below a parent.
#[derive(Clone, Debug)]
pub(super) struct TreeLevels {
    split: LevelSplit,
    /// How many ranks are children, by the number of ranks below.
    children: Vec<usize>,
    /// The cost of all levels together, by the number of ranks below.
    cost: Vec<f64>,
}

impl TreeLevels {
    /// Finds the best levels for up to `most` ranks below a parent. A level with k children costs `last(k)` where
    /// they have no children, and otherwise `upper(k)` more than the levels below it. Costs grow with the number of
    /// ranks, so even shares are best.
    pub(super) fn new(
        most: usize,
        split: LevelSplit,
        last: impl Fn(usize) -> f64,
        upper: impl Fn(usize) -> f64,
    ) -> Self {
        let of = |level: &dyn Fn(usize) -> f64| (1..=most).map(level).collect::<Vec<f64>>();
        let (last, upper) = (of(&last), of(&upper));
        let mut levels = Self {
            split,
            children: vec![0],
            cost: vec![0.0],
        };
        for below in 1..=most {
            let cost = |k: usize| match below - k {
                0 => last[k - 1],
                _ => upper[k - 1] + levels.cost[levels.largest(below, k)],
            };
            let best = (1..=below).min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
            let best = best.unwrap_or(1);
            let cost = cost(best);
            levels.children.push(best);
            levels.cost.push(cost);
        }
        levels
    }

    /// Finds the best levels for up to `most` ranks below a parent, where children and parent share the other ranks.
    /// `cost` returns the cost of a whole tree of groups.
    pub(super) fn of_groups(most: usize, cost: impl Fn(&Grouped) -> f64) -> Self {
        let mut levels = Self {
            split: LevelSplit::ChildrenAndParent,
            children: vec![0],
            cost: vec![0.0],
        };
        for below in 1..=most {
            levels.children.push(1);
            let mut best = (f64::INFINITY, 1);
            // Of equal costs the first one stays, which has the fewest readers of a line.
            for children in 1..=below {
                levels.children[below] = children;
                let cost = cost(&levels.grouped(below + 1));
                if cost < best.0 - 1e-9 * cost {
                    best = (cost, children);
                }
            }
            levels.children[below] = best.1;
            levels.cost.push(best.0);
        }
        levels
    }

    /// The groups of `n` ranks, with root 0.
    pub(super) fn grouped(&self, n: usize) -> Grouped {
        let ranks: Vec<usize> = (0..n).collect();
        let mut lists = vec![Vec::new(); n];
        self.grow(&ranks, &mut lists);
        grouped(lists)
    }

    /// How many of `below` ranks are children.
    pub(super) fn children(&self, below: usize) -> usize {
        self.children[below]
    }

    /// The largest share of the ranks that are not children, with k children.
    fn largest(&self, below: usize, k: usize) -> usize {
        let shares = match self.split {
            LevelSplit::Children => k,
            LevelSplit::ChildrenAndParent => k + 1,
        };
        (below - k).div_ceil(shares)
    }

    /// Adds the groups of each of `ranks`, of which the first is the root, to `lists`.
    pub(super) fn grow(&self, ranks: &[usize], lists: &mut [Vec<Vec<usize>>]) {
        let Some((&root, others)) = ranks.split_first() else {
            return;
        };
        if others.is_empty() {
            return;
        }
        let (children, rest) = others.split_at(self.children(others.len()));
        lists[root].push(children.to_vec());
        let mut parents = children.to_vec();
        if self.split == LevelSplit::ChildrenAndParent {
            parents.push(root);
        }
        let mut from = 0;
        for (place, &parent) in parents.iter().enumerate() {
            let share = (rest.len() - from).div_ceil(parents.len() - place);
            let mut part = vec![parent];
            part.extend(&rest[from..from + share]);
            from += share;
            self.grow(&part, lists);
        }
    }
}
