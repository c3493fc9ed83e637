//! `corecast bench`: Corecast's barriers against those that people use today, in one run.
//!
//! Entrants take turns round by round, so that a noisy minute falls on all alike; each is verified
//! before it is timed. The exit code is 1 when one of Corecast's own is found wrong.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use corecast_bench::engine::{Engine, Member, Role};
use corecast_bench::race::Progress;
use corecast_bench::seat::{Seat, allowed_pus, free};
use corecast_bench::{Comparison, Entrant, Settings, Status, floor, peers, race, table};
use corecast_coll::{BarrierPlan, Plans, Team};
use corecast_plan::{Operation, Pattern, RootChoice};

use crate::draw::grid::decimals;
use crate::planning::{self, Timed};
use crate::source::CostBasis;
use crate::team::{self, TeamArgs};
use crate::{Global, failure, output, progress, source};

/// Arguments of `corecast bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Patterns to race, separated by commas [default: the three that the model prefers]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    patterns: Vec<String>,

    /// A fraction of a second instead of ten: intervals will be wide
    #[arg(long)]
    quick: bool,

    /// Leave the threads where the operating system puts them
    #[arg(long)]
    unpinned: bool,

    /// Corecast and the floor alone
    #[arg(long)]
    no_peers: bool,

    #[command(flatten)]
    team: TeamArgs,
}

/// How many plans are raced unless named.
const CANDIDATES: usize = 3;

/// Runs the command.
pub(crate) fn run(global: &Global, args: &BenchArgs) -> Result<ExitCode> {
    if let Some(machine) = &global.machine {
        bail!("bench measures this machine, not {machine:?}: leave -i out");
    }
    let named = args.patterns.iter().map(|name| planning::pattern(name));
    let named: Vec<Pattern> = named.collect::<Result<_>>()?;
    let source = source::open(None)?;
    let team = planning::Team::new(&source, team::members(&args.team, &source.file)?)?;
    if team.threads.len() < 2 {
        bail!(
            "a barrier needs a team of two at least, this one is of PU {} alone",
            team.threads[0]
        );
    }
    let settings = if args.quick {
        Settings::quick()
    } else {
        Settings::default()
    };
    let plans = candidates(&team, &named)?;
    let race = race_barriers(
        &team,
        plans,
        source.costs,
        &settings,
        args.unpinned,
        !args.no_peers,
    )?;
    if global.json {
        output::json(&race.comparison.report())?;
    } else {
        output::print(&table::render(&race.comparison))?;
    }
    Ok(if race.wrong() == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(failure::FAILED_CHECK)
    })
}

/// A finished race and the plans of Corecast's that took part.
pub(super) struct Race {
    pub(super) comparison: Comparison,
    pub(super) plans: Vec<Timed>,
    /// Teams that failed on the way.
    broken: usize,
}

impl Race {
    /// How many of Corecast's own entrants were found wrong or failed.
    pub(super) fn wrong(&self) -> usize {
        let ours = self
            .comparison
            .entries
            .iter()
            .filter(|e| e.role == Role::Corecast);
        self.broken
            + ours
                .filter(|e| matches!(e.status, Status::Failed(_)))
                .count()
    }
}

/// Races barriers by `plans` against the floor and, where asked for, against the peers.
///
/// # Errors
///
/// Hardware threads that this process may not use; a team that cannot be made.
pub(super) fn race_barriers(
    team: &planning::Team,
    plans: Vec<Timed>,
    basis: CostBasis,
    settings: &Settings,
    unpinned: bool,
    with_peers: bool,
) -> Result<Race> {
    let seats = if unpinned {
        free(team.threads.len())
    } else {
        pinned(&team.threads)?
    };
    let mut entrants: Vec<Entrant<'_>> = Vec::new();
    let mut teams = Vec::new();
    for timed in &plans {
        let contestant = Contestant::new(team, timed, basis)?;
        teams.push((contestant.name.clone(), Arc::clone(&contestant.team)));
        entrants.push(Entrant::threads(contestant));
    }
    if team.threads.len() == 2 {
        entrants.extend(floor::mutual_exchanges());
    }
    if with_peers {
        entrants.extend(peers::barriers(&seats));
    }
    let bar = progress::bar("racing");
    let comparison = race::run("barrier", &seats, settings, &entrants, |step| match step {
        Progress::Preparing { name, .. } => bar.say(&format!("preparing {name}")),
        Progress::Round { round, done } => bar.at(done, &format!("round {round}")),
    })?;
    bar.finish();
    drop(entrants);
    // A team that fails lets everybody through at once: its times, if any, mean nothing.
    let failures = teams
        .iter()
        .filter_map(|(name, team)| Some((name, team.failure()?)));
    let broken = failures
        .inspect(|(name, why)| failure::warn(&format!("{name} failed: {why}")))
        .count();
    Ok(Race {
        comparison,
        plans,
        broken,
    })
}

/// A seat on each of `threads`, which the process must be allowed to use.
fn pinned(threads: &[u32]) -> Result<Vec<Seat>> {
    let allowed = allowed_pus();
    if let Some(pu) = threads
        .iter()
        .find(|pu| !allowed.is_empty() && !allowed.contains(pu))
    {
        bail!(
            "PU {pu} may not be used by this process: choose others by --threads, or race --unpinned"
        );
    }
    Ok(threads.iter().map(|&pu| Seat::Pu(pu)).collect())
}

/// The named patterns, or those that the model prefers; plans of equal shape race once.
pub(super) fn candidates(team: &planning::Team, named: &[Pattern]) -> Result<Vec<Timed>> {
    let search =
        |&pattern: &Pattern| planning::search(team, pattern, Operation::Barrier, RootChoice::Auto);
    if !named.is_empty() {
        return named.iter().map(search).collect();
    }
    let mut chosen: Vec<Timed> = Vec::new();
    for timed in planning::search_all(team, Operation::Barrier, RootChoice::Auto)? {
        if chosen.len() < CANDIDATES && chosen.iter().all(|c| c.plan.shape != timed.plan.shape) {
            chosen.push(timed);
        }
    }
    Ok(chosen)
}

/// A plan of Corecast's as an entrant.
struct Contestant {
    name: String,
    setting: String,
    team: Arc<Team>,
}

impl Contestant {
    /// The team that runs `timed`.
    fn new(team: &planning::Team, timed: &Timed, basis: CostBasis) -> Result<Contestant> {
        let plan = &timed.plan;
        let barrier = BarrierPlan::of_plan(plan)?;
        let plans = Plans::of_pattern(&team.costs, Pattern::Smelt, None)?.with_barrier(barrier)?;
        let predicted = match basis {
            CostBasis::Assumed => "not predicted, the machine was not measured".to_owned(),
            _ => format!(
                "predicted {:.*} {}",
                decimals(plan.latency),
                plan.latency,
                team.unit()
            ),
        };
        Ok(Contestant {
            name: format!("corecast {}", plan.pattern),
            setting: predicted,
            team: Arc::new(Team::new(plans).context("team")?),
        })
    }
}

impl Engine for Contestant {
    fn name(&self) -> &str {
        &self.name
    }

    fn setting(&self) -> String {
        self.setting.clone()
    }

    fn role(&self) -> Role {
        Role::Corecast
    }

    fn ranks(&self) -> usize {
        self.team.size()
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        let mut member = self.team.join(rank);
        Box::new(move |operations| {
            for _ in 0..operations {
                // The team keeps its failure for whoever asks after the race.
                if let Ok(member) = &mut member
                    && member.barrier().is_err()
                {
                    return;
                }
            }
        })
    }
}
