//! One rank's view of a tree, for any root.
//!
//! A tree without its root is only a set of edges. A broadcast can start at any rank: each rank receives the
//! message from the neighbour towards the origin and passes it to all others. So any rank can be the root at no
//! extra hop, over the same links.
//!
//! Or the origin gives the message to the tree's root first, which is far from it where the tree is deep:
//! [`reroot`](corecast_plan::reroot) has both trees. Which of the two an origin takes is known when routes are made.
//!
//! ```text
//!        0                      2           toward[2] of rank 0 is 1,
//!      ┌─┴─┐    from rank 2:    │           of ranks 1, 3 and 4: 2, 1 and 0
//!      1   4                    1
//!    ┌─┴─┐                    ┌─┴─┐
//!    2   3                    0   3
//!                             4
//! ```

use corecast_plan::Tree;
use std::sync::Arc;

/// A rank's neighbours in a tree, in the tree's order, and the neighbour that leads to each other rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    rank: usize,
    root: usize,
    parent: Option<usize>,
    /// What takes the parent's place where this rank is the origin: the parent, or the root where it copies.
    above: Option<usize>,
    children: Vec<usize>,
    /// For each rank the neighbour that leads there; the entry of this rank is the rank itself. Routes of trees
    /// with the same edges share this memory.
    toward: Arc<[u32]>,
}

impl Route {
    /// The routes of all ranks.
    ///
    /// # Cost
    ///
    /// Time and memory in the square of the number of ranks, four bytes for each pair.
    pub fn all(tree: &Tree) -> Vec<Self> {
        Self::all_beside(tree, |_| false, &[])
    }

    /// The routes of all ranks, like [`all`](Self::all), where an origin copies to the tree's root if `copies` says so.
    /// If one of `others`, the routes of other trees for the same ranks, has the same edges and root, in any order, its
    /// memory is shared.
    pub fn all_beside(
        tree: &Tree,
        copies: impl Fn(usize) -> bool,
        others: &[&[Self]],
    ) -> Vec<Self> {
        let n = tree.len();
        let above = |rank| {
            tree.parent(rank).map(|parent| match copies(rank) {
                true => tree.root(),
                false => parent,
            })
        };
        let alike = |other: &&&[Self]| {
            let mut ranks = (0..n).zip(other.iter());
            let same = |(rank, route): (usize, &Self)| {
                (route.parent, route.above) == (tree.parent(rank), above(rank))
            };
            other.len() == n && ranks.all(same)
        };
        let other = others.iter().find(alike);
        (0..n)
            .map(|rank| Self {
                rank,
                root: tree.root(),
                parent: tree.parent(rank),
                above: above(rank),
                children: tree.children(rank).to_vec(),
                toward: match other {
                    Some(other) => other[rank].toward.clone(),
                    None => toward(tree, &copies, rank).into(),
                },
            })
            .collect()
    }

    /// Number of ranks.
    #[expect(clippy::len_without_is_empty, reason = "a tree has a root")]
    pub fn len(&self) -> usize {
        self.toward.len()
    }

    /// The rank whose view of the tree this is.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The root that the tree was planned for.
    #[inline(always)]
    pub fn root(&self) -> usize {
        self.root
    }

    /// The neighbour that leads to `origin`; `None` if this rank is it.
    #[inline(always)]
    pub fn toward(&self, origin: usize) -> Option<usize> {
        let next = self.toward[origin] as usize;
        (next != self.rank).then_some(next)
    }

    /// The neighbours that do not lead to `origin`, in the order in which a broadcast serves them:
    /// the parent first, behind which lies the larger rest of the tree, then the children.
    #[inline(always)]
    pub fn away(&self, origin: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let toward = self.toward[origin] as usize;
        self.above(origin)
            .into_iter()
            .chain(self.children.iter().copied())
            .filter(move |&peer| peer != toward && peer != origin)
    }

    /// The neighbours that do not lead to `origin`, in the order in which a reduction takes them:
    /// the children, then the parent, behind which lies the larger rest of the tree.
    #[inline(always)]
    pub fn inward(&self, origin: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let toward = self.toward[origin] as usize;
        self.children
            .iter()
            .copied()
            .chain(self.above(origin))
            .filter(move |&peer| peer != toward && peer != origin)
    }

    #[inline(always)]
    fn above(&self, origin: usize) -> Option<usize> {
        match origin == self.rank {
            true => self.above,
            false => self.parent,
        }
    }
}

/// For each rank the neighbour of `rank` that leads there.
fn toward(tree: &Tree, copies: impl Fn(usize) -> bool, rank: usize) -> Vec<u32> {
    let outside = tree.parent(rank).unwrap_or(rank) as u32;
    let mut toward = vec![outside; tree.len()];
    toward[rank] = rank as u32;
    for &child in tree.children(rank) {
        for below in tree.subtree(child) {
            toward[below] = match (copies(below), tree.parent(rank)) {
                (false, _) => child as u32,
                (true, Some(parent)) => parent as u32,
                // The root gets the copy from the origin itself.
                (true, None) => below as u32,
            };
        }
    }
    toward
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_plan::Operation;
    use corecast_plan::reroot::{copied, rehung};

    #[test]
    fn every_origin_reaches_every_rank_once() {
        let children = vec![vec![1, 4], vec![2, 3], vec![], vec![], vec![]];
        let tree = Tree::from_children(0, children).unwrap();
        let routes = Route::all(&tree);
        for origin in 0..5 {
            let mut seen = vec![0; 5];
            let mut left = vec![(origin, None)];
            while let Some((rank, from)) = left.pop() {
                seen[rank] += 1;
                assert_eq!(routes[rank].toward(origin), from);
                left.extend(routes[rank].away(origin).map(|peer| (peer, Some(rank))));
                let mut inward: Vec<_> = routes[rank].inward(origin).collect();
                let mut away: Vec<_> = routes[rank].away(origin).collect();
                inward.sort_unstable();
                away.sort_unstable();
                assert_eq!(inward, away);
            }
            assert_eq!(seen, [1; 5], "origin {origin}");
        }
        assert_eq!(routes[1].away(2).collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn routes_are_the_trees_that_the_planner_compares() {
        let mut rng = fastrand::Rng::with_seed(7);
        for round in 0..400 {
            let n = rng.usize(2..9);
            let order: Vec<usize> = rng.choose_multiple(0..n, n);
            let mut lists = vec![Vec::new(); n];
            for k in 1..n {
                lists[order[rng.usize(0..k)]].push(order[k]);
            }
            let tree = Tree::from_children(order[0], lists).unwrap();
            let copies: Vec<bool> = (0..n).map(|_| rng.bool()).collect();
            let routes = Route::all_beside(&tree, |rank| copies[rank], &[]);
            for (origin, &is_copied) in copies.iter().enumerate() {
                for operation in [Operation::Broadcast, Operation::Reduce] {
                    let expected = match is_copied {
                        true => copied(&tree, origin, operation),
                        false => rehung(&tree, origin, operation),
                    };
                    for route in &routes {
                        let rank = route.rank();
                        let children: Vec<usize> = match operation {
                            Operation::Reduce => route.inward(origin).collect(),
                            _ => route.away(origin).collect(),
                        };
                        let found = (route.toward(origin), &children[..]);
                        let expected = (expected.parent(rank), expected.children(rank));
                        assert_eq!(found, expected, "round {round}: {rank} from {origin}");
                    }
                }
            }
        }
    }

    #[test]
    fn trees_with_the_same_edges_share_memory_and_no_others_do() {
        let children = vec![vec![1, 4], vec![2, 3], vec![], vec![], vec![]];
        let tree = Tree::from_children(0, children).unwrap();
        let chain = (1..5).map(|child| vec![child]).chain([vec![]]);
        let chain = Tree::from_children(0, chain.collect()).unwrap();
        let (routes, in_a_row) = (Route::all(&tree), Route::all(&chain));
        let shared = |a: &[Route], b: &[Route]| Arc::ptr_eq(&a[1].toward, &b[1].toward);
        let reversed = Route::all_beside(&tree.reversed(), |_| false, &[&in_a_row, &routes]);
        assert_eq!(reversed, Route::all(&tree.reversed()));
        assert!(shared(&reversed, &routes) && !shared(&reversed, &in_a_row));
        let other = Route::all_beside(&chain, |_| false, &[&routes]);
        assert!(other == in_a_row && !shared(&other, &routes));
        let copied = Route::all_beside(&tree, |rank| rank == 3, &[&routes]);
        assert!(copied != routes && !shared(&copied, &routes));
    }
}
