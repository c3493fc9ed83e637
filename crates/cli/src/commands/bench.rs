//! `corecast bench`: Corecast's operations against those that people use today, in one run.
//!
//! Entrants take turns round by round, so that a noisy minute falls on all alike; each is verified
//! before it is timed. The exit code is 1 when one of Corecast's own is found wrong.

pub(super) mod contest;
mod crowd;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use corecast_bench::comparison::Report;
use corecast_bench::contestant::ELEMENT_BYTES;
use corecast_bench::peers::Selection;
use corecast_bench::seat::allowed_pus;
use corecast_bench::table::{self, Extent};
use corecast_bench::{Collective, Progress, Settings};
use corecast_plan::Pattern;
use serde::Serialize;

use crate::team::{self, TeamArgs};
use crate::{Global, failure, output, planning, progress, source};
use contest::Contest;

/// Arguments of `corecast bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What is raced
    #[arg(long, value_enum, default_value_t = OpArg::Barrier)]
    op: OpArg,

    /// Bytes of data that each rank has, a multiple of 8; a barrier has none
    #[arg(long, value_name = "BYTES", default_value_t = ELEMENT_BYTES)]
    size: usize,

    /// Ranks, laid round-robin over the threads; more of them than threads share these [default: one for each thread]
    #[arg(long, value_name = "N")]
    ranks: Option<usize>,

    /// Patterns to race, separated by commas [default: those that the model prefers, or a handful where ranks share threads]
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

/// What `--op` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OpArg {
    Barrier,
    Broadcast,
    Reduce,
    Allreduce,
    /// One table for each
    All,
}

impl OpArg {
    fn collectives(self) -> Vec<Collective> {
        match self {
            OpArg::Barrier => vec![Collective::Barrier],
            OpArg::Broadcast => vec![Collective::Broadcast],
            OpArg::Reduce => vec![Collective::Reduce],
            OpArg::Allreduce => vec![Collective::Allreduce],
            OpArg::All => Collective::ALL.to_vec(),
        }
    }
}

/// Largest data of one rank: beyond it memory is measured, eight times over.
const SIZE_MAX: usize = 64 << 20;

/// Most ranks: a thread for each is started.
const RANKS_MAX: usize = 1024;

/// Several races as `--op all --json` prints them.
#[derive(Serialize)]
struct Reports {
    schema: u32,
    kind: &'static str,
    comparisons: Vec<Report>,
}

/// Runs the command.
pub(crate) fn run(global: &Global, args: &BenchArgs) -> Result<ExitCode> {
    if let Some(machine) = &global.machine {
        bail!("bench measures this machine, not {machine:?}: leave -i out");
    }
    if !args.size.is_multiple_of(ELEMENT_BYTES) || args.size > SIZE_MAX {
        bail!(
            "--size {}: a multiple of {ELEMENT_BYTES} up to {SIZE_MAX} is needed",
            args.size
        );
    }
    let named = args.patterns.iter().map(|name| planning::pattern(name));
    let named: Vec<Pattern> = named.collect::<Result<_>>()?;
    let source = source::open(None)?;
    let threads = team::members(&args.team, &source.file)?;
    let ranks = args.ranks.unwrap_or(threads.len());
    if ranks > RANKS_MAX {
        bail!("--ranks {ranks}: at most {RANKS_MAX} can be raced");
    }
    if ranks < 2 {
        bail!(
            "a race needs a team of two at least, this one has {ranks} on PU {}: --ranks 2 lets two share it",
            threads[0]
        );
    }
    let (team, pus) = crowd::lay(&source.file, &threads, ranks)?;
    let mut contest = Contest::new(&team, source.costs);
    contest.named = named;
    contest.bytes = args.size;
    contest.usable = pus;
    contest.pinned = !args.unpinned;
    if args.unpinned {
        contest.usable = allowed_pus().len().max(1);
    }
    contest.peers = (!args.no_peers).then_some(Selection::All);

    let mut races = Vec::new();
    for collective in args.op.collectives() {
        let bar = progress::bar("racing");
        bar.say(&format!("{collective}: preparing"));
        let settings = settings(args.quick, collective);
        races.push(contest.race(collective, &settings, &mut |step| match step {
            Progress::Preparing { name, .. } => bar.say(&format!("{collective}: checking {name}")),
            Progress::Round { round, done } => {
                if round == 0 {
                    bar.start();
                }
                bar.at(done, &format!("{collective}, round {round}"));
            }
        })?);
        bar.finish();
    }
    show(global, &races)?;
    Ok(match races.iter().map(contest::Race::wrong).sum() {
        0_usize => ExitCode::SUCCESS,
        _ => ExitCode::from(failure::FAILED_CHECK),
    })
}

fn settings(quick: bool, collective: Collective) -> Settings {
    match (quick, collective) {
        (true, _) => Settings::quick(),
        (false, Collective::Barrier) => Settings::default(),
        // No peers take part: fewer share the time.
        (false, _) => Settings {
            budget: Duration::from_secs(4),
            ..Settings::default()
        },
    }
}

fn show(global: &Global, races: &[contest::Race]) -> Result<()> {
    if let (true, [race]) = (global.json, races) {
        return output::json(&race.comparison.report());
    }
    if global.json {
        return output::json(&Reports {
            schema: corecast_bench::comparison::SCHEMA,
            kind: "comparisons",
            comparisons: races.iter().map(|r| r.comparison.report()).collect(),
        });
    }
    let extent = extent(global);
    let tables: Vec<String> = races
        .iter()
        .map(|race| table::render(&race.comparison, extent))
        .collect();
    output::print(&tables.join("\n"))
}

/// How much tables show.
pub(super) fn extent(global: &Global) -> Extent {
    match global.verbose {
        0 => Extent::Best,
        _ => Extent::All,
    }
}
