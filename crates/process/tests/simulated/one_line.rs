//! Algorithms over lines of their own, with ranks that are late, leave, or call something else: without such a rank every
//! round has the right sums, and with one nobody waits for ever.

use super::phases::begin;
use super::random::Random;
use super::scheduler::sim;
use corecast_collectives::one_line::OneLineReduction;
use corecast_collectives::{Collective, Plans};
use corecast_plan::{Pattern, Tree};
use corecast_team::{Failure, Loss, Options, Team};
use corecast_wire::cache_lines::{CacheLines, LineSet};
use corecast_wire::sync::sleep;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// What one rank does at the beginning of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Odd {
    Nothing,
    Leaves,
    /// Reduces as a team does, which is the same operation for the others.
    ReducesOtherwise,
}

/// The sums that a rank got, and the failure that ended them.
type Ended = (Vec<u64>, Option<Failure>);

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
    let mut set = LineSet::new(n);
    let reduction = Rc::new(OneLineReduction::new(&mut set, &tree, None));
    let odds = [Odd::Nothing, Odd::Leaves, Odd::ReducesOtherwise];
    let (odd, who, when) = (
        random.pick(&odds),
        random.index(n),
        random.between(1..rounds + 1),
    );
    let late = random.once_in(2).then(|| random.index(n));
    let options = Options {
        wait_config: Some(begin(seed, &random)),
        ..Options::default()
    };
    let ends: Rc<RefCell<Vec<Option<Ended>>>> = Rc::new(RefCell::new(vec![None; n]));
    let all = Rc::clone(&ends);
    sim().spawn(0, move || {
        let machine = corecast_model::synthetic(&format!("core:{n}")).expect("a machine");
        let plans = Plans::of_pattern(machine.costs(), Pattern::Binomial, None).expect("plans");
        let team = Rc::new(Team::with_options(plans, &options).expect("a team"));
        let lines = Rc::new(team.lines(&set).expect("lines"));
        for rank in 0..n {
            let (team, lines) = (Rc::clone(&team), Rc::clone(&lines));
            let (all, reduction) = (Rc::clone(&all), Rc::clone(&reduction));
            sim().spawn(0, move || {
                let mut member = team.join(rank).expect("a member");
                let mut sums = Vec::new();
                let mut failure = None;
                for round in 1..=rounds {
                    if late == Some(rank) {
                        sleep(Duration::from_millis(30));
                    }
                    let ended = match (rank == who && round == when).then_some(odd) {
                        Some(Odd::Leaves) => break,
                        Some(Odd::ReducesOtherwise) => {
                            member.reduce_value(0, 0, |a: u64, b| a + b).map(|_| None)
                        }
                        _ => member.on_lines(&lines, Collective::Reduce, 0, |lines, round| {
                            let own = reduction.data(rank);
                            lines.set_payload(own, [round << rank; 7]);
                            reduction.run(lines, round)?;
                            Ok(Some(lines.payload(own)[6]))
                        }),
                    };
                    match ended {
                        Ok(sum) => sums.extend(sum),
                        Err(why) => {
                            failure = Some(why);
                            break;
                        }
                    }
                }
                all.borrow_mut()[rank] = Some((sums, failure));
            });
        }
    });
    if let (Err(stuck), _) = sim().run() {
        return Err(format!("{odd:?} by {who} in round {when}: {stuck:?}"));
    }
    // Where all do their part at once, no sleeper needs the limit of its sleep to go on.
    if odd == Odd::Nothing && late.is_none() && sim().rescued() > 0 {
        return Err("a sleeper was not woken".to_owned());
    }
    let ends: Vec<Ended> = ends.borrow_mut().drain(..).flatten().collect();
    judge((n, rounds), (odd, who), &ends)
        .map_err(|what| format!("{odd:?} by {who} in round {when}: {what}: {ends:?}"))
}

fn judge(
    (n, rounds): (usize, u64),
    (odd, who): (Odd, usize),
    ends: &[Ended],
) -> Result<(), &'static str> {
    if ends.len() != n {
        return Err("a rank has no end");
    }
    let right = (1..).zip(&ends[0].0);
    if right
        .into_iter()
        .any(|(round, &sum)| sum != round * ((1 << n) - 1))
    {
        return Err("a wrong sum");
    }
    let failures: Vec<&Failure> = ends.iter().filter_map(|end| end.1.as_ref()).collect();
    let is_cause = |failure: &Failure| match (odd, failure) {
        (Odd::Leaves, Failure::PeerLost { remote, how, .. }) => {
            (remote.rank, *how) == (who, Loss::Left)
        }
        // It may leave first, one round short.
        (Odd::ReducesOtherwise, failure) => {
            matches!(failure, Failure::Mismatch { .. } | Failure::PeerLost { .. })
        }
        _ => false,
    };
    match odd {
        Odd::Nothing if ends[0].0.len() as u64 != rounds => Err("a sum is missing"),
        Odd::Nothing if !failures.is_empty() => Err("a failure without cause"),
        _ if !failures.iter().all(|failure| is_cause(failure)) => Err("a failure of another cause"),
        Odd::Leaves if who == 0 || !failures.is_empty() => Ok(()),
        Odd::Leaves => Err("nobody has noticed"),
        _ => Ok(()),
    }
}
