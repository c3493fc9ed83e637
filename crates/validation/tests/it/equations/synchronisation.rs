//! Equations 6 to 26: one-to-many and many-to-one (§3.1, §3.2, Tables 5 and 6).

use super::{R_I, R_Q, R_R, RANKS_MAX, bounds, equal, one_package, phi, two_packages};
use corecast_collectives::barrier::GroupSchedule;
use corecast_collectives::groups::Groups;
use corecast_plan::groups::Grouped;
use corecast_sim::symbolic::{
    AccessCosts, AdditionOverlap, CopyTime, CostRules, Crossings, Graph, Lying, Placement, Polls,
    Stealing, record,
};
use corecast_validation::published::Sharing::{DifferentLines, SameLine};
use corecast_validation::published::{many_to_one, one_to_many};
use corecast_validation::tables;
use corecast_wire::Fabric;

/// Splits of up to [`RANKS_MAX`] ranks over two packages, with at least one in the other package: all splits of few
/// ranks, some of many.
fn splits() -> impl Iterator<Item = (usize, usize)> {
    let few = (0..=9).flat_map(|near| (1..=9).map(move |far| (near, far)));
    let many = (10..RANKS_MAX).map(|n| (n / 2, n - n / 2));
    few.chain(many)
        .chain([(0, RANKS_MAX - 1), (RANKS_MAX - 2, 1)])
}

#[test]
fn equations_6_and_8_many_to_one_over_the_same_line() {
    for n in 1..RANKS_MAX {
        let graph = many_to_one(n, SameLine);
        let (count, what) = (n as f64, format!("{n} ranks"));
        let found = bounds(&graph, &one_package(n + 1), &CostRules::default());
        equal(found.t_min, R_I + count * R_R, &what);
        equal(found.t_max, R_I + 2.0 * count * R_R, &what);
        let found = bounds(&graph, &tables::xeon_phi(n + 1), &CostRules::default());
        equal(found.t_min, phi::R_I + count * phi::R_R, &what);
        equal(found.t_max, phi::R_I + 2.0 * count * phi::R_R, &what);
    }
}

#[test]
fn equations_7_and_9_many_to_one_over_the_same_line_between_packages() {
    for (near, far) in splits() {
        let (n, what) = (near + far, format!("{near} near, {far} far"));
        let graph = many_to_one(n, SameLine);
        let placement = two_packages(near, far);
        let found = bounds(&graph, &placement, &CostRules::default());
        let (s, q) = (near as f64, far as f64);
        equal(found.t_min, R_I + s * R_R + q * R_Q, &what);
        equal(found.t_max, R_I + 2.0 * (s + q) * R_Q, &what);
        // "We select the reordering with less QPI transfers" (§2.4) means one crossing instead of q.
        let rules = CostRules {
            crossings: Crossings::Fewest,
            ..CostRules::default()
        };
        let fewest = bounds(&graph, &placement, &rules);
        equal(fewest.t_min, R_I + (s + q - 1.0) * R_R + R_Q, &what);
    }
}

#[test]
fn equations_10_and_12_many_to_one_over_different_lines() {
    for n in 1..RANKS_MAX {
        let graph = many_to_one(n, DifferentLines);
        let (count, what) = (n as f64, format!("{n} ranks"));
        let found = bounds(&graph, &one_package(n + 1), &CostRules::default());
        equal(found.t_min, R_I + count * R_R, &what);
        equal(found.t_max, count * R_I + 2.0 * count * R_R, &what);
        let found = bounds(&graph, &tables::xeon_phi(n + 1), &CostRules::default());
        equal(found.t_min, phi::R_I + count * phi::R_R, &what);
        equal(
            found.t_max,
            count * phi::R_I + 2.0 * count * phi::R_R,
            &what,
        );
    }
}

#[test]
fn equations_11_and_13_many_to_one_over_different_lines_between_packages() {
    for (near, far) in splits() {
        let what = format!("{near} near, {far} far");
        let graph = many_to_one(near + far, DifferentLines);
        let found = bounds(&graph, &two_packages(near, far), &CostRules::default());
        let (s, q) = (near as f64, far as f64);
        equal(found.t_min, R_I + s * R_R + q * R_Q, &what);
        equal(
            found.t_max,
            (s + q) * R_I + 2.0 * (s * R_R + q * R_Q),
            &what,
        );
    }
}

/// The rules without the fetch that follows an invalidation; the default has it, as Equations 18 and 33 do.
const EACH_READER: CostRules = {
    let stealing = Stealing::EachReader;
    CostRules {
        inside: stealing,
        across: stealing,
        ..DEFAULT
    }
};

/// [`CostRules::default`], as a constant.
const DEFAULT: CostRules = CostRules {
    overlap: AdditionOverlap::Ignored,
    contention: true,
    congestion: true,
    crossings: Crossings::EachAddition,
    polls: Polls::Serial,
    inside: Stealing::EachReaderAndFetch,
    across: Stealing::EachReaderAndFetch,
    copies: CopyTime::PingPong,
    flags: Lying::Memory,
    rings: Lying::Memory,
    counters: Lying::Memory,
};

#[test]
fn equations_14_and_17_one_to_many_over_the_same_line() {
    assert_eq!(DEFAULT, CostRules::default());
    for n in 1..RANKS_MAX {
        let graph = one_to_many(n, SameLine);
        let (count, what) = (n as f64, format!("{n} ranks"));
        let placement = one_package(n + 1);
        let found = bounds(&graph, &placement, &EACH_READER);
        equal(found.t_min, R_I + R_R, &what);
        equal(found.t_max, R_I + count * R_R, &what);
        let found = bounds(&graph, &placement, &CostRules::default());
        equal(found.t_max, R_I + (count + 1.0) * R_R, &what);
    }
}

#[test]
fn equations_15_and_18_one_to_many_over_the_same_line_between_packages() {
    let rules = CostRules {
        across: Stealing::EachReaderNearAndFetch,
        ..CostRules::default()
    };
    for (near, far) in splits() {
        let (n, what) = ((near + far) as f64, format!("{near} near, {far} far"));
        let graph = one_to_many(near + far, SameLine);
        let found = bounds(&graph, &two_packages(near, far), &rules);
        equal(found.t_min, R_I + R_Q, &what);
        equal(found.t_max, R_I + n * R_R + R_Q, &what);
    }
}

#[test]
fn equations_16_and_19_one_to_many_over_the_same_line_on_xeon_phi() {
    for n in 1..RANKS_MAX {
        let graph = one_to_many(n, SameLine);
        let (count, what) = (n as f64, format!("{n} ranks"));
        let found = bounds(&graph, &tables::xeon_phi(n + 1), &EACH_READER);
        equal(found.t_min, phi::R_I + phi::t_c(n), &what);
        // For one reader Equation 19 is below Equation 16, the best case; the path that the graph has
        // is not.
        let formula = phi::R_I + count * phi::R_R;
        assert_eq!(n == 1, formula < phi::R_I + phi::t_c(n));
        equal(found.t_max, formula, &what);
        let found = bounds(&graph, &tables::xeon_phi(n + 1), &CostRules::default());
        assert!(found.t_min <= found.t_max, "{what}");
    }
}

/// The rules in which the first polls of lines that are written in a row overlap.
const OVERLAPPED: CostRules = CostRules {
    polls: Polls::Overlapped,
    ..DEFAULT
};

#[test]
fn equations_20_22_23_and_25_one_to_many_over_different_lines() {
    for n in 1..RANKS_MAX {
        let graph = one_to_many(n, DifferentLines);
        let (count, what) = (n as f64, format!("{n} ranks"));
        let found = bounds(&graph, &one_package(n + 1), &OVERLAPPED);
        equal(found.t_min, count * R_I + R_R, &what);
        equal(found.t_max, R_I + 2.0 * count * R_R, &what);
        let found = bounds(&graph, &tables::xeon_phi(n + 1), &OVERLAPPED);
        equal(found.t_min, count * phi::R_I + phi::R_R, &what);
        equal(found.t_max, phi::R_I + 2.0 * count * phi::R_R, &what);
        // The default counts as Equation 24 does, which is for two packages.
        let found = bounds(&graph, &one_package(n + 1), &CostRules::default());
        equal(found.t_max, count * (R_I + 2.0 * R_R), &what);
    }
}

/// Ranks in the other package are served last, as Equation 21 has it.
#[test]
fn equations_21_and_24_one_to_many_over_different_lines_between_packages() {
    for (near, far) in splits() {
        let what = format!("{near} near, {far} far");
        let graph = one_to_many(near + far, DifferentLines);
        let found = bounds(&graph, &two_packages(near, far), &CostRules::default());
        let (s, q) = (near as f64, far as f64);
        equal(found.t_min, (s + q) * R_I + R_Q, &what);
        equal(
            found.t_max,
            (s + q) * R_I + 2.0 * (s * R_R + q * R_Q),
            &what,
        );
    }
}

/// Groups of CLa's notification tree: the root's first flag is for k ranks, then the others are split evenly among
/// all ranks that know, the root last.
fn split_tree(n: usize, shape: &dyn Fn(usize) -> usize) -> Grouped {
    fn grow(ranks: &[usize], lists: &mut [Vec<Vec<usize>>], shape: &dyn Fn(usize) -> usize) {
        let (root, others) = (ranks[0], &ranks[1..]);
        if others.is_empty() {
            return;
        }
        let k = shape(others.len()).clamp(1, others.len());
        let (told, rest) = others.split_at(k);
        lists[root].push(told.to_vec());
        let parents: Vec<usize> = told.iter().chain([&root]).copied().collect();
        let mut from = 0;
        for (place, &parent) in parents.iter().enumerate() {
            let share = (rest.len() - from).div_ceil(parents.len() - place);
            let mut part = vec![parent];
            part.extend(&rest[from..from + share]);
            from += share;
            grow(&part, lists, shape);
        }
    }
    let mut lists = vec![Vec::new(); n];
    let ranks: Vec<usize> = (0..n).collect();
    grow(&ranks, &mut lists, shape);
    Grouped::from_groups(0, lists).unwrap()
}

/// Equation 26 for `others` ranks; `level` returns the term of a level with k ranks.
fn equation_26(others: usize, shape: &dyn Fn(usize) -> usize, level: &dyn Fn(usize) -> f64) -> f64 {
    if others == 0 {
        return 0.0;
    }
    let k = shape(others).clamp(1, others);
    let largest = (others - k).div_ceil(k + 1);
    level(k) + equation_26(largest, shape, level)
}

/// The fan-out of the barrier over groups. Groups of one rank have broadcast rings too, like the paper's flags.
fn fan_out(plan: &Grouped) -> Graph {
    let n = plan.len();
    let mut groups = Groups::new(n);
    let mut numbers = vec![Vec::new(); n];
    let mut read = vec![None; n];
    for (parent, lists) in plan.group_lists().iter().enumerate() {
        for members in lists {
            let line = groups.ring(parent, members.clone());
            numbers[parent].push(line.one);
            for (&member, line) in members.iter().zip(line.others) {
                read[member] = Some(line);
            }
        }
    }
    let recorded = record(n, &groups, |fabric, rank| {
        if let Some(line) = read[rank] {
            fabric.read(line, &mut [])?;
        }
        numbers[rank]
            .iter()
            .try_for_each(|&line| fabric.publish(line, &[]))
    });
    recorded.unwrap()
}

#[test]
fn equation_26_notification_trees() {
    // R_R stands for the first access to a flag here, as if flags lay with the ranks that poll them.
    let rules = CostRules {
        rings: Lying::Polled,
        inside: Stealing::TwicePerReader,
        ..CostRules::default()
    };
    let shapes: [&dyn Fn(usize) -> usize; 5] = [&|_| 1, &|_| 2, &|_| 5, &|n| n.div_ceil(2), &|n| n];
    for n in 1..=RANKS_MAX {
        for (index, shape) in shapes.into_iter().enumerate() {
            let plan = split_tree(n, shape);
            let graph = fan_out(&plan);
            let what = format!("{n} ranks, shape {index}");
            let found = bounds(&graph, &tables::xeon_phi(n), &rules);
            let least = |k: usize| phi::R_R + phi::t_c(k);
            let most = |k: usize| phi::R_R + 2.0 * k as f64 * phi::R_R;
            equal(found.t_min, equation_26(n - 1, shape, &least), &what);
            equal(found.t_max, equation_26(n - 1, shape, &most), &what);
            // Rule 1 and Equation 16 say R_I.
            let found = bounds(&graph, &tables::xeon_phi(n), &CostRules::default());
            let least = |k: usize| phi::R_I + phi::t_c(k);
            equal(found.t_min, equation_26(n - 1, shape, &least), &what);
        }
    }
}

/// The collective barrier over one group of all other ranks takes Equation 6 and then Equation 14.
#[test]
fn the_flat_barrier_is_many_to_one_and_one_to_many() {
    for n in 3..=RANKS_MAX {
        let flat = Grouped::flat(n, 0);
        let mut groups = Groups::new(n);
        let ways = GroupSchedule::all(&flat, &flat, &mut groups);
        let recorded = record(n, &groups, |fabric, rank| {
            corecast_collectives::barrier::groups(fabric, &ways[rank])
        });
        let (graph, others) = (recorded.unwrap(), (n - 1) as f64);
        let found = bounds(&graph, &one_package(n), &EACH_READER);
        let what = format!("{n} ranks");
        equal(found.t_min, R_I + others * R_R + R_I + R_R, &what);
        equal(
            found.t_max,
            R_I + 2.0 * others * R_R + R_I + others * R_R,
            &what,
        );
        // There is one crowd, and one edge from it to each wait.
        assert_eq!(graph.edge_counts(), [n, 2 * (n - 1), n - 2, 0]);
    }
}

/// Equation 3, with the parameters of Table 2: readers of one line, by where their buffers lie. Where the line comes from
/// memory the first readers take less.
#[test]
fn equations_2_and_3_contention() {
    let of = |base: f64, slope: f64, saved: f64| move |n: f64| base + slope * n - saved / n;
    let formulas: [&dyn Fn(f64) -> f64; 4] = [
        &of(320.5, 56.2, 0.0),
        &of(604.4, 57.6, 0.0),
        &of(863.6, 23.9, 667.4),
        &of(1202.0, 23.4, 695.8),
    ];
    for ((.., contention), formula) in tables::XEON_PHI_CONTENTION.into_iter().zip(formulas) {
        let costs = AccessCosts {
            contention: Some(contention),
            ..tables::XEON_PHI
        };
        for n in 2..RANKS_MAX {
            let placement = Placement::of_packages(costs, &vec![0; n + 1]);
            let graph = one_to_many(n, SameLine);
            let found = bounds(&graph, &placement, &CostRules::default());
            let what = format!("{contention:?}, {n} readers");
            equal(found.t_min, phi::R_I + formula(n as f64), &what);
        }
    }
}
