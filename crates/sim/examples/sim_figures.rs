//! How fast the simulator is, and how much memory a rank takes.
//!
//! ```text
//! cargo run --release -p corecast-sim --example sim_figures
//! cargo run --release -p corecast-sim --example sim_figures -- collectives-64
//! ```
//!
//! With names, only what they begin is run: `broadcast`, `micro`, `collectives-64`,
//! `collectives-4096`.

use corecast_collectives::Plans;
use corecast_sim::drive::{Call, CallError, Collective, Job, usual};
use corecast_sim::engine::{Cpu, RunOptions, RunOutcome, Setup, SimError, run};
use corecast_sim::fabric::{CallSetting, SimFabric, SimTeam, predict};
use corecast_sim::machine::known;
use corecast_sim::memory::LineId;

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| asked.is_empty() || asked.iter().any(|one| name.starts_with(one));
    // First, as the most memory that a process had is what it is asked for.
    if wanted("broadcast") {
        [8, 16, 32, 64].into_iter().try_for_each(broadcast)?;
    }
    if wanted("micro") {
        [1, 4, 16, 1000].into_iter().try_for_each(micro)?;
    }
    for side in [8, 64] {
        if wanted(&format!("collectives-{}", side * side)) {
            collectives(side)?;
        }
    }
    Ok(())
}

/// Sixteen ranks, each on its own lines, but for every `every`-th operation, which is on one that all use.
fn micro(every: usize) -> Result<(), SimError> {
    let rounds = 100_000;
    let cores: Vec<usize> = (0..16).collect();
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
    let start = on_cpu();
    let outcome = run(
        &known::mesh(4, 4),
        &cores,
        &RunOptions::default(),
        setup,
        body,
    )?;
    report("micro", &Totals::of(&outcome, on_cpu() - start));
    Ok(())
}

/// Calls in a row on a square mesh, of what a team of so many would make: short data, and longer ones.
fn collectives(side: usize) -> Result<(), Failed> {
    use Collective::{Allgather, Allreduce, Alltoall, Barrier, Broadcast, Reduce, Scan};
    let n = side * side;
    let name = format!("collectives-{n}");
    let mut all = vec![(Barrier, 0), (Broadcast, 8), (Reduce, 8), (Allreduce, 8)];
    all.extend([(Broadcast, 1024), (Reduce, 1024), (Allreduce, 1024)]);
    // Every rank with every other one: too much for thousands.
    if n <= 64 {
        all.extend([(Broadcast, 65_536), (Reduce, 65_536), (Allreduce, 65_536)]);
        all.extend([(Allgather, 8), (Alltoall, 4096), (Scan, 8)]);
    }
    let tree = corecast_plan::patterns::knomial(n, 0, 2);
    let mut sum = Totals::default();
    for (collective, bytes) in all {
        let block = bytes / collective.blocks(n).max(1);
        let algorithm = usual(collective, &Plans::of_tree(&tree), block);
        let job = job(collective, algorithm, bytes, &tree)?;
        let totals = in_a_row(side, &job, calls(n, bytes))?;
        report(&format!("{name}, {}", job.call()), &totals);
        sum = sum.and(&totals);
    }
    report(&format!("{name}, all"), &sum);
    Ok(())
}

/// So many that each takes its part of a second.
fn calls(n: usize, bytes: usize) -> usize {
    (1_000_000 / n / (16 + bytes / 8)).clamp(2, 200)
}

fn job(
    collective: Collective,
    algorithm: &str,
    bytes: usize,
    tree: &corecast_plan::Tree,
) -> Result<Job, CallError> {
    let call = Call::new(collective, algorithm, 0, bytes)?;
    Job::new(&call, &Plans::of_tree(tree))
}

fn in_a_row(side: usize, job: &Job, calls: usize) -> Result<Totals, SimError> {
    let machine = known::mesh(side, side);
    let cores: Vec<usize> = (0..side * side).collect();
    let (team, combine_bytes) = (
        SimTeam::new(&cores, job.groups()),
        machine.costs.combine_bytes,
    );
    let job = std::rc::Rc::new(job.clone());
    let start = on_cpu();
    let body = move |cpu: &mut Cpu<'_>, (): &()| {
        let mut context = job.context(SimFabric::new(cpu, &team, combine_bytes));
        let combine = context.fabric.combine();
        for _ in 0..calls {
            context.fabric.begin();
            let Ok(_) = job.run(&mut context, &combine);
        }
    };
    let outcome = run(&machine, &cores, &RunOptions::default(), |_| (), body)?;
    Ok(Totals::of(&outcome, on_cpu() - start))
}

/// A lone broadcast with one call before it.
fn broadcast(side: usize) -> Result<(), Failed> {
    let n = side * side;
    let before = status("VmRSS");
    let tree = corecast_plan::patterns::knomial(n, 0, 2);
    let job = job(Collective::Broadcast, "messages", 8, &tree)?;
    let cores: Vec<usize> = (0..n).collect();
    let start = on_cpu();
    let found = predict(
        &known::mesh(side, side),
        &cores,
        &job,
        &CallSetting::default(),
    )?;
    println!(
        "broadcast on {n} cores: {:.3} s, {} cycles, {:.1} KiB a rank",
        on_cpu() - start,
        found.latency,
        (status("VmHWM") - before) as f64 / n as f64 / 1024.0
    );
    Ok(())
}

/// Line operations, and the seconds that they took.
#[derive(Default)]
struct Totals {
    hits: u64,
    misses: u64,
    /// Turns at caches, directories, links and memories.
    bookings: u64,
    seconds: f64,
}

impl Totals {
    fn of<R>(outcome: &RunOutcome<R>, seconds: f64) -> Self {
        let cores = &outcome.counts.cores;
        Self {
            hits: cores.iter().map(|core| core.hits).sum(),
            misses: cores.iter().map(|core| core.misses).sum(),
            bookings: outcome.servers.iter().map(|server| server.served).sum(),
            seconds,
        }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            bookings: self.bookings + other.bookings,
            seconds: self.seconds + other.seconds,
        }
    }
}

fn report(what: &str, totals: &Totals) {
    let all = (totals.hits + totals.misses) as f64;
    println!(
        "{what}: {:.2} million line operations/s, {:.0} % miss, {:.1} bookings each, \
         {:.1} million bookings/s, {all:.0} in {:.2} s",
        all / totals.seconds / 1e6,
        100.0 * totals.misses as f64 / all,
        totals.bookings as f64 / all,
        totals.bookings as f64 / totals.seconds / 1e6,
        totals.seconds
    );
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
