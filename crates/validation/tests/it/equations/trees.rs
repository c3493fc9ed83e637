//! Equations 32 to 35: broadcasts and reductions over trees (§4.1, §5).

use super::{R_I, R_L, R_Q, R_R, RANKS_MAX, bounds, equal, one_package, phi, t_m_far, t_m_near};
use corecast_collectives::groups::Groups;
use corecast_collectives::{PipelineSegments, Route, reduce};
use corecast_plan::Tree;
use corecast_sim::drive::Bytes;
use corecast_sim::symbolic::{CostRules, Graph, Placement, Stealing, record};
use corecast_validation::published;
use corecast_validation::tables;
use corecast_wire::Fabric;

/// All trees of up to six members in which each parent is a smaller rank, and some of up to [`RANKS_MAX`] members.
fn trees() -> Vec<Tree> {
    let mut all = Vec::new();
    for n in 2..=6usize {
        let count: usize = (1..n).product();
        for mut code in 0..count {
            let mut parents = vec![0];
            for rank in 1..n {
                parents.push(code % rank);
                code /= rank;
            }
            all.push(of_parents(&parents));
        }
    }
    let shapes: [fn(usize) -> usize; 5] = [
        |_| 0,
        |rank| rank - 1,
        |rank| (rank - 1) / 2,
        |rank| (rank - 1) / 5,
        |rank| rank & (rank - 1),
    ];
    for shape in shapes {
        for n in [7, 8, 15, 16, 33, RANKS_MAX] {
            let parents: Vec<usize> = (0..n)
                .map(|rank| if rank == 0 { 0 } else { shape(rank) })
                .collect();
            all.push(of_parents(&parents));
        }
    }
    all
}

/// The tree in which each rank but 0 has the parent at its place in `parents`.
fn of_parents(parents: &[usize]) -> Tree {
    let mut children = vec![Vec::new(); parents.len()];
    for (rank, &parent) in parents.iter().enumerate().skip(1) {
        children[parent].push(rank);
    }
    Tree::from_children(0, children).unwrap()
}

/// Equations 32 and 34: the cost of the root's level, and that of the most expensive subtree.
fn by_levels(tree: &Tree, rank: usize, level: &dyn Fn(usize) -> f64) -> f64 {
    let children = tree.children(rank);
    if children.is_empty() {
        return 0.0;
    }
    let below = children.iter().map(|&child| by_levels(tree, child, level));
    level(children.len()) + below.fold(0.0, f64::max)
}

#[test]
fn equation_32_broadcast() {
    let each_reader = CostRules {
        inside: Stealing::EachReader,
        ..CostRules::default()
    };
    for tree in trees() {
        let graph = published::broadcast(&tree, None);
        let what = format!("{tree:?}");
        // Equations 14 and 6, 17 and 8. T_data is R_L: the child copies from a line that it has; the
        // parent's copy of what it has just written counts once (rule 3), but for the root's.
        let level = |k: usize| (R_I + R_R) + R_L + (R_I + k as f64 * R_R);
        let found = bounds(&graph, &one_package(tree.len()), &each_reader);
        equal(found.t_min, R_L + by_levels(&tree, 0, &level), &what);
        let level = |k: usize| (R_I + k as f64 * R_R) + R_L + (R_I + 2.0 * k as f64 * R_R);
        equal(found.t_max, R_L + by_levels(&tree, 0, &level), &what);
        // On Xeon Phi Equations 16 and 19.
        let found = bounds(&graph, &tables::xeon_phi(tree.len()), &each_reader);
        let level =
            |k: usize| (phi::R_I + phi::t_c(k)) + phi::R_L + (phi::R_I + k as f64 * phi::R_R);
        equal(found.t_min, phi::R_L + by_levels(&tree, 0, &level), &what);
        let level = |k: usize| {
            (phi::R_I + k as f64 * phi::R_R) + phi::R_L + (phi::R_I + 2.0 * k as f64 * phi::R_R)
        };
        equal(found.t_max, phi::R_L + by_levels(&tree, 0, &level), &what);
    }
}

#[test]
fn equations_33_and_34_reduction() {
    for tree in trees() {
        let graph = published::reduction(&tree, None);
        let what = format!("{tree:?}");
        let found = bounds(&graph, &one_package(tree.len()), &CostRules::default());
        let least = |k: usize| R_I + 2.0 * ((k + 1) as f64 * R_R + R_L);
        let most = |k: usize| R_I + 2.0 * ((2 * k + 1) as f64 * R_R + R_L);
        // The paper leaves out that a parent's flag (S1) comes from memory. In the best case its children
        // feel it where they have no children themselves; in the worst one, everywhere.
        equal(found.t_min, by_levels(&tree, 0, &least) + R_I, &what);
        let level = |k: usize| most(k) + R_I;
        equal(found.t_max, by_levels(&tree, 0, &level), &what);
    }
}

/// On Xeon Phi "we modify the model to introduce contention in the T_o2m synchronization" (§5.1).
#[test]
fn equations_33_and_34_reduction_on_xeon_phi() {
    for tree in trees() {
        let graph = published::reduction(&tree, None);
        let what = format!("{tree:?}");
        let found = bounds(&graph, &tables::xeon_phi(tree.len()), &CostRules::default());
        let rest = |reads: usize| phi::R_I + 2.0 * (reads as f64 * phi::R_R + phi::R_L);
        let least = |k: usize| rest(k + 1) - phi::R_R + phi::t_c(k);
        equal(found.t_min, by_levels(&tree, 0, &least) + phi::R_I, &what);
        let most = |k: usize| rest(2 * k + 1) + phi::R_I;
        equal(found.t_max, by_levels(&tree, 0, &most), &what);
    }
}

/// Adds a binomial tree over `members`; children with the smallest subtrees come first, as a reduction takes them.
fn binomial(children: &mut [Vec<usize>], members: &[usize]) {
    let mut step = 1;
    while step < members.len() {
        for place in (0..members.len() - step).step_by(2 * step) {
            children[members[place]].push(members[place + step]);
        }
        step *= 2;
    }
}

/// The graph of the collective, with each member's data in one piece of `lines` lines.
fn long_reduction(tree: &Tree, lines: usize) -> Graph {
    let routes = Route::all(tree);
    let len = 64 * lines;
    let recorded = record(tree.len(), &Groups::new(tree.len()), |fabric, rank| {
        let mut data = vec![rank as u8; len];
        let mut scratch = vec![0; reduce::SCRATCH_SEGMENTS * len];
        let window = &mut fabric.open(&mut data, true);
        let scratch = &mut fabric.open(&mut scratch, false);
        let sum = Bytes::new(|_| ());
        let route = &routes[fabric.rank()];
        reduce::lent(
            fabric,
            route,
            0,
            (window, scratch),
            len,
            PipelineSegments::Whole,
            &sum,
        )
    });
    recorded.unwrap()
}

fn stages(n: usize) -> f64 {
    f64::from(n.next_power_of_two().ilog2())
}

/// The time at which the first of `n` members in one package has all data. It is Equation 35 without the flag that
/// tells its partner of each stage that the data were read, because it does not wait for that; where n is no power of
/// two, it is also without the flag of a partner that was ready before.
fn in_package(n: usize, lines: usize) -> f64 {
    let ready = if n.is_power_of_two() { 0.0 } else { R_I };
    stages(n) * (2.0 * R_I + R_R + t_m_near(lines)) - ready
}

#[test]
fn equation_35_binomial_reduction() {
    for lines in [2, 8, 64, 128] {
        let stage = 2.0 * (R_I + R_R) + t_m_near(lines);
        for n in 2..=RANKS_MAX {
            let mut children = vec![Vec::new(); n];
            let members: Vec<usize> = (0..n).collect();
            binomial(&mut children, &members);
            let graph = long_reduction(&Tree::from_children(0, children).unwrap(), lines);
            let found = bounds(&graph, &one_package(n), &CostRules::default());
            let what = format!("{n} ranks, {lines} lines");
            equal(found.t_min, in_package(n, lines) + R_R, &what);
            if n.is_power_of_two() {
                let published = stages(n) * stage;
                equal(found.t_min, published - (stages(n) - 1.0) * R_R, &what);
            }
            assert!(found.t_min <= stages(n) * stage + 1e-9, "{what}");
        }
    }
}

/// On Xeon Phi the lines are those of Equation 5, and two ranks never copy from one.
#[test]
fn equation_35_binomial_reduction_on_xeon_phi() {
    for lines in [2, 8, 64, 128] {
        let stage = 2.0 * (phi::R_I + phi::R_R) + phi::t_m(lines);
        for n in 2..=RANKS_MAX {
            let mut children = vec![Vec::new(); n];
            let members: Vec<usize> = (0..n).collect();
            binomial(&mut children, &members);
            let graph = long_reduction(&Tree::from_children(0, children).unwrap(), lines);
            let found = bounds(&graph, &tables::xeon_phi(n), &CostRules::default());
            let ready = if n.is_power_of_two() { 0.0 } else { phi::R_I };
            let heard_once = (stages(n) - 1.0) * phi::R_R;
            let what = format!("{n} ranks, {lines} lines");
            equal(found.t_min, stages(n) * stage - heard_once - ready, &what);
        }
    }
}

#[test]
fn equation_35_with_two_packages() {
    for lines in [2, 64] {
        let stage = 2.0 * (R_I + R_R) + t_m_near(lines);
        let inter = 2.0 * (R_I + R_Q) + t_m_far(1, lines);
        for first in 1..=17usize {
            for second in 1..=17usize {
                let n = first + second;
                let mut children = vec![Vec::new(); n];
                let members: Vec<usize> = (0..n).collect();
                binomial(&mut children, &members[..first]);
                binomial(&mut children, &members[first..]);
                children[0].push(first);
                let packages: Vec<u32> = (0..n).map(|r| u32::from(r >= first)).collect();
                let placement = Placement::of_packages(tables::SANDY_BRIDGE, &packages);
                let graph = long_reduction(&Tree::from_children(0, children).unwrap(), lines);
                let found = bounds(&graph, &placement, &CostRules::default());
                let what = format!("{first} and {second} ranks, {lines} lines");
                let both = in_package(first, lines).max(in_package(second, lines) + R_I);
                equal(found.t_min, both + inter - R_I, &what);
                let count = stages(first.max(second));
                if second.is_power_of_two() && second >= first {
                    equal(found.t_min, count * (stage - R_R) + inter, &what);
                }
                assert!(found.t_min <= count * stage + inter + 1e-9, "{what}");
            }
        }
    }
}
