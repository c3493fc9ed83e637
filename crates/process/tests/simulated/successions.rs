//! Successions: processes whose team has lost some, or that some leave, agree on who goes on, become the next team, and do so
//! again. Whoever lives gets to the end, and all know the same teams.

use super::phases::{drawn, options};
use super::random::Random;
use super::scheduler::sim;
use super::state::Blow;
use corecast_collectives::{Plans, PlansError};
use corecast_plan::Pattern;
use corecast_process::{EnterError, Places, ProcessGroup, Survivors};
use corecast_team::{Failure, Loss, Options, Team};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// How long processes look for each other; longer than any is stopped.
const LIMIT: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
struct Case {
    /// One rank each.
    processes: usize,
    /// Teams in which nobody need be lost.
    teams: usize,
    operations: u64,
    /// The process that leaves after so many teams.
    leaves: Option<(usize, usize)>,
    blows: Vec<(u64, usize, Blow)>,
}

impl Case {
    fn draw(seed: u64) -> Self {
        let random = Random::new(&[seed, 80]);
        let processes = random.between(2..6) as usize;
        let teams = random.between(1..4) as usize;
        let blow = |_| {
            let stop = Duration::from_nanos(random.spread(30));
            let blow = match random.below(4) {
                0 => Blow::Stop(stop),
                1 => Blow::Exec,
                _ => Blow::Kill,
            };
            (random.spread(14), random.index(processes), blow)
        };
        Self {
            processes,
            teams,
            operations: random.between(1..4),
            leaves: random.once_in(3).then(|| {
                (
                    random.index(processes),
                    random.between(1..teams as u64 + 1) as usize,
                )
            }),
            blows: (0..random.pick(&[0, 1, 1, 2, 3])).map(blow).collect(),
        }
    }
}

fn plans(n: usize) -> Result<Plans, PlansError> {
    let machine = corecast_model::synthetic(&format!("core:{n}")).expect("a machine");
    Plans::of_pattern(machine.costs(), Pattern::Binomial, None)
}

/// What one process has seen.
#[derive(Clone, Debug, Default)]
struct Log {
    /// The processes of each of its teams, by rank.
    teams: Vec<Vec<usize>>,
    wrong: bool,
    /// Failures with the processes that they name.
    failures: Vec<(usize, Failure)>,
    ended: bool,
    refused: Option<String>,
}

type Logs = Rc<Vec<RefCell<Log>>>;

/// Runs the case of a seed. Returns what is wrong.
pub(crate) fn run(seed: u64) -> Result<(), String> {
    let case = Rc::new(Case::draw(seed));
    let random = Random::new(&[seed, 81]);
    let (tempo, pace) = drawn(&random);
    let options = options(&random, pace);
    let first = plans(case.processes).expect("plans");
    let memory = Rc::new(ProcessGroup::found(&first, &options).expect("a segment"));
    let options = Rc::new(options);
    sim().begin(seed, case.processes, tempo);
    for &(step, process, blow) in &case.blows {
        sim().plan_blow(step, process, blow);
    }
    let logs: Logs = Rc::new((0..case.processes).map(|_| RefCell::default()).collect());
    for process in 0..case.processes {
        let (case, options) = (Rc::clone(&case), Rc::clone(&options));
        let (memory, logs) = (Rc::clone(&memory), Rc::clone(&logs));
        sim().spawn(process, move || {
            let log = &logs[process];
            let lived = ProcessGroup::attach(&*memory, &[process], &options)
                .and_then(|team| live(&case, process, team, &options, log));
            match lived {
                Ok(()) => log.borrow_mut().ended = true,
                Err(error) => log.borrow_mut().refused = Some(error.to_string()),
            }
        });
    }
    let (ran, _) = sim().run();
    let gone = |blows: &Vec<Blow>| blows.iter().any(|blow| !matches!(blow, Blow::Stop(_)));
    let gone: Vec<bool> = sim().struck().iter().map(gone).collect();
    let what = match ran {
        Err(stuck) => Err(format!("{stuck:?}")),
        Ok(()) => judge(&case, &gone, &logs),
    };
    what.map_err(|what| format!("{what}: gone {gone:?}, {case:?}: {logs:?}"))
}

/// One process: team after team, until it leaves or the last one has done its work.
fn live(
    case: &Case,
    process: usize,
    mut team: Team,
    options: &Options,
    log: &RefCell<Log>,
) -> Result<(), EnterError> {
    let mut processes: Vec<usize> = (0..case.processes).collect();
    for number in 1.. {
        log.borrow_mut().teams.push(processes.clone());
        let failed = work(case, &team, &processes, log);
        if !failed && number >= case.teams {
            return Ok(());
        }
        let leaves = case.leaves == Some((process, number));
        let next = loop {
            let leaving = if leaves { team.ranks() } else { Vec::new() };
            let agreed = Survivors::agree(&team, &leaving, Places::Closed, LIMIT);
            let survivors = match agreed {
                Err(EnterError::AllLeave) if leaves => return Ok(()),
                agreed => agreed?,
            };
            let size = survivors.size();
            let ranks = survivors.ranks().to_vec();
            if let Some(next) = survivors.enter(|| plans(size), options)? {
                processes = ranks.iter().map(|&rank| processes[rank]).collect();
                break next;
            }
        };
        team = next;
    }
    unreachable!("a loop without an end")
}

/// The operations of one team, each of which sums up who takes part; whether one has failed.
fn work(case: &Case, team: &Team, processes: &[usize], log: &RefCell<Log>) -> bool {
    let rank = team.ranks()[0];
    let mut member = team.join(rank).expect("a member");
    let all = processes.iter().map(|process| 1u64 << process).sum::<u64>();
    for _ in 0..case.operations {
        match member.allreduce_value(1u64 << processes[rank], |a, b| a + b) {
            Ok(sum) => log.borrow_mut().wrong |= sum != all,
            Err(failure) => {
                let named = match &failure {
                    Failure::PeerLost { remote, .. } => processes[remote.rank],
                    _ => usize::MAX,
                };
                log.borrow_mut().failures.push((named, failure));
                return true;
            }
        }
    }
    false
}

fn judge(case: &Case, gone: &[bool], logs: &Logs) -> Result<(), String> {
    let is_gone = |process: usize| gone.get(process).is_some_and(|gone| *gone);
    let mut teams: Vec<Vec<usize>> = Vec::new();
    for (process, log) in logs.iter().enumerate() {
        let log = log.borrow();
        if log.wrong {
            return Err(format!("process {process} got a wrong sum"));
        }
        for (number, team) in log.teams.iter().enumerate() {
            if !team.contains(&process) {
                return Err(format!("process {process} is in a team without it"));
            }
            match teams.get(number) {
                None => teams.push(team.clone()),
                Some(known) if known == team => {}
                Some(known) => return Err(format!("team {number} is {known:?} and {team:?}")),
            }
        }
        // The first team does not come about without all.
        let none = log.teams.is_empty() && gone.contains(&true);
        if !log.ended && !is_gone(process) && !none {
            return Err(format!("process {process} has no end: {:?}", log.refused));
        }
        for (named, failure) in &log.failures {
            let has_cause = match failure {
                Failure::PeerLost {
                    how: Loss::Died, ..
                } => is_gone(*named),
                // It has failed as well, and left for the next team, or was done.
                Failure::PeerLost {
                    how: Loss::Left, ..
                } => gone.contains(&true),
                Failure::NeverJoined { .. } => gone.contains(&true),
                _ => false,
            };
            if !has_cause {
                return Err(format!("process {process} failed without cause: {failure}"));
            }
        }
    }
    let calm = !gone.contains(&true) && case.leaves.is_none();
    match calm && teams != vec![(0..case.processes).collect::<Vec<_>>(); case.teams] {
        true => Err("a team is missing or another one".to_owned()),
        false => Ok(()),
    }
}
