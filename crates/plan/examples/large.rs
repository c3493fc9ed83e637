//! How long planning takes on large made-up machines, and what comes out.
//!
//! `cargo run --release -p corecast-plan --example large`

use std::time::Instant;

use corecast_model::CostModel;
use corecast_plan::{Operation, Pattern, RootChoice, bound, cost, plan, smelt};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let classes = [
        ("A", "send=60,120,200 receive=220,450,750"),
        ("B", "send=250,260,280 receive=240,340,430"),
    ];
    for levels in [
        "package:2 numa:4 core:8",
        "package:2 numa:8 core:16",
        "package:4 numa:8 core:32",
    ] {
        for (name, costs) in classes {
            let start = Instant::now();
            let machine = corecast_model::synthetic(&format!("{levels} {costs}"))?;
            println!("{levels} {name}: built in {:.1?}", start.elapsed());
            report("exact classes", machine.costs())?;
            report("with ±5 % noise", &noisy(machine.costs())?)?;
        }
    }
    Ok(())
}

/// Every cost changed by up to 5 %, always the same way.
fn noisy(costs: &CostModel) -> Result<CostModel, corecast_model::CostError> {
    let factor = |i: usize, j: usize, salt: u64| {
        let seed = (i as u64) << 32 | (j as u64) << 1 | salt;
        let mixed = (seed ^ seed >> 7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        0.95 + 0.1 * (mixed >> 11) as f64 / (1_u64 << 53) as f64
    };
    CostModel::from_fn(
        costs.unit(),
        costs.numa_nodes().to_vec(),
        |i, j| costs.send(i, j) * factor(i, j, 0),
        |i, j| costs.receive(i, j) * factor(i, j, 1),
    )
}

fn report(what: &str, costs: &CostModel) -> Result<(), Box<dyn std::error::Error>> {
    let root = smelt::root(costs);
    let start = Instant::now();
    let base = smelt::base(costs, root);
    let based = start.elapsed();
    let tree = smelt::tree(costs, root);
    let treed = start.elapsed() - based;
    let lower = bound::lower_bound(costs, Operation::Broadcast, Some(root));
    let bounded = start.elapsed() - based - treed;
    let binomial = plan(
        costs,
        Pattern::Binomial,
        Operation::Broadcast,
        RootChoice::Rank(root),
    )?
    .latency;
    println!(
        "  {what:<16} base {:>6.0} in {based:>8.1?}, smelt {:>6.0} in {treed:>8.1?}, \
         bound {lower:>6.0} in {bounded:>8.1?}, binomial {binomial:>6.0}",
        cost::latency(costs, &base, Operation::Broadcast),
        cost::latency(costs, &tree, Operation::Broadcast),
    );
    Ok(())
}
