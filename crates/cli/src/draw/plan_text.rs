//! A plan's tree in the terminal: who serves whom, in which order, and when each member is done.
//!
//! ```text
//! rank 0 (PU 0, node 0) at 0
//! ├── 1. rank 4 (PU 4, node 1) at 345
//! │   └── 1. rank 5 (PU 5, node 1) at 412
//! └── 2. rank 1 (PU 1, node 0) at 290
//! ```
//!
//! Members of a group, who share a line with their parent, have one number.
//!
//! Large plans are abbreviated: neighbouring leaves of one NUMA node share a line, and deep chains
//! are cut.

use corecast_plan::Tree;
use corecast_plan::groups::Grouped;
use owo_colors::OwoColorize;

use super::palette::Screen;

/// Everything about the members that the drawing shows, by rank.
pub(crate) struct Members<'a> {
    /// Operating-system numbers.
    pub(crate) threads: &'a [u32],
    /// NUMA nodes.
    pub(crate) numa: &'a [u32],
    /// When each member has done its part.
    pub(crate) avail: &'a [f64],
    /// Digits after the point of these times.
    pub(crate) decimals: usize,
    /// Who shares lines with whom, if anybody does.
    pub(crate) groups: Option<&'a Grouped>,
}

/// Above this many members, leaves share lines.
const MEMBERS_WITH_A_LINE: usize = 64;
/// Below this depth an abbreviated drawing goes no further.
const DEPTH_MAX: usize = 24;

/// The drawing; `abbreviate` allows it to leave members out.
pub(crate) fn draw(tree: &Tree, members: &Members<'_>, abbreviate: bool, screen: Screen) -> String {
    let pen = Pen {
        tree,
        members,
        merge: abbreviate && tree.len() > MEMBERS_WITH_A_LINE,
        depth_max: if abbreviate { DEPTH_MAX } else { usize::MAX },
        sizes: tree.subtree_sizes(),
        places: places(tree, members.groups),
        screen,
    };
    let root = tree.root();
    let mut out = format!("{}\n", pen.member(root));
    pen.below(root, "", 1, &mut out);
    out
}

/// What stays the same during the drawing.
struct Pen<'a> {
    tree: &'a Tree,
    members: &'a Members<'a>,
    merge: bool,
    depth_max: usize,
    sizes: Vec<usize>,
    /// For each rank the place of its group in its parent's list, from 1.
    places: Vec<usize>,
    screen: Screen,
}

/// The place of each rank, or of its group, in its parent's list, from 1.
fn places(tree: &Tree, groups: Option<&Grouped>) -> Vec<usize> {
    let mut places = vec![0; tree.len()];
    for rank in 0..tree.len() {
        match groups {
            Some(groups) => {
                for (k, group) in groups.groups(rank).iter().enumerate() {
                    group.iter().for_each(|&c| places[c] = k + 1);
                }
            }
            None => {
                for (k, &c) in tree.children(rank).iter().enumerate() {
                    places[c] = k + 1;
                }
            }
        }
    }
    places
}

impl Pen<'_> {
    /// Draws everything below `parent`.
    fn below(&self, parent: usize, indent: &str, depth: usize, out: &mut String) {
        let children = self.tree.children(parent);
        if depth > self.depth_max && !children.is_empty() {
            let hidden = self.sizes[parent] - 1;
            out.push_str(&format!(
                "{indent}└── … {hidden} more below, see them with -v\n"
            ));
            return;
        }
        let mut at = 0;
        while at < children.len() {
            let run = self.run_of_leaves(&children[at..]);
            let last = at + run == children.len();
            out.push_str(indent);
            out.push_str(if last { "└── " } else { "├── " });
            if run > 1 {
                out.push_str(&self.leaves(&children[at..at + run]));
            } else {
                let child = children[at];
                out.push_str(&format!("{}. {}", self.places[child], self.member(child)));
            }
            out.push('\n');
            let deeper = format!("{indent}{}", if last { "    " } else { "│   " });
            self.below(children[at + run - 1], &deeper, depth + 1, out);
            at += run;
        }
    }

    /// How many of the first `siblings` share a line: 1, or a run of leaves of one NUMA node.
    fn run_of_leaves(&self, siblings: &[usize]) -> usize {
        if !self.merge {
            return 1;
        }
        let node = self.members.numa[siblings[0]];
        let alike = |&&c: &&usize| self.tree.is_leaf(c) && self.members.numa[c] == node;
        siblings.iter().take_while(alike).count().max(1)
    }

    /// `rank 4 (PU 4, node 1) at 345`.
    fn member(&self, rank: usize) -> String {
        let m = self.members;
        let name = format!(
            "rank {rank} (PU {}, node {})",
            m.threads[rank], m.numa[rank]
        );
        let time = format!("at {:.*}", m.decimals, m.avail[rank]);
        format!(
            "{} {}",
            name.style(self.screen.numa(m.numa[rank])),
            time.style(self.screen.dim())
        )
    }

    /// `3-9. 7 leaves, ranks 4 to 10 (node 1) at 345 to 501`.
    fn leaves(&self, run: &[usize]) -> String {
        let m = self.members;
        let (first, last) = (self.places[run[0]], self.places[run[run.len() - 1]]);
        let numbers = match first == last {
            true => format!("{first}"),
            false => format!("{first}-{last}"),
        };
        let name = format!(
            "{} leaves, rank {} (PU {}) to rank {} (PU {}), node {}",
            run.len(),
            run[0],
            m.threads[run[0]],
            run[run.len() - 1],
            m.threads[run[run.len() - 1]],
            m.numa[run[0]]
        );
        let times = run.iter().map(|&r| m.avail[r]);
        let (from, to) = times.fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), t| {
            (a.min(t), b.max(t))
        });
        let time = format!("at {from:.*} to {to:.*}", m.decimals, m.decimals);
        let styled = name.style(self.screen.numa(m.numa[run[0]]));
        format!("{numbers}. {styled} {}", time.style(self.screen.dim()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::palette::Depth;
    use super::*;

    const PLAIN: Screen = Screen {
        columns: 80,
        depth: Depth::None,
    };

    fn text(root: usize, children: Vec<Vec<usize>>, abbreviate: bool) -> String {
        let n = children.len();
        let tree = Tree::from_children(root, children).unwrap();
        let threads: Vec<u32> = (0..n as u32).map(|t| 2 * t).collect();
        let avail: Vec<f64> = (0..n).map(|r| 10.0 * r as f64).collect();
        let numa = vec![0; n];
        let members = Members {
            threads: &threads,
            numa: &numa,
            avail: &avail,
            decimals: 0,
            groups: None,
        };
        draw(&tree, &members, abbreviate, PLAIN)
    }

    #[test]
    fn the_order_of_sends_is_shown() {
        let drawn = text(0, vec![vec![2, 1], vec![], vec![3], vec![]], true);
        let expected = "rank 0 (PU 0, node 0) at 0\n\
                        ├── 1. rank 2 (PU 4, node 0) at 20\n\
                        │   └── 1. rank 3 (PU 6, node 0) at 30\n\
                        └── 2. rank 1 (PU 2, node 0) at 10\n";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn large_plans_are_abbreviated_unless_asked_otherwise() {
        let n = 200;
        let mut flat = vec![vec![]; n];
        flat[0] = (1..n).collect();
        let drawn = text(0, flat.clone(), true);
        assert_eq!(drawn.lines().count(), 2);
        assert!(drawn.contains(
            "1-199. 199 leaves, rank 1 (PU 2) to rank 199 (PU 398), node 0 at 10 to 1990"
        ));
        assert_eq!(text(0, flat, false).lines().count(), n);

        let chain: Vec<Vec<usize>> = (1..=n)
            .map(|v| if v < n { vec![v] } else { vec![] })
            .collect();
        let drawn = text(0, chain, true);
        assert!(drawn.lines().count() < 40);
        assert!(drawn.contains("175 more below"));
    }
}
