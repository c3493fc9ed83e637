//! One rank's view of a tree, for any root.
//!
//! A tree without its root is only a set of edges. Whoever starts a broadcast, the message can
//! flood from there: each rank hears it from the neighbour towards the origin and passes it to all
//! others. So any rank can be the root at no extra hop, over the same links.
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

/// A rank's neighbours in a tree, in the tree's order, and who of them leads to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    rank: usize,
    root: usize,
    parent: Option<usize>,
    children: Vec<usize>,
    /// For each rank the neighbour that leads there; the entry of this rank itself is itself.
    toward: Vec<u32>,
}

impl Route {
    /// The routes of all ranks.
    ///
    /// # Cost
    ///
    /// Time and memory in the square of the number of ranks, four bytes for each pair.
    pub fn all(tree: &Tree) -> Vec<Self> {
        let n = tree.len();
        (0..n)
            .map(|rank| {
                let parent = tree.parent(rank);
                let outside = parent.unwrap_or(rank) as u32;
                let mut toward = vec![outside; n];
                toward[rank] = rank as u32;
                for &child in tree.children(rank) {
                    for below in tree.subtree(child) {
                        toward[below] = child as u32;
                    }
                }
                Self {
                    rank,
                    root: tree.root(),
                    parent,
                    children: tree.children(rank).to_vec(),
                    toward,
                }
            })
            .collect()
    }

    /// Number of ranks.
    #[expect(clippy::len_without_is_empty, reason = "a tree has a root")]
    pub fn len(&self) -> usize {
        self.toward.len()
    }

    /// Whose view this is.
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
        self.parent
            .into_iter()
            .chain(self.children.iter().copied())
            .filter(move |&peer| peer != toward)
    }

    /// The neighbours that do not lead to `origin`, in the order in which a reduction takes them:
    /// the children, then the parent, behind which lies the larger rest of the tree.
    #[inline(always)]
    pub fn inward(&self, origin: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let toward = self.toward[origin] as usize;
        self.children
            .iter()
            .copied()
            .chain(self.parent)
            .filter(move |&peer| peer != toward)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
