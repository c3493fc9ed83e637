//! Trees and bounds of large made-up machines, and how long they take.
//!
//! `cargo run --release -p corecast-plan --example large`
//!
//! For each machine, first with exact classes of costs, then with every cost changed by up to 3 %:
//! Smelt's tree, the first tree of the hierarchy, the best replay with its bound and gap, and what
//! the search makes of it in `SECONDS` (an argument, 1 by default). Times are wall times.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use corecast_model::CostModel;
use corecast_plan::search::{Effort, improve};
use corecast_plan::{Operation, Tree, bound, cost, hierarchy, smelt};

/// Additions a count may make.
const WORK: u64 = 20_000_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 1.0,
    };
    let classes = [
        ("A", "send=60,120,200 receive=220,450,750"),
        ("B", "send=250,260,280 receive=240,340,430"),
    ];
    println!(
        "members class  costs  root  smelt               first               replay              \
         bound   gap     searched      gap"
    );
    for (members, levels) in [
        (64, "package:2 numa:4 core:8"),
        (256, "package:2 numa:8 core:16"),
        (1024, "package:4 numa:8 core:32"),
    ] {
        for (name, costs) in classes {
            let machine = corecast_model::synthetic(&format!("{levels} {costs}"))?;
            let noisy = noisy(machine.costs())?;
            for (what, costs) in [("exact", machine.costs()), ("±3 %", &noisy)] {
                for root in [Some(smelt::root(costs)), None] {
                    print!("{members:>7} {name:<6} {what:<6} ");
                    report(costs, root, Duration::from_secs_f64(seconds))?;
                }
            }
        }
    }
    Ok(())
}

/// Every cost changed by up to 3 %, always the same way.
fn noisy(costs: &CostModel) -> Result<CostModel, corecast_model::CostError> {
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

fn report(
    costs: &CostModel,
    root: Option<usize>,
    limit: Duration,
) -> Result<(), Box<dyn std::error::Error>> {
    let latency = |tree: &Tree| cost::latency(costs, tree, Operation::Broadcast);
    let (smelt, smelt_took) = timed(|| smelt::tree(costs, root.unwrap_or(0)));
    let (first, first_took) = timed(|| hierarchy::tree(costs, root));
    let (found, took) = timed(|| hierarchy::certified(costs, root, WORK));
    let found = found.ok_or("a machine with levels has a tree")?;
    let gap = |latency: f64| 100.0 * (latency - found.lower_bound) / latency;
    let start = Instant::now();
    let effort = Effort {
        seed: 1,
        moves: u64::MAX,
    };
    let free = root.is_none();
    let mut watch = |_: &_| {
        if start.elapsed() > limit {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let searched = improve(
        costs,
        &found.tree,
        free,
        found.lower_bound,
        effort,
        &mut watch,
    );
    println!(
        "{:<5} {:>6.1} {:>9.1?}   {:>6.1} {:>9.1?}   {:>6.1} {:>9.1?}   {:>6.1}  {:>4.2} %   {:>6.1}   {:>4.2} %",
        if free { "free" } else { "fixed" },
        latency(&smelt),
        smelt_took,
        first.map_or(f64::NAN, |tree| latency(&tree)),
        first_took,
        found.latency,
        took,
        found.lower_bound,
        gap(found.latency),
        latency(&searched),
        gap(latency(&searched)),
    );
    assert!(bound::lower_bound(costs, Operation::Broadcast, root) <= latency(&searched));
    Ok(())
}

fn timed<T>(make: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let made = make();
    (made, start.elapsed())
}
