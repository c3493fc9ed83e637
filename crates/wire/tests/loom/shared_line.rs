//! Shared lines of algorithms in CLa's primitives: payload belongs to a value, sums say what all did, and nobody sleeps
//! through a change.

use super::{SLEEP, check};
use corecast_wire::cache_lines::{PayloadLine, SharedLine};
use corecast_wire::mutant::Mutant;
use corecast_wire::park::ANY;
use corecast_wire::{FenceKind, Segment, WaitConfig, WaitStrategy};
use loom::thread;

const KIND: FenceKind = FenceKind::Symmetric;

fn wait_strategies(count: usize) -> Vec<WaitStrategy> {
    let one = |_| WaitStrategy::new(WaitConfig::PARK, Segment::one(None).unwrap());
    (0..count).map(one).collect()
}

fn line(waiters: &[&WaitStrategy]) -> SharedLine {
    let memory = Segment::new(Segment::bytes_for::<PayloadLine>(1), None).unwrap();
    let bells = waiters.iter().map(|waiter| waiter.parker().clone());
    SharedLine::new(memory.lines(1).unwrap(), bells.collect(), KIND)
}

fn wait(line: &SharedLine, value: u64, by: Option<&WaitStrategy>) {
    let look = || (line.value() >= value).then_some(());
    match by {
        Some(wait_strategy) => wait_strategy.wait(ANY, look),
        None => {
            while look().is_none() {
                thread::yield_now();
            }
        }
    }
}

/// Two rounds of Figure 12 with one child: data in the flag's line, and an addition back before the line is written
/// again. Ranks poll, because the fence before a look for sleepers would order what the value must order.
#[test]
fn payload_belongs_to_its_value() {
    let faults = [Mutant::RaiseRelaxed, Mutant::SeeRelaxed];
    check("shared line, broadcast", None, &faults, || {
        let (flag, back) = (line(&[]), line(&[]));
        let child = {
            let (flag, back) = (flag.clone(), back.clone());
            thread::spawn(move || {
                for round in 1..=2 {
                    wait(&flag, round, None);
                    assert_eq!(flag.payload(), [round; 7]);
                    back.add(1);
                }
            })
        };
        for round in 1..=2 {
            flag.set_payload([round; 7]);
            flag.write(round);
            wait(&back, round, None);
        }
        child.join().unwrap();
    });
}

/// Figure 16 with two children: each copies to a line of its own and adds to one counter, and the parent adds up.
#[test]
fn a_sum_brings_what_all_have_copied() {
    let faults = [Mutant::CountRelaxed, Mutant::SeeRelaxed];
    check("shared line, reduction", Some(3), &faults, || {
        let (counter, mine) = (line(&[]), line(&[]));
        let buffers = [line(&[]), line(&[])];
        let children: Vec<_> = buffers
            .iter()
            .zip([3, 4])
            .map(|(buffer, value)| {
                let (own, buffer, counter) = (line(&[]), buffer.clone(), counter.clone());
                thread::spawn(move || {
                    own.set_payload([value; 7]);
                    own.copy_to(&buffer, 1);
                    counter.add(1);
                })
            })
            .collect();
        wait(&counter, 2, None);
        buffers
            .iter()
            .for_each(|buffer| mine.add_payload_of(buffer));
        assert_eq!(mine.payload(), [7; 7]);
        children.into_iter().for_each(|child| child.join().unwrap());
    });
}

/// A write wakes both that sleep for it.
#[test]
fn a_write_wakes_all() {
    let faults = [&SLEEP[..], &[Mutant::OneWaiterWakes]].concat();
    check("shared line, two sleepers", Some(3), &faults, || {
        let waiters = wait_strategies(2);
        let flag = line(&waiters.iter().collect::<Vec<_>>());
        let waiters = waiters.into_iter().map(|waiter| {
            let flag = flag.clone();
            thread::spawn(move || wait(&flag, 1, Some(&waiter)))
        });
        let waiters: Vec<_> = waiters.collect();
        flag.write(1);
        waiters
            .into_iter()
            .for_each(|waiter| waiter.join().unwrap());
    });
}

/// Two add, and the one that sleeps for the sum may be woken for half of it.
#[test]
fn the_last_addition_is_heard() {
    check("shared line, sleeping for a sum", Some(3), &SLEEP, || {
        let waiter = wait_strategies(1).remove(0);
        let counter = line(&[&waiter]);
        let adders = (0..2).map(|_| {
            let counter = counter.clone();
            thread::spawn(move || counter.add(1))
        });
        let adders: Vec<_> = adders.collect();
        wait(&counter, 2, Some(&waiter));
        adders.into_iter().for_each(|adder| adder.join().unwrap());
    });
}
