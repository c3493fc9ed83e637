//! Trees as pictures: text for terminals, DOT for Graphviz, SVG for reports.
//!
//! All three show for each member its rank, its NUMA node and when it has what it waits for
//! ([`Timeline::avail`]), and on each edge the place in the parent's list, from 1.

mod dot;
mod svg;
mod text;

use corecast_model::CostModel;

use crate::cost::{self, Timeline};
use crate::operation::Operation;
use crate::tree::Tree;

/// A tree with all that its pictures show.
///
/// # Examples
///
/// ```
/// use corecast_plan::{Operation, Tree, draw::Drawing};
///
/// let machine = corecast_model::synthetic("package:2 core:2 send=10,30 receive=20,60").unwrap();
/// let tree = Tree::from_children(0, vec![vec![2, 1], vec![], vec![3], vec![]]).unwrap();
/// let drawing = Drawing::new(machine.costs(), &tree, Operation::Broadcast);
/// assert_eq!(
///     drawing.text(),
///     "\
/// 0            NUMA node 0    at   0 ns
/// ├─ 1st: 2    NUMA node 1    at  90 ns
/// │  └─ 1st: 3 NUMA node 1    at 120 ns
/// └─ 2nd: 1    NUMA node 0    at  60 ns
/// "
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Drawing<'a> {
    costs: &'a CostModel,
    tree: &'a Tree,
    operation: Operation,
    timeline: Timeline,
    threads: Option<&'a [u32]>,
    title: String,
}

impl<'a> Drawing<'a> {
    /// A drawing of an operation over a tree.
    ///
    /// # Panics
    ///
    /// When tree and model have different numbers of members.
    #[must_use]
    pub fn new(costs: &'a CostModel, tree: &'a Tree, operation: Operation) -> Self {
        let timeline = cost::timeline(costs, tree, operation);
        let title = format!("{operation} over {} members", tree.len());
        Self {
            costs,
            tree,
            operation,
            timeline,
            threads: None,
            title,
        }
    }

    /// The same with the operating system's number of each rank's hardware thread.
    ///
    /// # Panics
    ///
    /// When there is not one number for each rank.
    #[must_use]
    pub fn with_threads(mut self, threads: &'a [u32]) -> Self {
        assert_eq!(
            threads.len(),
            self.tree.len(),
            "one hardware thread for each rank"
        );
        self.threads = Some(threads);
        self
    }

    /// The same with another title, which DOT and SVG show.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// What is behind the times in the picture.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// One line for each member, in the order in which a walk through the tree meets them.
    #[must_use]
    pub fn text(&self) -> String {
        text::draw(self)
    }

    /// A directed graph for Graphviz, NUMA nodes as clusters. Arrows point where messages go.
    #[must_use]
    pub fn dot(&self) -> String {
        dot::draw(self)
    }

    /// A picture in which NUMA nodes are boxes side by side and time runs downwards.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::draw(self)
    }

    /// Rank, and thread where known.
    fn label(&self, rank: usize) -> String {
        match self.threads {
            Some(threads) => format!("{rank} (thread {})", threads[rank]),
            None => rank.to_string(),
        }
    }

    /// A time with as many digits as all times of the drawing get: none when all are whole, and
    /// else one, or two where the latency is short.
    fn time(&self, value: f64) -> String {
        let digits = match self.timeline.latency {
            _ if self.timeline.avail.iter().all(|&t| t == t.trunc()) => 0,
            long if long >= 10.0 => 1,
            _ => 2,
        };
        format!("{value:.digits$}")
    }

    /// NUMA nodes with their members by rank, nodes by number.
    fn nodes(&self) -> Vec<(u32, Vec<usize>)> {
        let mut nodes = std::collections::BTreeMap::<u32, Vec<usize>>::new();
        for rank in 0..self.tree.len() {
            nodes.entry(self.costs.numa(rank)).or_default().push(rank);
        }
        nodes.into_iter().collect()
    }
}

/// 1st, 2nd, 3rd, 4th …
fn ordinal(k: usize) -> String {
    let ending = match (k % 10, k % 100) {
        (1, teen) if teen != 11 => "st",
        (2, teen) if teen != 12 => "nd",
        (3, teen) if teen != 13 => "rd",
        _ => "th",
    };
    format!("{k}{ending}")
}

#[cfg(test)]
mod tests;
