//! The races of operations, in order, with their conditions.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use corecast_bench::cpu_placement::{CpuPlacement, free};
use corecast_bench::peers::Mpi;
use corecast_bench::sized::{Conditions, ELEMENT_BYTES, Start, Task};
use corecast_bench::{Comparison, Progress, Settings};
use corecast_model::Collective;
use corecast_model::Machine;
use corecast_tune::contest::{
    self, Contest, Forecasts, Foreseen, Others, check_memory, race_sized,
};

use super::args::{BenchArgs, Limits, limits};
use super::conditions::StartArg;
use super::laid::{contest, laid};
use super::op::OpArg;
use super::{conditions, processes};
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
    let sizes = sizes::parse(args.size.as_deref().unwrap_or(SIZE))?;
    let unfit = |size: &&usize| !size.is_multiple_of(ELEMENT_BYTES) || **size > SIZE_MAX;
    if let Some(size) = sizes.iter().find(unfit) {
        bail!("--size {size}: multiples of {ELEMENT_BYTES} up to {SIZE_MAX} are needed");
    }
    let source = source::open(None)?;
    let (team, pus) = laid(args, &source.file)?;
    let ranks = team.threads.len();
    let mut contest = contest(args, &team, source.costs, pus)?;
    let limits = limits(args)?;
    let is_loose = args.sync == Sync::Loose;
    let back_to_back = is_loose.then(|| loose(args, contest.oversubscribed()));
    let back_to_back = back_to_back.transpose()?;
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
        .all(|task| task.operation == Collective::Barrier)
    {
        true => StartArg::Barrier,
        false => args.start.unwrap_or(StartArg::Auto),
    };
    let (conditions, chosen) = match back_to_back {
        Some(conditions) => (conditions, None),
        None => conditions::find(
            (start, args.cache.as_deref().unwrap_or("warm")),
            contest.oversubscribed(),
            &placements,
            source.file.machine(),
            || Ok(contest.any_plans()?),
        )?,
    };
    contest.others = Some(others(args, &contest, &placements, conditions)?);

    let foreseen = {
        let here = source.here.as_ref().filter(|_| args.probe);
        let machine = here.map(|here| &here.machine);
        match is_loose {
            // The models know how long an operation takes, not how many fit into a time.
            true => Forecasts::none(),
            false => Forecasts::new(&source.file, source.costs, machine, &team, ranks)?,
        }
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
        let mut race = foreseen.race(task, || match (task.operation, &contest.others) {
            (Collective::Barrier, _) | (_, None) => {
                let race = contest.race(Collective::Barrier, &settings, step)?;
                Ok((race.comparison, race.candidates))
            }
            (_, Some(others)) => race_sized(
                &contest,
                task,
                &placements,
                &conditions,
                others,
                &settings,
                step,
            ),
        })?;
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

/// The conditions of races whose operations run back to back.
///
/// # Errors
///
/// Options that only operations with a common start have.
fn loose(args: &BenchArgs, oversubscribed: bool) -> Result<Conditions> {
    let excluded = [
        (
            args.op.operations().is_empty(),
            "--op",
            "no synchronisation",
        ),
        (
            args.start.is_some_and(|start| start != StartArg::Auto),
            "--start",
            "no common start",
        ),
        (
            args.cache.as_deref().is_some_and(|cache| cache != "warm"),
            "--cache",
            "no time to empty caches",
        ),
        (args.osu, "--osu", "no latency of a single operation"),
        (args.probe, "--probe", "no forecasts"),
    ];
    if let Some((_, option, missing)) = excluded.iter().find(|(given, _, _)| *given) {
        bail!("--sync loose: there is {missing}, leave {option} out or take --sync strict");
    }
    Ok(Conditions::from(oversubscribed).starting(Start::BackToBack))
}

/// Runs the race of fork and join, or of a message, which are no collectives.
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
        OpArg::Message => contest::message(machine, placements, contest.peers, &settings, step),
        _ => contest::fork_join(contest, placements, &settings, step),
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

/// The contestants that race as processes: on `placements`, and also unpinned if the user asks for both.
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

/// A task for every size of every operation; a barrier has one task.
fn tasks(op: OpArg, ranks: usize, sizes: &[usize]) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for operation in op.operations() {
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
    tasks.iter().try_for_each(check_memory)?;
    Ok(tasks)
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
