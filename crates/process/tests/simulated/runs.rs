//! Teams that run several times: ranks rest between two runs of their process, and the others wait for them. Whoever leaves a
//! run early has left the ranks of its own run, and those of other processes notice it through these.

use super::phases::{drawn, options};
use super::play::said;
use super::random::Random;
use super::scheduler::sim;
use super::state::Blow;
use corecast_collectives::Plans;
use corecast_plan::Pattern;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Loss, Member, Options, Team};
use corecast_wire::sync::sleep;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

/// What goes wrong in a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// A rank comes to the end of its process's run before this operation.
    LeavesRun {
        rank: usize,
        before: u64,
    },
    /// A process makes no further run after this one, and drops its team.
    DropsAfter {
        process: usize,
        run: usize,
    },
    Kill {
        process: usize,
        step: u64,
    },
}

/// A case: the operations are the same for all, and each process cuts them into runs of its own.
#[derive(Clone, Debug)]
struct Case {
    /// The process of each rank.
    process_of: Vec<usize>,
    operations: u64,
    /// For each process the operation after which each of its runs ends.
    cuts: Vec<Vec<u64>>,
    fault: Fault,
    /// A process that waits before each run.
    late: usize,
}

impl Case {
    fn draw(seed: u64) -> Self {
        let random = Random::new(&[seed, 70]);
        let n = random.between(1..6) as usize;
        let processes = random.between(1..n as u64 + 1) as usize;
        let of = |rank| match rank {
            rank if rank < processes => rank,
            _ => random.index(processes),
        };
        let process_of: Vec<usize> = (0..n).map(of).collect();
        let operations = random.between(2..9);
        let cut = |_| {
            let mut cuts: Vec<u64> = (0..random.between(1..4))
                .map(|_| random.between(1..operations + 1))
                .collect();
            cuts.push(operations);
            cuts.sort_unstable();
            cuts.dedup();
            cuts
        };
        let cuts: Vec<Vec<u64>> = (0..processes).map(cut).collect();
        let process = random.index(processes);
        let fault = match random.below(6) {
            0 | 1 => Fault::LeavesRun {
                rank: random.index(n),
                before: random.between(1..operations + 1),
            },
            2 if processes > 1 => Fault::DropsAfter {
                process,
                run: random.index(cuts[process].len()),
            },
            3 if processes > 1 => Fault::Kill {
                process,
                step: random.spread(13),
            },
            _ => Fault::Nothing,
        };
        let late = random.index(processes);
        Self {
            process_of,
            operations,
            cuts,
            fault,
            late,
        }
    }

    fn plans(&self, random: &Random) -> Plans {
        let n = self.process_of.len();
        let machine = corecast_model::synthetic(&format!("core:{n}")).expect("a machine");
        let pattern: Pattern = random
            .pick(&["binomial", "chain", "sequential"])
            .parse()
            .expect("a pattern");
        Plans::of_pattern(machine.costs(), pattern, None).expect("plans")
    }
}

/// What one rank has come to: how many operations had the right result, and the failure after them.
#[derive(Clone, Debug, Default)]
struct Ended {
    right: u64,
    wrong: bool,
    failure: Option<Failure>,
}

struct Stage {
    case: Case,
    ends: RefCell<BTreeMap<usize, Ended>>,
    /// What a process's run has panicked with.
    panics: RefCell<Vec<String>>,
}

/// Runs the case of a seed. Returns what is wrong.
pub(crate) fn run(seed: u64) -> Result<(), String> {
    let case = Case::draw(seed);
    let random = Random::new(&[seed, 71]);
    let (tempo, pace) = drawn(&random);
    let options = options(&random, pace);
    let plans = case.plans(&random);
    let processes = case.cuts.len();
    let memory = (processes > 1 || random.once_in(2))
        .then(|| Rc::new(ProcessGroup::found(&plans, &options).expect("a segment")));
    sim().begin(seed, processes, tempo);
    if let Fault::Kill { process, step } = case.fault {
        sim().plan_blow(step, process, Blow::Kill);
    }
    let stage = Rc::new(Stage {
        case,
        ends: RefCell::default(),
        panics: RefCell::default(),
    });
    let asked = Rc::new((plans, options));
    for process in 0..processes {
        let (stage, asked, memory) = (Rc::clone(&stage), Rc::clone(&asked), memory.clone());
        sim().spawn(process, move || {
            // It fails where another one is killed before it has come.
            if let Some(team) = team(&stage.case, process, &asked, memory) {
                runs(&stage, process, &Rc::new(team));
            }
        });
    }
    let (ran, _) = sim().run();
    let died = sim().struck().iter().any(|blows| !blows.is_empty());
    let what = match ran {
        Err(stuck) => Err(format!("{stuck:?}")),
        Ok(()) => judge(&stage, died),
    };
    let ends = stage.ends.borrow();
    let case = &stage.case;
    let told = what.map_err(|what| format!("{what}: {case:?}: {ends:?}"));
    told?;
    if case.fault == Fault::Nothing && processes == 1 && sim().rescued() > 0 {
        return Err(format!("a sleeper was not woken: {case:?}"));
    }
    Ok(())
}

fn team(
    case: &Case,
    process: usize,
    (plans, options): &(Plans, Options),
    memory: Option<Rc<OwnedFd>>,
) -> Option<Team> {
    let ranks = 0..case.process_of.len();
    let ranks: Vec<usize> = ranks
        .filter(|&rank| case.process_of[rank] == process)
        .collect();
    match memory {
        None => Team::with_options(plans.clone(), options).ok(),
        Some(fd) => ProcessGroup::attach(&*fd, &ranks, options).ok(),
    }
}

/// All runs of one process, until one has failed.
fn runs(stage: &Rc<Stage>, process: usize, team: &Rc<Team>) {
    let case = &stage.case;
    let mut first = 1;
    for (run, &last) in case.cuts[process].iter().enumerate() {
        if case.late == process {
            sleep(Duration::from_millis(5));
        }
        let members = team.begin_simulated_run();
        let back: Rc<RefCell<Vec<Member>>> = Rc::default();
        let (count, failed) = (members.len(), Rc::new(Cell::new(false)));
        // Tasks hold little.
        for mut member in members.into_iter().map(Box::new) {
            let (stage, back) = (Rc::clone(stage), Rc::clone(&back));
            let failed = Rc::clone(&failed);
            sim().spawn(process, move || {
                let rank = member.rank();
                let mut ended = stage.ends.borrow().get(&rank).cloned().unwrap_or_default();
                play(&stage.case, &mut member, first..=last, &mut ended);
                failed.set(failed.get() || ended.failure.is_some());
                stage.ends.borrow_mut().insert(rank, ended);
                member.end_of_simulated_run();
                back.borrow_mut().push(*member);
            });
        }
        while back.borrow().len() < count {
            sleep(Duration::from_micros(3));
        }
        let mut members = back.take();
        members.sort_by_key(Member::rank);
        let ended = catch_unwind(AssertUnwindSafe(|| team.end_simulated_run(members)));
        if let Err(payload) = ended {
            if sim().unwinds() {
                std::panic::resume_unwind(payload);
            }
            sim().has_caught();
            stage.panics.borrow_mut().push(said(&*payload));
            return;
        }
        let is_over = match case.fault {
            Fault::DropsAfter {
                process: by,
                run: after,
            } => (by, after) == (process, run),
            // Its rank has left out what the next run would go on after.
            Fault::LeavesRun { rank, before } => {
                case.process_of[rank] == process && (first..=last).contains(&before)
            }
            _ => false,
        };
        if failed.get() || is_over {
            return;
        }
        first = last + 1;
    }
}

/// One rank's part of a run: operation number `k` is an allreduce, a broadcast from a root that changes, or a barrier.
fn play(
    case: &Case,
    member: &mut Member,
    operations: std::ops::RangeInclusive<u64>,
    ended: &mut Ended,
) {
    let (n, rank) = (member.size(), member.rank());
    for number in operations {
        if case.fault
            == (Fault::LeavesRun {
                rank,
                before: number,
            })
        {
            return;
        }
        let root = number as usize % n;
        let (got, expected) = match number % 3 {
            0 => {
                let mut one = [number << rank];
                let got = member.allreduce(&mut one, |a: u64, b| a + b);
                (got.map(|()| one[0]), number * ((1 << n) - 1))
            }
            1 => {
                let got = member.broadcast_value(root, number * 10 + rank as u64);
                (got, number * 10 + root as u64)
            }
            _ => (member.barrier().map(|()| 0), 0),
        };
        match got {
            Ok(got) => {
                ended.wrong |= got != expected;
                ended.right += 1;
            }
            Err(failure) => {
                ended.failure = Some(failure);
                return;
            }
        }
    }
}

fn judge(stage: &Stage, died: bool) -> Result<(), String> {
    let (case, ends) = (&stage.case, stage.ends.borrow());
    if ends.values().any(|end| end.wrong) {
        return Err("a wrong result".to_owned());
    }
    let may = |failure: &Failure| {
        let Failure::PeerLost { remote, how, .. } = failure else {
            return false;
        };
        match (case.fault, how) {
            // Its process makes no further run.
            (Fault::LeavesRun { rank, .. }, Loss::Left) => {
                case.process_of[remote.rank] == case.process_of[rank]
            }
            (Fault::DropsAfter { process, .. }, Loss::Left) => {
                case.process_of[remote.rank] == process
            }
            (Fault::Kill { process, .. }, Loss::Died) => {
                died && case.process_of[remote.rank] == process
            }
            _ => false,
        }
    };
    let mut failures = ends.values().filter_map(|end| end.failure.as_ref());
    if let Some(failure) = failures.find(|failure| !may(failure)) {
        return Err(format!("a failure of another cause: {failure}"));
    }
    let panics = stage.panics.borrow();
    let leaves = matches!(case.fault, Fault::LeavesRun { .. });
    if !leaves && !panics.is_empty() {
        return Err(format!("a run has panicked: {panics:?}"));
    }
    let all = |end: &Ended| end.right == case.operations;
    let whole = ends.len() == case.process_of.len() && ends.values().all(all);
    match case.fault {
        Fault::Nothing if !whole => Err("an operation is missing".to_owned()),
        _ => Ok(()),
    }
}
