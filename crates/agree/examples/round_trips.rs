//! How long a command of the leader's takes until it is chosen, beside a round trip over the same queues.
//!
//! `cargo run --release -p corecast-agree --example round_trips`

use corecast_agree::paxos::{Event, GroupMember, Options};
use corecast_wire::queue::{self, Options as QueueOptions};
use corecast_wire::{Line, WaitConfig};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

const BATCH: usize = 200;
const BATCHES: usize = 100;
const ROUNDS: usize = 9;

/// The shortest time of one of a batch, in nanoseconds: what other programs that run add is left out.
fn shortest(mut one: impl FnMut()) -> f64 {
    let batches = (0..BATCHES).map(|_| {
        let began = Instant::now();
        for _ in 0..BATCH {
            one();
        }
        began.elapsed().as_nanos() as f64 / BATCH as f64
    });
    batches.fold(f64::INFINITY, f64::min)
}

/// Nanoseconds of a round trip of 8 bytes between two threads.
fn queues() -> Result<f64, Box<dyn Error>> {
    let options = QueueOptions {
        wait_config: WaitConfig::BALANCED,
        ..QueueOptions::default()
    };
    let (mut own, mut other) = queue::pair(&options)?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut word = [0; 8];
            for _ in 0..BATCH * BATCHES {
                other.receive(&mut word).expect("the other end is there");
                other.send(&word).expect("the other end is there");
            }
        });
        let mut word = [0; 8];
        Ok(shortest(|| {
            own.send(&word).expect("the other end is there");
            own.receive(&mut word).expect("the other end is there");
        }))
    })
}

/// Nanoseconds from a command to its delivery at the leader, which has one other member: the acceptor.
fn paxos() -> Result<f64, Box<dyn Error>> {
    // A thread that does not run for some time stays what it is.
    let options = Options {
        leader_ns: 10_000_000_000,
        acceptor_ns: 10_000_000_000,
        ..Options::default()
    };
    let mut members = GroupMember::<u64>::group(2, options, WaitConfig::BALANCED)?;
    let mut acceptor = members.pop().expect("there are two");
    let mut leader = members.pop().expect("there are two");
    // Nothing that one thread changes may lie beside what the other one looks at.
    let done = Line(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let done = &done;
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                acceptor.poll();
            }
        });
        let mut one = || {
            let number = leader.submit(7).expect("nothing is pending");
            loop {
                if let Event::Delivered { submission, .. } = leader.wait()
                    && submission.number == number
                {
                    break;
                }
            }
        };
        // The first one waits for a leader.
        one();
        let time = shortest(one);
        done.store(true, Ordering::Relaxed);
        Ok(time)
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let (floor, time) = (queues()?, paxos()?);
        ratios.push(time / floor);
        println!(
            "round {round}: queues {floor:.0} ns, 1Paxos {time:.0} ns, {:.2}",
            time / floor
        );
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.2}", ratios[ROUNDS / 2]);
    Ok(())
}
