//! Measures the quality of repaired plans: for each machine file every single removal, every single
//! insertion and random sequences of 20, against a fresh search for the new team from the same
//! root.
//!
//! ```sh
//! cargo run --release -p corecast-plan --example repair -- ../shared/machinedb/*.json
//! cargo run --release -p corecast-plan --example repair -- --sequences 200 --moves 100000 FILE...
//! ```

use std::error::Error;
use std::ops::ControlFlow;

use corecast_model::{CostModel, MachineFile};
use corecast_plan::search::{Effort, construct, improve};
use corecast_plan::{Operation, Pattern, Plan, smelt};
use rustix::time::{ClockId, clock_gettime};

/// The number of moves and of sequences that are tried.
#[derive(Clone, Copy)]
struct Extent {
    /// Moves of each of two fresh searches, of which the better one counts.
    moves: u64,
    /// Random sequences for each machine and operation.
    sequences: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut extent = Extent {
        moves: 500_000,
        sequences: 40,
    };
    let mut files = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--moves" => extent.moves = args.next().ok_or("--moves N")?.parse()?,
            "--sequences" => extent.sequences = args.next().ok_or("--sequences N")?.parse()?,
            _ => files.push(arg),
        }
    }
    println!("excess over a fresh search in %, processor time in µs, members that moved");
    println!(
        "{:24} {:9} {:9} {:>6} {:>6} {:>6} {:>7} {:>7} {:>6} {:>6}",
        "machine",
        "operation",
        "change",
        "cases",
        "worst",
        "mean",
        "median",
        "most",
        "mean",
        "most"
    );
    for path in files {
        if path.ends_with("measured-trees.json") {
            continue;
        }
        let machine = MachineFile::from_json(&std::fs::read_to_string(&path)?)?;
        let name = std::path::Path::new(&path).file_stem();
        let name = name.map_or(String::new(), |name| name.to_string_lossy().into_owned());
        for operation in [Operation::Broadcast, Operation::Reduce] {
            let cases = [
                ("without", removals(machine.costs(), operation, extent)?),
                ("with", insertions(machine.costs(), operation, extent)?),
                ("20 mixed", sequences(machine.costs(), operation, extent)?),
            ];
            for (change, cases) in cases {
                println!("{name:24} {operation:9} {change:9} {}", summary(&cases));
            }
        }
    }
    Ok(())
}

struct Case {
    excess: f64,
    time_us: f64,
    moved: usize,
}

fn summary(cases: &[Case]) -> String {
    let mean = |of: &dyn Fn(&Case) -> f64| cases.iter().map(of).sum::<f64>() / cases.len() as f64;
    let most = |of: &dyn Fn(&Case) -> f64| cases.iter().map(of).fold(f64::MIN, f64::max);
    let mut times: Vec<f64> = cases.iter().map(|case| case.time_us).collect();
    times.sort_by(f64::total_cmp);
    format!(
        "{:6} {:6.2} {:6.2} {:7.1} {:7.1} {:6.1} {:6}",
        cases.len(),
        100.0 * most(&|case| case.excess),
        100.0 * mean(&|case| case.excess),
        times[times.len() / 2],
        times[times.len() - 1],
        mean(&|case| case.moved as f64),
        most(&|case| case.moved as f64)
    )
}

type Cases = Result<Vec<Case>, Box<dyn Error>>;

fn removals(costs: &CostModel, operation: Operation, extent: Extent) -> Cases {
    let plan = fresh(costs, operation, smelt::root(costs), extent)?;
    let leave = |rank| {
        let costs = costs.subset(&others(costs.n(), rank))?;
        let (after, case) = timed(|| plan.without(&costs, rank))?;
        judged(&costs, operation, &after.plan, case, extent)
    };
    (0..costs.n()).map(leave).collect()
}

fn insertions(costs: &CostModel, operation: Operation, extent: Extent) -> Cases {
    let root = smelt::root(costs);
    let join = |rank: usize| {
        let fewer = costs.subset(&others(costs.n(), rank))?;
        let plan = fresh(&fewer, operation, root - usize::from(root > rank), extent)?;
        let (after, case) = timed(|| plan.with(costs, rank))?;
        judged(costs, operation, &after.plan, case, extent)
    };
    let ranks = (0..costs.n()).filter(|&rank| rank != root);
    ranks.map(join).collect()
}

/// Twenty removals and insertions each, removals somewhat more often; the end is judged.
fn sequences(costs: &CostModel, operation: Operation, extent: Extent) -> Cases {
    let start = fresh(costs, operation, smelt::root(costs), extent)?;
    let sequence = |seed| {
        let mut random = Random(seed);
        let mut team: Vec<usize> = (0..costs.n()).collect();
        let mut away = Vec::new();
        let mut plan = start.clone();
        let mut last = None;
        for _ in 0..20 {
            let join = !away.is_empty() && (team.len() < 4 || random.below(2) == 0);
            let (after, case) = if join {
                let rank = random.below(team.len() + 1);
                team.insert(rank, away.swap_remove(random.below(away.len())));
                let costs = costs.subset(&team)?;
                timed(|| plan.with(&costs, rank))?
            } else {
                let rank = random.below(team.len());
                away.push(team.remove(rank));
                let costs = costs.subset(&team)?;
                timed(|| plan.without(&costs, rank))?
            };
            plan = after.plan;
            last = Some(case);
        }
        let case = last.ok_or("no step")?;
        judged(&costs.subset(&team)?, operation, &plan, case, extent)
    };
    (1..=extent.sequences).map(sequence).collect()
}

fn others(n: usize, rank: usize) -> Vec<usize> {
    (0..n).filter(|&r| r != rank).collect()
}

/// The better of two searches from a root.
fn fresh(
    costs: &CostModel,
    operation: Operation,
    root: usize,
    extent: Extent,
) -> Result<Plan, Box<dyn Error>> {
    let costs_as_broadcast = match operation {
        Operation::Reduce => costs.mirrored(),
        _ => costs.clone(),
    };
    let start = construct(&costs_as_broadcast, Some(root));
    let mut best: Option<Plan> = None;
    for seed in [1, 2] {
        let effort = Effort {
            seed,
            moves: extent.moves,
        };
        let go_on = &mut |_: &_| ControlFlow::Continue(());
        let mut tree = improve(&costs_as_broadcast, &start, false, 0.0, effort, go_on);
        if operation == Operation::Reduce {
            tree = tree.reversed();
        }
        let plan = Plan::of_tree(costs, Pattern::Smelt, operation, tree)?;
        if best.as_ref().is_none_or(|best| plan.latency < best.latency) {
            best = Some(plan);
        }
    }
    Ok(best.ok_or("two seeds")?)
}

/// The least processor time of several runs, which all have the same result.
fn timed(
    repair: impl Fn() -> Result<corecast_plan::Repair, corecast_plan::RepairError>,
) -> Result<(corecast_plan::Repair, Case), Box<dyn Error>> {
    let mut time_us = f64::INFINITY;
    let mut after = repair()?;
    for _ in 0..5 {
        let before = now_us();
        after = repair()?;
        time_us = time_us.min(now_us() - before);
    }
    let moved = after.moved.len();
    let excess = f64::NAN;
    Ok((
        after,
        Case {
            excess,
            time_us,
            moved,
        },
    ))
}

fn judged(
    costs: &CostModel,
    operation: Operation,
    plan: &Plan,
    case: Case,
    extent: Extent,
) -> Result<Case, Box<dyn Error>> {
    let fresh = fresh(costs, operation, plan.root, extent)?;
    let excess = plan.latency / fresh.latency - 1.0;
    Ok(Case { excess, ..case })
}

fn now_us() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// Knuth's linear congruential generator, upper half.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        for _ in 0..2 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        }
        (self.0 >> 33) as usize % n
    }
}
