//! Multipliers against the optimum of small teams, by an oracle that knows nothing of them.

use std::ops::ControlFlow;

use corecast_model::CostModel;

use super::{Ascent, Tables};
use crate::exact::ticks::Ticks;
use crate::exact::{Limits, prove};
use crate::operation::Operation;
use crate::tree::Tree;
use crate::{cost, smelt};

#[path = "../../../tests/it/common/adversary.rs"]
mod adversary;
#[path = "../../../tests/it/common/optima.rs"]
mod optima;

use adversary::KINDS;
use optima::optima;

/// Teams of all kinds, with their optima by root.
fn teams(sizes: std::ops::RangeInclusive<usize>, seeds: u64) -> impl Iterator<Item = Team> {
    sizes.flat_map(move |n| {
        KINDS.into_iter().flat_map(move |(kind, make)| {
            (0..seeds).map(move |seed| {
                let costs = adversary::costs(make, n, seed);
                Team {
                    optima: optima(&costs),
                    name: format!("{kind}, {n} members, seed {seed}"),
                    costs,
                }
            })
        })
    })
}

struct Team {
    name: String,
    costs: CostModel,
    optima: Vec<f64>,
}

impl Team {
    fn optimum(&self, root: Option<usize>) -> f64 {
        let least = || self.optima.iter().copied().fold(f64::INFINITY, f64::min);
        root.map_or_else(least, |root| self.optima[root])
    }

    /// A fixed root and a free one.
    fn roots(&self) -> [Option<usize>; 2] {
        [Some(self.costs.n() / 2), None]
    }

    /// All rounds of multipliers against the latency of Smelt's tree.
    fn priced(&self, root: Option<usize>, upper: f64) -> (Ticks, Ascent) {
        let ticks = Ticks::new(&self.costs, upper);
        let latency = (upper / ticks.tick).ceil() as i32;
        let mut ascent = Ascent::new(self.costs.n(), root);
        while !ascent.is_finished() && ascent.lower < latency {
            let ended = ascent.round(&ticks, latency, &mut |_| ControlFlow::Continue(()));
            assert!(ended.is_continue());
        }
        (ticks, ascent)
    }
}

fn latency(costs: &CostModel, tree: &Tree) -> f64 {
    cost::latency(costs, tree, Operation::Broadcast)
}

#[test]
fn no_multipliers_give_more_than_the_optimum() {
    let (mut tried, mut tight) = (0, 0);
    for team in teams(2..=7, 3) {
        for root in team.roots() {
            let smelt = smelt::tree(&team.costs, root.unwrap_or(0));
            let upper = latency(&team.costs, &smelt);
            if upper <= 0.0 {
                continue;
            }
            let (ticks, ascent) = team.priced(root, upper);
            let (bound, optimum) = (f64::from(ascent.lower) * ticks.tick, team.optimum(root));
            // Ticks may end beyond a latency that is no whole number of them.
            assert!(
                bound <= optimum + ticks.tick * (1.0 + 1e-9),
                "{}: bound {bound}, optimum {optimum}",
                team.name
            );
            tried += 1;
            tight += u32::from(bound >= 0.97 * optimum);
        }
    }
    assert!(tried > 400, "{tried}");
    assert!(tight * 2 > tried, "{tight} of {tried} are near the optimum");
}

#[test]
fn proofs_by_multipliers_end_at_the_optimum() {
    for team in teams(3..=7, 2) {
        for root in team.roots() {
            let smelt = smelt::tree(&team.costs, root.unwrap_or(0));
            let unwatched = &mut |_, _| ControlFlow::Continue(());
            let limits = Limits {
                multipliers_first: true,
                ..Limits::default()
            };
            let proof = prove(&team.costs, root, &smelt, 0.0, limits, unwatched);
            let best = latency(&team.costs, proof.tree.as_ref().unwrap_or(&smelt));
            let optimum = team.optimum(root);
            assert!(proof.optimal, "{}: {proof:?}", team.name);
            assert!(
                (best - optimum).abs() <= 1e-7 * optimum,
                "{}: {best}, optimum {optimum}",
                team.name
            );
        }
    }
}

/// Every part of an optimal tree lies in its window, with the limit at the optimum and above.
#[test]
fn windows_hold_all_parts_of_optimal_trees() {
    let (mut parts, mut narrow) = (0, 0);
    let mut random = fastrand::Rng::with_seed(7);
    for team in teams(4..=8, 3) {
        let n = team.costs.n();
        for root in team.roots() {
            let smelt = smelt::tree(&team.costs, root.unwrap_or(0));
            let unwatched = &mut |_, _| ControlFlow::Continue(());
            let limits = Limits::default();
            let proof = prove(&team.costs, root, &smelt, 0.0, limits, unwatched);
            let tree = proof.tree.unwrap_or(smelt);
            let optimum = latency(&team.costs, &tree);
            if optimum <= 0.0 {
                continue;
            }
            let (ticks, ascent) = team.priced(root, optimum * (1.0 + 0.2 * random.f64()));
            let limit = ticks.latency(&tree) + random.i32(0..50);
            let told = &mut |_| ControlFlow::Continue(());
            let tables = Tables::new(&ticks, &ascent, root, limit, told);
            let ControlFlow::Continue(Some(tables)) = tables else {
                continue;
            };
            let members: Vec<usize> = (0..n).collect();
            let single = |v: usize| (&members[v..=v], u8::from(Some(v) != root));
            let windows = tables.windows((0..n).map(single));
            let mut all = Vec::new();
            walk(&ticks, &tree, tree.root(), 0, &mut all);
            for part in all {
                let sum = |f: fn((f32, f32)) -> f32| -> f32 {
                    part.members
                        .iter()
                        .map(|&v| f(windows.multipliers(v, 1)))
                        .sum()
                };
                let multipliers = (sum(|p| p.0), sum(|p| p.1));
                let span = windows.span(part.holder, multipliers, limit - part.begins);
                let name = &team.name;
                let (least, most) = span.unwrap_or_else(|| panic!("{name}: no window"));
                assert!(least <= part.takes, "{name}: {least} above {}", part.takes);
                assert!(most >= limit - part.begins, "{name}: too little left");
                parts += 1;
                let open = windows.span(part.holder, multipliers, limit);
                narrow += u32::from(open.is_some_and(|(_, most)| most < limit));
            }
        }
    }
    assert!(parts > 1500, "{parts}");
    assert!(
        narrow * 4 > parts,
        "{narrow} of {parts} windows say something"
    );
}

/// What a holder has left to do at some point.
struct Part {
    holder: usize,
    /// When it is free for it.
    begins: i32,
    takes: i32,
    members: Vec<usize>,
}

/// All parts that begin with v, who is informed at `begins`; the members below it, and when the
/// last of them is informed.
fn walk(
    ticks: &Ticks,
    tree: &Tree,
    v: usize,
    begins: i32,
    parts: &mut Vec<Part>,
) -> (Vec<usize>, i32) {
    let mut clock = begins;
    let mut each = Vec::new();
    for &c in tree.children(v) {
        let before = clock;
        clock += ticks.send(v, c);
        let (mut below, end) = walk(ticks, tree, c, clock + ticks.receive(v, c), parts);
        below.push(c);
        each.push((before, below, end));
    }
    let (mut members, mut end) = (Vec::new(), begins);
    for (before, below, last) in each.into_iter().rev() {
        members.extend(below);
        end = end.max(last);
        parts.push(Part {
            holder: v,
            begins: before,
            takes: end - before,
            members: members.clone(),
        });
    }
    (members, end)
}
