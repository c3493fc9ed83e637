//! From names on the command line to plans, shared by the commands that plan.

use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use corecast_model::{CostModel, MachineFile};
use corecast_plan::draw::critical_chain;
use corecast_plan::{Busy, BusyKind, Operation, Pattern, Plan, RootChoice, plan};
use serde::Serialize;

use crate::source::{Source, numa_of, unit_name};

/// A team on a machine: what plans are made for.
#[derive(Debug)]
pub(crate) struct Team {
    /// The machine's name.
    pub(crate) machine: String,
    /// Operating-system numbers by rank.
    pub(crate) threads: Vec<u32>,
    /// Operating-system numbers of the members' NUMA nodes, by rank.
    pub(crate) numa: Vec<u32>,
    /// Costs between ranks.
    pub(crate) costs: CostModel,
}

impl Team {
    /// The team of `threads`, which must have costs in `source`.
    pub(crate) fn new(source: &Source, threads: Vec<u32>) -> Result<Team> {
        Team::of_file(&source.file, threads)
    }

    /// The team of `threads`, which must have costs in `file`.
    pub(crate) fn of_file(file: &MachineFile, threads: Vec<u32>) -> Result<Team> {
        let positions: Vec<usize> = threads.iter().filter_map(|&t| file.position(t)).collect();
        Ok(Team {
            machine: file.machine().name.clone(),
            numa: numa_of(file.machine(), &threads),
            costs: file.costs().subset(&positions).context("team")?,
            threads,
        })
    }

    /// The unit of all costs.
    pub(crate) fn unit(&self) -> &'static str {
        unit_name(self.costs.unit())
    }
}

/// A plan, and how long it took to find.
#[derive(Debug)]
pub(crate) struct Timed {
    /// The plan.
    pub(crate) plan: Plan,
    /// Wall-clock time in milliseconds.
    pub(crate) search_ms: f64,
}

/// The plan of `pattern` for `team`.
///
/// # Errors
///
/// A root outside of the team, or a pattern that cannot do the operation.
pub(crate) fn search(
    team: &Team,
    pattern: Pattern,
    operation: Operation,
    root: RootChoice,
) -> Result<Timed> {
    let start = Instant::now();
    let plan = plan(&team.costs, pattern, operation, root)?;
    Ok(Timed {
        plan,
        search_ms: start.elapsed().as_secs_f64() * 1e3,
    })
}

/// How long a search may go on, and by which choices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {}

/// A plan, and how it was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The plan and its time.
    pub(crate) timed: Timed,
}

impl Found {
    /// How it was found, in words.
    pub(crate) fn sentence(&self) -> String {
        format!("planned in {:.3} ms", self.timed.search_ms)
    }
}

/// The plan of `pattern` for `team` within `limits`.
///
/// # Errors
///
/// As [`search`].
pub(crate) fn find(
    team: &Team,
    pattern: Pattern,
    operation: Operation,
    root: RootChoice,
    _limits: &Limits,
) -> Result<Found> {
    let timed = search(team, pattern, operation, root)?;
    Ok(Found { timed })
}

/// The plans of all patterns that can do the operation, best first.
///
/// # Errors
///
/// As [`search_all`].
pub(crate) fn compare(
    team: &Team,
    operation: Operation,
    root: RootChoice,
    _limits: &Limits,
) -> Result<Vec<Found>> {
    let all = search_all(team, operation, root)?;
    Ok(all.into_iter().map(|timed| Found { timed }).collect())
}

/// The plans of all patterns that can do the operation, best first.
///
/// # Errors
///
/// A root outside of the team.
pub(crate) fn search_all(
    team: &Team,
    operation: Operation,
    root: RootChoice,
) -> Result<Vec<Timed>> {
    if let RootChoice::Rank(rank) = root
        && rank >= team.threads.len()
    {
        bail!(corecast_plan::PlanError::RootOutside {
            root: rank,
            last: team.threads.len() - 1
        });
    }
    let patterns = all_patterns();
    let mut found: Vec<Timed> = patterns
        .into_iter()
        .filter_map(|pattern| search(team, pattern, operation, root).ok())
        .collect();
    found.sort_by(|a, b| a.plan.latency.total_cmp(&b.plan.latency));
    Ok(found)
}

/// Every pattern, families with a radix at some radices of interest.
fn all_patterns() -> Vec<Pattern> {
    let mut all = Vec::new();
    for name in Pattern::names() {
        match name.split_once(':') {
            None => all.extend(Pattern::from_str(name)),
            Some(("knomial", _)) => all.extend([3, 4, 8].map(|radix| Pattern::Knomial { radix })),
            Some((family, _)) => all.extend(
                [2, 3, 4, 8]
                    .map(|k| Pattern::from_str(&format!("{family}:{k}")))
                    .into_iter()
                    .flatten(),
            ),
        }
    }
    all
}

/// Reads a pattern's name.
///
/// # Errors
///
/// An unknown name; the message quotes it and lists the known ones.
pub(crate) fn pattern(text: &str) -> Result<Pattern> {
    Pattern::from_str(text).map_err(|error| match text {
        "best" | "optimal" => {
            let names = Pattern::names().join(", ");
            anyhow!("pattern {text:?} is not in this version: use one of {names}, or all to compare them")
        }
        _ => error.into(),
    })
}

/// Reads `auto` or a rank.
///
/// # Errors
///
/// Anything else; the message quotes it.
pub(crate) fn root(text: &str) -> Result<RootChoice> {
    if text == "auto" {
        return Ok(RootChoice::Auto);
    }
    let rank = text
        .parse()
        .map_err(|_| anyhow!("root {text:?} is neither auto nor a rank, a whole number from 0"))?;
    Ok(RootChoice::Rank(rank))
}

/// A plan as `corecast plan --json` prints it: scripts rely on these names.
#[derive(Debug, Serialize)]
pub(crate) struct PlanReport<'a> {
    schema: u32,
    pattern: String,
    /// Absent for rounds, which have none.
    root: Option<usize>,
    /// For each rank the ranks it serves, in order; absent for rounds. Of a barrier's two trees
    /// the one that leads out.
    children: Option<&'a [Vec<usize>]>,
    /// For each rank the ranks it takes, in order, where a barrier goes in over another tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    fan_in: Option<&'a [Vec<usize>]>,
    /// For each round and rank the ranks that it notifies; absent for trees.
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<Vec<Vec<&'a [usize]>>>,
    latency: f64,
    lower_bound: f64,
    /// The share of the latency that a better plan could save at most.
    gap: f64,
    proved_optimal: bool,
    search_ms: f64,
    op: Operation,
    unit: &'static str,
    machine: &'a str,
    threads: &'a [u32],
    /// When each rank has done its part.
    avail: Vec<f64>,
    /// For each rank what it does when.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Vec<Vec<Doing>>>,
    /// The critical chain: rank and place in its part of `timeline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    critical_chain: Option<Vec<(usize, usize)>>,
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
    /// The report on `timed`.
    pub(crate) fn of<'a>(team: &'a Team, timed: &'a Timed) -> PlanReport<'a> {
        let plan = &timed.plan;
        let rounds = plan.rounds().map(|r| {
            let row = |k| (0..r.len()).map(|rank| r.targets(k, rank)).collect();
            (0..r.count()).map(row).collect()
        });
        PlanReport {
            schema: 1,
            pattern: plan.pattern.to_string(),
            root: plan.rounds().is_none().then_some(plan.root),
            children: plan.tree().or(plan.outward()).map(|t| t.child_lists()),
            fan_in: plan.two_trees().map(|(fan_in, _)| fan_in.child_lists()),
            rounds,
            latency: plan.latency,
            lower_bound: plan.lower_bound,
            gap: plan.gap,
            proved_optimal: plan.proved_optimal,
            search_ms: timed.search_ms,
            op: plan.operation,
            unit: team.unit(),
            machine: &team.machine,
            threads: &team.threads,
            avail: avail(team, plan),
            timeline: None,
            critical_chain: None,
        }
    }

    /// The same with how the plan was found.
    pub(crate) fn with_search(self, _found: &Found) -> Self {
        self
    }

    /// The same with who does what when.
    pub(crate) fn with_timeline(mut self, team: &Team, plan: &Plan) -> Self {
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

/// When each rank has done its part.
pub(crate) fn avail(team: &Team, plan: &Plan) -> Vec<f64> {
    match (plan.timeline(&team.costs), plan.rounds()) {
        (Some(timeline), _) => timeline.avail,
        (None, Some(rounds)) => rounds.leave_times(&team.costs),
        (None, None) => Vec::new(),
    }
}
