//! Running cases: one, many on all processors, and fewer parts of one that fails.

use super::case::{Case, Fault, Replay};
use super::judge::{Seen, count, wrong};
use super::play::{Stage, play, said};
use super::scheduler::sim;
use corecast_process::ProcessGroup;
use corecast_team::Team;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is wrong with a case, how it is run again, and how long it was.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) replay: Replay,
    pub(crate) what: String,
}

/// What a run that went well has done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    pub(crate) cases: u64,
    pub(crate) steps: u64,
    /// The most scheduling points of a case after its last fault was over.
    pub(crate) calm: u64,
    /// What has happened, and how often.
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

impl Done {
    fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.steps += other.steps;
        self.calm = self.calm.max(other.calm);
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
    }
}

/// Panics of tasks belong to the case; all others are told as ever.
fn hook_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // It is made once in a process, with scheduling points that only the first case would have.
        let _ = corecast_wire::fork::ForkDetector::now();
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if corecast_wire::simulated::scheduler().is_none() {
                usual(info);
            } else {
                sim().panics();
                if std::env::var_os("CORECAST_REPLAY").is_some() {
                    eprintln!("a task panics: {info}");
                }
            }
        }));
    });
}

/// Runs one case.
pub(crate) fn run(case: &Case) -> Result<Done, String> {
    hook_panics();
    let sim = sim();
    let processes = case.shares.len();
    let descriptor = (!case.threads).then(|| {
        let made = ProcessGroup::found(&case.spec.plans, &case.spec.options);
        Rc::new(made.expect("a segment for the team"))
    });
    sim.begin(case.replay.seed, processes, case.tempo);
    for fault in &case.faults {
        match *fault {
            Fault::Blow {
                process,
                step,
                blow,
            } => sim.plan_blow(step, process, blow),
            Fault::Refused { process, grants } => sim.limit_memory(process, grants),
            _ => {}
        }
    }
    let stage = Stage::new(case.clone());
    let entered: Rc<RefCell<Vec<Result<(), String>>>> =
        Rc::new(RefCell::new(vec![Ok(()); processes]));
    for process in 0..processes {
        let (stage, entered) = (Rc::clone(&stage), Rc::clone(&entered));
        let descriptor = descriptor.clone();
        sim.spawn(process, move || {
            let made = catch_unwind(AssertUnwindSafe(|| enter(&stage, process, descriptor)));
            let made = made.unwrap_or_else(|payload| {
                sim.has_caught();
                Err(format!("a panic: {}", said(&*payload)))
            });
            match made {
                Ok(team) => {
                    let team = Rc::new(team);
                    for &rank in &stage.case.shares[process] {
                        let (stage, team) = (Rc::clone(&stage), Rc::clone(&team));
                        sim.spawn(process, move || play(&stage, rank, team));
                    }
                }
                Err(words) => entered.borrow_mut()[process] = Err(words),
            }
        });
    }
    let (ran, steps) = sim.run();
    let seen = Seen {
        logs: stage.logs.iter().map(|log| log.borrow().clone()).collect(),
        entered: entered.borrow().clone(),
        struck: sim.struck(),
        refused: (0..processes).map(|it| sim.was_refused(it)).collect(),
        ran,
        rescued: sim.rescued(),
        steps,
        calm: sim.calm_steps(),
    };
    if std::env::var_os("CORECAST_REPLAY").is_some() {
        for (rank, log) in seen.logs.iter().enumerate() {
            eprintln!("rank {rank}: {log:?}");
        }
        eprintln!("processes: {:?}, blows {:?}", seen.entered, seen.struck);
    }
    if let Some(what) = wrong(case, &seen) {
        return Err(what);
    }
    let mut done = Done {
        cases: 1,
        steps: seen.steps,
        calm: seen.calm.unwrap_or(0),
        counts: BTreeMap::new(),
    };
    count(&seen, &mut done.counts);
    Ok(done)
}

fn enter(
    stage: &Stage,
    process: usize,
    descriptor: Option<Rc<std::os::fd::OwnedFd>>,
) -> Result<Team, String> {
    let (spec, ranks) = (&stage.case.spec, &stage.case.shares[process]);
    match descriptor {
        None => spec.team().map_err(|error| error.to_string()),
        Some(fd) => {
            ProcessGroup::attach(&*fd, ranks, &spec.options).map_err(|error| error.to_string())
        }
    }
}

/// Leaves out of a case that fails what it fails without.
pub(crate) fn shrink(found: Found) -> Found {
    let mut least = found;
    let whole = Case::draw(&least.replay);
    let mut faults: Vec<usize> = (0..whole.faults.len()).collect();
    let tried = |replay: Replay, least: &mut Found| match run(&Case::draw(&replay)) {
        Err(what) => {
            *least = Found { replay, what };
            true
        }
        Ok(_) => false,
    };
    for fault in faults.clone() {
        let fewer: Vec<usize> = faults.iter().copied().filter(|it| *it != fault).collect();
        let mut replay = least.replay.clone();
        replay.faults = Some(fewer.clone());
        if tried(replay, &mut least) {
            faults = fewer;
        }
    }
    for pieces in 1..whole.pieces.len() {
        let mut replay = least.replay.clone();
        replay.pieces = Some(pieces);
        if tried(replay, &mut least) {
            break;
        }
    }
    least
}

/// All cases of these seeds that fail, by what is wrong, and how many there are of each kind.
pub(crate) fn survey(seeds: std::ops::Range<u64>) -> Vec<(String, u64, Found)> {
    let next = AtomicU64::new(seeds.start);
    let kinds: Mutex<std::collections::BTreeMap<String, (u64, Found)>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let replay = Replay::whole(seed);
                    if let Err(what) = run(&Case::draw(&replay)) {
                        let kind = what.chars().filter(|it| !it.is_ascii_digit());
                        let kind: String = kind.take(90).collect();
                        let mut kinds = kinds.lock().unwrap();
                        let known = kinds.entry(kind);
                        let known = known.or_insert_with(|| (0, Found { replay, what }));
                        known.0 += 1;
                    }
                }
            });
        }
    });
    let kinds = kinds.into_inner().unwrap().into_iter();
    kinds
        .map(|(kind, (count, found))| (kind, count, found))
        .collect()
}

/// Runs the cases of all seeds, on as many threads as there are processors. Returns the first that fails.
pub(crate) fn run_all(
    seeds: std::ops::Range<u64>,
    prepare: impl Fn() + Sync,
) -> Result<Done, Found> {
    let next = AtomicU64::new(seeds.start);
    let found: Mutex<Option<Found>> = Mutex::new(None);
    let done = Mutex::new(Done::default());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                prepare();
                let mut own = Done::default();
                while found.lock().unwrap().is_none() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let replay = Replay::whole(seed);
                    match run(&Case::draw(&replay)) {
                        Ok(it) => own.add(it),
                        Err(what) => {
                            let mut found = found.lock().unwrap();
                            if found.as_ref().is_none_or(|it| it.replay.seed > seed) {
                                *found = Some(Found { replay, what });
                            }
                        }
                    }
                }
                done.lock().unwrap().add(own);
            });
        }
    });
    match found.into_inner().unwrap() {
        Some(found) => Err(found),
        None => Ok(done.into_inner().unwrap()),
    }
}
