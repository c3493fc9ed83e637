//! Figures of the search for best trees, each the least and the most over several seeds.
//!
//! `cargo run --release -p corecast-plan --example best -- [--ms N] [--seeds N] FILE...`
//!
//! For each machine file: a broadcast with Smelt's root and with a free one, a reduction and a
//! barrier with Smelt's root. The limit is one of CPU time for each search, set-up included.

use std::ops::ControlFlow;
use std::time::Duration;

use corecast_model::{CostModel, MachineFile};
use corecast_plan::search::{Effort, Progress, construct, improve, improve_barrier};
use corecast_plan::{Operation, Tree, cost, smelt};
use rustix::time::{ClockId, clock_gettime};

/// CPU time of this thread: other programs do not count.
fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A watcher with a limit, and what it saw last.
struct Clock {
    start: Duration,
    limit: Duration,
    moves: u64,
}

impl Clock {
    fn look(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.moves = progress.moves;
        match now() - self.start < self.limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

/// Smallest and largest result over all seeds.
fn over(seeds: u64, limit: Duration, search: impl Fn(Effort, &mut Clock) -> f64) -> String {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    let (mut moves, start) = (0, now());
    for seed in 1..=seeds {
        let effort = Effort {
            seed,
            moves: u64::MAX,
        };
        let mut clock = Clock {
            start: now(),
            limit,
            moves: 0,
        };
        let latency = search(effort, &mut clock);
        least = least.min(latency);
        most = most.max(latency);
        moves += clock.moves;
    }
    let taken = (now() - start).as_secs_f64();
    format!(
        "{least:>9.2} {most:>9.2} {:>5.1} ms {:>4.1} M/s",
        1e3 * taken / seeds as f64,
        moves as f64 / taken / 1e6
    )
}

fn report(what: &str, costs: &CostModel, seeds: u64, limit: Duration) {
    let root = smelt::root(costs);
    let mirrored = costs.mirrored();
    let tree = |costs: &CostModel, root: Option<usize>| {
        let latency = |tree: &Tree| cost::latency(costs, tree, Operation::Broadcast);
        let start = now();
        let first = latency(&construct(costs, root));
        let constructed = (now() - start).as_secs_f64() * 1e3;
        let found = over(seeds, limit, |effort, clock| {
            let start = construct(costs, root);
            let free = root.is_none();
            latency(&improve(costs, &start, free, 0.0, effort, &mut |p| {
                clock.look(p)
            }))
        });
        format!("{first:>9.2} {constructed:>6.3} ms | {found}")
    };
    println!("{what}\n  fixed     {}", tree(costs, Some(root)));
    println!("  free      {}", tree(costs, None));
    println!("  reduction {}", tree(&mirrored, Some(root)));
    for (name, root) in [("barrier", Some(root)), ("  free", None)] {
        let barrier = over(seeds, limit, |effort, clock| {
            improve_barrier(costs, root, 0.0, effort, &mut |p| clock.look(p)).latency
        });
        println!("  {name:<9} {:>22} {barrier}", "|");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut limit, mut seeds, mut paths) = (1000, 10, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().unwrap_or_default().parse::<u64>();
        match arg.as_str() {
            "--ms" => limit = number()?,
            "--seeds" => seeds = number()?,
            _ => paths.push(arg),
        }
    }
    println!("{limit} ms each, {seeds} seeds: construct, time | least, most, time, moves");
    for path in paths.iter().filter(|p| !p.ends_with("measured-trees.json")) {
        let (name, machine) = match path.contains(':') {
            true => (path.as_str(), corecast_model::synthetic(path)?),
            false => {
                let name = path.rsplit('/').next().unwrap_or(path);
                (
                    name,
                    MachineFile::from_json(&std::fs::read_to_string(path)?)?,
                )
            }
        };
        report(name, machine.costs(), seeds, Duration::from_millis(limit));
    }
    Ok(())
}
