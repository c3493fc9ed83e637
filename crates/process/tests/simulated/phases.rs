//! Phase barriers: members that arrive in each phase, and strangers that arrive where too many come.

use super::random::Random;
use super::scheduler::sim;
use super::state::Tempo;
use corecast_team::Options;
use corecast_wire::sync::yield_now;
use corecast_wire::{PhaseBarrier, WaitConfig};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// Runs the case of a seed. Returns what is wrong.
pub(crate) fn run(seed: u64) -> Result<(), String> {
    match seed % 2 {
        0 => strangers_come_all_at_once(seed),
        _ => more_come_than_are_expected(seed),
    }
}

/// Begins a simulation of one process, and returns how its members wait.
pub(crate) fn begin(seed: u64, random: &Random) -> WaitConfig {
    let (tempo, pace) = drawn(random);
    sim().begin(seed, 1, tempo);
    pace
}

/// How often tasks take turns, and how members wait.
pub(crate) fn drawn(random: &Random) -> (Tempo, WaitConfig) {
    let tempo = Tempo {
        accesses: random.pick(&[1, 1, 2, 8]),
        spurious: random.pick(&[0, 100]),
        long: 0,
        slow: None,
    };
    let paces = [
        WaitConfig::PARK,
        WaitConfig {
            spin_ns: 500,
            yield_ns: 1_000,
            ..WaitConfig::PARK
        },
    ];
    (tempo, random.pick(&paces))
}

/// The options of a team whose members wait so.
pub(crate) fn options(random: &Random, pace: WaitConfig) -> Options {
    Options {
        wait_config: Some(pace),
        join_limit: Duration::from_secs(2),
        parallelism: Some(random.pick(&[1, 8])),
        depth: 1,
        ..Options::default()
    }
}

/// Members arrive one by one, and strangers for more than are expected: these are always refused, and no member is refused
/// for their sake.
fn strangers_come_all_at_once(seed: u64) -> Result<(), String> {
    let random = Random::new(&[seed, 40]);
    let members = random.between(2..5) as u32;
    let phases = random.between(1..6) as u32;
    let pace = begin(seed, &random);
    let barrier = Rc::new(PhaseBarrier::new(members, pace));
    let accepted = Rc::new(Cell::new(0));
    let completed = Rc::new(Cell::new(0));
    let wrong: Rc<RefCell<Option<String>>> = Rc::default();
    for member in 0..members {
        let (barrier, wrong) = (Rc::clone(&barrier), Rc::clone(&wrong));
        let (accepted, completed) = (Rc::clone(&accepted), Rc::clone(&completed));
        sim().spawn(0, move || {
            for _ in 0..phases {
                match barrier.arrive(1, || completed.set(completed.get() + 1)) {
                    Ok(arrival) => {
                        accepted.set(accepted.get() + 1);
                        barrier.wait(arrival);
                    }
                    Err(error) => {
                        let words = format!("member {member} was refused: {error}");
                        wrong.borrow_mut().get_or_insert(words);
                        return;
                    }
                }
            }
        });
    }
    for _ in 0..random.between(0..3) {
        let (barrier, wrong) = (Rc::clone(&barrier), Rc::clone(&wrong));
        let times = random.between(1..4);
        sim().spawn(0, move || {
            for _ in 0..times {
                if barrier.arrive(members + 1, || ()).is_ok() {
                    let words = "a stranger was accepted".to_owned();
                    wrong.borrow_mut().get_or_insert(words);
                }
            }
        });
    }
    let (ran, _) = sim().run();
    let wrong = wrong.borrow_mut().take();
    if let Some(words) = wrong {
        return Err(words);
    }
    if let Err(stuck) = ran {
        return Err(format!("{stuck:?}: members wait for ever"));
    }
    match (accepted.get(), completed.get()) {
        (accepted, completed) if accepted == members * completed => Ok(()),
        (accepted, completed) => Err(format!(
            "{accepted} arrivals of {members} each were {completed} phases"
        )),
    }
}

/// More threads than are expected arrive again and again: each phase has as many arrivals as are expected, whoever they
/// are of.
fn more_come_than_are_expected(seed: u64) -> Result<(), String> {
    let random = Random::new(&[seed, 41]);
    let expected = random.between(1..4) as u32;
    let phases = random.between(1..6) as u32;
    let pace = begin(seed, &random);
    let barrier = Rc::new(PhaseBarrier::new(expected, pace));
    let accepted = Rc::new(Cell::new(0));
    let completed = Rc::new(Cell::new(0));
    for _ in 0..expected + random.between(1..4) as u32 {
        let (barrier, accepted) = (Rc::clone(&barrier), Rc::clone(&accepted));
        let completed = Rc::clone(&completed);
        sim().spawn(0, move || {
            while completed.get() < phases {
                let arrived = barrier.arrive(1, || completed.set(completed.get() + 1));
                let Ok(arrival) = arrived else {
                    yield_now();
                    continue;
                };
                accepted.set(accepted.get() + 1);
                // The last phase may never be full.
                while !barrier.is_over(arrival) && completed.get() < phases {
                    yield_now();
                }
            }
        });
    }
    let (ran, _) = sim().run();
    if let Err(stuck) = ran {
        return Err(format!("{stuck:?}: a phase never ends"));
    }
    let (accepted, least) = (accepted.get(), expected * completed.get());
    match (least..least + expected).contains(&accepted) {
        true => Ok(()),
        false => Err(format!(
            "{accepted} arrivals of {expected} each were {} phases",
            completed.get()
        )),
    }
}
