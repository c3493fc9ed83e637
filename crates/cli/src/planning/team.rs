//! The team that is planned for, its plans, and what the command line calls them.

use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use corecast::choose::{Candidate, Choice};
use corecast_model::{CostModel, MachineFile};
use corecast_plan::{Operation, Pattern, Plan, RootChoice, plan};

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
    /// The team of `threads`, which must have costs in `file`.
    pub(crate) fn new(file: &MachineFile, threads: Vec<u32>) -> Result<Team> {
        let positions: Vec<usize> = threads.iter().filter_map(|&t| file.position(t)).collect();
        Ok(Team {
            machine: file.machine().name.clone(),
            numa: file.machine().numa_os_indices(&threads),
            costs: file.costs().subset(&positions).context("team")?,
            threads,
        })
    }

    /// The unit of all costs.
    pub(crate) fn unit(&self) -> &'static str {
        self.costs.unit().name()
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

impl Timed {
    /// The plan of one candidate of the library's own decision, so that commands say and race what teams
    /// run.
    ///
    /// # Errors
    ///
    /// A team that the choice is not about.
    pub(crate) fn of_choice(team: &Team, choice: &Choice, candidate: &Candidate) -> Result<Self> {
        Ok(Self {
            plan: candidate.plan(&team.costs, choice.operation)?,
            search_ms: candidate.search.as_secs_f64() * 1e3,
        })
    }
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
