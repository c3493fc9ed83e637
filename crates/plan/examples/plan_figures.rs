//! Latencies, bounds and gaps of all patterns on machine files.
//!
//! `cargo run --release -p corecast-plan --example plan_figures -- MACHINE.json ...`

use corecast_model::MachineFile;
use corecast_plan::{Operation, Pattern, RootChoice, plan, smelt};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let file = MachineFile::from_json(&std::fs::read_to_string(&path)?)?;
        let costs = file.costs();
        println!(
            "{} ({} threads, {})",
            file.machine().name,
            costs.n(),
            costs.unit()
        );
        let root = smelt::root(costs);
        let base = smelt::base(costs, root);
        let reordered = smelt::reorder(costs, &base);
        for (name, tree) in [("smelt, base alone", base), ("smelt, reordered", reordered)] {
            let latency = corecast_plan::cost::latency(costs, &tree, Operation::Broadcast);
            println!("  {name:<18} broadcast {latency:>9.1}");
        }
        let tuned = [
            Pattern::Smelt,
            Pattern::Mst,
            Pattern::MstBinary,
            Pattern::Cluster,
        ];
        let bad = [
            Pattern::Bad,
            Pattern::BadBinary,
            Pattern::Dissemination { radix: 2 },
        ];
        for pattern in tuned.into_iter().chain(Pattern::oblivious()).chain(bad) {
            print!("  {:<18}", pattern.to_string());
            for operation in Operation::ALL {
                if let Ok(plan) = plan(costs, pattern, operation, RootChoice::Auto) {
                    print!(
                        " {operation} {:>9.1} (gap {:>4.1} %)",
                        plan.latency,
                        100.0 * plan.gap
                    );
                }
            }
            println!();
        }
    }
    Ok(())
}
