//! A plan as JSON.

use corecast_bench::Forecast;
use corecast_plan::chain::critical_chain;
use corecast_plan::groups::Grouped;
use corecast_plan::{Busy, BusyKind, Operation, Plan, Space, Tree};
use serde::Serialize;

use super::search::{Found, Search};
use corecast_plan::Members;
use corecast_tune::contest::Timed;

/// A plan as `corecast plan --json` prints it: scripts rely on these names.
#[derive(Debug, Serialize)]
pub(crate) struct PlanReport<'a> {
    schema: u32,
    pattern: String,
    /// The root; absent for rounds, which have none.
    root: Option<usize>,
    /// The children of each rank, in the order in which it sends; absent for rounds. Of a barrier with two trees it is
    /// the fan-out tree.
    children: Option<&'a [Vec<usize>]>,
    /// The children of each rank in the fan-in tree, in order, where a barrier has two trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    fan_in: Option<&'a [Vec<usize>]>,
    /// The groups of children of each rank, in order, where members share lines; `children` has the
    /// same ranks without the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<&'a [Vec<Vec<usize>>]>,
    /// The groups of children of each rank in the fan-in tree, in order, where a barrier has two trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    fan_in_groups: Option<&'a [Vec<Vec<usize>>]>,
    /// The ranks that each rank notifies in each round; absent for trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<Vec<Vec<&'a [usize]>>>,
    latency: f64,
    lower_bound: f64,
    /// The schedules that the bound holds for, such as `trees with groups`.
    bound_space: Space,
    /// Their root; null where it may be any.
    bound_root: Option<usize>,
    /// The largest share of the latency that a better plan of that space could save.
    gap: f64,
    /// Whether no plan of that space is faster.
    proved_optimal: bool,
    search_ms: f64,
    op: Operation,
    unit: &'static str,
    machine: &'a str,
    threads: &'a [u32],
    /// The host of each rank, on a machine of several hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    hosts: Option<Vec<String>>,
    /// The time at which each rank has done its part.
    avail: Vec<f64>,
    /// `seed`, `moves`, `ended`, `budget_ms`; absent for plans that are built without a search.
    #[serde(flatten)]
    search: Option<Search>,
    /// `t_min`, `t_max`, `simulated`; absent where there is no forecast.
    #[serde(flatten)]
    forecast: Option<Foreseen>,
    /// The sends and receives of each rank, in order of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Vec<Vec<Doing>>>,
    /// The critical chain: rank, and index in that rank's part of `timeline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    critical_chain: Option<Vec<(usize, usize)>>,
}

/// Forecasts of the other models, in the machine's unit.
#[derive(Debug, Serialize)]
struct Foreseen {
    /// Bounds of the symbolic model.
    t_min: Option<f64>,
    t_max: Option<f64>,
    simulated: f64,
}

/// A time in which a member sends or receives.
#[derive(Debug, Serialize)]
struct Doing {
    /// `send` or `receive`.
    what: &'static str,
    peer: usize,
    start: f64,
    end: f64,
}

impl PlanReport<'_> {
    /// The report of `timed`.
    pub(crate) fn of<'a>(team: &'a Members, timed: &'a Timed) -> PlanReport<'a> {
        let plan = &timed.plan;
        let rounds = plan.rounds().map(|r| {
            let row = |k| (0..r.len()).map(|rank| r.targets(k, rank)).collect();
            (0..r.count()).map(row).collect()
        });
        let (inward, outward) = match plan.two_grouped() {
            Some((inward, outward)) => (Some(inward), Some(outward)),
            None => (None, plan.groups()),
        };
        let children = plan.tree().or(plan.outward());
        let fan_in = plan.two_trees().map(|(fan_in, _)| fan_in);
        PlanReport {
            schema: 1,
            pattern: plan.pattern.to_string(),
            root: plan.rounds().is_none().then_some(plan.root),
            children: children
                .or(outward.map(Grouped::tree))
                .map(Tree::child_lists),
            fan_in: fan_in.or(inward.map(Grouped::tree)).map(Tree::child_lists),
            groups: outward.map(Grouped::group_lists),
            fan_in_groups: inward.map(Grouped::group_lists),
            rounds,
            latency: plan.latency,
            lower_bound: plan.lower_bound,
            bound_space: plan.scope.space,
            bound_root: plan.scope.root,
            gap: plan.gap,
            proved_optimal: plan.proved_optimal,
            search_ms: timed.search_ms,
            op: plan.operation,
            unit: team.unit(),
            machine: &team.machine,
            threads: &team.threads,
            hosts: None,
            avail: avail(team, plan),
            search: None,
            forecast: None,
            timeline: None,
            critical_chain: None,
        }
    }

    /// Adds the host of each rank.
    pub(crate) fn with_hosts(mut self, hosts: Option<Vec<String>>) -> Self {
        self.hosts = hosts;
        self
    }

    /// Adds how the plan was found.
    pub(crate) fn with_search(mut self, found: &Found) -> Self {
        self.search = found.search;
        self
    }

    /// Adds the forecast.
    pub(crate) fn with_forecast(mut self, forecast: Option<Forecast>) -> Self {
        self.forecast = forecast.map(|times| Foreseen {
            t_min: times.t_min_ns,
            t_max: times.t_max_ns,
            simulated: times.simulated_ns,
        });
        self
    }

    /// Adds the timeline and its critical chain; a plan of rounds has none.
    pub(crate) fn with_timeline(mut self, team: &Members, plan: &Plan) -> Self {
        let Some(timeline) = plan.timeline(&team.costs) else {
            return self;
        };
        let doing = |busy: &Busy| Doing {
            what: match busy.kind {
                BusyKind::Send => "send",
                BusyKind::Receive => "receive",
            },
            peer: busy.peer,
            start: busy.start,
            end: busy.end,
        };
        let lane = |busy: &Vec<Busy>| busy.iter().map(doing).collect();
        self.timeline = Some(timeline.busy.iter().map(lane).collect());
        let chain = critical_chain(&timeline);
        self.critical_chain = Some(chain.iter().map(|m| (m.rank, m.at)).collect());
        self
    }
}

/// The time at which each rank has done its part.
fn avail(team: &Members, plan: &Plan) -> Vec<f64> {
    match (plan.timeline(&team.costs), plan.rounds()) {
        (Some(timeline), _) => timeline.avail,
        (None, Some(rounds)) => rounds.leave_times(&team.costs),
        (None, None) => Vec::new(),
    }
}
