//! From names on the command line to plans, shared by the commands that plan.

use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use corecast_model::{CostModel, MachineFile};
use corecast_plan::{Operation, Pattern, Plan, RootChoice, cost, plan};
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
    /// For each rank the ranks it serves, in order; absent for rounds.
    children: Option<&'a [Vec<usize>]>,
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
            root: plan.tree().map(|_| plan.root),
            children: plan.tree().map(|t| t.child_lists()),
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
        }
    }
}

/// When each rank has done its part.
pub(crate) fn avail(team: &Team, plan: &Plan) -> Vec<f64> {
    match &plan.shape {
        corecast_plan::Shape::Tree(tree) => cost::timeline(&team.costs, tree, plan.operation).avail,
        corecast_plan::Shape::Rounds(rounds) => rounds.leave_times(&team.costs),
        _ => Vec::new(),
    }
}
