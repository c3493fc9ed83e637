//! Lines that groups share: barriers and broadcasts over them, on fewer CPUs than ranks, between threads and in
//! shared segments; and errors when ranks call different operations.

use crate::common::plans_of;
use crate::own_process::{WATCHDOG, eventually};
use corecast_collectives::{
    Algorithms, BarrierPlan, Collective, Plans, PlansError, Selection, barrier, broadcast,
};
use corecast_plan::Pattern;
use corecast_plan::groups::Grouped;
use corecast_process::Address;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Loss, Member, Options, Team};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

const RANKS_MAX: usize = 9;

fn plans(n: usize, pattern: &str) -> Plans {
    plans_of(n, pattern.parse().unwrap())
}

fn asking(barrier: impl Into<Selection<barrier::Algorithm>>) -> Options {
    let mut options = Options::default();
    options.algorithms.barrier = Some(barrier.into());
    options
}

/// Groups of random sizes under random parents.
fn random_groups(n: usize, root: usize, rng: &mut fastrand::Rng) -> Grouped {
    let mut order: Vec<usize> = (0..n).filter(|&rank| rank != root).collect();
    rng.shuffle(&mut order);
    order.insert(0, root);
    let mut lists = vec![Vec::new(); n];
    let mut at = 1;
    while at < n {
        let end = (at + rng.usize(1..=4)).min(n);
        lists[order[rng.usize(..at)]].push(order[at..end].to_vec());
        at = end;
    }
    Grouped::from_groups(root, lists).unwrap()
}

/// Plans over random groups, which have a root of their own for fan-in, fan-out and broadcast.
fn grouped_plans(n: usize, rng: &mut fastrand::Rng) -> Plans {
    let mut groups = || {
        let root = rng.usize(..n);
        random_groups(n, root, rng)
    };
    let (fan_in, fan_out, broadcast) = (groups(), groups(), groups());
    let barrier = BarrierPlan::Groups { fan_in, fan_out };
    let plans = plans(n, "chain").with_barrier(barrier).unwrap();
    plans.with_broadcast_groups(broadcast).unwrap()
}

/// Each rank counts before each barrier, and checks after it that no rank is behind, or more than one barrier
/// ahead.
fn arrive_and_wait(member: &mut Member, counts: &[AtomicUsize], rounds: usize, delays: bool) {
    let mut rng = fastrand::Rng::with_seed(member.rank() as u64);
    for round in 1..=rounds {
        if delays && rng.u32(..50) == 0 {
            std::thread::sleep(Duration::from_micros(rng.u64(..300)));
        }
        // Relaxed, because the barrier must order it.
        counts[member.rank()].store(round, Ordering::Relaxed);
        member.barrier().unwrap();
        for count in counts {
            let count = count.load(Ordering::Relaxed);
            assert!(
                count == round || count == round + 1,
                "{count} in round {round}"
            );
        }
    }
}

fn check_barriers(team: &Team, rounds: usize, delays: bool) {
    let counts: Vec<AtomicUsize> = (0..team.size()).map(|_| AtomicUsize::new(0)).collect();
    team.run(|member| arrive_and_wait(member, &counts, rounds, delays));
}

fn packages(n: usize, count: u32) -> Vec<u32> {
    (0..n as u32).map(|rank| rank % count).collect()
}

#[test]
fn nobody_leaves_any_barrier_before_everybody_has_come() {
    for n in 1..=RANKS_MAX {
        for &choice in barrier::Algorithm::ALL {
            for (pattern, count) in [("binomial", 1), ("dissemination:3", 2), ("smelt", 3)] {
                let plans = plans(n, pattern).with_packages(packages(n, count)).unwrap();
                let team = Team::with_options(plans, &asking(choice)).unwrap();
                check_barriers(&team, 60, (n + count as usize).is_multiple_of(2));
            }
        }
    }
}

#[test]
fn nobody_leaves_barriers_of_any_size_before_everybody_has_come() {
    for (n, choice) in [
        (2, "groups:1"),
        (5, "groups:1"),
        (7, "groups:2"),
        (9, "groups:3"),
        (4, "m-way:2"),
        (9, "m-way:1"),
        (9, "m-way:64"),
    ] {
        for count in [1, 2, 3] {
            let choice: Selection<barrier::Algorithm> = choice.parse().unwrap();
            let plans = plans(n, "smelt").with_packages(packages(n, count)).unwrap();
            let team = Team::with_options(plans, &asking(choice)).unwrap();
            check_barriers(&team, 30, count == 2);
        }
    }
}

/// More ranks than have links to all others, with NUMA nodes in place of packages.
#[test]
fn barriers_over_lines_need_no_links() {
    let sized = ["groups:1", "groups:8", "m-way:3"].map(|name| name.parse().unwrap());
    let plain = barrier::Algorithm::ALL.iter().copied().map(Selection::from);
    for choice in plain.chain(sized) {
        let n = 70;
        let mut options = asking(choice);
        options.numa_nodes = Some(packages(n, 2));
        let team = Team::with_options(plans(n, "binomial"), &options).unwrap();
        check_barriers(&team, 3, false);
    }
}

/// A plan may have a counter barrier, which otherwise has to be asked for.
#[test]
fn a_plan_may_be_one_line() {
    for n in 1..=RANKS_MAX {
        let plans = plans(n, "chain").with_barrier(BarrierPlan::Counter(n));
        check_barriers(&Team::new(plans.unwrap()).unwrap(), 200, n % 2 == 1);
    }
    let error = plans(3, "chain").with_barrier(BarrierPlan::Counter(2));
    assert!(error.is_err(), "of another size");
}

#[test]
fn random_groups_make_barriers_and_broadcasts() {
    let mut rng = fastrand::Rng::with_seed(11);
    for n in 1..=RANKS_MAX {
        for round in 0..6 {
            let plans = grouped_plans(n, &mut rng);
            let mut options = Options::default();
            if round % 2 == 1 {
                options.algorithms.broadcast = broadcast::Algorithm::Groups.into();
            }
            let team = Team::with_options(plans.clone(), &options).unwrap();
            check_barriers(&team, 40, round % 3 == 0);
            let team = Team::with_options(plans, &options).unwrap();
            team.run(broadcasts);
        }
    }
}

/// Broadcasts from every root of lengths around a line, a message and a loan.
fn broadcasts(member: &mut Member) {
    for root in 0..member.size() {
        for len in [0, 1, 55, 56, 57, 448, 449, 3000] {
            let given = |rank: usize| -> Vec<u8> {
                (0..len).map(|index| (rank * 50 + index) as u8).collect()
            };
            let mut data = given(member.rank());
            member.broadcast(root, &mut data).unwrap();
            assert_eq!(data, given(root), "{len} bytes from {root}");
        }
        member.barrier().unwrap();
    }
}

/// Barriers and broadcasts over lines in memory that processes share.
#[test]
fn lines_work_behind_a_segment() {
    for round in 0..6 {
        let (n, seed) = ([2, 4, 6][round % 3], round as u64);
        let name = format!("lines-{round}-{}", std::process::id());
        let counts: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
        let mut options = Options::default();
        if round >= 3 {
            options.algorithms.broadcast = broadcast::Algorithm::Groups.into();
        }
        std::thread::scope(|scope| {
            for rank in 0..n {
                let (name, options, counts) = (&name, &options, &counts);
                scope.spawn(move || {
                    // Only the creator's plans are used.
                    let mut rng = fastrand::Rng::with_seed(seed * 100 + rank as u64);
                    let plans = || Ok::<_, PlansError>(grouped_plans(n, &mut rng));
                    let address = Address::Name(name.clone());
                    let team = ProcessGroup::enter(&address, n, &[None], plans, options).unwrap();
                    team.run(|member| {
                        arrive_and_wait(member, counts, 100, true);
                        broadcasts(member);
                    });
                });
            }
        });
    }
}

/// A root that broadcasts over a line waits when it comes back to a line that some rank has not read.
#[test]
fn a_root_that_runs_ahead_is_held_back_not_lost() {
    let mut options = Options::default();
    options.algorithms.broadcast = broadcast::Algorithm::Line.into();
    let team = Team::with_options(plans(4, "smelt"), &options).unwrap();
    team.run(|member| {
        for round in 0..2000u64 {
            if member.rank() == 2 && round % 500 == 0 {
                std::thread::sleep(Duration::from_millis(2));
            }
            let root = round as usize / 100 % 4;
            let mine = round << 8 | member.rank() as u64;
            let expected = round << 8 | root as u64;
            assert_eq!(member.broadcast_value(root, mine), Ok(expected));
        }
    });
}

/// Operations in flight use lines of their own operation contexts, beside blocking operations.
#[test]
fn operations_in_flight_have_lines_of_their_own() {
    let mut rng = fastrand::Rng::with_seed(3);
    for choice in [None, Some(broadcast::Algorithm::Line)] {
        let mut options = Options::default();
        options.algorithms.broadcast = choice.into();
        let team = Team::with_options(grouped_plans(5, &mut rng), &options).unwrap();
        team.run(|member| {
            for round in 0..60u64 {
                let root = round as usize % 5;
                let mut values = [[round, member.rank() as u64]; 4];
                let [first, second, third, last] = &mut values;
                member
                    .overlap(|overlap| {
                        let one = overlap.broadcast(root, first)?;
                        let barrier = overlap.barrier()?;
                        let two = overlap.broadcast(root, second)?;
                        two.wait()?;
                        barrier.wait()?;
                        one.wait()?;
                        overlap.broadcast(root, third)?.wait()
                    })
                    .unwrap()
                    .unwrap();
                member.broadcast(root, last).unwrap();
                member.barrier().unwrap();
                assert_eq!(values, [[round, root as u64]; 4]);
            }
        });
    }
}

/// Runs `body` as a team; the test fails instead of hanging.
fn run(
    plans: Plans,
    options: Options,
    body: fn(&mut Member) -> Result<(), Failure>,
) -> Vec<Result<(), Failure>> {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let team = Team::with_options(plans, &options).unwrap();
        done.send(team.run(body)).unwrap();
    });
    ended
        .recv_timeout(WATCHDOG)
        .expect("the team comes to an end")
}

/// Asserts that at least one rank fails, that all failures are equal, and that they name two sites in this file.
#[track_caller]
fn both_sites_named(results: &[Result<(), Failure>], context: &str) -> Failure {
    let failures: Vec<&Failure> = results.iter().filter_map(|r| r.as_ref().err()).collect();
    let Some(&first) = failures.first() else {
        panic!("{context}: nobody noticed");
    };
    assert!(failures.iter().all(|&failure| failure == first));
    let said = first.to_string();
    assert_eq!(said.matches("lines.rs:").count(), 2, "{context}: {said}");
    first.clone()
}

/// Every barrier over lines, on four ranks of two packages.
fn teams() -> impl Iterator<Item = (String, Plans, Options)> {
    use barrier::Algorithm::{Counter, Groups, MWay, MultiM, PackageRoots, PairWise};
    [Groups, MWay, MultiM, PairWise, PackageRoots, Counter]
        .map(|choice| {
            let plans = plans(4, "smelt").with_packages(packages(4, 2)).unwrap();
            let mut options = asking(choice);
            options.algorithms.broadcast = broadcast::Algorithm::Line.into();
            (choice.to_string(), plans, options)
        })
        .into_iter()
}

#[test]
fn two_different_operations_met() {
    for (name, plans, options) in teams() {
        let results = run(plans, options, |member| {
            if member.rank() == 1 {
                member.broadcast_value(0, 1u8).map(drop)?;
            } else {
                member.barrier()?;
            }
            member.barrier()
        });
        let failure = both_sites_named(&results, &name);
        let Failure::Mismatch { local, remote } = failure else {
            panic!("{name}: {failure:?}");
        };
        let kinds = [local, remote].map(|activity| activity.operation.unwrap().kind);
        assert!(kinds.contains(&Collective::Barrier) && kinds.contains(&Collective::Broadcast));
        assert!(results.iter().all(Result::is_err), "{name}: {results:?}");
    }
}

/// Broadcasts from different roots are noticed at the next barrier over lines.
#[test]
fn different_roots_are_noticed() {
    for (name, plans, options) in teams() {
        let results = run(plans, options, |member| {
            let mut value = [member.rank() as u8];
            member.broadcast(usize::from(member.rank() == 3), &mut value)?;
            member.barrier()
        });
        both_sites_named(&results, &name);
    }
}

#[test]
fn a_member_that_leaves_is_an_error_for_those_who_wait() {
    for (name, plans, options) in teams() {
        let results = run(plans, options, |member| {
            member.barrier()?;
            if member.rank() == 2 {
                return Ok(());
            }
            member.barrier()?;
            member.barrier()
        });
        let failure = both_sites_named(&results, &name);
        assert!(
            matches!(
                failure,
                Failure::PeerLost {
                    how: Loss::Left,
                    ..
                }
            ),
            "{name}: {failure:?}"
        );
        assert_eq!(results.iter().filter(|r| r.is_err()).count(), 3, "{name}");
    }
}

/// If the patience of a group ends, the failure names the member that has not come.
#[test]
fn a_late_member_is_named() {
    static GAVE_UP: AtomicBool = AtomicBool::new(false);
    for (name, plans, options) in teams() {
        // On a busy machine another member than the late one may be kept from its barrier for longer than a short
        // patience; a fault that does not depend on time shows with each of them.
        let named = [150, 1200, 9600, 76_800].into_iter().any(|patience_ms| {
            let mut options = options.clone();
            options.patience = Some(Duration::from_millis(patience_ms));
            GAVE_UP.store(false, Ordering::Relaxed);
            let results = run(plans.clone(), options, |member| {
                let met = member.barrier();
                if met.is_ok() {
                    // Wait until another member has given up.
                    while member.rank() == 3 && !GAVE_UP.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                }
                let met = met.and_then(|()| member.barrier());
                GAVE_UP.store(true, Ordering::Relaxed);
                met
            });
            let failure = both_sites_named(&results, &name);
            let Failure::Stalled { local, remote, .. } = failure else {
                panic!("{name}: {failure}")
            };
            match name.as_str() {
                "groups" => local.rank == 0 && remote.rank == 3 || local.rank != 3,
                // All wait for all, also for two who wait themselves.
                "counter" => remote.rank == 3,
                _ => true,
            }
        });
        assert!(named, "{name}");
    }
}

/// Some ranks wait for a line, while the root sends more data in messages or lends them: all could wait for each
/// other.
#[test]
fn other_lengths_are_noticed() {
    let flat = || {
        let flat = Grouped::flat(3, 0);
        Plans::of_tree(flat.tree())
            .with_broadcast_groups(flat)
            .unwrap()
    };
    for body in [
        |member: &mut Member| lengths(member, 1, 2),
        |member: &mut Member| lengths(member, 1, 100),
        |member: &mut Member| lengths(member, 1, 10_000),
    ] {
        let failure = both_sites_named(&run(flat(), Options::default(), body), "more");
        let Failure::Length { expected, .. } = failure else {
            panic!("{failure:?}");
        };
        assert_eq!(expected, 4);
    }
    // Ranks that wait for more data fail when the root has gone on.
    for body in [
        |member: &mut Member| lengths(member, 100, 1),
        |member: &mut Member| lengths(member, 10_000, 1),
    ] {
        both_sites_named(&run(flat(), Options::default(), body), "less");
    }
}

/// The root publishes what others expect as a message or a loan. It is not the first rank, on whose line they could look as
/// well.
#[test]
fn what_the_root_publishes_is_noticed_where_it_should_come_another_way() {
    for ([short, long], published) in [(["messages", "line"], 120), (["line", "whole"], 4)] {
        TOLD.store(false, Ordering::Relaxed);
        let mut options = Options::default();
        let ways = [(64, Some(short)), (usize::MAX, Some(long))];
        options.algorithms.ask("broadcast", &ways).unwrap();
        let results = run(
            plans(3, "sequential"),
            options,
            match long {
                "line" => |member| last_root(member, 1, 30),
                _ => |member| last_root(member, 10_000, 1),
            },
        );
        let failure = both_sites_named(&results, long);
        let Failure::Length { sent, remote, .. } = failure else {
            panic!("{failure:?}");
        };
        assert_eq!((sent, remote.rank), (published, 2));
    }
}

/// Some rank of [`last_root`] has failed.
static TOLD: AtomicBool = AtomicBool::new(false);

/// A broadcast from the last rank, of `root` numbers there and of `others` numbers on all other ranks. The root does nothing
/// else before another rank has failed.
fn last_root(member: &mut Member, others: usize, root: usize) -> Result<(), Failure> {
    let len = if member.rank() == 2 { root } else { others };
    let ended = member.broadcast(2, &mut vec![0u32; len]);
    if member.rank() == 2 {
        eventually("it is noticed", || TOLD.load(Ordering::Relaxed));
    }
    TOLD.store(true, Ordering::Relaxed);
    ended?;
    member.barrier()
}

/// A broadcast of `root` numbers on the root, and of `others` numbers on all other ranks.
fn lengths(member: &mut Member, others: usize, root: usize) -> Result<(), Failure> {
    let len = if member.rank() == 0 { root } else { others };
    member.broadcast(0, &mut vec![0u32; len])?;
    member.barrier()
}

#[test]
fn costs_of_shared_lines_make_teams_that_share_them() {
    let words = "package:2 core:3 send=10,20 receive=30,60 write=5 transfer=2,4";
    let file = corecast_model::synthetic(words).unwrap();
    let plans = Plans::of_pattern(file.costs(), Pattern::Best, None).unwrap();
    assert!(matches!(plans.barrier(), BarrierPlan::Groups { .. }));
    assert!(plans.broadcast_groups().is_some());
    let team = Team::new(plans).unwrap();
    check_barriers(&team, 200, true);
    let asked = Algorithms::default();
    assert_eq!(asked.barrier, None);
}
