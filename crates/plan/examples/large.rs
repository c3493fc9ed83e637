//! Plans for large made-up machines with pattern `best`, and the time that they take.
//!
//! ```text
//! cargo run --release -p corecast-plan --example large -- [MEMBERS ...]
//! ```
//!
//! Machines of 64, 256 and 1,024 members in three levels, with two kinds of costs: exactly alike
//! inside of a level, and each changed by up to 3 %. Shown are Smelt's tree and the quick bound; the
//! first tree of the hierarchy; the plan of `best` without any move; the best replay with its bound;
//! and `best` in the time that is its goal. Times are CPU times of the one thread.

use std::error::Error;
use std::ops::ControlFlow;

use corecast_model::{CostError, CostModel};
use corecast_plan::{
    Effort, Operation, Pattern, Plan, RootChoice, Tree, bound, check, cost, hierarchy, plan_with,
    smelt,
};
use rustix::time::{ClockId, clock_gettime};

/// Additions that a count may make.
const WORK: u64 = 20_000_000_000;

/// Members, the machine, and seconds for exact and for noisy costs.
const MACHINES: [(usize, &str, f64, f64); 3] = [
    (64, "package:2 numa:4 core:8", 0.1, 5.0),
    (256, "package:2 numa:8 core:16", 5.0, 10.0),
    (1024, "package:4 numa:8 core:32", 2.0, 40.0),
];

const KINDS: [(&str, &str); 2] = [
    ("A", "send=60,120,200 receive=220,450,750"),
    ("B", "send=250,260,280 receive=240,340,430"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse())
        .collect::<Result<_, _>>()?;
    println!(
        "{:>7} {:<4} {:<5} {:<5} | {:>7} {:>8} | {:>7} {:>8} | {:>7} {:>8} | {:>7} {:>8} | {:>7} {:>8} {:>8} | {:>7} {:>8} {:>6} {:>8}",
        "members",
        "kind",
        "costs",
        "root",
        "smelt",
        "ms",
        "bound",
        "ms",
        "first",
        "ms",
        "unmoved",
        "ms",
        "replay",
        "bound",
        "ms",
        "best",
        "bound",
        "gap %",
        "ms"
    );
    for (members, levels, exact, noisy) in MACHINES {
        if !sizes.is_empty() && !sizes.contains(&members) {
            continue;
        }
        for (kind, prices) in KINDS {
            let machine = corecast_model::synthetic(&format!("{levels} {prices}"))?;
            let costs = machine.costs();
            for (what, costs, seconds) in [
                ("exact", costs, exact),
                ("±3 %", &with_noise(costs)?, noisy),
            ] {
                for root in [Some(smelt::root(costs)), None] {
                    print!("{members:>7} {kind:<4} {what:<5} ");
                    report(costs, root, seconds)?;
                }
            }
        }
    }
    Ok(())
}

/// Every cost changed by up to 3 %, always the same way.
fn with_noise(costs: &CostModel) -> Result<CostModel, CostError> {
    let factor = |i: usize, j: usize, salt: u64| {
        let mut mixed = (i as u64) << 32 | (j as u64) << 1 | salt;
        for _ in 0..3 {
            mixed = (mixed ^ mixed >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        0.97 + 0.06 * (mixed >> 11) as f64 / (1_u64 << 53) as f64
    };
    CostModel::from_fn(
        costs.unit(),
        costs.numa_nodes().to_vec(),
        |i, j| costs.send(i, j) * factor(i, j, 0),
        |i, j| costs.receive(i, j) * factor(i, j, 1),
    )
}

fn report(costs: &CostModel, root: Option<usize>, seconds: f64) -> Result<(), Box<dyn Error>> {
    let latency = |tree: &Tree| cost::latency(costs, tree, Operation::Broadcast);
    let (smelt, smelt_ms) = timed(|| smelt::tree(costs, root.unwrap_or(0)));
    let (quick, quick_ms) = timed(|| bound::lower_bound(costs, Operation::Broadcast, root));
    let (first, first_ms) = timed(|| hierarchy::tree(costs, root));
    let (replay, replay_ms) = timed(|| hierarchy::certified(costs, root, WORK));
    let replay = replay.ok_or("a machine with levels has a tree")?;
    let (unmoved, unmoved_ms) = timed(|| best(costs, root, 0, f64::INFINITY));
    let (found, found_ms) = timed(|| best(costs, root, u64::MAX, seconds));
    let found = found?;
    println!(
        "{:<5} | {:>7.1} {smelt_ms:>8.2} | {quick:>7.1} {quick_ms:>8.2} | {:>7.1} {first_ms:>8.2} | {:>7.1} {unmoved_ms:>8.2} | {:>7.1} {:>8.1} {replay_ms:>8.2} | {:>7.1} {:>8.1} {:>6.2} {found_ms:>8.1}",
        root.map_or("free", |_| "fixed"),
        latency(&smelt),
        first.map_or(f64::NAN, |tree| latency(&tree)),
        unmoved?.latency,
        replay.latency,
        replay.lower_bound,
        found.latency,
        found.lower_bound,
        100.0 * found.gap,
    );
    Ok(())
}

fn best(
    costs: &CostModel,
    root: Option<usize>,
    moves: u64,
    seconds: f64,
) -> Result<Plan, Box<dyn Error>> {
    let start = cpu_seconds();
    let root = root.map_or(RootChoice::Auto, RootChoice::Rank);
    let effort = Effort { seed: 1, moves };
    let mut watch = |_: &_| match cpu_seconds() - start < seconds {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let (pattern, operation) = (Pattern::Best, Operation::Broadcast);
    let plan = plan_with(costs, pattern, operation, root, effort, &mut watch)?;
    check::plan(costs, &plan)?;
    Ok(plan)
}

/// With milliseconds of CPU time.
fn timed<T>(make: impl FnOnce() -> T) -> (T, f64) {
    let start = cpu_seconds();
    let made = make();
    (made, 1e3 * (cpu_seconds() - start))
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
