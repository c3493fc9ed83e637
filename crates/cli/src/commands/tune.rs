//! `corecast tune`: races algorithms, plans and waits for each operation and size, and keeps the winners.
//!
//! How it works is in `corecast_tune` and in docs/tuning.md; here is what the user asks for and gets to see.

mod dry;
mod keep;
mod report;
mod search_space;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use corecast::rules::CORECAST_ALGO;
use corecast::store::{Store, Stored};
use corecast::{Builder, Planned};
use corecast_bench::cpu_placement::{CpuPlacement, allowed_pus, free};
use corecast_bench::sized::{ELEMENT_BYTES, Operation};
use corecast_collectives::Algorithms;
use corecast_model::profile::Mode;
use corecast_tune::check::{self, Checked};
use corecast_tune::hardware::Hardware;
use corecast_tune::outcome::Outcome;
use corecast_tune::predict::{Predict, Simulated, Unknown};
use corecast_tune::racer::{Racer, Synchrony};
use corecast_tune::search_space::SearchSpace;
use corecast_tune::sessions::Sessions;
use corecast_tune::tuner::{self, BUDGET, TuneRequest};
use tempfile::TempDir;

use super::bench::processes::session_in;
use crate::failure;
use crate::interrupt;
use crate::options::Global;
use crate::progress;
use crate::sizes;
use crate::source::{self, CostBasis, Source};

/// Arguments of `corecast tune`.
#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// Operations, separated by commas [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    op: Vec<String>,

    /// Bytes of a block of data, multiples of 8 such as 8,512,4K,1M or 8..4M [default: eight sizes from 8 to 4M]
    #[arg(long, value_name = "LIST")]
    size: Option<String>,

    /// Team sizes, separated by commas; more ranks than threads share these [default: one rank for each thread]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    ranks: Vec<usize>,

    /// Hardware threads by operating-system number; rank r is the r-th of them [default: all]
    #[arg(
        long,
        visible_alias = "cores",
        value_name = "LIST",
        conflicts_with = "ranks"
    )]
    threads: Option<String>,

    /// Leave the threads where the operating system puts them, as teams do that share hardware threads
    #[arg(long)]
    unpinned: bool,

    /// Pin the threads also where ranks share hardware threads
    #[arg(long, conflicts_with = "unpinned")]
    pinned: bool,

    /// A process for each rank instead of a thread; plans and waits stay as they are
    #[arg(long)]
    processes: bool,

    /// How operations are kept apart: strict, from a common start until the last rank is done; or loose, one after
    /// the other, where what counts is how many are done in a time
    #[arg(long, value_enum, default_value_t = Sync::Strict)]
    sync: Sync,

    /// Time in seconds for all teams together
    #[arg(long, value_name = "SECONDS", default_value_t = BUDGET.as_secs_f64())]
    budget: f64,

    /// Contenders of a race at most, where the model tells them apart: with blocks of up to 16K
    #[arg(long, value_name = "N", default_value_t = 8)]
    most: usize,

    /// Race nothing: show who would, with predictions
    #[arg(long, conflicts_with = "check")]
    dry_run: bool,

    /// Afterwards race each tuned choice against every algorithm; exit code 1 if one is more than 3 % slower than
    /// another, beyond the interval. Takes as long again
    #[arg(long)]
    check: bool,

    /// Keep nothing
    #[arg(long)]
    no_save: bool,
}

/// What `--sync` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sync {
    Strict,
    Loose,
}

/// Most ranks: a thread for each is started.
const RANKS_MAX: usize = 256;

/// Largest block.
const SIZE_MAX: usize = 1 << 28;

/// A team that was tuned.
struct Tuning {
    planned: Planned,
    pinned: bool,
    mode: Mode,
    outcome: Outcome,
    checked: Option<Vec<Checked>>,
    took: Duration,
    /// Where it was saved, or why not.
    saved: Option<String>,
}

/// A team that is to be tuned.
struct Course {
    planned: Planned,
    placements: Vec<CpuPlacement>,
    pinned: bool,
    usable: usize,
    search_space: SearchSpace,
    model: Box<dyn Predict>,
    /// Why there is no model.
    note: Option<String>,
}

/// Runs the command.
pub(crate) fn run(global: &Global, args: &TuneArgs) -> Result<ExitCode> {
    if let Some(machine) = &global.machine {
        bail!("tune measures this machine, not {machine:?}: leave -i out");
    }
    let request = request(args)?;
    if args.processes && args.sync == Sync::Loose {
        bail!("--processes --sync loose: processes are measured strictly, leave one of them out");
    }
    let source = source::open(None)?;
    let teams = match &args.ranks[..] {
        [] => vec![None],
        ranks => ranks.iter().copied().map(Some).collect(),
    };
    let courses = teams.iter().map(|&ranks| course(&source, args, ranks));
    let courses: Vec<Course> = courses.collect::<Result<_>>()?;
    if args.dry_run {
        dry::show(global, &courses, &request)?;
        return Ok(ExitCode::SUCCESS);
    }
    interrupt::listen();
    let mut tunings = Vec::new();
    let count = courses.len() as u32;
    let request = TuneRequest {
        budget: request.budget / count,
        ..request
    };
    for course in courses {
        if interrupt::happened() {
            break;
        }
        tunings.push(tuned(course, &source, &request, args)?);
    }
    report::show(global, &source, &request, &tunings)?;
    let mut checks = tunings.iter().flat_map(|t| t.checked.iter().flatten());
    Ok(failure::checked(!checks.any(|check| check.is_slower())))
}

fn request(args: &TuneArgs) -> Result<TuneRequest> {
    let mut request = TuneRequest {
        synchrony: match args.sync {
            Sync::Strict => Synchrony::Strict,
            Sync::Loose => Synchrony::Loose,
        },
        most: args.most.max(1),
        ..TuneRequest::default()
    };
    if !(0.01..=86_400.0).contains(&args.budget) {
        bail!("--budget {}: seconds from 0.01 to 86400", args.budget);
    }
    request.budget = Duration::from_secs_f64(args.budget);
    if !args.op.is_empty() && args.op != ["all"] {
        let operations = args.op.iter().map(|name| chosen(name));
        let mut operations: Vec<Operation> = operations.collect::<Result<_>>()?;
        let order = |o: &Operation| Operation::ALL.iter().position(|one| one == o);
        operations.sort_by_key(order);
        operations.dedup();
        request.operations = operations;
    }
    if let Some(list) = &args.size {
        request.sizes = sizes::parse(list)?;
        request.sizes.sort_unstable();
        let unfit =
            |size: &&usize| !size.is_multiple_of(ELEMENT_BYTES) || **size > SIZE_MAX || **size == 0;
        if let Some(size) = request.sizes.iter().find(unfit) {
            bail!("--size {size}: multiples of {ELEMENT_BYTES} from 8 to {SIZE_MAX} are needed");
        }
    }
    Ok(request)
}

fn course(source: &Source, args: &TuneArgs, ranks: Option<usize>) -> Result<Course> {
    let partial = !args.op.is_empty() && args.op != ["all"];
    // What races decided before is on trial; where only some operations are tuned the others keep it.
    let mut builder = match partial {
        true => Builder::new(),
        false => Builder::new().machine(source.file.clone()),
    };
    if let Some(list) = &args.threads {
        builder = builder.cores(list);
    }
    if let Some(ranks) = ranks {
        if !(2..=RANKS_MAX).contains(&ranks) {
            bail!("--ranks {ranks}: teams of 2 to {RANKS_MAX} can be tuned");
        }
        builder = builder.threads(ranks);
    }
    if args.unpinned || args.pinned {
        builder = builder.pin(args.pinned);
    }
    let planned = builder.planned()?;
    let n = planned.rank_pus.len();
    if n < 2 {
        bail!(
            "a team of one has nothing to tune, and this process may use PU {} alone: --ranks 2 lets two share it",
            planned.rank_pus[0]
        );
    }
    let usable = match allowed_pus().len() {
        0 => source.file.threads().len(),
        allowed => allowed,
    };
    let oversubscribed = n > usable;
    let pinned = planned.pinned;
    let placements = match pinned {
        true => planned
            .rank_pus
            .iter()
            .map(|&pu| CpuPlacement::Pu(pu))
            .collect(),
        false => free(n),
    };
    let known = source.costs == CostBasis::Measured;
    let simulated = match (oversubscribed, pinned, known) {
        (true, ..) => Err("ranks share hardware threads, of which no model knows".to_owned()),
        (_, false, _) => Err("threads that are not pinned have no place in a model".to_owned()),
        (.., false) => Err("nothing was measured here yet, see corecast probe".to_owned()),
        _ => Simulated::new(&source.file, &planned.rank_pus),
    };
    let (model, note): (Box<dyn Predict>, _) = match simulated {
        Ok(model) => (Box::new(model), None),
        Err(why) => {
            let note = format!("no predictions, so all algorithms race: {why}");
            (Box::new(Unknown), Some(note))
        }
    };
    let mut search_space = search_space::search_space(&planned, oversubscribed, known);
    if partial {
        search_space.algorithms.barrier = planned.options.algorithms.barrier;
    }
    if partial || args.processes {
        search_space.wait_configs.clear();
    }
    if args.processes {
        search_space.processes = true;
        search_space.rivals.clear();
    }
    Ok(Course {
        search_space,
        planned,
        placements,
        pinned,
        usable,
        model,
        note,
    })
}

fn tuned(
    course: Course,
    source: &Source,
    request: &TuneRequest,
    args: &TuneArgs,
) -> Result<Tuning> {
    let begin = Instant::now();
    let home = match args.processes {
        true => Some(home(source)?),
        false => None,
    };
    let launch = |algorithms: &Algorithms| {
        let folder = home
            .as_ref()
            .map_or("/".into(), |home| home.path().display().to_string());
        let environment = vec![
            ("XDG_CACHE_HOME".to_owned(), folder),
            (CORECAST_ALGO.to_owned(), algorithms.to_string()),
        ];
        session_in(&course.placements, environment).expect("this command lies somewhere")
    };
    let racer = || -> Box<dyn Racer + '_> {
        let options = course.planned.options.clone();
        let placements = course.placements.clone();
        match args.processes {
            true => Box::new(Sessions::new(placements, &launch, &interrupt::happened)),
            false => Box::new(Hardware::new(
                placements,
                course.usable,
                request.synchrony,
                options,
                &interrupt::happened,
            )),
        }
    };
    let bar = progress::bar("tuning");
    let mut hardware = racer();
    let mut started = false;
    let mut outcome = tuner::tune(
        hardware.as_mut(),
        &course.search_space,
        course.model.as_ref(),
        request,
        &mut |step| {
            if !started {
                bar.start();
                started = true;
            }
            bar.at(step.done, &step.what);
        },
    )?;
    drop(hardware);
    outcome.notes.extend(course.note.clone());
    bar.finish();
    let took = begin.elapsed();
    let checked = match args.check && !interrupt::happened() {
        false => None,
        true => {
            let bar = progress::bar("checking");
            let found = check::check(
                racer().as_mut(),
                &outcome,
                &course.search_space,
                &request.sizes,
                request.budget,
                &mut |done, what| bar.at(done, &what),
            );
            bar.finish();
            Some(found?)
        }
    };
    let mut tuning = Tuning {
        planned: course.planned.clone(),
        pinned: course.pinned,
        mode: match args.processes {
            true => Mode::Processes,
            false => Mode::Threads,
        },
        outcome,
        checked,
        took,
        saved: None,
    };
    if !args.no_save {
        tuning.saved = Some(keep::keep(&tuning).context("profile")?);
    }
    Ok(tuning)
}

/// A folder for the caches of processes that race: with what was measured and what plans have won, and without what was
/// tuned before, which is on trial.
fn home(source: &Source) -> Result<TempDir> {
    let home = tempfile::tempdir().context("a folder for the processes")?;
    let store = Store::at(home.path().join("corecast"));
    let machine = corecast_machine::discover().machine;
    if source.costs == CostBasis::Measured {
        store.save_machine(&source.file)?;
    }
    if let Stored::Found(_, mut profile) = Store::standard().profile(&machine) {
        profile.tunings.clear();
        store.save_profile(&machine, &profile)?;
    }
    Ok(home)
}

/// An operation that algorithms are chosen for.
pub(super) fn chosen(name: &str) -> Result<Operation> {
    let operation: Operation = name.parse()?;
    let chosen = operation.form_of();
    if chosen != operation {
        bail!("algorithms are chosen for {chosen}, and not for {name}: name {chosen}");
    }
    Ok(operation)
}
