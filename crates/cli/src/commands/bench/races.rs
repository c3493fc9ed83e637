//! The races of operations, in order, with their conditions.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use corecast_bench::contestant::PLANNED;
use corecast_bench::cpu_placement::free;
use corecast_bench::peers::Mpi;
use corecast_bench::sized::{Conditions, ELEMENT_BYTES, Start, Task};
use corecast_bench::{Comparison, Progress, Settings};
use corecast_model::{Collective, CostBasis, Machine};
use corecast_tune::contest::{self, Foreseen, FreshCosts};

use super::args::{BenchArgs, Limits, limits};
use super::conditions::StartArg;
use super::laid::laid;
use super::op::OpArg;
use super::racers::Racers;
use super::{conditions, forecasts, processes};
use crate::options::{Global, Sync};
use crate::{interrupt, progress, sizes, source};

/// The blocks of data where none are asked for, in bytes.
const SIZE: &str = "8";

/// Largest block in bytes. MPI counts elements with 31 bits, and larger blocks measure only memory.
const SIZE_MAX: usize = 1 << 30;

/// Blocks of at least so many bytes take long and need few rounds.
const LONG: usize = 1 << 20;

/// Runs all races that `args` ask for.
///
/// # Errors
///
/// Options do not fit each other or this machine, or a race fails.
pub(super) fn races(global: &Global, args: &BenchArgs) -> Result<Vec<Foreseen>> {
    if let Some(machine) = &global.machine {
        bail!("bench measures this machine, not {machine:?}: leave -i out");
    }
    args.check()?;
    let sizes = block_sizes(args)?;
    let source = source::open(None)?;
    let laid = laid(args, &source)?;
    let contest = laid.contest(args, source.costs)?;
    let limits = limits(args)?;
    let placements = contest.placements()?;
    let mut racers = Racers {
        contest: &contest,
        own: &laid.own,
        placements: &placements,
        processes: Vec::new(),
        mpi: Vec::new(),
    };
    let tasks = tasks(args, laid.team.threads.len(), &sizes);
    if tasks.is_empty() {
        let machine = source.here.as_ref().map(|here| &here.machine);
        let comparison = no_collective(args, &racers, machine, limits)?;
        return Ok(vec![Foreseen {
            comparison,
            profile: None,
        }]);
    }
    check(args, &racers, &tasks)?;
    let (conditions, chosen) = conditions(args, &racers, &tasks, source.file.machine())?;
    join_processes(&mut racers, args, conditions)?;

    // The models know how long an operation takes, not how many fit into a time.
    let known = args.sync == Sync::Strict;
    let here = source.here.as_ref().filter(|_| args.probe);
    let fresh = match here {
        Some(here) => FreshCosts::new(&here.machine, &laid.team, laid.team.threads.len()),
        None => FreshCosts::none(),
    };
    let mut races = Vec::new();
    let bar = progress::bar("racing");
    let count = tasks.len() as f64;
    for (before, task) in tasks.into_iter().enumerate() {
        if interrupt::happened() {
            break;
        }
        bar.say(&format!("{task}: preparing"));
        let settings = Settings {
            operations_max: conditions.operations_max(),
            ..limits.apply(settings(args.quick, &task))
        };
        let step = &mut |step: Progress<'_>| {
            bar.race(task, before as f64 / count, 1.0 / count, step);
        };
        let mut teams = Vec::new();
        let mut race = fresh.race(task.operation, || {
            let (comparison, raced) = racers.race(task, conditions, &settings, step)?;
            teams = raced;
            Ok(comparison)
        })?;
        let costs = match &race.profile {
            Some(fresh) => (fresh, CostBasis::Measured, known),
            None => (&source.file, source.costs, known && !args.probe),
        };
        forecasts::add(&mut race.comparison, task, &teams, costs);
        race.comparison.notes.extend(laid.own.notes(true));
        if task.operation != Collective::Barrier {
            race.comparison.notes.extend(chosen.clone());
        }
        if has_rounds(&race.comparison) {
            races.push(race);
        }
    }
    bar.finish();
    if races.is_empty() {
        bail!("interrupted before a round of a race was done");
    }
    Ok(races)
}

/// The blocks of data, in bytes.
///
/// # Errors
///
/// A size cannot be read, or has no whole elements, or is too long.
fn block_sizes(args: &BenchArgs) -> Result<Vec<usize>> {
    let sizes = sizes::parse(args.size.as_deref().unwrap_or(SIZE))?;
    let unfit = |size: &&usize| !size.is_multiple_of(ELEMENT_BYTES) || **size > SIZE_MAX;
    match sizes.iter().find(unfit) {
        Some(size) => {
            bail!("--size {size}: multiples of {ELEMENT_BYTES} up to {SIZE_MAX} are needed")
        }
        None => Ok(sizes),
    }
}

/// Checks that the memory suffices for all `tasks`, and that each pattern can do each of them: it would race as if it had not
/// been named otherwise.
fn check(args: &BenchArgs, racers: &Racers<'_>, tasks: &[Task]) -> Result<()> {
    for task in tasks {
        let own = racers.own.racing(task.operation, task.bytes).len();
        contest::check_memory(task, own)?;
    }
    for task in tasks.iter().filter(|_| !args.patterns.is_empty()) {
        racers
            .contest
            .candidates(match PLANNED.contains(&task.operation) {
                true => task.operation,
                false => Collective::Broadcast,
            })?;
    }
    Ok(())
}

/// The conditions of all races, and a sentence that says how the start of operations was chosen.
fn conditions(
    args: &BenchArgs,
    racers: &Racers<'_>,
    tasks: &[Task],
    machine: &Machine,
) -> Result<(Conditions, Option<String>)> {
    let oversubscribed = racers.contest.oversubscribed();
    if args.sync == Sync::Loose {
        let conditions = Conditions::from(oversubscribed).starting(Start::BackToBack);
        return Ok((conditions, None));
    }
    let is_barrier = |task: &Task| task.operation == Collective::Barrier;
    let start = match tasks.iter().all(is_barrier) {
        true => StartArg::Barrier,
        false => args.start.unwrap_or(StartArg::Auto),
    };
    conditions::find(
        (start, args.cache.as_deref().unwrap_or("warm")),
        oversubscribed,
        racers.placements,
        machine,
        || Ok(racers.own.first().planned.plans.clone()),
    )
}

/// Runs the race of fork and join, or of a message, which are no collectives.
fn no_collective(
    args: &BenchArgs,
    racers: &Racers<'_>,
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
        OpArg::Message => {
            let peers = racers.contest.peers;
            contest::message(machine, racers.placements, peers, &settings, step)
        }
        _ => racers.fork_join(&settings, step).map(|mut race| {
            race.notes.extend(racers.own.notes(false));
            race
        }),
    };
    bar.finish();
    let race = race?;
    if !has_rounds(&race) {
        bail!("interrupted before a round of the race was done");
    }
    Ok(race)
}

/// Whether there is anything to show of a race: an interrupt may come before its first round is done.
pub(super) fn has_rounds(race: &Comparison) -> bool {
    race.rounds > 0 || !interrupt::happened()
}

/// Adds the contestants that race as processes: on the placements of the race, and also unpinned if the user asks for
/// both.
fn join_processes(racers: &mut Racers<'_>, args: &BenchArgs, conditions: Conditions) -> Result<()> {
    let anywhere = free(racers.placements.len());
    let mut all = vec![racers.placements];
    if racers.own.is_also_apart() {
        all.push(&anywhere);
    }
    for &chooses in racers.own.which.teams() {
        for placements in &all {
            for &symmetric in if args.symmetric {
                &[false, true][..]
            } else {
                &[false]
            } {
                let session = processes::session(racers.own, chooses, placements, symmetric)?;
                racers.processes.push(Arc::new(session.under(conditions)));
            }
        }
    }
    if !args.no_peers {
        let mpi = all
            .iter()
            .map(|placements| Mpi::under(placements, conditions));
        racers.mpi = mpi.collect();
    }
    Ok(())
}

/// A task for every size of every operation; a barrier has one task.
fn tasks(args: &BenchArgs, ranks: usize, sizes: &[usize]) -> Vec<Task> {
    let mut tasks = Vec::new();
    for operation in args.op.operations() {
        let sizes = match operation {
            Collective::Barrier => &[0],
            _ => sizes,
        };
        tasks.extend(sizes.iter().map(|&bytes| Task {
            operation,
            ranks,
            bytes,
        }));
    }
    tasks
}

fn settings(quick: bool, task: &Task) -> Settings {
    let normal = Settings::default();
    match task.operation {
        _ if quick => Settings::quick(),
        Collective::Barrier => normal,
        _ => Settings {
            rounds_min: if task.bytes >= LONG {
                10
            } else {
                normal.rounds_min
            },
            budget: Duration::from_secs(4),
            // Each operation also waits for its start, so a batch holds fewer of them.
            batch: Duration::from_micros(200),
            ..normal
        },
    }
}
