//! Teams that learn while they run: results stay right, all ranks learn the same, and what was asked for stays.

use crate::common::plans_of;
use corecast_collectives::{Algorithms, Collective, Learned};
use corecast_plan::Pattern;
use corecast_team::{Failure, Member, Options, Team};

/// Calls of each operation: more than a race takes.
const CALLS: usize = 160;

fn team(n: usize, options: Options) -> Team {
    let plans = plans_of(n, Pattern::Smelt);
    Team::with_options(plans, &options).unwrap()
}

fn learning() -> Options {
    Options {
        learn: true,
        ..Options::default()
    }
}

/// Calls all operations with blocks of `len` words, and checks what they give.
fn play(member: &mut Member, len: usize) -> Result<(), Failure> {
    let (n, me) = (member.size(), member.rank());
    let add = |a: u64, b: u64| a + b;
    let of = |rank: usize| rank as u64 + 1;
    let sum = |ranks: usize| (0..ranks).map(of).sum::<u64>();
    for call in 0..CALLS {
        let root = call % n;
        let mut data = vec![of(me); len];
        member.broadcast(root, &mut data)?;
        assert_eq!(data, vec![of(root); len]);
        let mut data = vec![of(me); len];
        member.reduce(root, &mut data, add)?;
        assert!(me != root || data == vec![sum(n); len]);
        let mut data = vec![of(me); len];
        member.allreduce(&mut data, add)?;
        assert_eq!(data, vec![sum(n); len]);
        let mut data = vec![of(me); len];
        member.scan(&mut data, add)?;
        assert_eq!(data, vec![sum(me + 1); len]);
        let all: Vec<u64> = (0..n * len).map(|at| of(at / len)).collect();
        let (mut one, mut every) = (vec![0; len], vec![0; n * len]);
        member.scatter(root, (me == root).then_some(&all[..]), &mut one)?;
        assert_eq!(one, vec![of(me); len]);
        member.gather(root, &one, (me == root).then_some(&mut every[..]))?;
        assert!(me != root || every == all);
        every.fill(0);
        member.allgather(&one, &mut every)?;
        assert_eq!(every, all);
        member.alltoall(&vec![of(me); n * len], &mut every)?;
        assert_eq!(every, all);
        member.reduce_scatter(&all, &mut one, add)?;
        assert_eq!(one, vec![n as u64 * of(me); len]);
    }
    Ok(())
}

fn learned(n: usize, len: usize, options: Options) -> Vec<Learned> {
    let all = team(n, options).run(|member| {
        play(member, len).unwrap();
        for one in member.learned() {
            let bytes = 8 * len;
            assert_eq!(member.algorithm(one.collective, 0, bytes, 8), one.algorithm);
        }
        member.learned().to_vec()
    });
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    all.into_iter().next().unwrap()
}

#[test]
fn all_ranks_learn_the_same_of_all_operations() {
    for (n, len) in [(2, 1), (3, 40), (4, 2000)] {
        let found = learned(n, len, learning());
        // A barrier has no length.
        for collective in Collective::WITH_ALGORITHMS.into_iter().skip(1) {
            let of_it: Vec<_> = found
                .iter()
                .filter(|one| one.collective == collective)
                .collect();
            let [one] = of_it[..] else {
                panic!("{n} ranks, {collective}: {found:?}");
            };
            let class = 8 * len <= one.up_to && (one.up_to == 64 || 8 * len > one.up_to / 2);
            assert!(class && one.ratio > 0.0, "{one:?}");
        }
    }
}

#[test]
fn what_is_asked_for_is_not_raced_and_deterministic_teams_learn_nothing() {
    let mut algorithms = Algorithms::default();
    for collective in Collective::WITH_ALGORITHMS.into_iter().skip(1) {
        let name = Algorithms::names(collective.name()).unwrap()[0];
        algorithms
            .ask(collective.name(), &[(usize::MAX, Some(name))])
            .unwrap();
    }
    // An inner reduction of `trees` has another rank for each block as its root, which alone calls it so.
    algorithms
        .ask("reduce_scatter", &[(usize::MAX, Some("trees"))])
        .unwrap();
    let asked = Options {
        algorithms,
        ..learning()
    };
    let deterministic = Options {
        deterministic: true,
        ..learning()
    };
    for options in [asked, deterministic, Options::default()] {
        assert_eq!(learned(3, 5, options), []);
    }
}
