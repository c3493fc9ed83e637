//! From names on the command line to plans, shared by the commands that plan.

mod effort;
mod report;

use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use corecast_model::{CostModel, MachineFile, RacedCandidate};
use corecast_plan::{Operation, Pattern, Plan, RootChoice, Shape, Tree, plan};

pub(crate) use self::effort::{Found, Limits, compare, find, interrupted, listen_for_interrupt};
pub(crate) use self::report::PlanReport;
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

/// The plan of `pattern` for `team`, of messages or rounds alone: what is raced and chosen has costs that
/// were measured, and those of shared lines were not.
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
    let costs = team.costs.without_lines();
    let plan = plan(&costs, pattern, operation, root)?;
    Ok(Timed {
        plan,
        search_ms: start.elapsed().as_secs_f64() * 1e3,
    })
}

/// The plan of `shape`, called `pattern`, as a profile keeps what a model and a race said of it.
pub(crate) fn raced(
    pattern: &str,
    shape: &Shape,
    predicted_ns: f64,
    measured_ns: f64,
    interval_ns: (f64, f64),
) -> RacedCandidate {
    let lists = |tree: &Tree| tree.child_lists().to_vec();
    let (fan_in, fan_out) = match shape {
        Shape::Tree(tree) => (None, Some(tree)),
        Shape::Trees { fan_in, fan_out } => (Some(fan_in), Some(fan_out)),
        _ => (None, None),
    };
    RacedCandidate {
        pattern: pattern.to_owned(),
        root: fan_out.map_or(0, Tree::root),
        children: fan_out.map(lists),
        fan_in: fan_in.map(lists),
        predicted_ns,
        measured_ns,
        interval_ns,
    }
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
    Ok(Pattern::from_str(text)?)
}

/// Reads `auto`, `smelt` or a rank.
///
/// # Errors
///
/// Anything else; the message quotes it.
pub(crate) fn root(text: &str) -> Result<RootChoice> {
    match text {
        "auto" => Ok(RootChoice::Auto),
        "smelt" => Ok(RootChoice::Smelt),
        rank => rank.parse().map(RootChoice::Rank).map_err(|_| {
            anyhow!("root {rank:?} is neither auto, nor smelt, nor a rank, a whole number from 0")
        }),
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
