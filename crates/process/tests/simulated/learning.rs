//! Teams that learn while they run: ranks that see different times run the same algorithms and learn the same.

use super::random::Random;
use super::scheduler::sim;
use super::state::Tempo;
use corecast_collectives::{Learned, Plans};
use corecast_plan::Pattern;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Member, Options, Team};
use corecast_wire::sync::sleep;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Calls of each operation: more than a race takes.
const CALLS: usize = 150;

/// Runs the case of a seed. Returns what is wrong.
pub(crate) fn run(seed: u64) -> Result<(), String> {
    let random = Random::new(&[seed, 60]);
    let n = random.between(2..5) as usize;
    let processes = random.pick(&[1, n]);
    let len = random.pick(&[1, 9, 200]);
    let machine = corecast_model::synthetic(&format!("core:{n}")).expect("a machine");
    let plans = Plans::of_pattern(machine.costs(), Pattern::Smelt, None).expect("plans");
    let options = Options {
        learn: true,
        parallelism: Some(random.pick(&[1, 8])),
        ..Options::default()
    };
    let descriptor = (processes > 1).then(|| {
        let segment = ProcessGroup::found(&plans, &options);
        Rc::new(segment.expect("a segment"))
    });
    let asked = Rc::new((plans, options));
    let tempo = Tempo {
        accesses: 8,
        spurious: 0,
        long: 0,
        slow: None,
    };
    sim().begin(seed, processes, tempo);
    let learned: Rc<RefCell<Vec<Result<Vec<Learned>, String>>>> = Rc::default();
    for process in 0..processes {
        let ranks: Vec<usize> = match processes {
            1 => (0..n).collect(),
            _ => vec![process],
        };
        let (asked, descriptor) = (Rc::clone(&asked), descriptor.clone());
        let learned = Rc::clone(&learned);
        sim().spawn(process, move || {
            let team = Rc::new(match descriptor {
                None => Team::with_options(asked.0.clone(), &asked.1).expect("a team"),
                // What this process asks for does not count.
                Some(fd) => {
                    ProcessGroup::attach(&*fd, &ranks, &Options::default()).expect("a team")
                }
            });
            for rank in ranks {
                let (team, learned) = (Rc::clone(&team), Rc::clone(&learned));
                sim().spawn(process, move || {
                    let mut member = team.join(rank).expect("a member");
                    let late = Random::new(&[seed, 61, rank as u64]);
                    let played = play(&mut member, len, &late);
                    learned
                        .borrow_mut()
                        .push(played.map(|()| member.learned().to_vec()));
                });
            }
        });
    }
    if let (Err(stuck), _) = sim().run() {
        return Err(format!("{stuck:?}"));
    }
    let learned: Vec<Vec<Learned>> = learned.take().into_iter().collect::<Result<_, _>>()?;
    let same = |one: &Vec<Learned>| !one.is_empty() && *one == learned[0];
    match learned.len() == n && learned.iter().all(same) {
        true => Ok(()),
        false => Err(format!("{n} ranks have learned {learned:?}")),
    }
}

/// Operations with results that depend on each rank's part, on ranks that are late now and then. Returns what is wrong.
fn play(member: &mut Member, len: usize, late: &Random) -> Result<(), String> {
    let (n, rank) = (member.size(), member.rank());
    let sum = (n * (n + 1) / 2) as u64;
    let ended = |what: &str, ended: Result<(), Failure>, right: bool| match ended {
        Err(failure) => Err(format!("{what}: {failure}")),
        Ok(()) if right => Ok(()),
        Ok(()) => Err(format!("{what} has a wrong result")),
    };
    for call in 0..CALLS as u64 {
        if late.once_in(4) {
            sleep(Duration::from_micros(late.between(1..40)));
        }
        let mut data = vec![rank as u64 + 1 + call; len];
        let done = member.allreduce(&mut data, |a, b| a + b);
        let right = data.iter().all(|&one| one == sum + n as u64 * call);
        ended("allreduce", done, right)?;
        let root = call as usize % n;
        let mut data = vec![rank as u64; len];
        let done = member.broadcast(root, &mut data);
        ended(
            "broadcast",
            done,
            data.iter().all(|&one| one == root as u64),
        )?;
        let mut all = vec![0; n * len];
        let done = member.allgather(&vec![rank as u64 + call; len], &mut all);
        let expected = (0..n * len).map(|at| (at / len) as u64 + call);
        ended("allgather", done, all.into_iter().eq(expected))?;
        let mut own = vec![0; len];
        let all = vec![rank as u64 + 1; n * len];
        let done = member.reduce_scatter(&all, &mut own, |a, b| a + b);
        ended("reduce_scatter", done, own.iter().all(|&one| one == sum))?;
    }
    Ok(())
}
