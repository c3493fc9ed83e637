//! Operations that succeed allocate nothing.

#[path = "../../../transfer/tests/it/counting.rs"]
mod counting;

use crate::common::plans_of;
use corecast_collectives::operator::Ordered;
use corecast_collectives::{Algorithms, Parts, barrier, broadcast};
use corecast_plan::Pattern;
use corecast_team::{Member, Options, Team};
use counting::ALLOCATIONS;

fn all_operations(member: &mut Member) {
    let mut long = [1u64; 300];
    let (n, rank) = (member.size(), member.rank());
    let mut all = [1u64; 1200];
    let (counts, places) = ([300; 4], [900, 600, 300, 0]);
    let parts = Parts::new(&counts[..n], &places[..n]);
    for root in 0..member.size() {
        member.barrier().unwrap();
        assert_eq!(member.broadcast_value(root, 7u8), Ok(7));
        member.broadcast(root, &mut long).unwrap();
        member.reduce_value(root, 1u32, |a, b| a + b).unwrap();
        member.reduce(root, &mut long, u64::max).unwrap();
        member.allreduce(&mut long, u64::min).unwrap();
        member.allreduce(&mut long, Ordered(u64::min)).unwrap();
        let all = &mut all[..n * 300];
        let send = (rank == root).then_some(&*all);
        member.scatter(root, send, &mut long).unwrap();
        let recv = (rank == root).then_some(&mut *all);
        member.gather(root, &long, recv).unwrap();
        member.allgather(&long, all).unwrap();
        member.allgather(&long[..2], &mut all[..2 * n]).unwrap();
        let block = &mut long[..300 / n];
        member.reduce_scatter(&all[..300], block, u64::max).unwrap();
        let ordered = Ordered(u64::max);
        member.reduce_scatter(&all[..300], block, ordered).unwrap();
        member.scan(&mut long, u64::max).unwrap();
        member.exscan(&mut long[..1], u64::max).unwrap();
    }
    let mut wide = [1u64; 1200];
    let (send, recv) = (&all[..n * 300], &mut wide[..n * 300]);
    member.alltoall(send, recv).unwrap();
    let places = [0, 300, 600, 900];
    let into = Parts::new(&counts[..n], &places[..n]);
    if n == 4 {
        member.alltoallv((&all, parts), (&mut wide, into)).unwrap();
        member.allgatherv(&long, &mut wide, parts).unwrap();
    }
}

/// Number of allocations of each rank of a team.
fn counted(n: usize, pattern: &str, algorithms: Algorithms) -> Vec<usize> {
    let pattern: Pattern = pattern.parse().unwrap();
    let plans = plans_of(n, pattern);
    // Some roots copy to the root of the tree, and at others it is re-hung.
    let plans = plans.with_copies_of([0b0110 % (1 << n); 2]).unwrap();
    let packages = (0..n as u32).map(|rank| rank % 2).collect();
    let options = Options {
        algorithms,
        ..Options::default()
    };
    let team = Team::with_options(plans.with_packages(packages).unwrap(), &options).unwrap();
    team.run(|member| {
        let before = ALLOCATIONS.get();
        for _ in 0..20 {
            all_operations(member);
        }
        ALLOCATIONS.get() - before
    })
}

#[test]
fn operations_do_not_allocate() {
    for pattern in ["smelt", "chain", "dissemination:2"] {
        for n in [2, 4] {
            let counts = counted(n, pattern, Algorithms::default());
            assert_eq!(counts, vec![0; n], "{pattern}");
        }
    }
}

#[test]
fn shared_lines_do_not_allocate() {
    for &choice in barrier::Algorithm::ALL {
        let mut algorithms = Algorithms::default();
        algorithms.barrier = Some(choice.into());
        algorithms.broadcast = broadcast::Algorithm::Line.into();
        assert_eq!(counted(4, "smelt", algorithms), [0; 4], "{choice}");
    }
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    let boxed = std::hint::black_box(Box::new(1));
    assert_eq!(ALLOCATIONS.get() - before, 1);
    drop(boxed);
}
