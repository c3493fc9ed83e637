//! Measures what ranks save when they wait for less, as ratios of interleaved rounds: strict over
//! loose reductions of 8 bytes, and broadcasts one at a time over several in flight.
//!
//! `cargo run --release -p corecast-process --example in_flight [ranks] [depth]`

use corecast_collectives::Plans;
use corecast_plan::Pattern;
use corecast_team::{Member, Options, Synchrony, Team};
use std::time::Instant;

const ROUNDS: usize = 41;
const TIMES: usize = 400;

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|word| word.parse().expect("a number"));
    let ranks = arguments.next().unwrap_or(2);
    let depth = arguments.next().unwrap_or(8);
    let machine = corecast_model::synthetic(&format!("core:{ranks}")).unwrap();
    let plans = Plans::of_pattern(machine.costs(), Pattern::Binomial, None).unwrap();
    let options = Options {
        depth,
        ..Options::default()
    };
    let team = Team::with_options(plans, &options).unwrap();
    let mut lines = team.run(|member| {
        if ranks <= 2 {
            let mut cpus = rustix::thread::CpuSet::new();
            cpus.set(member.rank());
            // If this is refused, the scheduler decides.
            let _ = rustix::thread::sched_setaffinity(None, &cpus);
        }
        let mut lines = vec![compare(
            member,
            "8-byte reduces, strict / loose",
            |member| repeat(member, |member| reduce(member, Synchrony::STRICT)),
            |member| repeat(member, |member| reduce(member, Synchrony::LOOSE)),
        )];
        for bytes in [64, 256, 1024, 4096, 16384] {
            let mut one = vec![vec![1u8; bytes]; depth];
            let (mut two, mut three) = (one.clone(), one.clone());
            let blocking = |member: &mut Member| {
                for i in 0..TIMES {
                    let root = i % member.size();
                    member.broadcast(root, &mut three[i % depth]).unwrap();
                }
            };
            let many = |data: &mut [Vec<u8>], member: &mut Member, wait: bool| {
                let size = member.size();
                for _ in 0..TIMES / depth {
                    let flown = member.overlap(|flight| {
                        for (i, data) in data.iter_mut().enumerate() {
                            let request = flight.broadcast(i % size, data).unwrap();
                            if wait {
                                request.wait().unwrap();
                            }
                        }
                    });
                    flown.unwrap();
                }
            };
            lines.push(compare(
                member,
                &format!("broadcasts of {bytes:5} bytes, roots in turn: 1 / {depth} in flight"),
                |member| many(&mut one, member, true),
                |member| many(&mut two, member, false),
            ));
            lines.push(compare(
                member,
                &format!(
                    "broadcasts of {bytes:5} bytes, roots in turn: blocking / {depth} in flight"
                ),
                blocking,
                |member| many(&mut two, member, false),
            ));
        }
        lines
    });
    println!("{ranks} ranks: time of the first over time of the second, median (quartiles)");
    lines
        .swap_remove(0)
        .iter()
        .for_each(|line| println!("{line}"));
}

fn repeat(member: &mut Member, mut operation: impl FnMut(&mut Member)) {
    (0..TIMES).for_each(|_| operation(member));
}

fn reduce(member: &mut Member, sync: Synchrony) {
    let sum = member.synced(sync, |member| member.reduce_value(0, 1u64, |a, b| a + b));
    sum.unwrap();
}

/// Runs both in turn, and returns a line with the ratio of their times.
fn compare(
    member: &mut Member,
    name: &str,
    mut first: impl FnMut(&mut Member),
    mut second: impl FnMut(&mut Member),
) -> String {
    let timed = |member: &mut Member, body: &mut dyn FnMut(&mut Member)| {
        member.barrier().unwrap();
        let begin = Instant::now();
        body(member);
        member.barrier().unwrap();
        begin.elapsed().as_secs_f64()
    };
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let first = timed(member, &mut first);
            first / timed(member, &mut second)
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: usize| ratios[(ratios.len() - 1) * share / 4];
    format!("{name:66} {:.2} ({:.2} to {:.2})", at(2), at(1), at(3))
}
