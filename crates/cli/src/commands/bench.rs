//! `corecast bench`: Corecast's operations against those that people use today, in one run.
//!
//! Entrants take turns round by round, so that a noisy minute falls on all alike; each is verified
//! before it is timed. The exit code is 1 when one of Corecast's own is found wrong.
//!
//! Barriers race back to back, over several plans; operations with data race at each size, timed as
//! [`corecast_bench::sized`] says.

pub(super) mod contest;
mod crowd;
mod forecasts;
mod processes;
mod sized;

pub(crate) use processes::{RankArgs, rank};
pub(super) mod sizes;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use corecast_bench::comparison::Report;
use corecast_bench::peers::{Mpi, Selection};
use corecast_bench::seat::allowed_pus;
use corecast_bench::sized::{ELEMENT_BYTES, Operation, Task};
use corecast_bench::table::{self, Extent};
use corecast_bench::{Collective, Comparison, Progress, Role, Settings, Status, summary};
use corecast_plan::Pattern;
use serde::Serialize;

use crate::team::{self, TeamArgs};
use crate::{Global, failure, output, planning, progress, source};
use contest::Contest;
use forecasts::{Forecasts, Foreseen};

/// Arguments of `corecast bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What is raced
    #[arg(long, value_enum, default_value_t = OpArg::Barrier)]
    op: OpArg,

    /// Bytes of a block of data, multiples of 8 such as 8,512,4K,1M or 8..16M; a barrier has none.
    /// A block is what each rank gives or gets, in an alltoall what it gives each other one
    #[arg(long, value_name = "LIST", default_value = "8")]
    size: String,

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

    /// Measure messages and calls anew before each race, for what is simulated; a race during which the
    /// machine changes is run again
    #[arg(long, conflicts_with = "unpinned")]
    probe: bool,

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
    Scatter,
    Gather,
    Allgather,
    #[value(name = "reduce_scatter")]
    ReduceScatter,
    Alltoall,
    Scan,
    /// Those that Corecast has, one table for each and for each size
    All,
}

impl OpArg {
    fn operations(self) -> Vec<Operation> {
        vec![match self {
            OpArg::Barrier => Operation::Barrier,
            OpArg::Broadcast => Operation::Broadcast,
            OpArg::Reduce => Operation::Reduce,
            OpArg::Allreduce => Operation::Allreduce,
            OpArg::Scatter => Operation::Scatter,
            OpArg::Gather => Operation::Gather,
            OpArg::Allgather => Operation::Allgather,
            OpArg::ReduceScatter => Operation::ReduceScatter,
            OpArg::Alltoall => Operation::Alltoall,
            OpArg::Scan => Operation::Scan,
            OpArg::All => return Operation::ALL.into(),
        }]
    }
}

/// Largest block: MPI counts elements with 31 bits, and beyond this memory alone is measured.
const SIZE_MAX: usize = 1 << 30;

/// Blocks from here on settle in few rounds, and each takes long.
const LONG: usize = 1 << 20;

/// Most ranks: a thread for each is started.
const RANKS_MAX: usize = 1024;

/// Several races as `--op all --json` prints them.
#[derive(Serialize)]
struct Reports {
    schema: u32,
    kind: &'static str,
    comparisons: Vec<Row>,
}

/// One of them.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    report: Report,
    /// The machine file that was measured for this race.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<serde_json::Value>,
}

/// Runs the command.
pub(crate) fn run(global: &Global, args: &BenchArgs) -> Result<ExitCode> {
    let races = races(global, args)?;
    show(global, &races)?;
    Ok(match races.iter().any(|race| wrong(&race.comparison)) {
        false => ExitCode::SUCCESS,
        true => ExitCode::from(failure::FAILED_CHECK),
    })
}

fn races(global: &Global, args: &BenchArgs) -> Result<Vec<Foreseen>> {
    if let Some(machine) = &global.machine {
        bail!("bench measures this machine, not {machine:?}: leave -i out");
    }
    let sizes = sizes::parse(&args.size)?;
    let unfit = |size: &&usize| !size.is_multiple_of(ELEMENT_BYTES) || **size > SIZE_MAX;
    if let Some(size) = sizes.iter().find(unfit) {
        bail!("--size {size}: multiples of {ELEMENT_BYTES} up to {SIZE_MAX} are needed");
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
    contest.root = Some(Task::ROOT);
    contest.usable = pus;
    contest.pinned = !args.unpinned;
    if args.unpinned {
        contest.usable = allowed_pus().len().max(1);
    }
    contest.peers = (!args.no_peers).then_some(Selection::All);
    let tasks = tasks(args.op, ranks, &sizes)?;
    let seats = contest.seats()?;
    if !args.no_peers {
        contest.mpi = Some(Mpi::open(&seats));
    }
    let processes = Arc::new(processes::session(&seats)?);

    let foreseen = Forecasts::new(&source, &team, ranks, args)?;
    let mut races = Vec::new();
    let bar = progress::bar("racing");
    let count = tasks.len() as f64;
    for (before, task) in tasks.into_iter().enumerate() {
        bar.say(&format!("{task}: preparing"));
        let settings = settings(args.quick, &task);
        let step = &mut |step: Progress<'_>| match step {
            Progress::Preparing { name, .. } => bar.say(&format!("{task}: checking {name}")),
            Progress::Round { round, done } => {
                if before == 0 && round == 0 {
                    bar.start();
                }
                let done = (before as f64 + done) / count;
                bar.at(done, &format!("{task}, round {round}"));
            }
        };
        let others = (contest.mpi.as_ref(), &processes);
        races.push(foreseen.race(task, || match task.operation {
            Operation::Barrier => {
                let race = contest.race(Collective::Barrier, &settings, step)?;
                Ok((race.comparison, race.candidates))
            }
            _ => sized::race(&contest, task, &seats, others, &settings, step),
        })?);
    }
    bar.finish();
    Ok(races)
}

/// Every size of every operation; a barrier has one.
fn tasks(op: OpArg, ranks: usize, sizes: &[usize]) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for operation in op.operations() {
        let sizes = match operation {
            Operation::Barrier => &[0],
            _ => sizes,
        };
        tasks.extend(sizes.iter().map(|&bytes| Task {
            operation,
            ranks,
            bytes,
        }));
    }
    tasks.iter().try_for_each(sized::check_memory)?;
    Ok(tasks)
}

/// Whether one of Corecast's own entrants was found wrong or failed.
fn wrong(race: &Comparison) -> bool {
    let mut own = race.entries.iter().filter(|e| e.role == Role::Corecast);
    own.any(|e| matches!(e.status, Status::Failed(_)))
}

fn settings(quick: bool, task: &Task) -> Settings {
    let normal = Settings::default();
    match task.operation {
        _ if quick => Settings::quick(),
        Operation::Barrier => normal,
        _ => Settings {
            rounds_min: if task.bytes >= LONG {
                10
            } else {
                normal.rounds_min
            },
            budget: Duration::from_secs(4),
            // Each of many short operations waits for its start.
            batch: Duration::from_micros(200),
            ..normal
        },
    }
}

fn show(global: &Global, races: &[Foreseen]) -> Result<()> {
    if let (true, [race]) = (global.json, races) {
        return output::json(&row(race)?);
    }
    if global.json {
        return output::json(&Reports {
            schema: corecast_bench::comparison::SCHEMA,
            kind: "comparisons",
            comparisons: races.iter().map(row).collect::<Result<_>>()?,
        });
    }
    let races: Vec<&Comparison> = races.iter().map(|race| &race.comparison).collect();
    let extent = extent(global);
    let tables = races.iter().map(|race| table::render(race, extent));
    let mut tables: Vec<String> = tables.collect();
    for operation in Operation::ALL {
        let of = |race: &&&Comparison| race.task.is_some_and(|task| task.operation == operation);
        let sizes: Vec<&Comparison> = races.iter().filter(of).copied().collect();
        if sizes.len() > 1 {
            tables.push(summary::render(&sizes));
        }
    }
    output::print(&tables.join("\n"))
}

fn row(race: &Foreseen) -> Result<Row> {
    let profile = race.profile.as_ref();
    let profile = profile.map(|file| serde_json::from_str(&file.to_json()));
    Ok(Row {
        report: race.comparison.report(),
        profile: profile.transpose()?,
    })
}

/// How much tables show.
pub(super) fn extent(global: &Global) -> Extent {
    match global.verbose {
        0 => Extent::Best,
        _ => Extent::All,
    }
}
