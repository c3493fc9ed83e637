//! The latency that groups save on the machines whose line costs the literature gives.
//!
//! ```text
//! cargo run --release -p corecast-plan --example groups
//! ```

use std::ops::ControlFlow;

use corecast_plan::groups::{self, Grouped};
use corecast_plan::search::{Effort, construct, improve};
use corecast_plan::{Operation, cost, smelt};

const EFFORT: Effort = Effort {
    seed: 1,
    moves: 40_000,
};

fn main() {
    let teams = [
        ("sandybridge-2x8", 2),
        ("sandybridge-2x8", 1),
        ("xeonphi-knc-60x4", 4),
        ("xeonphi-knc-60x4", 1),
    ];
    println!("machine            members  way      Smelt    tree    flat  groups   bound");
    for (name, every) in teams {
        let file = corecast_model::builtin(name).expect("one of the built-in machines");
        let team: Vec<usize> = (0..file.costs().n()).step_by(every).collect();
        let costs = file.costs().subset(&team).expect("some of its threads");
        let root = smelt::root(&costs);
        let go_on = &mut |_: &_| ControlFlow::Continue(());
        let best = |costs| {
            let start = construct(costs, Some(root));
            improve(costs, &start, false, 0.0, EFFORT, &mut |_| {
                ControlFlow::Continue(())
            })
        };
        let mirrored = costs.mirrored();
        let (out, inward) = (best(&costs), best(&mirrored).reversed());
        let pair = groups::search_barrier(&costs, false, &inward, &out, 0.0, EFFORT, go_on);

        let flat = Grouped::flat(costs.n(), root);
        let fan_out = |g: &Grouped| groups::latency(&costs, g, Operation::Broadcast);
        let fan_in = |g: &Grouped| groups::fan_in_latency(&costs, g);
        let smelts_in = smelt::tree(&mirrored, root).reversed();
        let rows = [
            (
                "fan-out",
                cost::latency(&costs, &smelt::tree(&costs, root), Operation::Broadcast),
                cost::latency(&costs, &out, Operation::Broadcast),
                fan_out(&flat),
                fan_out(&pair.fan_out),
                groups::lower_bound(&costs, Operation::Broadcast, Some(root)),
            ),
            (
                "fan-in",
                cost::latency(&costs, &smelts_in, Operation::Reduce),
                cost::latency(&costs, &inward, Operation::Reduce),
                fan_in(&flat),
                fan_in(&pair.fan_in),
                groups::fan_in_bound(&costs, Some(root)),
            ),
        ];
        for (way, smelt, tree, flat, grouped, bound) in rows {
            println!(
                "{name:<18} {:>7}  {way:<7} {smelt:>6.1}  {tree:>6.1} {flat:>7.1} {grouped:>7.1} \
                 {bound:>7.1}",
                costs.n()
            );
        }
    }
}
