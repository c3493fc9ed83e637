//! The tree of reductions of long buffers: binomial in each package, and one transfer from each package in the end
//! (CLa §5.2).
//!
//! ```text
//! packages 0 1 2 3 | 4 5 6        0
//!                               ┌─┼──┐
//!                               1 2  4      only 4 → 0 crosses
//!                                 │ ┌┴┐
//!                                 3 5 6
//! ```
//!
//! A parent of many children would read their buffers one after the other. In a binomial tree these reads overlap,
//! and with a tree of its own for each package the link between packages has one transfer at a time.

use crate::binomial_tree::children;
use corecast_plan::Tree;

/// The tree for ranks with these packages: its root is rank 0, and each other package's first rank is a child of it,
/// after those of its own package.
///
/// # Panics
///
/// If there are no ranks.
///
/// # Source
///
/// CLa §5.2, Equation 35.
///
/// # Examples
///
/// ```
/// use corecast_collectives::reduce::package_tree;
///
/// let tree = package_tree(&[0, 0, 0, 0, 1, 1, 1]);
/// assert_eq!(tree.children(0), [1, 2, 4]);
/// assert_eq!(tree.children(4), [5, 6]);
/// ```
pub fn package_tree(packages: &[u32]) -> Tree {
    let members = crate::packages::members(packages);
    let mut below = vec![Vec::new(); packages.len()];
    for mine in &members {
        for (place, &rank) in mine.iter().enumerate() {
            below[rank] = children(place, mine.len())
                .map(|place| mine[place])
                .collect();
        }
    }
    below[0].extend(members[1..].iter().map(|mine| mine[0]));
    Tree::from_children(0, below).expect("each rank has one parent")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn one_transfer_leaves_each_package_and_all_others_overlap() {
        let mut rng = Rng::with_seed(35);
        for n in 1..=40 {
            for _ in 0..20 {
                let count = rng.u32(1..=6);
                let packages: Vec<u32> = (0..n).map(|_| rng.u32(0..count)).collect();
                let tree = package_tree(&packages);
                let crosses = |&rank: &usize| {
                    let parent = tree.parent(rank);
                    parent.is_some_and(|parent| packages[parent] != packages[rank])
                };
                let mut used = packages.clone();
                used.sort_unstable();
                used.dedup();
                assert_eq!((0..n).filter(crosses).count(), used.len() - 1);
                // Steps from a rank to the first one of its package.
                for rank in 0..n {
                    let mine = packages.iter().filter(|&&of| of == packages[rank]).count();
                    let within = |&at: &usize| {
                        tree.parent(at)
                            .filter(|&parent| packages[parent] == packages[rank])
                    };
                    let steps = std::iter::successors(Some(rank), within).count() - 1;
                    assert!(1 << steps <= mine, "{packages:?}: {rank} has {steps} steps");
                }
            }
        }
    }
}
