//! How fast the simulator is, and how much memory a rank takes.
//!
//! ```text
//! cargo run --release -p corecast-sim --example figures
//! ```

use corecast_coll::Plans;
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::engine::{Cpu, Options, Setup, run};
use corecast_sim::fabric::{Setting, predict};
use corecast_sim::machine::known;
use corecast_sim::memory::LineId;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Every rank works on its own lines, but for every `every`-th operation, which is on one that all use.
    for every in [1, 4, 16, 1000] {
        let rounds = 100_000;
        let cores: Vec<usize> = (0..16).collect();
        let start = on_cpu();
        let body = move |cpu: &mut Cpu<'_>, &first: &LineId| {
            let own = cpu.rank() * 8;
            for round in 0..rounds {
                let away = round % every == 0;
                let line = first.offset(if away { 128 } else { own } + round % 8);
                match round % 3 {
                    0 => cpu.store(line, 1),
                    _ => _ = cpu.load(line),
                }
            }
        };
        let setup = |setup: &mut Setup<'_>| setup.allocate(0, 136);
        let options = Options::default();
        let outcome = run(&known::mesh(4, 4), &cores, &options, setup, body)?;
        let seconds = on_cpu() - start;
        let (hits, misses) = outcome
            .counts
            .cores
            .iter()
            .fold((0, 0), |(hits, misses), core| {
                (hits + core.hits, misses + core.misses)
            });
        println!(
            "line operations: {:.2} million/s, of which {:.0} % miss",
            (hits + misses) as f64 / seconds / 1e6,
            100.0 * misses as f64 / (hits + misses) as f64
        );
    }
    for side in [8, 16, 32, 64] {
        let n = side * side;
        let before = resident_bytes();
        let tree = corecast_plan::patterns::knomial(n, 0, 2);
        let job = Job::new(
            &Call::new(Collective::Broadcast, "messages", 0, 8)?,
            &Plans::of_tree(&tree),
        )?;
        let cores: Vec<usize> = (0..n).collect();
        let start = on_cpu();
        let found = predict(&known::mesh(side, side), &cores, &job, &Setting::default())?;
        println!(
            "broadcast on {n} cores: {:.3} s, {} cycles, {:.1} KiB a rank",
            on_cpu() - start,
            found.latency,
            (peak_bytes() - before) as f64 / n as f64 / 1024.0
        );
    }
    Ok(())
}

/// Seconds for which this process had a processor, so that others do not count.
fn on_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let spent = text
        .split_whitespace()
        .next()
        .and_then(|ns| ns.parse().ok());
    spent.unwrap_or(f64::NAN) / 1e9
}

/// A number of KiB in what Linux says of this process, in bytes; 0 elsewhere.
fn status(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .and_then(|number| number.parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}

fn resident_bytes() -> u64 {
    status("VmRSS")
}

fn peak_bytes() -> u64 {
    status("VmHWM")
}
