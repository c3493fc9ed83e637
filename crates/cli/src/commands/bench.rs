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
use corecast_bench::{Entrant, Settings, Status, floor, peers, race, table};
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
    let seats = if args.unpinned {
        free(team.threads.len())
    } else {
        pinned(&team.threads)?
    };
    let mut entrants: Vec<Entrant<'_>> = Vec::new();
    let mut teams = Vec::new();
    for timed in candidates(&team, &named)? {
        let contestant = Contestant::new(&team, timed, source.costs)?;
        teams.push((contestant.name.clone(), Arc::clone(&contestant.team)));
        entrants.push(Entrant::threads(contestant));
    }
    if team.threads.len() == 2 {
        entrants.extend(floor::mutual_exchanges());
    }
    if !args.no_peers {
        entrants.extend(peers::barriers(&seats));
    }
    let settings = if args.quick {
        Settings::quick()
    } else {
        Settings::default()
    };
    let bar = progress::bar("racing");
    let comparison = race::run("barrier", &seats, &settings, &entrants, |step| match step {
        Progress::Preparing { name, .. } => bar.say(&format!("preparing {name}")),
        Progress::Round { round, done } => bar.at(done, &format!("round {round}")),
    })?;
    bar.finish();
    if global.json {
        output::json(&comparison.report())?;
    } else {
        output::print(&table::render(&comparison))?;
    }
    // A team that fails lets everybody through at once: its times, if any, mean nothing.
    let broken: Vec<String> = teams
        .iter()
        .filter_map(|(name, team)| Some(format!("{name} failed: {}", team.failure()?)))
        .collect();
    for message in &broken {
        failure::warn(message);
    }
    let ours = comparison
        .entries
        .iter()
        .filter(|e| e.role == Role::Corecast);
    let wrong = ours
        .filter(|e| matches!(e.status, Status::Failed(_)))
        .count()
        + broken.len();
    Ok(if wrong == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(failure::FAILED_CHECK)
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
fn candidates(team: &planning::Team, named: &[Pattern]) -> Result<Vec<Timed>> {
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
    fn new(team: &planning::Team, timed: Timed, basis: CostBasis) -> Result<Contestant> {
        let plan = timed.plan;
        let barrier = BarrierPlan::of_plan(&plan)?;
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
