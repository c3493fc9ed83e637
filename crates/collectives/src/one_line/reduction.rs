//! The reduction of one line, with private lines.

use super::tree_lines::{Family, families};
use corecast_plan::Tree;
use corecast_wire::cache_lines::{CacheLines, LineId, LineSet};

/// One line up a tree (Figure 16, Algorithm 7). Each child copies to a line of its own in its parent's cache
/// (*privatisation*), and the parent adds these up one after another.
///
/// # Examples
///
/// ```
/// use corecast_collectives::one_line::OneLineReduction;
/// use corecast_plan::Tree;
/// use corecast_wire::cache_lines::LineSet;
///
/// let mut lines = LineSet::new(3);
/// let _ = OneLineReduction::new(&mut lines, &Tree::from_children(0, vec![vec![1, 2], vec![], vec![]])?, None);
/// // A flag, a counter, and data of each rank; each child has a private line.
/// assert_eq!(lines.lines().len(), 2 + 3 + 2);
/// # Ok::<(), corecast_plan::TreeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OneLineReduction {
    families: Vec<Family>,
    /// The private line of each rank but the root.
    buffers: Vec<Option<LineId>>,
}

impl OneLineReduction {
    /// A reduction to the root of a tree; `packages` as for
    /// [`OneLineBroadcast::new`](super::OneLineBroadcast::new).
    ///
    /// # Panics
    ///
    /// If there are fewer packages or ranks in the set than in the tree.
    pub fn new(lines: &mut LineSet, tree: &Tree, packages: Option<&[u32]>) -> Self {
        let families = families(lines, tree, packages);
        let buffer = |rank: usize| {
            let parent = tree.parent(rank)?;
            Some(lines.data(format!("buffer {rank}"), parent, 1))
        };
        let buffers = (0..tree.len()).map(buffer).collect();
        Self { families, buffers }
    }

    /// The line with the data of a rank, which has the sum of its subtree afterwards.
    pub fn data(&self, rank: usize) -> LineId {
        self.families[rank].data
    }

    /// This rank's part. The root's payload is the sum of those of all ranks after.
    ///
    /// # Errors
    ///
    /// The error of a wait.
    ///
    /// # Cost
    ///
    /// Equations 33 and 34: for each level R_I + 2·((k + 1)·R_R + R_L) in the best case, with k children.
    #[inline]
    pub fn run<L: CacheLines>(&self, lines: &mut L, round: u64) -> Result<(), L::Error> {
        let rank = lines.rank();
        let family = &self.families[rank];
        for group in &family.groups {
            lines.write(group.pflag, round);
        }
        for group in &family.groups {
            lines.wait(group.sflag, round * group.children.len() as u64)?;
            for buffer in group
                .children
                .iter()
                .filter_map(|&child| self.buffers[child])
            {
                lines.add_line(family.data, buffer);
            }
        }
        if let (Some(parent), Some(buffer)) = (&family.parent, self.buffers[rank]) {
            lines.wait(parent.pflag, round)?;
            lines.copy(family.data, buffer, 1);
            lines.add(parent.sflag, 1);
        }
        Ok(())
    }
}
