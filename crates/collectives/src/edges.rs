//! The pairs of ranks of a team that are joined by links.

use crate::plans::{BarrierPlan, Plans};

/// All pairs of ranks that are joined by links, each once, the smaller rank first. With `mesh`
/// these are all pairs, else those of the plans, rank 0 with all others, and each rank r with r ±
/// 2^k, around, and with r ^ 2^k.
pub fn edges(plans: &Plans, mesh: bool) -> Vec<(usize, usize)> {
    let n = plans.len();
    if mesh {
        return (0..n)
            .flat_map(|a| (a + 1..n).map(move |b| (a, b)))
            .collect();
    }
    let mut edges = of_plans(plans);
    edges.extend((1..n).map(|b| (0, b)));
    let steps = || {
        (0..usize::BITS)
            .map(|bit| 1 << bit)
            .take_while(|&step| step < n)
    };
    for a in 0..n {
        let cube = steps().map(|step| a ^ step).filter(|&b| b < n);
        let around = steps().map(|step| (a + step) % n);
        edges.extend(cube.chain(around).map(|b| (a.min(b), a.max(b))));
    }
    edges.retain(|(a, b)| a != b);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// All pairs of ranks that the plan of some operation joins, each once, the smaller rank first.
fn of_plans(plans: &Plans) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    let mut add = |a: usize, b: usize| edges.push((a.min(b), a.max(b)));
    let mut trees = vec![plans.broadcast(), plans.reduce()];
    match plans.barrier() {
        BarrierPlan::Trees { fan_in, fan_out } => trees.extend([fan_in, fan_out]),
        BarrierPlan::Groups { fan_in, fan_out } => {
            trees.extend([fan_in.tree(), fan_out.tree()]);
            if fan_in.root() != fan_out.root() {
                add(fan_in.root(), fan_out.root());
            }
        }
        BarrierPlan::Counter(_) => {}
        BarrierPlan::Rounds(rounds) => {
            for round in 0..rounds.count() {
                for rank in 0..rounds.len() {
                    for &target in rounds.targets(round, rank) {
                        add(rank, target);
                    }
                }
            }
        }
    }
    for tree in trees {
        for rank in 0..tree.len() {
            for &child in tree.children(rank) {
                add(rank, child);
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}
