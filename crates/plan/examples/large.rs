//! How long planning takes on large made-up machines, and what comes out.
//!
//! `cargo run --release -p corecast-plan --example large`

use std::time::Instant;

use corecast_plan::{Operation, Pattern, RootChoice, plan, smelt};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let classes = [
        ("A", "send=60,120,200 receive=220,450,750"),
        ("B", "send=250,260,280 receive=240,340,430"),
    ];
    for levels in [
        "package:4 core:16",
        "package:4 numa:4 core:16",
        "package:8 numa:4 core:32",
    ] {
        for (name, costs) in classes {
            let spec = format!("{levels} {costs}");
            let start = Instant::now();
            let machine = corecast_model::synthetic(&spec)?;
            let built = start.elapsed();
            let root = smelt::root(machine.costs());
            let base = smelt::base(machine.costs(), root);
            let based = start.elapsed();
            let tree = smelt::tree(machine.costs(), root);
            let treed = start.elapsed();
            let plan = plan(
                machine.costs(),
                Pattern::Smelt,
                Operation::Broadcast,
                RootChoice::Auto,
            )?;
            println!(
                "{name} {:>4} members: costs {built:.1?}, base {:.1?}, smelt {:.1?}, plan with bound {:.1?}; \
                 base {}, smelt {}, bound {}",
                tree.len(),
                based - built,
                treed - based,
                start.elapsed() - treed,
                corecast_plan::cost::latency(machine.costs(), &base, Operation::Broadcast),
                plan.latency,
                plan.lower_bound,
            );
        }
    }
    Ok(())
}
