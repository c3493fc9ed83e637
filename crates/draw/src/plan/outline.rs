//! A plan's tree in the terminal: the children of each member in order, and the time at which each member is done.
//!
//! ```text
//! rank 0 (PU 0, node 0) at 0
//! ├── 1. rank 4 (PU 4, node 1) at 345
//! │   └── 1. rank 5 (PU 5, node 1) at 412
//! └── 2. rank 1 (PU 1, node 0) at 290
//! ```
//!
//! Members of a group, which share a line with their parent, have one number. A plan of two trees has a
//! heading above each.
//!
//! An abbreviated outline of a large plan puts neighbouring leaves of one NUMA node on one line and cuts
//! deep chains. A full one has a line for each member; below every 24th level the lines start over at the
//! left, so that a chain of a thousand members is a thousand short lines.

use std::fmt::Write;

use corecast_plan::Operation;
use owo_colors::OwoColorize;

use super::drawing::Drawing;
use super::view::View;
use crate::palette::Screen;

/// Above this many members, an abbreviated outline puts several leaves on one line.
const MEMBERS_WITH_A_LINE: usize = 64;
/// Levels after which an abbreviated outline ends, and a full one starts over at the left.
const LEVELS_MAX: usize = 24;

impl Drawing<'_> {
    /// The tree or the two trees as indented lines; `abbreviate` allows it to leave members out.
    #[must_use]
    pub fn outline(&self, abbreviate: bool, screen: Screen) -> String {
        let mut out = String::new();
        for view in &self.views {
            let outline = Outline {
                drawing: self,
                view,
                merge: abbreviate && view.tree.len() > MEMBERS_WITH_A_LINE,
                abbreviate,
                sizes: view.tree.subtree_sizes(),
                screen,
            };
            outline.heading(&mut out);
            outline.tree(&mut out);
        }
        out
    }
}

/// The data that do not change while a tree is written.
struct Outline<'a> {
    drawing: &'a Drawing<'a>,
    view: &'a View<'a>,
    /// Whether leaves share lines.
    merge: bool,
    abbreviate: bool,
    /// For each rank the number of members of its subtree, itself included.
    sizes: Vec<usize>,
    screen: Screen,
}

/// A line that is still to be written; the lines below its last member follow it.
struct Next {
    /// The members of the line, one or several leaves: index of the first in its parent's list, and their number.
    first: usize,
    count: usize,
    parent: usize,
    indent: String,
    depth: usize,
}

impl Outline<'_> {
    /// Writes the meaning of a tree's numbers; nothing for a single tree without groups.
    fn heading(&self, out: &mut String) {
        let shared = match self.view.grouped {
            true => "members with one number share a line",
            false => "",
        };
        let order = match self.view.direction {
            Operation::Reduce => "receives",
            Operation::Broadcast | Operation::Barrier => "sends",
        };
        let _ = match (self.view.heading, shared) {
            (None, "") => Ok(()),
            (None, shared) => writeln!(out, "{shared}"),
            (Some(way), "") => writeln!(out, "{way}: numbers are the order of {order}"),
            (Some(way), shared) => {
                writeln!(out, "{way}: numbers are the order of {order}, {shared}")
            }
        };
    }

    /// Writes the lines of the tree, in depth-first order.
    fn tree(&self, out: &mut String) {
        let tree = self.view.tree;
        let _ = writeln!(out, "{}", self.member(tree.root()));
        // An explicit stack instead of recursion, since a chain may have thousands of members.
        let mut stack = Vec::new();
        self.below(tree.root(), String::new(), 1, &mut stack, out);
        while let Some(next) = stack.pop() {
            let siblings = tree.children(next.parent);
            let last = next.first + next.count == siblings.len();
            let line = match &siblings[next.first..next.first + next.count] {
                [child] => format!("{}. {}", self.view.place[*child], self.member(*child)),
                run => self.leaves(run),
            };
            let (mark, deeper) = match last {
                true => ("└── ", "    "),
                false => ("├── ", "│   "),
            };
            let indent = next.indent;
            let _ = writeln!(out, "{indent}{mark}{line}");
            let child = siblings[next.first + next.count - 1];
            let indent = match next.depth.is_multiple_of(LEVELS_MAX) {
                true if !self.abbreviate => format!("[below {child}] "),
                _ => indent + deeper,
            };
            self.below(child, indent, next.depth + 1, &mut stack, out);
        }
    }

    /// Pushes the lines of the children of `parent` onto the stack, the first one on top.
    fn below(
        &self,
        parent: usize,
        indent: String,
        depth: usize,
        stack: &mut Vec<Next>,
        out: &mut String,
    ) {
        let children = self.view.tree.children(parent);
        if self.abbreviate && depth > LEVELS_MAX && !children.is_empty() {
            let hidden = self.sizes[parent] - 1;
            let _ = writeln!(out, "{indent}└── … {hidden} more below, see them with -v");
            return;
        }
        let begin = stack.len();
        let mut first = 0;
        while first < children.len() {
            let count = self.run_of_leaves(&children[first..]);
            let indent = indent.clone();
            stack.push(Next {
                first,
                count,
                parent,
                indent,
                depth,
            });
            first += count;
        }
        stack[begin..].reverse();
    }

    /// How many of the first `siblings` share a line: 1, or a run of leaves of one NUMA node.
    fn run_of_leaves(&self, siblings: &[usize]) -> usize {
        if !self.merge {
            return 1;
        }
        let tree = self.view.tree;
        let node = self.drawing.numa(siblings[0]);
        let alike = |&&c: &&usize| tree.is_leaf(c) && self.drawing.numa(c) == node;
        siblings.iter().take_while(alike).count().max(1)
    }

    /// The text of a member, such as `rank 4 (PU 4, node 1) at 345`.
    fn member(&self, rank: usize) -> String {
        let drawing = self.drawing;
        let (pu, node) = (drawing.thread(rank), drawing.numa(rank));
        let name = format!("rank {rank} (PU {pu}, {})", drawing.place(rank));
        let time = format!("at {}", drawing.short_time(self.view.avail[rank]));
        format!(
            "{} {}",
            name.style(self.screen.numa(node)),
            time.style(self.screen.dim())
        )
    }

    /// The text of several leaves, such as
    /// `3-9. 7 leaves, rank 4 (PU 4) to rank 10 (PU 10), node 1 at 345 to 501`.
    fn leaves(&self, run: &[usize]) -> String {
        let drawing = self.drawing;
        let (first, last) = (run[0], run[run.len() - 1]);
        let numbers = match (self.view.place[first], self.view.place[last]) {
            (from, to) if from == to => format!("{from}"),
            (from, to) => format!("{from}-{to}"),
        };
        let node = drawing.numa(first);
        let name = format!(
            "{} leaves, rank {first} (PU {}) to rank {last} (PU {}), {}",
            run.len(),
            drawing.thread(first),
            drawing.thread(last),
            drawing.place(first),
        );
        let times = run.iter().map(|&rank| self.view.avail[rank]);
        let wider = |(a, b): (f64, f64), time: f64| (a.min(time), b.max(time));
        let (from, to) = times.fold((f64::INFINITY, 0.0), wider);
        let time = format!(
            "at {} to {}",
            drawing.short_time(from),
            drawing.short_time(to)
        );
        let name = name.style(self.screen.numa(node));
        format!("{numbers}. {name} {}", time.style(self.screen.dim()))
    }
}

#[cfg(test)]
mod tests {
    use corecast_plan::Tree;

    use super::*;

    /// A broadcast on every second hardware thread.
    fn text(root: usize, children: Vec<Vec<usize>>, abbreviate: bool) -> String {
        let n = children.len();
        let machine = corecast_model::synthetic(&format!("core:{n} send=10 receive=30")).unwrap();
        let tree = Tree::from_children(root, children).unwrap();
        let threads: Vec<u32> = (0..n as u32).map(|t| 2 * t).collect();
        let drawing = Drawing::new(machine.costs(), &tree, Operation::Broadcast);
        drawing
            .with_threads(&threads)
            .outline(abbreviate, Screen::PLAIN)
    }

    #[test]
    fn the_order_of_sends_is_shown() {
        let drawn = text(0, vec![vec![2, 1], vec![], vec![3], vec![]], true);
        let expected = "rank 0 (PU 0, node 0) at 0.0\n\
                        ├── 1. rank 2 (PU 4, node 0) at 40.0\n\
                        │   └── 1. rank 3 (PU 6, node 0) at 80.0\n\
                        └── 2. rank 1 (PU 2, node 0) at 50.0\n";
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
            "1-199. 199 leaves, rank 1 (PU 2) to rank 199 (PU 398), node 0 at 40 to 2020"
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
