//! The graphs of the algorithms of Ramos and Hoefler, which [`one_line`](corecast_collectives::one_line) has in their
//! own primitives.

use corecast_collectives::one_line::{
    GroupedBroadcast, ManyToOne, OneLineBroadcast, OneLineReduction, OneToMany,
};
use corecast_plan::Tree;
use corecast_plan::groups::Grouped;
use corecast_sim::symbolic::{Graph, RecordedLines, record_lines};
use corecast_wire::cache_lines::LineSet;
use std::convert::Infallible;

pub use corecast_collectives::one_line::Sharing;

/// Records the first round of an algorithm of this file; all of them end, so there is always a graph.
///
/// # Panics
///
/// When the kernel has no memory for stacks.
fn graph(
    lines: &LineSet,
    body: impl Fn(&mut RecordedLines<'_>) -> Result<(), Infallible>,
) -> Graph {
    match record_lines(lines, body) {
        Ok(graph) => graph,
        Err(stuck) => panic!("a published algorithm ends: {stuck}"),
    }
}

/// Ranks 1 to n.
fn others(n: usize) -> Vec<usize> {
    (1..=n).collect()
}

/// Figure 4: n ranks, 1 to n, notify rank 0.
///
/// # Panics
///
/// If `n` is 0, or when the kernel has no memory for stacks.
///
/// # Examples
///
/// ```
/// use corecast_validation::published::{Sharing, many_to_one};
///
/// // Figure 5a: a wait that all of a chain of three additions lead to.
/// assert_eq!(many_to_one(3, Sharing::SameLine).edge_counts(), [0, 3, 2, 0]);
/// // Figure 5b: three waits in a row, each for a write.
/// assert_eq!(many_to_one(3, Sharing::DifferentLines).edge_counts(), [2, 3, 0, 0]);
/// ```
#[must_use]
pub fn many_to_one(n: usize, sharing: Sharing) -> Graph {
    let mut lines = LineSet::new(n + 1);
    let program = ManyToOne::new(&mut lines, 0, &others(n), sharing);
    graph(&lines, |rank| program.run(rank, 1))
}

/// Figure 8: rank 0 notifies n ranks, 1 to n, in this order where each has a line.
///
/// # Panics
///
/// If `n` is 0, or when the kernel has no memory for stacks.
///
/// # Examples
///
/// ```
/// use corecast_validation::published::{Sharing, one_to_many};
///
/// assert_eq!(one_to_many(3, Sharing::SameLine).edge_counts(), [0, 3, 0, 0]);
/// assert_eq!(one_to_many(3, Sharing::DifferentLines).edge_counts(), [2, 3, 0, 0]);
/// ```
#[must_use]
pub fn one_to_many(n: usize, sharing: Sharing) -> Graph {
    let mut lines = LineSet::new(n + 1);
    let program = OneToMany::new(&mut lines, 0, &others(n), sharing);
    graph(&lines, |rank| program.run(rank, 1))
}

/// Figure 12: one line down a tree, the data in the flag's line (§4.1), and a notification back from each
/// child. With `packages`, children in each package share lines of their own (*single-use lines*, §4.1.1).
///
/// # Panics
///
/// If there are fewer packages than ranks, or when the kernel has no memory for stacks.
///
/// # Examples
///
/// Figure 13, on one package of Sandy Bridge.
///
/// ```
/// use corecast_plan::Tree;
/// use corecast_sim::symbolic::{Analysis, CostRules};
/// use corecast_validation::{published, tables};
///
/// let tree = Tree::from_children(0, vec![vec![1, 2], vec![3], vec![], vec![]])?;
/// let graph = published::broadcast(&tree, None);
/// let placement = tables::sandy_bridge(4);
/// let t_min = Analysis::new(&graph, &placement, &CostRules::default()).bounds().t_min;
/// // R_L of the root's data; then two levels of R_I + R_R + R_L + R_I + k·R_R.
/// assert!((t_min - (2.3 + 2.0 * (70.0 + 35.0 + 2.3 + 70.0) + 3.0 * 35.0)).abs() < 1e-9);
/// # Ok::<(), corecast_plan::TreeError>(())
/// ```
#[must_use]
pub fn broadcast(tree: &Tree, packages: Option<&[u32]>) -> Graph {
    let mut lines = LineSet::new(tree.len());
    let program = OneLineBroadcast::new(&mut lines, tree, packages);
    graph(&lines, |rank| program.run(rank, 1))
}

/// One line down a tree whose parents serve groups (§4.1.2): a line with data and flag for each group in
/// turn, and one line in which all children notify back. A rank between root and leaves copies from its
/// parent's line to its own ones first, and to its own data then.
///
/// # Panics
///
/// When the kernel has no memory for stacks.
///
/// # Examples
///
/// ```
/// use corecast_plan::groups::Grouped;
/// use corecast_validation::published;
///
/// let graph = published::broadcast_in_groups(&Grouped::flat(4, 0));
/// // The root copies, writes and waits; each child waits, copies and adds.
/// assert_eq!(graph.acts().len(), 3 + 3 * 3);
/// ```
#[must_use]
pub fn broadcast_in_groups(plan: &Grouped) -> Graph {
    let mut lines = LineSet::new(plan.len());
    let program = GroupedBroadcast::new(&mut lines, plan);
    graph(&lines, |rank| program.run(rank, 1))
}

/// Figure 16: one line up a tree. Children copy to buffers in their parent's cache (*privatisation*), which it adds
/// up one after another. `packages` has the meaning that it has for [`broadcast`].
///
/// # Panics
///
/// See [`broadcast`].
#[must_use]
pub fn reduction(tree: &Tree, packages: Option<&[u32]>) -> Graph {
    let mut lines = LineSet::new(tree.len());
    let program = OneLineReduction::new(&mut lines, tree, packages);
    graph(&lines, |rank| program.run(rank, 1))
}
