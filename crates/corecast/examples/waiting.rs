//! Measures wait strategies when one rank comes late: the time from the last arrival to the end of a barrier,
//! and the CPU time that all ranks together use for it.
//!
//! ```text
//! cargo run --release -p corecast --example waiting [RANKS]
//! ```
//!
//! All strategies take turns in short rows of barriers. The late rank computes, or sleeps from 1 ms on; its own
//! CPU time is not counted. `as measured` is the strategy that teams take by themselves after `corecast probe`.

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use corecast::{Builder, Team, WaitConfig, Waiting};
use rustix::time::{ClockId, clock_gettime};

/// The delays of the late rank.
const LATE: [Duration; 6] = [
    Duration::ZERO,
    Duration::from_micros(1),
    Duration::from_micros(5),
    Duration::from_micros(50),
    Duration::from_micros(500),
    Duration::from_millis(5),
];

/// Rows of each strategy and delay.
const TURNS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let ranks: usize = match std::env::args().nth(1) {
        Some(ranks) => ranks.parse()?,
        None => 2,
    };
    let ways = [
        ("as measured", Waiting::Balanced),
        (
            "fixed: 3 µs, 100 µs",
            Waiting::Exactly(WaitConfig::BALANCED),
        ),
        (
            "fixed: 0, 200 µs",
            Waiting::Exactly(WaitConfig::OVERSUBSCRIBED),
        ),
        ("spin", Waiting::Spin),
        ("park", Waiting::Park),
        ("budget of 20 µs", Waiting::Budget(20_000)),
    ];
    // Members that spin and share hardware threads would take minutes.
    let here = corecast::machine::discover();
    let oversubscribed = ranks > here.unthrottled_parallelism();
    let ways = ways
        .iter()
        .filter(|(_, way)| !oversubscribed || *way != Waiting::Spin);
    let ways: Vec<(&str, Waiting)> = ways.copied().collect();
    let mut waits = vec![String::new(); ways.len()];
    let mut seen = vec![vec![(Vec::new(), Vec::new()); LATE.len()]; ways.len()];
    for _ in 0..TURNS {
        for (at, late) in LATE.iter().enumerate() {
            for (way, &(_, waiting)) in ways.iter().enumerate() {
                let team = Builder::new().threads(ranks).wait(waiting).build()?;
                waits[way] = team.explain().waits.to_string();
                let (after, cpu) = row(&team, *late);
                seen[way][at].0.push(after);
                seen[way][at].1.push(cpu);
            }
        }
    }
    println!(
        "{ranks} ranks: µs from the last arrival until all have left / µs of CPU time for a barrier"
    );
    print!("{:22}", "late by");
    LATE.iter()
        .for_each(|late| print!("{:>18}", format!("{late:?}")));
    println!();
    for ((&(name, _), waits), seen) in ways.iter().zip(&waits).zip(&mut seen) {
        print!("{name:22}");
        for (after, cpu) in seen {
            print!("{:>10.2} /{:>6.1}", median(after), median(cpu));
        }
        println!("   {waits}");
    }
    Ok(())
}

/// Runs one row of barriers. Returns the mean time from the last arrival until all have left, and the mean CPU
/// time of all ranks together, in µs.
fn row(team: &Team, late: Duration) -> (f64, f64) {
    let barriers = (Duration::from_millis(4).as_nanos() / (late.as_nanos() + 2_000)).max(3) as u64;
    let ends: Vec<AtomicU64> = (0..team.size()).map(|_| AtomicU64::new(0)).collect();
    let begin = Instant::now();
    let now = || begin.elapsed().as_nanos() as u64;
    let (after, cpu) = (Mutex::new(0), Mutex::new(0.0));
    team.run(|member| {
        let (rank, last) = (member.rank(), member.size() - 1);
        member.barrier().unwrap();
        let start = cpu_us();
        let mut computed = 0.0;
        for _ in 0..barriers {
            let mut arrived = 0;
            if rank == last {
                let before = cpu_us();
                let until = now() + late.as_nanos() as u64;
                if late >= Duration::from_millis(1) {
                    std::thread::sleep(late);
                }
                while now() < until {}
                computed += cpu_us() - before;
                arrived = now();
            }
            member.barrier().unwrap();
            ends[rank].store(now(), Ordering::Relaxed);
            member.barrier().unwrap();
            if rank == last {
                let left = ends.iter().map(|end| end.load(Ordering::Relaxed)).max();
                *after.lock().unwrap() += left.unwrap_or(0).saturating_sub(arrived);
            }
        }
        *cpu.lock().unwrap() += cpu_us() - start - computed;
    });
    let count = barriers as f64;
    (
        after.into_inner().unwrap() as f64 / count / 1e3,
        cpu.into_inner().unwrap() / count,
    )
}

/// CPU time of this thread, in µs.
fn cpu_us() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
