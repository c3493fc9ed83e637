//! Every operation, pattern, root and team size up to nine against a naive reference, on fewer CPUs
//! than ranks.

use corecast_collectives::{BarrierPlan, Plans};
use corecast_model::CostModel;
use corecast_plan::{Pattern, Plan, Tree};
use corecast_team::{Member, Options, Team};
use corecast_wire::queue::Backend;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const RANKS_MAX: usize = 9;

fn costs(n: usize) -> CostModel {
    // Machines of even size have two NUMA nodes, for patterns that depend on them.
    let spec = match n % 2 {
        0 => format!("numa:2 core:{}", n / 2),
        _ => format!("core:{n}"),
    };
    corecast_model::synthetic(&spec).unwrap().costs().clone()
}

fn patterns() -> Vec<Pattern> {
    let names = [
        "smelt",
        "binary",
        "fibonacci",
        "sequential",
        "mst",
        "cluster",
        "bad",
        "knomial:3",
        "knomial:4",
        "chain",
        "binomial",
        "dissemination:2",
        "dissemination:3",
    ];
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// The data of a rank in operation number `round`.
fn given(rank: usize, round: usize, len: usize) -> Vec<i64> {
    let mut rng = fastrand::Rng::with_seed((rank * 1000 + round) as u64);
    (0..len).map(|_| rng.i64(-1000..1000)).collect()
}

/// The naive reference: all data at one place, combined in a loop.
fn combined(n: usize, round: usize, len: usize, operator: fn(i64, i64) -> i64) -> Vec<i64> {
    let mut sum = given(0, round, len);
    for rank in 1..n {
        for (sum, value) in sum.iter_mut().zip(given(rank, round, len)) {
            *sum = operator(*sum, value);
        }
    }
    sum
}

const OPERATORS: [fn(i64, i64) -> i64; 4] = [
    |a, b| a + b,
    i64::max,
    |a, b| a ^ b,
    |a, b| a.wrapping_mul(b),
];

/// Numbers of elements around a slot, one message and two; a message has 4,144 bytes.
const LENGTHS: [usize; 6] = [0, 1, 7, 8, 518, 1040];

fn all_operations(member: &mut Member, salt: usize) {
    let (n, rank) = (member.size(), member.rank());
    for root in 0..n {
        let round = salt + root;
        let len = LENGTHS[round % LENGTHS.len()];
        let operator = OPERATORS[round % OPERATORS.len()];
        let mine = given(rank, round, len);

        let mut data = mine.clone();
        member.broadcast(root, &mut data).unwrap();
        assert_eq!(
            data,
            given(root, round, len),
            "broadcast from {root} of {n} at {rank}"
        );

        let mut data = mine.clone();
        member.reduce(root, &mut data, operator).unwrap();
        let expected = if rank == root {
            combined(n, round, len, operator)
        } else {
            mine.clone()
        };
        assert_eq!(data, expected, "reduce to {root} of {n} at {rank}");

        let mut data = mine.clone();
        member.allreduce(&mut data, operator).unwrap();
        assert_eq!(
            data,
            combined(n, round, len, operator),
            "allreduce of {n} at {rank}"
        );
    }
}

#[test]
fn every_pattern_size_and_root_agrees_with_the_reference() {
    for n in 1..=RANKS_MAX {
        for (i, pattern) in patterns().into_iter().enumerate() {
            let options = Options {
                backend: Backend::ALL[(n + i) % 2],
                ..Options::default()
            };
            for planned_root in [0, n - 1] {
                let plans = Plans::of_pattern(&costs(n), pattern, Some(planned_root)).unwrap();
                let team = Team::with_options(plans, &options).unwrap();
                let come = AtomicUsize::new(0);
                team.run(|member| {
                    all_operations(member, i);
                    come.fetch_add(1, Ordering::Relaxed);
                    member.barrier().unwrap();
                    assert_eq!(come.load(Ordering::Relaxed), n, "{pattern}, {n} ranks");
                });
                assert_eq!(team.failure(), None);
            }
        }
    }
}

/// Each rank counts before each barrier, and checks after it that no rank is behind, or more than
/// one barrier ahead.
fn check_barriers(team: &Team, rounds: usize, delays: bool) {
    let counts: Vec<AtomicUsize> = (0..team.size()).map(|_| AtomicUsize::new(0)).collect();
    team.run(|member| {
        let mut rng = fastrand::Rng::with_seed(member.rank() as u64);
        for round in 1..=rounds {
            if delays && rng.u32(..50) == 0 {
                std::thread::sleep(Duration::from_micros(rng.u64(..300)));
            }
            // Relaxed, because the barrier must order it.
            counts[member.rank()].store(round, Ordering::Relaxed);
            member.barrier().unwrap();
            for count in &counts {
                let count = count.load(Ordering::Relaxed);
                assert!(
                    count == round || count == round + 1,
                    "{count} in round {round}"
                );
            }
        }
    });
}

#[test]
fn nobody_leaves_a_barrier_before_everybody_has_come() {
    for n in 1..=RANKS_MAX {
        for pattern in patterns() {
            let plans = Plans::of_pattern(&costs(n), pattern, None).unwrap();
            check_barriers(&Team::new(plans).unwrap(), 100, n % 2 == 0);
        }
    }
}

/// A barrier whose fan-in and fan-out have different roots and shapes.
#[test]
fn a_barrier_may_use_two_trees() {
    let up = Pattern::Chain.tree(&costs(5), 3).unwrap();
    let down = Pattern::Binomial.tree(&costs(5), 1).unwrap();
    let barrier = BarrierPlan::Trees {
        fan_in: up,
        fan_out: down.clone(),
    };
    let plans = Plans::of_tree(&down).with_barrier(barrier).unwrap();
    check_barriers(&Team::new(plans).unwrap(), 500, true);
}

/// A tree with this root: in a random order, each other rank becomes a child of a random one before
/// it.
fn random_tree(n: usize, root: usize, rng: &mut fastrand::Rng) -> Tree {
    let mut order: Vec<usize> = (0..n).filter(|&rank| rank != root).collect();
    rng.shuffle(&mut order);
    order.insert(0, root);
    let mut children = vec![Vec::new(); n];
    for at in 1..n {
        children[order[rng.usize(..at)]].push(order[at]);
    }
    Tree::from_children(root, children).unwrap()
}

/// Plans whose barrier has trees for fan-in and fan-out, beside two further trees for data.
#[test]
fn a_tree_for_each_way_works_for_every_size_and_root() {
    let mut rng = fastrand::Rng::with_seed(3);
    for n in 1..=RANKS_MAX {
        for root in 0..n {
            let mut tree = || random_tree(n, root, &mut rng);
            let (fan_in, fan_out, broadcast, reduce) = (tree(), tree(), tree(), tree());
            let plan = Plan::of_trees(&costs(n), Pattern::Chain, fan_in.clone(), fan_out).unwrap();
            let barrier = BarrierPlan::of_plan(&plan).unwrap();
            let BarrierPlan::Trees { fan_in: inward, .. } = &barrier else {
                panic!("a barrier of trees");
            };
            assert_eq!(*inward, fan_in, "the way in keeps its own order");
            let plans = Plans::new(barrier, broadcast, reduce).unwrap();
            check_barriers(&Team::new(plans.clone()).unwrap(), 40, root % 2 == 0);
            Team::new(plans).unwrap().run(|member| {
                all_operations(member, root);
                member.barrier().unwrap();
            });
        }
    }
}

/// Total order: ranks broadcast in turns that look random, with random delays; every rank keeps a
/// history, and all histories are the same, complete, and in the order of the calls.
#[test]
fn broadcasts_are_totally_ordered_under_random_delays() {
    for seed in 0..4 {
        let plans = Plans::of_pattern(&costs(6), Pattern::Smelt, None).unwrap();
        let team = Team::new(plans).unwrap();
        let histories = team.run(|member| {
            let mut turns = fastrand::Rng::with_seed(seed);
            let mut delays = fastrand::Rng::with_seed(seed ^ member.rank() as u64 ^ 99);
            let mut history = Vec::new();
            for turn in 0..400u64 {
                let root = turns.usize(..6);
                if delays.u32(..40) == 0 {
                    std::thread::sleep(Duration::from_micros(delays.u64(..400)));
                }
                let mine = (member.rank() as u64) << 32 | turn;
                history.push(member.broadcast_value(root, mine).unwrap());
            }
            history
        });
        let mut turns = fastrand::Rng::with_seed(seed);
        let roots: Vec<u64> = (0..400).map(|_| turns.usize(..6) as u64).collect();
        for history in &histories {
            let order: Vec<u64> = history.iter().map(|entry| entry & 0xFFFF_FFFF).collect();
            assert!(order.iter().copied().eq(0..400), "seed {seed}");
            let origins: Vec<u64> = history.iter().map(|entry| entry >> 32).collect();
            assert_eq!(origins, roots, "seed {seed}");
        }
    }
}

/// The plan sets the order in which values are combined, so not even rounding differs between runs.
#[test]
fn floating_point_sums_have_the_same_bits_each_time_and_everywhere() {
    let plans = Plans::of_pattern(&costs(7), Pattern::Binomial, None).unwrap();
    let sums: Vec<Vec<u64>> = (0..20)
        .map(|run| {
            let team = Team::new(plans.clone()).unwrap();
            team.run(|member| {
                let mut delays = fastrand::Rng::with_seed(run * 7 + member.rank() as u64);
                std::thread::sleep(Duration::from_micros(delays.u64(..200)));
                let mine = 1.0 / (member.rank() as f64 + 3.0) * 1e9;
                member
                    .allreduce_value(mine, |a, b| a + b)
                    .unwrap()
                    .to_bits()
            })
        })
        .collect();
    for bits in sums.iter().flatten() {
        assert_eq!(*bits, sums[0][0]);
    }
}

#[test]
fn several_teams_at_once_do_not_disturb_each_other() {
    let big = Team::new(Plans::of_pattern(&costs(4), Pattern::Smelt, None).unwrap()).unwrap();
    let other = Team::new(Plans::of_pattern(&costs(4), Pattern::Chain, None).unwrap()).unwrap();
    // Ranks 1 and 3 of the big team also form a team of their own: a subset.
    let half = Team::new(Plans::of_pattern(&costs(2), Pattern::Binary, None).unwrap()).unwrap();
    let other_members: Vec<_> = (0..4)
        .map(|rank| std::sync::Mutex::new(Some(other.join(rank).unwrap())))
        .collect();
    big.run(|member| {
        let rank = member.rank();
        let mut second = other_members[rank].lock().unwrap().take().unwrap();
        let mut third = (rank % 2 == 1).then(|| half.join(rank / 2).unwrap());
        for round in 0..300u64 {
            assert_eq!(member.allreduce_value(rank as u64, |a, b| a + b), Ok(6));
            assert_eq!(
                second.broadcast_value(2, rank as u64 + round),
                Ok(2 + round)
            );
            if let Some(third) = &mut third {
                assert_eq!(third.allreduce_value(rank as u64, u64::max), Ok(3));
                third.barrier().unwrap();
            }
            second.barrier().unwrap();
        }
    });
}

/// Many broadcasts from a root that runs ahead: queues fill, and the root waits for room.
#[test]
fn a_root_that_runs_ahead_is_held_back_not_lost() {
    for backend in Backend::ALL {
        let tree = Tree::from_children(0, vec![vec![1], vec![2], vec![]]).unwrap();
        let options = Options {
            backend,
            slots: Some(2),
            ..Options::default()
        };
        let team = Team::with_options(Plans::of_tree(&tree), &options).unwrap();
        team.run(|member| {
            for round in 0..2000u32 {
                if member.rank() == 2 && round % 500 == 0 {
                    std::thread::sleep(Duration::from_millis(2));
                }
                assert_eq!(member.broadcast_value(0, round), Ok(round));
            }
        });
    }
}
