//! Finds the best trees in one package or two: which ranks of each package are children of the root.

use super::candidates::{compare, grouped};
use super::levels::TreeLevels;
use corecast_plan::Tree;
use corecast_sim::symbolic::{Bounds, Placement};

/// A tree that was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenTree {
    /// The tree, with rank 0 as its root.
    pub tree: Tree,
    /// The bounds of the algorithm over it.
    pub bounds: Bounds,
}

impl ChosenTree {
    fn new(tree: Tree, bounds: Bounds) -> Self {
        Self { tree, bounds }
    }

    /// How many levels the tree has below its root.
    #[must_use]
    pub fn depth(&self) -> usize {
        fn below(tree: &Tree, rank: usize) -> usize {
            let children = tree.children(rank).iter();
            children
                .map(|&child| 1 + below(tree, child))
                .max()
                .unwrap_or(0)
        }
        below(&self.tree, 0)
    }
}

/// The best tree from rank 0 in which each package's ranks hang below children of their own package. In two
/// packages, each has lines of its own (§4.1.1); all numbers of children in each are tried.
pub(super) fn in_packages(
    placement: &Placement,
    levels: &TreeLevels,
    cost: impl Fn(&Tree, Option<&[u32]>) -> Bounds,
) -> ChosenTree {
    let packages = placement.packages();
    let (near, far): (Vec<usize>, Vec<usize>) =
        (1..packages.len()).partition(|&rank| packages[rank] == packages[0]);
    let one = far.iter().all(|&rank| packages[rank] == packages[far[0]]);
    assert!(one, "trees are chosen for two packages at most");
    if far.is_empty() {
        let tree = tree(
            levels,
            packages.len(),
            &[(&near, levels.children(near.len()))],
        );
        let bounds = cost(&tree, None);
        return ChosenTree::new(tree, bounds);
    }
    let least = |ranks: &[usize]| ranks.len().min(1);
    let mut best: Option<ChosenTree> = None;
    // Flat trees come first, and an equally good tree does not replace them.
    for k_near in (least(&near)..=near.len()).rev() {
        for k_far in (1..=far.len()).rev() {
            let tree = tree(levels, packages.len(), &[(&near, k_near), (&far, k_far)]);
            let bounds = cost(&tree, Some(&packages));
            let better = |best: &ChosenTree| compare(bounds, best.bounds).is_lt();
            if best.as_ref().is_none_or(better) {
                best = Some(ChosenTree::new(tree, bounds));
            }
        }
    }
    best.expect("there is a rank in the other package")
}

/// A tree in which rank 0 has the given number of children in each part, with the others of the part evenly below
/// them.
fn tree(levels: &TreeLevels, n: usize, parts: &[(&[usize], usize)]) -> Tree {
    let mut lists = vec![Vec::new(); n];
    for &(ranks, k) in parts {
        if k == 0 {
            continue;
        }
        let (children, rest) = ranks.split_at(k);
        lists[0].push(children.to_vec());
        let mut from = 0;
        for (place, &child) in children.iter().enumerate() {
            let share = (rest.len() - from).div_ceil(k - place);
            let mut part = vec![child];
            part.extend(&rest[from..from + share]);
            from += share;
            levels.grow(&part, &mut lists);
        }
    }
    grouped(lists).tree().clone()
}
