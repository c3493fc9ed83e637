//! `corecast bench`: Corecast's operations against those that people use today, in one run.
//!
//! Entrants take turns round by round, so that a noisy minute falls on all alike; each is verified
//! before it is timed. The exit code is 1 when one of Corecast's own is found wrong.
//!
//! Barriers race back to back, over several plans; operations with data race at each size, timed as
//! [`corecast_bench::sized`] says.

mod app;
mod conditions;
pub(super) mod contest;
mod crowd;
mod forecasts;
mod op;
mod others;
mod overheads;
pub(super) mod processes;
mod sized;

pub(crate) use processes::{RankArgs, rank};

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use corecast::costs::of_waits;
use corecast_bench::apps;
use corecast_bench::comparison::Report;
use corecast_bench::cpu_placement::{CpuPlacement, allowed_pus, free};
use corecast_bench::overheads as bench_overheads;
use corecast_bench::peers::{Mpi, Selection};
use corecast_bench::sized::{Conditions, ELEMENT_BYTES, Operation, Task};
use corecast_bench::table::{self, Extent};
use corecast_bench::{Collective, Comparison, Progress, Role, Settings, osu, summary};
use corecast_model::{Machine, MachineFile};
use corecast_plan::Pattern;
use serde::Serialize;

use self::sized::Others;
use crate::options::Global;
use crate::source::CostBasis;
use crate::team::{self, TeamArgs};
use crate::{failure, output, planning, progress, sizes, source};
use conditions::StartArg;
use contest::Contest;
use forecasts::{Forecasts, Foreseen};
use op::OpArg;

/// Arguments of `corecast bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What is raced
    #[arg(long, value_enum, default_value_t = OpArg::One(Operation::Barrier))]
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

    /// Whether each rank stays on its thread, goes where the operating system puts it, or both in one race
    #[arg(long, value_enum, default_value_t = Pinning::Pinned)]
    pinning: Pinning,

    /// The same as --pinning unpinned
    #[arg(long, conflicts_with = "pinning")]
    unpinned: bool,

    /// How the ranks start an operation with data together
    #[arg(long, value_enum, default_value_t = StartArg::Auto)]
    start: StartArg,

    /// warm; cold: each rank goes through twice its core's caches before each operation with data; or
    /// through that many bytes, such as 64M
    #[arg(long, value_name = "STATE", default_value = "warm")]
    cache: String,

    /// Percent of the median that its interval may reach to either side when an entrant is done
    #[arg(long, value_name = "PERCENT")]
    precision: Option<f64>,

    /// Time for each race, entrants that are precise enough or not
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,

    /// Tables as OSU's micro-benchmarks print them: a block for each entrant
    #[arg(long, conflicts_with = "json")]
    osu: bool,

    /// Measure messages and calls anew before each race, for what is simulated; a race during which the
    /// machine changes is run again
    #[arg(long, conflicts_with = "unpinned")]
    probe: bool,

    /// Corecast and the floor alone
    #[arg(long)]
    no_peers: bool,

    /// What constructs of parallel programs cost beyond the work in them, in the manner of EPCC: fork and
    /// join, loop, barrier, single, critical, reduction; against OpenMP too
    #[arg(long, conflicts_with_all = ["op", "size", "probe", "start", "cache", "osu", "app"])]
    overheads: bool,

    #[command(flatten)]
    app: app::AppArgs,

    #[command(flatten)]
    team: TeamArgs,
}

/// What `--pinning` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Pinning {
    Pinned,
    Unpinned,
    Both,
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
    if args.app.app.is_some() || args.overheads {
        return programs(global, args);
    }
    let races = races(global, args)?;
    match args.osu {
        true => show_osu(&races)?,
        false => show(global, &races)?,
    }
    let mut failed = races.iter().map(|r| r.comparison.failed(Role::Corecast));
    Ok(failure::checked(failed.all(|count| count == 0)))
}

/// What the command found with these arguments, for whoever shows it otherwise.
///
/// # Errors
///
/// Those of the command.
pub(crate) fn reports(global: &Global, args: &BenchArgs) -> Result<Vec<Report>> {
    let races = races(global, args)?;
    Ok(races.iter().map(|race| race.comparison.report()).collect())
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
    let source = source::open(None)?;
    let (team, pus) = laid(args, &source.file)?;
    let ranks = team.threads.len();
    let mut contest = contest(args, &team, source.costs, pus)?;
    let limits = limits(args)?;
    let tasks = tasks(args.op, ranks, &sizes)?;
    let placements = contest.placements()?;
    if tasks.is_empty() {
        let machine = source.here.as_ref().map(|here| &here.machine);
        let comparison = no_collective(args, &contest, &placements, machine, limits)?;
        return Ok(vec![Foreseen {
            comparison,
            profile: None,
        }]);
    }
    let start = match tasks
        .iter()
        .all(|task| task.operation == Operation::Barrier)
    {
        true => StartArg::Barrier,
        false => args.start,
    };
    let (conditions, chosen) = conditions::find(
        (start, &args.cache),
        contest.oversubscribed(),
        &placements,
        source.file.machine(),
        || contest.any_plans(),
    )?;
    contest.others = Some(others(args, &contest, &placements, conditions)?);

    let foreseen = Forecasts::new(&source, &team, ranks, args)?;
    let mut races = Vec::new();
    let bar = progress::bar("racing");
    let count = tasks.len() as f64;
    for (before, task) in tasks.into_iter().enumerate() {
        bar.say(&format!("{task}: preparing"));
        let settings = Settings {
            operations_max: conditions.operations_max(),
            ..limits.apply(settings(args.quick, &task))
        };
        let step = &mut |step: Progress<'_>| {
            bar.race(task, before as f64 / count, 1.0 / count, step);
        };
        let mut race = foreseen.race(task, || match (task.operation, &contest.others) {
            (Operation::Barrier, _) | (_, None) => {
                let race = contest.race(Collective::Barrier, &settings, step)?;
                Ok((race.comparison, race.candidates))
            }
            (_, Some(others)) => sized::race(
                &contest,
                task,
                &placements,
                &conditions,
                others,
                &settings,
                step,
            ),
        })?;
        if task.operation != Operation::Barrier {
            race.comparison.notes.extend(chosen.clone());
        }
        races.push(race);
    }
    bar.finish();
    Ok(races)
}

/// The one race of an operation that is no collective.
fn no_collective(
    args: &BenchArgs,
    contest: &Contest<'_>,
    placements: &[CpuPlacement],
    machine: Option<&Machine>,
    limits: Limits,
) -> Result<Comparison> {
    let settings = limits.apply(match args.quick {
        true => Settings::quick(),
        false => Settings::default(),
    });
    let bar = progress::bar("racing");
    let step = &mut |step: Progress<'_>| bar.race(args.op.name(), 0.0, 1.0, step);
    let race = match args.op {
        OpArg::Message => others::message(machine, placements, contest.peers, &settings, step),
        _ => others::fork_join(contest, placements, &settings, step),
    };
    bar.finish();
    race
}

/// Whoever races as processes: on `placements`, and wherever they like if that is asked for as well.
fn others(
    args: &BenchArgs,
    contest: &Contest<'_>,
    placements: &[CpuPlacement],
    conditions: Conditions,
) -> Result<Others> {
    let anywhere = free(placements.len());
    let mut all = vec![placements];
    if contest.also_free {
        all.push(&anywhere);
    }
    let sessions = all.iter().map(|placements| {
        let session = processes::session(placements)?.under(conditions);
        Ok(Arc::new(session))
    });
    let mpi = |placements: &&[CpuPlacement]| Mpi::under(placements, conditions);
    Ok(Others {
        processes: sessions.collect::<Result<_>>()?,
        mpi: match args.no_peers {
            true => Vec::new(),
            false => all.iter().map(mpi).collect(),
        },
    })
}

/// When a race ends, where the user says so.
#[derive(Clone, Copy, Debug)]
struct Limits {
    precision: Option<f64>,
    budget: Option<Duration>,
}

impl Limits {
    fn apply(self, settings: Settings) -> Settings {
        Settings {
            precision: self.precision.unwrap_or(settings.precision),
            budget: self.budget.unwrap_or(settings.budget),
            // Time is the limit where somebody sets one.
            rounds_max: match self.budget {
                Some(_) => usize::MAX,
                None => settings.rounds_max,
            },
            ..settings
        }
    }
}

fn limits(args: &BenchArgs) -> Result<Limits> {
    if let Some(percent) = args.precision.filter(|p| !(0.01..=100.0).contains(p)) {
        bail!("--precision {percent}: percent from 0.01 to 100 are needed");
    }
    if let Some(seconds) = args.seconds.filter(|s| !(0.1..=86_400.0).contains(s)) {
        bail!("--seconds {seconds}: from 0.1 to 86400 are needed");
    }
    Ok(Limits {
        precision: args.precision.map(|percent| percent / 100.0),
        budget: args.seconds.map(Duration::from_secs_f64),
    })
}

/// The team that is asked for, and how many hardware threads it uses.
fn laid(args: &BenchArgs, file: &MachineFile) -> Result<(planning::Team, usize)> {
    let threads = team::members(&args.team, file)?;
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
    crowd::lay(file, &threads, ranks)
}

/// Races of `team`, without peers that run as processes.
fn contest<'a>(
    args: &BenchArgs,
    team: &'a planning::Team,
    costs: CostBasis,
    pus: usize,
) -> Result<Contest<'a>> {
    let named = args.patterns.iter().map(|name| name.parse());
    let named: Vec<Pattern> = named.collect::<Result<_, _>>()?;
    let mut contest = Contest::new(team, costs);
    contest.named = named;
    contest.root = Some(Task::ROOT);
    contest.usable = pus;
    let pinning = match args.unpinned {
        true => Pinning::Unpinned,
        false => args.pinning,
    };
    contest.pinned = pinning != Pinning::Unpinned;
    contest.also_free = pinning == Pinning::Both;
    if pinning == Pinning::Unpinned {
        contest.usable = allowed_pus().len().max(1);
    }
    contest.peers = (!args.no_peers).then_some(Selection::All);
    Ok(contest)
}

/// Programs that synchronise, in place of operations.
fn programs(global: &Global, args: &BenchArgs) -> Result<ExitCode> {
    if let Some(machine) = &global.machine {
        bail!("bench measures this machine, not {machine:?}: leave -i out");
    }
    if args.pinning == Pinning::Both {
        bail!(
            "--pinning both: --app and --overheads race on one placement at a time, pinned or unpinned"
        );
    }
    let source = source::open(None)?;
    let (team, pus) = laid(args, &source.file)?;
    let contest = contest(args, &team, source.costs, pus)?;
    let placements = contest.placements()?;
    let (waits, limits) = (of_waits(&source.file), limits(args)?);
    match args.overheads {
        true => {
            let settings = limits.apply(bench_overheads::settings(args.quick));
            overheads::run(global, &settings, &contest, waits, &placements)
        }
        false => {
            let problem = args.app.problem(args.quick)?;
            let settings = limits.apply(apps::settings(args.quick));
            app::run(global, problem, &settings, &contest, waits, &placements)
        }
    }
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

fn show_osu(races: &[Foreseen]) -> Result<()> {
    let mut blocks = Vec::new();
    for operation in Operation::ALL {
        let of = |race: &&Comparison| match race.task {
            Some(task) => task.operation == operation,
            None => race.title == operation.name(),
        };
        let races = races.iter().map(|race| &race.comparison).filter(of);
        let races: Vec<&Comparison> = races.collect();
        if !races.is_empty() {
            blocks.push(osu::render(&races));
        }
    }
    if blocks.is_empty() {
        blocks.extend(races.iter().map(|race| osu::render(&[&race.comparison])));
    }
    output::print(&blocks.join("\n"))
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
