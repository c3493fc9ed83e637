//! How often a watcher is asked, in steps and moves and not in time.

use std::ops::ControlFlow;

use corecast_model::{CostModel, MachineFile, builtin, synthetic};

use crate::check;
use crate::pace::tests::taken;
use crate::pace::{AT_ONCE, DUE};
use crate::{Effort, Operation, Pattern, Plan, Progress, RootChoice, Stage, plan_with};

const OPERATIONS: [Operation; 3] = [Operation::Broadcast, Operation::Reduce, Operation::Barrier];

/// Most steps between two looks, and after the last one.
const STEPS: u64 = DUE + AT_ONCE;
/// Most moves between two looks; a proof counts some thousands at once.
const MOVES: u64 = 20_000;

/// What a watcher saw.
#[derive(Default)]
struct Looks {
    count: u64,
    prepared: u64,
    moved: u64,
    proved: u64,
}

/// Plans until the watcher was asked `looks` times, and asserts that it was asked often enough.
fn plan_for(
    costs: &CostModel,
    pattern: Pattern,
    operation: Operation,
    root: RootChoice,
    looks: u64,
) -> (Plan, Looks) {
    let effort = Effort {
        seed: 1,
        moves: u64::MAX,
    };
    let (mut seen, mut last): (Looks, Option<Progress>) = (Looks::default(), None);
    taken();
    let plan = plan_with(costs, pattern, operation, root, effort, &mut |progress| {
        let steps = taken();
        assert!(steps <= STEPS, "{steps} steps before look {}", seen.count);
        assert!(progress.latency.is_finite() && progress.lower_bound >= 0.0);
        if let Some(last) = last {
            let moves = progress.moves - last.moves;
            assert!(moves <= MOVES, "{moves} moves before look {}", seen.count);
            assert!(progress.latency <= last.latency && progress.lower_bound >= last.lower_bound);
        }
        last = Some(*progress);
        seen.count += 1;
        match progress.stage {
            Stage::Prepare => seen.prepared += 1,
            Stage::Improve => seen.moved += 1,
            Stage::Prove => seen.proved += 1,
        }
        match seen.count < looks {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })
    .unwrap();
    let steps = taken();
    assert!(steps <= STEPS, "{steps} steps after {} looks", seen.count);
    assert!(seen.count <= looks, "asked again after the end");
    check::plan(costs, &plan).unwrap();
    if let Some(last) = last {
        assert!(plan.latency <= last.latency * (1.0 + 1e-9), "{plan:?}");
    }
    (plan, seen)
}

fn machine(name: &str) -> MachineFile {
    builtin(name).unwrap_or_else(|| synthetic(name).unwrap())
}

#[test]
fn every_phase_asks_often_and_ends_at_once() {
    let (mut prepared, mut moved, mut proved) = (0, 0, 0);
    for name in [
        "core:2",
        "package:2 numa:2 core:5 send=60,120,200 receive=220,450,750",
        "core:300",
        "package:2 numa:4 core:20 send=60,123,207 receive=220,451,759",
        "package:70 core:2 send=7,90 receive=30,200",
        "sandybridge-2x8",
        "xeonphi-knc-60x4",
    ] {
        let machine = machine(name);
        for operation in OPERATIONS {
            for (pattern, root) in [
                (Pattern::Best, RootChoice::Auto),
                (Pattern::Optimal, RootChoice::Rank(1)),
            ] {
                for looks in [1, 6, 120] {
                    let (plan, seen) = plan_for(machine.costs(), pattern, operation, root, looks);
                    assert!(plan.latency > 0.0, "{name}");
                    prepared += seen.prepared;
                    moved += seen.moved;
                    proved += seen.proved;
                }
            }
        }
    }
    assert!(
        prepared > 1000 && moved > 400 && proved > 40,
        "{prepared} {moved} {proved}"
    );
}

#[test]
fn thousands_of_members_have_a_plan_after_any_number_of_looks() {
    for name in ["core:4096", "package:4 numa:2 core:64 pu:2"] {
        let machine = machine(name);
        let costs = machine.costs();
        for operation in OPERATIONS {
            for looks in [1, 3, 60] {
                let auto = RootChoice::Auto;
                let (plan, seen) = plan_for(costs, Pattern::Best, operation, auto, looks);
                assert_eq!((seen.count, plan.shape.len()), (looks, costs.n()));
            }
        }
    }
}

#[test]
fn a_watcher_that_ends_nothing_changes_nothing() {
    let machine = machine("package:2 numa:2 core:5 send=60,120,200 receive=220,450,750");
    let effort = Effort {
        seed: 3,
        moves: 3000,
    };
    for operation in OPERATIONS {
        let made = |watch: crate::best::Watch<'_>| {
            let (pattern, root) = (Pattern::Best, RootChoice::Auto);
            plan_with(machine.costs(), pattern, operation, root, effort, watch).unwrap()
        };
        let mut looks = 0;
        let seen = made(&mut |_| {
            looks += 1;
            ControlFlow::Continue(())
        });
        assert!(looks > 2);
        assert_eq!(seen, made(&mut |_| ControlFlow::Continue(())));
    }
}
