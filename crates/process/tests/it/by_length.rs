//! Algorithms by length: random tables, with results checked at lengths across all their boundaries, blocking and
//! in flight, on threads and on processes, of which the first one's tables apply.

use crate::own_process::WATCHDOG;
use crate::periodic::{PERIOD, joined, repeated};
use corecast_collectives::operator::Sum;
use corecast_collectives::{Algorithms, Plans, broadcast};
use corecast_plan::Pattern;
use corecast_process::Address;
use corecast_process::ProcessGroup;
use corecast_team::{Member, Options, Team};

/// Limits in bytes around which all lengths are tried.
const LIMITS: [usize; 7] = [0, 16, 56, 600, 4144, 40_000, 70_000];

/// A table for each operation: an algorithm, often with a size, or none for each range between the limits.
fn tables(rng: &mut fastrand::Rng) -> Algorithms {
    let mut asked = Algorithms::default();
    for operation in Algorithms::OPERATIONS {
        let all = [
            Algorithms::names(operation),
            Algorithms::sized_names(operation),
        ];
        let all = all.map(Result::unwrap);
        let mut name = || {
            let names = rng.choice(&all).filter(|_| rng.u32(..4) > 0)?;
            rng.choice(names).copied()
        };
        let ranges = match operation {
            "barrier" => vec![(usize::MAX, name())],
            _ => LIMITS.map(|limit| (limit, name())).to_vec(),
        };
        asked.ask(operation, &ranges).unwrap();
    }
    asked
}

/// Lengths in elements of eight bytes, on both sides of each limit.
fn lengths() -> impl Iterator<Item = usize> {
    let around = |limit: usize| [limit / 8, limit / 8 + 1];
    LIMITS.into_iter().flat_map(around)
}

fn value(rank: usize, i: usize) -> u64 {
    (rank * 1_000_003 + i * 7) as u64
}

fn given(rank: usize, len: usize) -> Vec<u64> {
    let period = (0..len.min(PERIOD)).map(|i| value(rank, i));
    repeated(period.collect(), len)
}

/// The expected sums over the ranks below `n`.
fn sums(n: usize, len: usize) -> Vec<u64> {
    let sum = |i: usize| (0..n).map(|rank| value(rank, i)).sum();
    repeated((0..len.min(PERIOD)).map(sum).collect(), len)
}

fn blocking(member: &mut Member, len: usize) {
    let (n, me, root) = (member.size(), member.rank(), len % member.size());
    let mine = given(me, len);
    let everything = joined((0..n).map(|rank| given(rank, len)));
    let mut data = mine.clone();
    member.broadcast(root, &mut data).unwrap();
    assert!(data == given(root, len), "broadcast of {len}");
    let mut data = mine.clone();
    member.reduce(root, &mut data, Sum).unwrap();
    assert!(me != root || data == sums(n, len), "reduce of {len}");
    let mut data = mine.clone();
    member.allreduce(&mut data, Sum).unwrap();
    assert!(data == sums(n, len), "allreduce of {len}");
    let mut data = mine.clone();
    member.scan(&mut data, Sum).unwrap();
    assert!(data == sums(me + 1, len), "scan of {len}");
    let mut all = vec![0; n * len];
    let into = (me == root).then_some(&mut all[..]);
    member.gather(root, &mine, into).unwrap();
    assert!(me != root || all == everything, "gather of {len}");
    let mut back = vec![0; len];
    let send = (me == root).then_some(&all[..]);
    member.scatter(root, send, &mut back).unwrap();
    assert!(back == mine, "scatter of {len}");
    all.fill(0);
    member.allgather(&mine, &mut all).unwrap();
    assert!(all == everything, "allgather of {len}");
    let mut sum = vec![0; len];
    member.reduce_scatter(&all, &mut sum, Sum).unwrap();
    let scaled: Vec<u64> = mine.iter().map(|one| one * n as u64).collect();
    assert!(sum == scaled, "reduce_scatter of {len}");
    let send = mine.repeat(n);
    member.alltoall(&send, &mut all).unwrap();
    assert!(all == everything, "alltoall of {len}");
    member.barrier().unwrap();
}

/// Operations of two lengths in flight at a time, on both sides of a limit.
fn in_flight(member: &mut Member, len: usize) {
    let (n, me) = (member.size(), member.rank());
    let (mut sum, mut heard, mut upto) = (given(me, len), given(me, len + 1), given(me, len + 1));
    let (mine, mut all) = (given(me, len), vec![0; n * len]);
    let ended = member.overlap(|flight| {
        let first = flight.allreduce(&mut sum, &Sum)?;
        let second = flight.broadcast(n - 1, &mut heard)?;
        let third = flight.scan(&mut upto, &Sum)?;
        let fourth = flight.allgather(&mine, &mut all)?;
        third.wait()?;
        second.wait()?;
        fourth.wait()?;
        first.wait()
    });
    ended.unwrap().unwrap();
    assert!(sum == sums(n, len), "allreduce of {len}");
    assert!(heard == given(n - 1, len + 1), "broadcast of {len}");
    assert!(upto == sums(me + 1, len + 1), "scan of {len}");
    let everything = joined((0..n).map(|rank| given(rank, len)));
    assert!(all == everything, "allgather of {len}");
}

fn options(algorithms: Algorithms) -> Options {
    Options {
        algorithms,
        patience: Some(WATCHDOG),
        join_limit: WATCHDOG,
        ..Options::default()
    }
}

fn plans(n: usize, rng: &mut fastrand::Rng) -> Plans {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let patterns = [Pattern::Smelt, Pattern::Binomial, Pattern::Chain];
    let pattern = rng.choice(patterns).unwrap();
    Plans::of_pattern(machine.costs(), pattern, None).unwrap()
}

#[test]
fn tables_change_the_way_and_not_the_result() {
    let mut rng = fastrand::Rng::with_seed(11);
    for n in (1..=6).chain([2, 2, 8]) {
        for _ in 0..3 {
            let algorithms = tables(&mut rng);
            let team = Team::with_options(plans(n, &mut rng), &options(algorithms)).unwrap();
            team.run(|member| {
                for len in lengths() {
                    blocking(member, len);
                    in_flight(member, len);
                }
            });
        }
    }
}

/// Each rank enters with tables of its own, and the first process's tables apply to all.
#[test]
fn the_first_process_s_tables_rule() {
    let mut rng = fastrand::Rng::with_seed(12);
    for (round, n) in [2, 2, 3, 5].into_iter().enumerate() {
        let name = format!("by-length-{round}-{}", std::process::id());
        let plans = plans(n, &mut rng);
        let requests: Vec<Algorithms> = (0..n).map(|_| tables(&mut rng)).collect();
        std::thread::scope(|scope| {
            for requested in requests {
                let (plans, address) = (plans.clone(), Address::Name(name.clone()));
                scope.spawn(move || {
                    let plans = || Ok::<_, std::convert::Infallible>(plans);
                    let team =
                        ProcessGroup::enter(&address, n, &[None], plans, &options(requested))
                            .unwrap();
                    team.run(|member| {
                        for len in lengths() {
                            blocking(member, len);
                            in_flight(member, len);
                        }
                    });
                });
            }
        });
    }
}

/// Lengths for which nothing is asked work beside those for which an algorithm is asked.
#[test]
fn rings_are_left_to_those_who_have_them() {
    for n in [2, 4] {
        let mut asked = Algorithms::default();
        let ranges = [
            (100, None),
            (50_000, Some("chain")),
            (60_000, Some("line")),
            (70_000, Some("binomial")),
        ];
        asked.ask("broadcast", &ranges).unwrap();
        assert_eq!(asked.broadcast.at(100), None);
        assert_eq!(
            asked.broadcast.at(101),
            Some(broadcast::Algorithm::Chain.into())
        );
        let team = Team::with_options(plans(n, &mut fastrand::Rng::with_seed(1)), &options(asked));
        team.unwrap().run(|member| {
            for len in [1, 12, 13, 6249, 6250, 6251, 7500, 7501, 8750, 8751, 200_000] {
                let mut data = given(member.rank(), len);
                member.broadcast(1, &mut data).unwrap();
                assert!(data == given(1, len), "broadcast of {len}");
            }
        });
    }
}
