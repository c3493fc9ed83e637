//! Plans as pictures: text for terminals, DOT for Graphviz, SVG for reports.
//!
//! Pictures of trees show for each member its rank, its NUMA node and when it has what it waits for
//! ([`Timeline::avail`]), and on each edge the place in the parent's list, from 1; members of a group,
//! who share a line with their parent, have one place. A barrier with a
//! tree for each way is drawn as two trees. The picture over time shows for each member when it
//! sends, receives, waits and is done, as Smelt's Fig. 4 and 7 do.

mod chain;
mod dot;
mod lanes;
mod svg;
mod text;
mod view;
mod xml;

use corecast_model::CostModel;

use crate::cost::{self, Timeline};
use crate::groups;
use crate::operation::Operation;
use crate::plan::Plan;
use crate::tree::Tree;

pub use chain::{Moment, critical_chain};
use view::View;
pub use xml::escaped;

/// A tree or two with all that their pictures show.
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
    operation: Operation,
    views: Vec<View<'a>>,
    timeline: Timeline,
    chain: Vec<Moment>,
    threads: Option<&'a [u32]>,
    numa: Option<&'a [u32]>,
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
        let chain = critical_chain(&timeline);
        let views = vec![View::of_tree(tree, operation, &timeline, &chain)];
        Self::of_views(costs, operation, views, timeline, chain)
    }

    /// A drawing of a plan; `None` where it is no tree.
    ///
    /// # Panics
    ///
    /// When `costs` are of another team.
    #[must_use]
    pub fn of_plan(costs: &'a CostModel, plan: &'a Plan) -> Option<Self> {
        if let Some(tree) = plan.tree() {
            return Some(Self::new(costs, tree, plan.operation));
        }
        let operation = plan.operation;
        if let Some(groups) = plan.groups() {
            let timeline = groups::timeline(costs, groups, operation);
            let chain = critical_chain(&timeline);
            let view = View::of_tree(groups.tree(), operation, &timeline, &chain);
            let views = vec![view.with_groups(groups)];
            return Some(Self::of_views(costs, operation, views, timeline, chain));
        }
        if let Some((fan_in, fan_out)) = plan.two_grouped() {
            let timeline = groups::two_ways_timeline(costs, fan_in, fan_out);
            let chain = critical_chain(&timeline);
            let inward = groups::fan_in_avail(costs, fan_in, false);
            let (first, second) = (fan_in.tree(), fan_out.tree());
            let views = View::of_trees(first, second, inward, &timeline, &chain);
            let grouped = views.into_iter().zip([fan_in, fan_out]);
            let views = grouped.map(|(view, groups)| view.with_groups(groups));
            let views = views.collect();
            return Some(Self::of_views(costs, operation, views, timeline, chain));
        }
        let (fan_in, fan_out) = plan.two_trees()?;
        let timeline = cost::two_trees_timeline(costs, fan_in, fan_out);
        let chain = critical_chain(&timeline);
        let inward = cost::reduce_avail(costs, fan_in, false);
        let views = View::of_trees(fan_in, fan_out, inward, &timeline, &chain);
        Some(Self::of_views(costs, operation, views, timeline, chain))
    }

    fn of_views(
        costs: &'a CostModel,
        operation: Operation,
        views: Vec<View<'a>>,
        timeline: Timeline,
        chain: Vec<Moment>,
    ) -> Self {
        Self {
            costs,
            operation,
            views,
            timeline,
            chain,
            threads: None,
            numa: None,
            title: format!("{operation} over {} members", costs.n()),
        }
    }

    /// The same with the operating system's number of each rank's hardware thread.
    ///
    /// # Panics
    ///
    /// When there is not one number for each rank.
    #[must_use]
    pub fn with_threads(mut self, threads: &'a [u32]) -> Self {
        let one_each = threads.len() == self.costs.n();
        assert!(one_each, "one hardware thread for each rank");
        self.threads = Some(threads);
        self
    }

    /// The same with the operating system's number of each rank's NUMA node.
    ///
    /// # Panics
    ///
    /// When there is not one number for each rank.
    #[must_use]
    pub fn with_numa(mut self, numa: &'a [u32]) -> Self {
        assert_eq!(numa.len(), self.costs.n(), "one NUMA node for each rank");
        self.numa = Some(numa);
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

    /// One line for each member of a tree, in the order in which a walk through it meets them.
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

    /// A picture in which members are lanes, NUMA nodes boxes of lanes, and time runs to the right.
    #[must_use]
    pub fn timeline_svg(&self) -> String {
        lanes::draw(self)
    }

    /// Rank, and thread where known and not the same for all.
    fn label(&self, rank: usize) -> String {
        match self.threads {
            Some(threads) if !is_identity(threads) => format!("{rank} (thread {})", threads[rank]),
            _ => rank.to_string(),
        }
    }

    /// Number of a rank's NUMA node.
    fn numa(&self, rank: usize) -> u32 {
        self.numa
            .map_or_else(|| self.costs.numa(rank), |numa| numa[rank])
    }

    /// A time with as many digits as all times of the drawing get: none when all are whole, and
    /// else one, or two where the latency is short.
    fn time(&self, value: f64) -> String {
        let whole = |times: &[f64]| times.iter().all(|&t| t == t.trunc());
        let digits = match self.timeline.latency {
            _ if self.views.iter().all(|view| whole(&view.avail)) => 0,
            long if long >= 10.0 => 1,
            _ => 2,
        };
        format!("{value:.digits$}")
    }

    /// How many poll the line by which `rank` sends to `peer`.
    fn group(&self, rank: usize, peer: usize) -> usize {
        let mut outward = self.views.iter().filter(|view| {
            view.direction != Operation::Reduce && view.tree.parent(peer) == Some(rank)
        });
        outward.next().map_or(1, |view| view.group(peer))
    }

    /// NUMA nodes with their members by rank, nodes by number.
    fn nodes(&self) -> Vec<(u32, Vec<usize>)> {
        let mut nodes = std::collections::BTreeMap::<u32, Vec<usize>>::new();
        for rank in 0..self.costs.n() {
            nodes.entry(self.numa(rank)).or_default().push(rank);
        }
        nodes.into_iter().collect()
    }
}

/// Whether each rank's thread has the rank's number.
fn is_identity(threads: &[u32]) -> bool {
    threads.iter().enumerate().all(|(r, &t)| t as usize == r)
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
