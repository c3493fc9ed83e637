//! The data of all pictures of a plan.

use corecast_model::CostModel;

use corecast_model::words::decimals;
use corecast_plan::chain::{Moment, critical_chain};
use corecast_plan::{Operation, Plan, Timeline, Tree, cost, groups};

use super::view::View;

/// A plan that is a tree or two trees, with the times and names that its pictures show.
///
/// # Examples
///
/// ```
/// use corecast_draw::Screen;
/// use corecast_draw::plan::Drawing;
/// use corecast_plan::{Operation, Tree};
///
/// let machine = corecast_model::synthetic("package:2 core:2 send=10,30 receive=20,60").unwrap();
/// let tree = Tree::from_children(0, vec![vec![2, 1], vec![], vec![3], vec![]]).unwrap();
/// let drawing = Drawing::new(machine.costs(), &tree, Operation::Broadcast);
/// assert_eq!(
///     drawing.outline(true, Screen::PLAIN),
///     "\
/// rank 0 (PU 0, node 0) at 0
/// ├── 1. rank 2 (PU 2, node 1) at 90
/// │   └── 1. rank 3 (PU 3, node 1) at 120
/// └── 2. rank 1 (PU 1, node 0) at 60
/// "
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Drawing<'a> {
    pub(super) costs: &'a CostModel,
    pub(super) operation: Operation,
    pub(super) views: Vec<View<'a>>,
    pub(super) timeline: Timeline,
    pub(super) chain: Vec<Moment>,
    threads: Option<&'a [u32]>,
    numa: Option<&'a [u32]>,
    hosts: Option<&'a [String]>,
    pub(super) title: String,
}

impl<'a> Drawing<'a> {
    /// A drawing of an operation over a tree.
    ///
    /// # Panics
    ///
    /// If tree and model have different numbers of members.
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
    /// If `costs` are of another team.
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
            hosts: None,
            title: format!("{operation} over {} members", costs.n()),
        }
    }

    /// Sets the operating system's number of each rank's hardware thread; by default rank r is on PU r.
    ///
    /// # Panics
    ///
    /// If there is not one number for each rank.
    #[must_use]
    pub fn with_threads(mut self, threads: &'a [u32]) -> Self {
        let one_each = threads.len() == self.costs.n();
        assert!(one_each, "one hardware thread for each rank");
        self.threads = Some(threads);
        self
    }

    /// Sets the operating system's number of each rank's NUMA node; by default nodes have the cost model's
    /// numbers.
    ///
    /// # Panics
    ///
    /// If there is not one number for each rank.
    #[must_use]
    pub fn with_numa(mut self, numa: &'a [u32]) -> Self {
        assert_eq!(numa.len(), self.costs.n(), "one NUMA node for each rank");
        self.numa = Some(numa);
        self
    }

    /// Sets the name of each rank's host, where the team is on several hosts.
    ///
    /// # Panics
    ///
    /// If there is not one name for each rank.
    #[must_use]
    pub fn with_hosts(mut self, hosts: &'a [String]) -> Self {
        assert_eq!(hosts.len(), self.costs.n(), "one host for each rank");
        self.hosts = Some(hosts);
        self
    }

    /// Sets the title that DOT and SVG show.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The times from which the pictures are drawn.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The rank's label, with its hardware thread unless every rank is on the thread of its own number.
    pub(super) fn label(&self, rank: usize) -> String {
        match self.is_identity() {
            false => format!("{rank} (thread {})", self.thread(rank)),
            true => rank.to_string(),
        }
    }

    /// The operating system's number of a rank's hardware thread.
    pub(super) fn thread(&self, rank: usize) -> u32 {
        self.threads.map_or(rank as u32, |threads| threads[rank])
    }

    /// Whether every rank is on the hardware thread of its own number.
    pub(super) fn is_identity(&self) -> bool {
        (0..self.costs.n()).all(|rank| self.thread(rank) as usize == rank)
    }

    /// Number of a rank's NUMA node.
    pub(super) fn numa(&self, rank: usize) -> u32 {
        self.numa
            .map_or_else(|| self.costs.numa(rank), |numa| numa[rank])
    }

    /// A NUMA node of which `rank` is a member, with its host where there are several, such as `a, node 3`.
    pub(super) fn place(&self, rank: usize) -> String {
        let node = self.numa(rank);
        match self.hosts {
            Some(hosts) => format!("{}, node {node}", hosts[rank]),
            None => format!("node {node}"),
        }
    }

    /// The title of the box of a NUMA node, with its host where there are several.
    pub(super) fn box_title(&self, node: u32) -> String {
        let member = (0..self.costs.n()).find(|&rank| self.numa(rank) == node);
        match (self.hosts, member) {
            (Some(hosts), Some(rank)) => format!("{}, NUMA node {node}", hosts[rank]),
            _ => format!("NUMA node {node}"),
        }
    }

    /// A time with the number of digits of all times of the drawing: none if all are whole, else one, or two if the
    /// latency is below 10.
    pub(super) fn time(&self, value: f64) -> String {
        let whole = |times: &[f64]| times.iter().all(|&t| t == t.trunc());
        let digits = match self.timeline.latency {
            _ if self.views.iter().all(|view| whole(&view.avail)) => 0,
            long if long >= 10.0 => 1,
            _ => 2,
        };
        format!("{value:.digits$}")
    }

    /// A time for the terminal, with as many digits as suit the latency.
    pub(super) fn short_time(&self, value: f64) -> String {
        format!("{value:.*}", decimals(self.timeline.latency))
    }

    /// How many members poll the line by which `rank` sends to `peer`.
    pub(super) fn group(&self, rank: usize, peer: usize) -> usize {
        let mut outward = self.views.iter().filter(|view| {
            view.direction != Operation::Reduce && view.tree.parent(peer) == Some(rank)
        });
        outward.next().map_or(1, |view| view.group(peer))
    }

    /// NUMA nodes with their members by rank, nodes by number.
    pub(super) fn nodes(&self) -> Vec<(u32, Vec<usize>)> {
        let mut nodes = std::collections::BTreeMap::<u32, Vec<usize>>::new();
        for rank in 0..self.costs.n() {
            nodes.entry(self.numa(rank)).or_default().push(rank);
        }
        nodes.into_iter().collect()
    }
}
