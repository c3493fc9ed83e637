//! The longest processor times between two looks of a watcher, for teams of any size: what a time limit can be
//! kept to. The first argument is the limit in milliseconds, the others are machines.
//!
//! ```text
//! cargo run --release -p corecast-plan --example budget -- 10 core:2048 "package:4 numa:2 core:64 pu:2"
//! ```

use std::ops::ControlFlow;
use std::time::Duration;

use corecast_plan::{Effort, Operation, Pattern, RootChoice, plan_with};
use rustix::time::{ClockId, clock_gettime};

/// The processor time of this thread, which does not depend on what else runs.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.try_into().unwrap_or_default()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let budget = arguments.next().and_then(|ms| ms.parse().ok());
    let budget = Duration::from_millis(budget.unwrap_or(10));
    for spec in arguments {
        let file = std::fs::read_to_string(&spec).ok();
        let machine = file
            .and_then(|text| corecast_model::MachineFile::from_json(&text).ok())
            .or_else(|| corecast_model::builtin(&spec))
            .or_else(|| corecast_model::synthetic(&spec).ok());
        let Some(machine) = machine else {
            println!("{spec}: no machine");
            continue;
        };
        for operation in [Operation::Broadcast, Operation::Reduce, Operation::Barrier] {
            for (pattern, root) in [
                (Pattern::Best, RootChoice::Auto),
                (Pattern::Optimal, RootChoice::Auto),
                (Pattern::Optimal, RootChoice::Rank(0)),
            ] {
                let start = cpu_time();
                let (mut last, mut longest, mut at) = (start, Duration::ZERO, Duration::ZERO);
                let effort = Effort {
                    seed: 1,
                    moves: u64::MAX,
                };
                let mut stage = None;
                let plan = plan_with(
                    machine.costs(),
                    pattern,
                    operation,
                    root,
                    effort,
                    &mut |progress| {
                        let now = cpu_time();
                        if now - last > longest {
                            (longest, at) = (now - last, now - start);
                            stage = Some(progress.stage);
                        }
                        last = now;
                        match now - start < budget {
                            true => ControlFlow::Continue(()),
                            false => ControlFlow::Break(()),
                        }
                    },
                );
                let (all, tail) = (cpu_time() - start, cpu_time() - last);
                let Ok(plan) = plan else { continue };
                println!(
                    "{spec} {operation} {pattern} {root:?}: {:.1} ms, longest {:.1} ms at {:.1} ms ({stage:?}), after the last look {:.1} ms; latency {}, bound {:.1}",
                    all.as_secs_f64() * 1e3,
                    longest.as_secs_f64() * 1e3,
                    at.as_secs_f64() * 1e3,
                    tail.as_secs_f64() * 1e3,
                    plan.latency,
                    plan.lower_bound
                );
            }
        }
    }
}
