//! Counter barriers: the last member releases all others, and sees what they did before.

use super::{SLEEP, check};
use corecast_wire::mutant::Mutant;
use corecast_wire::{
    ArrivalCounter, CounterBarrier, FenceKind, Line, LineRef, Parker, Segment, WaitConfig,
    WaitStrategy, broadcast_ring,
};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

const NUMBER: u32 = 3;

fn ends(members: usize) -> Vec<(CounterBarrier, WaitStrategy)> {
    let counter: LineRef<ArrivalCounter> = Segment::one(None).unwrap();
    let bells: Vec<LineRef<Line<Parker>>> =
        (0..members).map(|_| Segment::one(None).unwrap()).collect();
    let end = |rank: usize| {
        let others = (1..members).map(|by| bells[(rank + by) % members].clone());
        let kind = FenceKind::Symmetric;
        let counter_barrier = CounterBarrier::new(NUMBER, counter.clone(), others.collect(), kind);
        (
            counter_barrier,
            WaitStrategy::new(WaitConfig::PARK, bells[rank].clone()),
        )
    };
    (0..members).map(end).collect()
}

/// Arrives at a counter barrier and waits, by the wait strategy if it `sleeps`. Otherwise it polls and wakes nobody,
/// because the fence before a look for sleepers would order what the addition must order.
fn arrive_and_wait((end, wait_strategy): &(CounterBarrier, WaitStrategy), all: u64, sleeps: bool) {
    if end.come(1) == all {
        if sleeps {
            end.wake();
        }
        return;
    }
    let look = || Some(end.sum()).filter(|&sum| sum >= all);
    match sleeps {
        true => drop(wait_strategy.wait(broadcast_ring::token(NUMBER), look)),
        false => {
            while look().is_none() {
                thread::yield_now();
            }
        }
    }
}

/// Two members come to two counter barriers. Each writes its own cell before the first one, reads the other's cell
/// after it, and writes the other's cell after the second one.
fn cells(sleeps: bool) {
    let cells = Arc::new([UnsafeCell::new(0u64), UnsafeCell::new(0u64)]);
    let members = ends(2).into_iter().enumerate().map(|(rank, end)| {
        let cells = cells.clone();
        thread::spawn(move || {
            // SAFETY: loom checks that no access overlaps another: that is the test.
            cells[rank].with_mut(|cell| unsafe { *cell = 7 });
            arrive_and_wait(&end, 2, sleeps);
            // SAFETY: as above.
            assert_eq!(cells[1 - rank].with(|cell| unsafe { *cell }), 7);
            arrive_and_wait(&end, 4, sleeps);
            // SAFETY: as above.
            cells[1 - rank].with_mut(|cell| unsafe { *cell = 8 });
        })
    });
    let members: Vec<_> = members.collect();
    members
        .into_iter()
        .for_each(|member| member.join().unwrap());
}

/// Members that poll check the orderings alone. A member that goes on may come to the second counter barrier before the
/// other has seen the sum of the first.
#[test]
fn a_counter_barrier_publishes_what_all_did() {
    let faults = [
        Mutant::MeetRelaxed,
        Mutant::MeetUnseen,
        Mutant::TotalRelaxed,
    ];
    check("counter barrier", None, &faults, || cells(false));
}

/// Members that sleep: the last one wakes the other.
#[test]
fn nobody_sleeps_through_a_counter_barrier() {
    check("counter barrier, sleeping", Some(3), &SLEEP, || cells(true));
}

/// Three members: the last one wakes both.
#[test]
fn the_last_one_wakes_all() {
    check(
        "counter barrier of three",
        Some(2),
        &[Mutant::OneMemberWakes],
        || {
            let members = ends(3).into_iter();
            let members = members.map(|end| thread::spawn(move || arrive_and_wait(&end, 3, true)));
            let members: Vec<_> = members.collect();
            members
                .into_iter()
                .for_each(|member| member.join().unwrap());
        },
    );
}
