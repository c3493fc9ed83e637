//! Broadcasts of one line, with the data in the line of the flag.

use super::tree_lines::{Family, families};
use corecast_plan::Tree;
use corecast_plan::groups::Grouped;
use corecast_wire::cache_lines::{CacheLines, LineId, LineSet};

/// One line down a tree, and a notification back from each child (Figure 12, Algorithm 6).
///
/// # Examples
///
/// ```
/// use corecast_collectives::one_line::OneLineBroadcast;
/// use corecast_plan::Tree;
/// use corecast_wire::cache_lines::LineSet;
///
/// let mut lines = LineSet::new(3);
/// let broadcast = OneLineBroadcast::new(&mut lines, &Tree::from_children(0, vec![vec![1, 2], vec![], vec![]])?, None);
/// // A line with data and flag, a counter, and the data of each rank.
/// assert_eq!(lines.lines().len(), 2 + 3);
/// assert_eq!(lines.lines()[broadcast.data(2).index()].name, "mydata 2");
/// # Ok::<(), corecast_plan::TreeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OneLineBroadcast(Vec<Family>);

impl OneLineBroadcast {
    /// A broadcast from the root of a tree. With `packages`, the package of each rank, children in each package share
    /// lines of their own (§4.1.1).
    ///
    /// # Panics
    ///
    /// If there are fewer packages or ranks in the set than in the tree.
    pub fn new(lines: &mut LineSet, tree: &Tree, packages: Option<&[u32]>) -> Self {
        Self(families(lines, tree, packages))
    }

    /// The line with the data of a rank, before the broadcast that of the root.
    pub fn data(&self, rank: usize) -> LineId {
        self.0[rank].data
    }

    /// This rank's part. The root's line is its payload before, and that of all ranks after.
    ///
    /// # Errors
    ///
    /// The error of a wait.
    ///
    /// # Cost
    ///
    /// Equation 32: for each level R_I + R_R and R_I + k·R_R in the best case, with k children.
    #[inline]
    pub fn run<L: CacheLines>(&self, lines: &mut L, round: u64) -> Result<(), L::Error> {
        let family = &self.0[lines.rank()];
        if let Some(parent) = &family.parent {
            lines.wait(parent.pflag, round)?;
            lines.copy(parent.pflag, family.data, 1);
        }
        for group in &family.groups {
            lines.copy(family.data, group.pflag, 1);
            lines.write(group.pflag, round);
        }
        for group in &family.groups {
            lines.wait(group.sflag, round * group.children.len() as u64)?;
        }
        if let Some(parent) = &family.parent {
            lines.add(parent.sflag, 1);
        }
        Ok(())
    }
}

/// One rank of a broadcast in groups.
#[derive(Clone, Debug)]
struct Server {
    /// The line of its group, and the counter of its parent.
    from: Option<(LineId, LineId)>,
    /// A line for each of its groups.
    flags: Vec<LineId>,
    /// The counter of its children, and how many they are.
    back: Option<(LineId, u64)>,
    data: LineId,
}

/// One line down a tree whose parents serve groups (§4.1.2): a line with data and flag for each group in turn, and one
/// line in which all children notify back. A rank between root and leaves copies from its parent's line to its own ones
/// first, and to its own data then.
///
/// # Examples
///
/// ```
/// use corecast_collectives::one_line::GroupedBroadcast;
/// use corecast_plan::groups::Grouped;
/// use corecast_wire::cache_lines::LineSet;
///
/// let mut lines = LineSet::new(4);
/// let _ = GroupedBroadcast::new(&mut lines, &Grouped::flat(4, 0));
/// assert_eq!(lines.lines().len(), 2 + 4);
/// ```
#[derive(Clone, Debug)]
pub struct GroupedBroadcast(Vec<Server>);

impl GroupedBroadcast {
    /// A broadcast from the root of a plan.
    ///
    /// # Panics
    ///
    /// If the set has fewer ranks than the plan.
    pub fn new(lines: &mut LineSet, plan: &Grouped) -> Self {
        let mut from = vec![None; plan.len()];
        let servers = plan.group_lists().iter().enumerate();
        let servers = servers.map(|(rank, groups)| {
            let flags: Vec<LineId> = groups
                .iter()
                .enumerate()
                .map(|(group, members)| {
                    lines.broadcast(format!("pflag {rank}.{group}"), rank, members)
                })
                .collect();
            let children = groups.concat();
            let back = match &children[..] {
                [] => None,
                children => Some(lines.counter(format!("sflag {rank}"), children, rank)),
            };
            for (&flag, members) in flags.iter().zip(groups) {
                for &child in members {
                    from[child] = back.map(|back| (flag, back));
                }
            }
            Server {
                from: None,
                flags,
                back: back.map(|line| (line, children.len() as u64)),
                data: lines.data(format!("mydata {rank}"), rank, 1),
            }
        });
        let mut servers: Vec<Server> = servers.collect();
        for (server, from) in servers.iter_mut().zip(from) {
            server.from = from;
        }
        Self(servers)
    }

    /// The line with the data of a rank.
    pub fn data(&self, rank: usize) -> LineId {
        self.0[rank].data
    }

    /// This rank's part. The root's line is its payload before, and that of all ranks after.
    ///
    /// # Errors
    ///
    /// The error of a wait.
    ///
    /// # Cost
    ///
    /// For each group of a rank a copy and a write, R_L + R_I; its children read at the same time.
    #[inline]
    pub fn run<L: CacheLines>(&self, lines: &mut L, round: u64) -> Result<(), L::Error> {
        let server = &self.0[lines.rank()];
        let source = server.from.map_or(server.data, |(flag, _)| flag);
        if let Some((flag, _)) = server.from {
            lines.wait(flag, round)?;
        }
        for &flag in &server.flags {
            lines.copy(source, flag, 1);
            lines.write(flag, round);
        }
        if let Some((flag, _)) = server.from {
            lines.copy(flag, server.data, 1);
        }
        if let Some((back, children)) = server.back {
            lines.wait(back, round * children)?;
        }
        if let Some((_, back)) = server.from {
            lines.add(back, 1);
        }
        Ok(())
    }
}
