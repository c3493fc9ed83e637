//! Reductions that keep the order of ranks and have one order of reduction for each number of
//! ranks.
//!
//! ```text
//! ((0 ∘ 1) ∘ (2 ∘ 3)) ∘ ((4 ∘ 5) ∘ 6)
//! ```
//!
//! Each subtree of the binomial tree over ranks is an interval of ranks, and each parent takes its
//! children from the nearest to the farthest. So an operator that is not commutative gets what it
//! expects, and the bits of a rounded sum depend on the number of ranks alone: not on the plan, the
//! root, the length of the data or the pipeline segments.

use super::SCRATCH_SEGMENTS;
use crate::binomial_tree::children;
use crate::combine::Combine;
use crate::pipeline::PipelineSegments;
use crate::route::Route;
use corecast_plan::Tree;
use corecast_wire::Fabric;

/// The tree over `n` ranks that keeps their order: rank r, a multiple of 2^k, has the children
/// r + 1, r + 2, r + 4, … below r + 2^k.
///
/// # Panics
///
/// If `n` is 0.
pub fn ordered_tree(n: usize) -> Tree {
    let children = (0..n).map(|rank| children(rank, n).collect()).collect();
    Tree::from_children(0, children).expect("a binomial tree")
}

/// Combines all ranks' `sum` into that of `root`; `route` is a view of [`ordered_tree`].
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// n − 1 messages in ⌈log2 n⌉ steps, and one more message and step if `root` is not 0. All operators share its code, see
/// [`Combine`].
#[inline(never)]
pub fn ordered<F: Fabric>(
    fabric: &mut F,
    route: &Route,
    root: usize,
    sum: &mut [u8],
    incoming: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), F::Error> {
    super::tree(fabric, route, 0, sum, incoming, &combine)?;
    match fabric.rank() {
        rank if rank == root && root != 0 => fabric.receive(0, sum),
        0 if root != 0 => fabric.send(root, sum),
        _ => Ok(()),
    }
}

/// Combines the `len` bytes of all ranks' windows into `root`'s; the others' stay as they are.
/// Buffers are the data's window and scratch of [`SCRATCH_SEGMENTS`] pipeline segments.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// That of [`lent`](super::lent), and one more read of the data if `root` is not 0.
pub fn ordered_lent<F: Fabric>(
    fabric: &mut F,
    route: &Route,
    root: usize,
    (window, scratch): (&mut F::Window<'_>, &mut F::Window<'_>),
    len: usize,
    pipeline: PipelineSegments,
    combine: &impl Combine,
) -> Result<(), F::Error> {
    if root == 0 {
        return super::lent(fabric, route, 0, (window, scratch), len, pipeline, combine);
    }
    let (rank, element_size) = (fabric.rank(), combine.element_size());
    let room = pipeline.bytes(len, element_size);
    let parent = route.toward(0).unwrap_or(root);
    let is_leaf = route.away(0).next().is_none();
    for (index, part) in pipeline.of(len, element_size).enumerate() {
        if is_leaf {
            fabric.lend_to_combine(window, [parent], part.clone())?;
        } else {
            let place = index % SCRATCH_SEGMENTS * room;
            let place = place..place + part.len();
            let sum = fabric.view_mut(scratch, place.clone())?;
            let mine = fabric.view(window, part.clone());
            super::lent::gather(fabric, route.inward(0), sum, mine, combine)?;
            match rank {
                // The root has the result as it is.
                0 => fabric.lend(scratch, [parent], place)?,
                _ => fabric.lend_to_combine(scratch, [parent], place)?,
            }
        }
        if rank == root {
            // The root's own data have been read by then, because the result contains them.
            let into = fabric.view_mut(window, part)?;
            fabric.fetch(0, into)?;
        }
    }
    fabric.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of reduction of a subtree, written out with parentheses.
    fn order(tree: &Tree, rank: usize) -> String {
        let own = rank.to_string();
        tree.children(rank)
            .iter()
            .fold(own, |sum, &child| format!("({sum} {})", order(tree, child)))
    }

    #[test]
    fn the_order_depends_on_the_number_of_ranks_alone() {
        for (n, expected) in [
            (1, "0"),
            (2, "(0 1)"),
            (3, "((0 1) 2)"),
            (4, "((0 1) (2 3))"),
            (7, "(((0 1) (2 3)) ((4 5) 6))"),
            (8, "(((0 1) (2 3)) ((4 5) (6 7)))"),
        ] {
            assert_eq!(order(&ordered_tree(n), 0), expected);
        }
        assert_eq!(ordered_tree(1000).len(), 1000);
    }
}
