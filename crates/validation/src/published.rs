//! The algorithms of Ramos and Hoefler in their own primitives.
//!
//! | function | paper | Corecast's collectives |
//! | --- | --- | --- |
//! | [`many_to_one`] | Figure 4 | the fan-in of `barrier::groups` and `barrier::tree` does the same |
//! | [`one_to_many`] | Figure 8 | the fan-out of these does the same |
//! | [`broadcast`], [`broadcast_in_groups`] | Figure 12, §4.1.2 | in `broadcast::groups` a parent does not wait until its children have copied |
//! | [`reduction`] | Figure 16 | in `reduce::tree` a child's flag is in the line of its data |

use crate::primitives::{PaperLine, PaperLines, PaperRank, trace};
use corecast_plan::Tree;
use corecast_plan::groups::Grouped;
use corecast_sim::symbolic::{Graph, LineKind};

/// Whether ranks share one line or have one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// One line for all.
    SameLine,
    /// A line for each.
    DifferentLines,
}

/// Records an algorithm of this file; all of them end, so there is always a graph.
///
/// # Panics
///
/// When the kernel has no memory for stacks.
fn graph<L>(
    n: usize,
    make: impl FnOnce(&mut PaperLines<'_>) -> L,
    body: impl Fn(&PaperRank<'_>, &L),
) -> Graph {
    match trace(n, make, body) {
        Ok(graph) => graph,
        Err(stuck) => panic!("a published algorithm ends: {stuck}"),
    }
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
    assert!(n > 0, "somebody notifies");
    match sharing {
        Sharing::SameLine => graph(
            n + 1,
            |lines| lines.line("flag", LineKind::ArrivalCounter, 0),
            |hand, &flag| match hand.rank() {
                0 => hand.wait(flag, n),
                _ => hand.add(flag),
            },
        ),
        Sharing::DifferentLines => graph(
            n + 1,
            |lines| -> Vec<PaperLine> {
                let line = |rank| lines.line(format!("flag {rank}"), LineKind::Flag, 0);
                (1..=n).map(line).collect()
            },
            |hand, flags| match hand.rank() {
                0 => flags.iter().for_each(|&flag| hand.wait(flag, 1)),
                rank => hand.write(flags[rank - 1]),
            },
        ),
    }
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
    assert!(n > 0, "somebody is notified");
    match sharing {
        Sharing::SameLine => graph(
            n + 1,
            |lines| lines.line("flag", LineKind::BroadcastRing, 1),
            |hand, &flag| match hand.rank() {
                0 => hand.write(flag),
                _ => hand.wait(flag, 1),
            },
        ),
        Sharing::DifferentLines => graph(
            n + 1,
            |lines| -> Vec<PaperLine> {
                let line = |rank| lines.line(format!("flag {rank}"), LineKind::Flag, rank);
                (1..=n).map(line).collect()
            },
            |hand, flags| match hand.rank() {
                0 => flags.iter().for_each(|&flag| hand.write(flag)),
                rank => hand.wait(flags[rank - 1], 1),
            },
        ),
    }
}

/// A rank of a tree, with its children, by package where each package has lines of its own.
struct Family {
    parent: Option<usize>,
    /// The index of its group among those of the parent.
    group: usize,
    children: Vec<Vec<usize>>,
}

fn families(tree: &Tree, packages: Option<&[u32]>) -> Vec<Family> {
    let package = |rank: usize| packages.map_or(0, |packages| packages[rank]);
    let none = || Family {
        parent: None,
        group: 0,
        children: Vec::new(),
    };
    let mut all: Vec<Family> = (0..tree.len()).map(|_| none()).collect();
    for rank in 0..tree.len() {
        let mut groups: Vec<(u32, Vec<usize>)> = Vec::new();
        for &child in tree.children(rank) {
            match groups.iter_mut().find(|(of, _)| *of == package(child)) {
                Some((_, members)) => members.push(child),
                None => groups.push((package(child), vec![child])),
            }
        }
        for (group, (_, members)) in groups.iter().enumerate() {
            for &child in members {
                (all[child].parent, all[child].group) = (Some(rank), group);
            }
        }
        all[rank].children = groups.into_iter().map(|(_, members)| members).collect();
    }
    all
}

/// The lines of Figures 12 and 16: by rank, and by group where there are groups.
struct TreeLines {
    pflag: Vec<Vec<PaperLine>>,
    sflag: Vec<Vec<PaperLine>>,
    data: Vec<PaperLine>,
    /// The buffer of each rank in its parent's cache, from which the parent reads the rank's data.
    buffer: Vec<PaperLine>,
}

fn over_tree(
    tree: &Tree,
    packages: Option<&[u32]>,
    body: impl Fn(&PaperRank<'_>, &TreeLines, &Family),
) -> Graph {
    let families = families(tree, packages);
    let n = tree.len();
    graph(
        n,
        |lines| {
            let (mut pflag, mut sflag) = (Vec::new(), Vec::new());
            for (rank, family) in families.iter().enumerate() {
                let groups = family.children.iter().enumerate();
                let (out, back) = groups
                    .map(|(group, members)| {
                        let home = members[0];
                        (
                            lines.line(
                                format!("pflag {rank}.{group}"),
                                LineKind::BroadcastRing,
                                home,
                            ),
                            lines.line(
                                format!("sflag {rank}.{group}"),
                                LineKind::ArrivalCounter,
                                rank,
                            ),
                        )
                    })
                    .unzip();
                pflag.push(out);
                sflag.push(back);
            }
            let data = |rank| lines.line(format!("mydata {rank}"), LineKind::Data, rank);
            let data = (0..n).map(data).collect();
            let buffer = |rank: usize| {
                let home = families[rank].parent.unwrap_or(rank);
                lines.line(format!("buffer {rank}"), LineKind::Data, home)
            };
            TreeLines {
                pflag,
                sflag,
                data,
                buffer: (0..n).map(buffer).collect(),
            }
        },
        |hand, lines| body(hand, lines, &families[hand.rank()]),
    )
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
    over_tree(tree, packages, |hand, lines, family| {
        let mine = lines.data[hand.rank()];
        if let Some(parent) = family.parent {
            let flag = lines.pflag[parent][family.group];
            hand.wait(flag, 1);
            hand.copy(flag, mine, 1);
        }
        let (out, back) = (&lines.pflag[hand.rank()], &lines.sflag[hand.rank()]);
        for &flag in out {
            hand.copy(mine, flag, 1);
            hand.write(flag);
        }
        for (&flag, members) in back.iter().zip(&family.children) {
            hand.wait(flag, members.len());
        }
        if let Some(parent) = family.parent {
            hand.add(lines.sflag[parent][family.group]);
        }
    })
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
    let n = plan.len();
    let mut parent = vec![None; n];
    for (rank, groups) in plan.group_lists().iter().enumerate() {
        for (group, members) in groups.iter().enumerate() {
            members
                .iter()
                .for_each(|&child| parent[child] = Some((rank, group)));
        }
    }
    graph(
        n,
        |lines| {
            let of = |(rank, groups): (usize, &Vec<Vec<usize>>)| {
                let flag = |(group, members): (usize, &Vec<usize>)| {
                    lines.line(
                        format!("pflag {rank}.{group}"),
                        LineKind::BroadcastRing,
                        members[0],
                    )
                };
                let flags: Vec<PaperLine> = groups.iter().enumerate().map(flag).collect();
                let back = lines.line(format!("sflag {rank}"), LineKind::ArrivalCounter, rank);
                let data = lines.line(format!("mydata {rank}"), LineKind::Data, rank);
                (flags, back, data)
            };
            let lists = plan.group_lists().iter().enumerate();
            lists.map(of).collect::<Vec<_>>()
        },
        |hand, lines| {
            let (flags, back, mine) = &lines[hand.rank()];
            let from = parent[hand.rank()].map(|(rank, group)| (rank, lines[rank].0[group]));
            let source = from.map_or(*mine, |(_, flag)| flag);
            if let Some((_, flag)) = from {
                hand.wait(flag, 1);
            }
            for &flag in flags {
                hand.copy(source, flag, 1);
                hand.write(flag);
            }
            if let Some((_, flag)) = from {
                hand.copy(flag, *mine, 1);
            }
            if !flags.is_empty() {
                hand.wait(*back, plan.groups(hand.rank()).iter().map(Vec::len).sum());
            }
            if let Some((rank, _)) = from {
                hand.add(lines[rank].1);
            }
        },
    )
}

/// Figure 16: one line up a tree. Children copy to buffers in their parent's cache (*privatisation*), which it adds
/// up one after another. `packages` has the meaning that it has for [`broadcast`].
///
/// # Panics
///
/// See [`broadcast`].
#[must_use]
pub fn reduction(tree: &Tree, packages: Option<&[u32]>) -> Graph {
    over_tree(tree, packages, |hand, lines, family| {
        let me = hand.rank();
        lines.pflag[me].iter().for_each(|&flag| hand.write(flag));
        for (&flag, members) in lines.sflag[me].iter().zip(&family.children) {
            hand.wait(flag, members.len());
            for &child in members {
                hand.add_from(lines.data[me], lines.buffer[child]);
            }
        }
        if let Some(parent) = family.parent {
            hand.wait(lines.pflag[parent][family.group], 1);
            hand.copy(lines.data[me], lines.buffer[me], 1);
            hand.add(lines.sflag[parent][family.group]);
        }
    })
}
