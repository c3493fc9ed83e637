//! Algorithms over lines of their own, on threads and between processes, with ranks that are late, leave, are killed, or call
//! something else: without such a rank every round has the right sums, and with one nobody waits for ever.

use super::phases::drawn;
use super::random::Random;
use super::scheduler::sim;
use super::state::Blow;
use corecast_collectives::one_line::{FlatBarrier, OneLineReduction, Sharing};
use corecast_collectives::{Collective, Plans};
use corecast_plan::{Pattern, Tree};
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Loss, Options, Team, TeamLines};
use corecast_wire::cache_lines::{CacheLines, LineSet};
use corecast_wire::sync::sleep;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// What one rank does at the beginning of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Odd {
    Nothing,
    Leaves,
    /// Reduces as a team does, which is the same operation for the others.
    ReducesOtherwise,
    /// Its process is killed.
    Dies,
    /// Its process has made the lines of another algorithm, in which it does its part all the time.
    HasOtherLines,
}

/// The sums that a rank got, and the failure that ended them.
type Ended = (Vec<u64>, Option<Failure>);

/// The algorithms of a case, and their lines.
struct Algorithms {
    reduction: OneLineReduction,
    of_reduction: LineSet,
    barrier: FlatBarrier,
    of_barrier: LineSet,
}

/// Who does what in a case.
#[derive(Clone, Copy)]
struct Roles {
    n: usize,
    rounds: u64,
    odd: Odd,
    who: usize,
    when: u64,
    late: Option<usize>,
}

/// Runs the case of a seed. Returns what is wrong.
pub(crate) fn run(seed: u64) -> Result<(), String> {
    let random = Random::new(&[seed, 60]);
    let n = random.between(2..6) as usize;
    let rounds = random.between(1..6);
    let mut children = vec![Vec::new(); n];
    for child in 1..n {
        children[random.index(child)].push(child);
    }
    let tree = Tree::from_children(0, children).expect("a tree");
    let [mut of_reduction, mut of_barrier] = [n, n].map(LineSet::new);
    let algorithms = Rc::new(Algorithms {
        reduction: OneLineReduction::new(&mut of_reduction, &tree, None),
        of_reduction,
        barrier: FlatBarrier::new(&mut of_barrier, Sharing::SameLine, Sharing::SameLine),
        of_barrier,
    });
    let of_processes = Random::new(&[seed, 61]);
    // The memory of processes takes longer than what they do.
    let processes = if of_processes.once_in(6) { n } else { 1 };
    let odds = [
        Odd::Nothing,
        Odd::Leaves,
        Odd::ReducesOtherwise,
        Odd::Dies,
        Odd::HasOtherLines,
    ];
    let odds = &odds[..if processes == 1 { 3 } else { odds.len() }];
    let (odd, who, when) = (
        random.pick(odds),
        random.index(n),
        random.between(1..rounds + 1),
    );
    let late = random.once_in(2).then(|| random.index(n));
    let roles = Roles {
        n,
        rounds,
        odd,
        who,
        when,
        late,
    };
    let (tempo, pace) = drawn(&random);
    let options = Options {
        wait_config: Some(pace),
        join_limit: Duration::from_secs(2),
        depth: 1,
        ..Options::default()
    };
    let machine = corecast_model::synthetic(&format!("core:{n}")).expect("a machine");
    let plans = Plans::of_pattern(machine.costs(), Pattern::Binomial, None).expect("plans");
    let memory =
        (processes > 1).then(|| Rc::new(ProcessGroup::found(&plans, &options).expect("a segment")));
    sim().begin(seed, processes, tempo);
    if odd == Odd::Dies {
        sim().plan_blow(of_processes.spread(13), who, Blow::Kill);
    }
    let made = Rc::new((plans, options));
    let ends: Rc<RefCell<BTreeMap<usize, Ended>>> = Rc::default();
    for process in 0..processes {
        let (made, memory) = (Rc::clone(&made), memory.clone());
        let (algorithms, all) = (Rc::clone(&algorithms), Rc::clone(&ends));
        sim().spawn(process, move || {
            let team = match memory {
                None => Team::with_options(made.0.clone(), &made.1).ok(),
                // It fails where another one is killed before it has come.
                Some(fd) => ProcessGroup::attach(&*fd, &[process], &made.1).ok(),
            };
            let Some(team) = team.map(Rc::new) else {
                return;
            };
            let other = roles.odd == Odd::HasOtherLines && process == roles.who;
            let set = match other {
                true => &algorithms.of_barrier,
                false => &algorithms.of_reduction,
            };
            let lines = Rc::new(team.lines(set).expect("lines"));
            for rank in team.ranks() {
                let (team, lines) = (Rc::clone(&team), Rc::clone(&lines));
                let (all, algorithms) = (Rc::clone(&all), Rc::clone(&algorithms));
                sim().spawn(process, move || {
                    let ended = play(&team, rank, &lines, (roles, &algorithms));
                    all.borrow_mut().insert(rank, ended);
                });
            }
        });
    }
    let (ran, _) = sim().run();
    let Roles { odd, who, when, .. } = roles;
    let told = |what: &str, ends: &BTreeMap<usize, Ended>| {
        format!("{processes} processes, {odd:?} by {who} in round {when}: {what}: {ends:?}")
    };
    let ends = ends.borrow();
    if let Err(stuck) = ran {
        return Err(told(&format!("{stuck:?}"), &ends));
    }
    // Where all do their part at once, no sleeper needs the limit of its sleep to go on.
    if odd == Odd::Nothing && late.is_none() && sim().rescued() > 0 {
        return Err("a sleeper was not woken".to_owned());
    }
    let died = sim().struck().iter().any(|blows| !blows.is_empty());
    judge(roles, died, &ends).map_err(|what| told(what, &ends))
}

/// What one rank does.
fn play(team: &Team, rank: usize, lines: &TeamLines, (roles, all): (Roles, &Algorithms)) -> Ended {
    let mut member = team.join(rank).expect("a member");
    let mut sums = Vec::new();
    for round in 1..=roles.rounds {
        if roles.late == Some(rank) {
            sleep(Duration::from_millis(30));
        }
        let odd = (rank == roles.who).then_some(roles.odd);
        let ended = match odd.filter(|odd| *odd == Odd::HasOtherLines || round == roles.when) {
            Some(Odd::Leaves) => break,
            Some(Odd::ReducesOtherwise) => {
                let reduced = member.reduce_value(0, 0, |a: u64, b| a + b);
                reduced.map(|_| None)
            }
            Some(Odd::HasOtherLines) => {
                let barrier = &all.barrier;
                let met = member.on_lines(lines, Collective::Reduce, 0, |lines, round| {
                    barrier.run(lines, round)
                });
                met.map(|()| None)
            }
            _ => member.on_lines(lines, Collective::Reduce, 0, |lines, round| {
                let own = all.reduction.data(rank);
                lines.set_payload(own, [round << rank; 7]);
                all.reduction.run(lines, round)?;
                Ok(Some(lines.payload(own)[6]))
            }),
        };
        match ended {
            Ok(sum) => sums.extend(sum),
            Err(why) => return (sums, Some(why)),
        }
    }
    (sums, None)
}

fn judge(roles: Roles, died: bool, ends: &BTreeMap<usize, Ended>) -> Result<(), &'static str> {
    let Roles {
        n,
        rounds,
        odd,
        who,
        ..
    } = roles;
    if ends.len() != n && !died {
        return Err("a rank has no end");
    }
    let none = (Vec::new(), None);
    let root = ends.get(&0).unwrap_or(&none);
    let right = (1..).zip(&root.0);
    // Lines that lie where others have theirs may be taken for these.
    if odd != Odd::HasOtherLines
        && right
            .into_iter()
            .any(|(round, &sum)| sum != round * ((1 << n) - 1))
    {
        return Err("a wrong sum");
    }
    let failures: Vec<&Failure> = ends.values().filter_map(|end| end.1.as_ref()).collect();
    let is_cause = |failure: &Failure| match (odd, failure) {
        (Odd::Leaves, Failure::PeerLost { remote, how, .. }) => {
            (remote.rank, *how) == (who, Loss::Left)
        }
        (Odd::Dies, Failure::PeerLost { remote, how, .. }) => {
            died && (remote.rank, *how) == (who, Loss::Died)
        }
        // It may leave first, one round short.
        (Odd::ReducesOtherwise | Odd::HasOtherLines, failure) => {
            matches!(failure, Failure::Mismatch { .. } | Failure::PeerLost { .. })
        }
        _ => false,
    };
    let whole = root.0.len() as u64 == rounds;
    match odd {
        Odd::Nothing if !whole => Err("a sum is missing"),
        Odd::Nothing if !failures.is_empty() => Err("a failure without cause"),
        _ if !failures.iter().all(|failure| is_cause(failure)) => Err("a failure of another cause"),
        Odd::Leaves if who == 0 || !failures.is_empty() => Ok(()),
        Odd::Leaves => Err("nobody has noticed"),
        _ => Ok(()),
    }
}
