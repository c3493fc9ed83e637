//! The plans and bounds of patterns `best` and `optimal`, and the time that they take.
//!
//! ```text
//! cargo run --release -p corecast-plan --example planner -- [--pattern best|optimal] [--seconds S]
//!     [--seed N] [--seeds N] [--op OPERATION] [--root smelt|free] [--teams N] MACHINE ...
//! ```
//!
//! A machine is a file or a synthetic one. With several seeds the least and the most latency are
//! shown, and the weakest bound. With `--teams N` the teams are N random ones of each size from 8 to
//! 12. Every plan passes the checker. Times are CPU times of the one thread that searches: their
//! mean, median and maximum over the seeds or teams.

use std::error::Error;
use std::ops::ControlFlow;

use corecast_model::{CostModel, MachineFile};
use corecast_plan::{Effort, Operation, Pattern, Plan, RootChoice, check, plan_with};
use rustix::time::{ClockId, clock_gettime};

struct Options {
    pattern: Pattern,
    seconds: f64,
    seed: u64,
    seeds: u64,
    operations: Vec<Operation>,
    roots: Vec<(&'static str, RootChoice)>,
    teams: usize,
    machines: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    println!(
        "{:<18} {:<10} {:<6} {:>6} {:>10} {:>10} {:>10} {:>8} {:>7} {:>8} {:>8} {:>8}",
        "machine",
        "operation",
        "root",
        "runs",
        "least",
        "most",
        "bound",
        "gap",
        "proved",
        "mean s",
        "median",
        "most"
    );
    for machine in &options.machines {
        let (name, costs) = read(machine)?;
        for &operation in &options.operations {
            for &(root_name, root) in &options.roots {
                let runs = match options.teams {
                    0 => seeds(&options, &costs, operation, root)?,
                    teams => sub_teams(&options, &costs, operation, root, teams)?,
                };
                println!(
                    "{name:<18} {operation:<10} {root_name:<6} {}",
                    summary(&runs)
                );
            }
        }
    }
    if let Some(memory) = memory_most() {
        println!("most memory of the whole process: {memory}");
    }
    Ok(())
}

/// A plan and the CPU time that it took.
struct Run {
    plan: Plan,
    seconds: f64,
}

fn run(
    options: &Options,
    costs: &CostModel,
    operation: Operation,
    root: RootChoice,
    seed: u64,
) -> Result<Run, Box<dyn Error>> {
    let start = cpu_seconds();
    let effort = Effort {
        seed,
        moves: u64::MAX,
    };
    let mut watch = |_: &_| match cpu_seconds() - start < options.seconds {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let plan = plan_with(costs, options.pattern, operation, root, effort, &mut watch)?;
    let seconds = cpu_seconds() - start;
    check::plan(costs, &plan)?;
    Ok(Run { plan, seconds })
}

fn seeds(
    options: &Options,
    costs: &CostModel,
    operation: Operation,
    root: RootChoice,
) -> Result<Vec<Run>, Box<dyn Error>> {
    let seeds = options.seed..options.seed + options.seeds;
    seeds
        .map(|seed| run(options, costs, operation, root, seed))
        .collect()
}

/// Random teams of 8 to 12, always the same ones.
fn sub_teams(
    options: &Options,
    costs: &CostModel,
    operation: Operation,
    root: RootChoice,
    teams: usize,
) -> Result<Vec<Run>, Box<dyn Error>> {
    let mut random = options.seed;
    let mut below = |n: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % n
    };
    let mut runs = Vec::new();
    for size in (8..=12).filter(|&size| size <= costs.n()) {
        for _ in 0..teams {
            let mut ranks: Vec<usize> = (0..costs.n()).collect();
            for at in 0..size {
                ranks.swap(at, at + below(costs.n() - at));
            }
            let team = costs.subset(&ranks[..size])?;
            runs.push(run(options, &team, operation, root, options.seed)?);
        }
    }
    Ok(runs)
}

fn summary(runs: &[Run]) -> String {
    let extreme = |of: &dyn Fn(&Run) -> f64, better: fn(f64, f64) -> f64| {
        runs.iter().map(of).reduce(better).unwrap_or(f64::NAN)
    };
    let latency = |run: &Run| run.plan.latency;
    let mut seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let proved = runs.iter().filter(|run| run.plan.proved_optimal).count();
    // A proof counts in ticks, and may end a tick below the latency.
    let gap = |run: &Run| match run.plan.proved_optimal {
        true => 0.0,
        false => 100.0 * run.plan.gap,
    };
    format!(
        "{:>6} {:>10.2} {:>10.2} {:>10.2} {:>6.2} % {proved:>7} {:>8.4} {:>8.4} {:>8.4}",
        runs.len(),
        extreme(&latency, f64::min),
        extreme(&latency, f64::max),
        extreme(&|run| run.plan.lower_bound, f64::min),
        extreme(&gap, f64::max),
        seconds.iter().sum::<f64>() / seconds.len() as f64,
        seconds[seconds.len() / 2],
        seconds[seconds.len() - 1],
    )
}

/// A machine file, or a synthetic machine.
fn read(machine: &str) -> Result<(String, CostModel), Box<dyn Error>> {
    let file = if machine.contains(':') {
        corecast_model::synthetic(machine)?
    } else {
        MachineFile::from_json(&std::fs::read_to_string(machine)?)?
    };
    Ok((file.machine().name.clone(), file.costs().clone()))
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options {
        pattern: Pattern::Best,
        seconds: 1.0,
        seed: 1,
        seeds: 1,
        operations: Operation::ALL.to_vec(),
        roots: vec![("smelt", RootChoice::Smelt), ("free", RootChoice::Auto)],
        teams: 0,
        machines: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--pattern" => options.pattern = value()?.parse()?,
            "--seconds" => options.seconds = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            "--seeds" => options.seeds = value()?.parse::<u64>()?.max(1),
            "--teams" => options.teams = value()?.parse()?,
            "--op" => options.operations = vec![value()?.parse()?],
            "--root" => {
                let name = value()?;
                options.roots.retain(|(root, _)| *root == name);
            }
            _ => options.machines.push(word),
        }
    }
    // Measured trees, which lie beside the machines, are none.
    options.machines.retain(|m| !m.ends_with("-trees.json"));
    Ok(options)
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// As Linux has it, with its unit.
fn memory_most() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map(|memory| memory.trim().to_owned())
}
