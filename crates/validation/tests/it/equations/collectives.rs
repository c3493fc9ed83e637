//! The equations hold of Corecast's own collectives, in the code that runs on hardware.

use super::{
    R_I, R_L, R_Q, R_R, RANKS_MAX, bounds, equal, one_package, phi, t_m_far, t_m_near, two_packages,
};
use corecast_collectives::Plans;
use corecast_plan::Tree;
use corecast_plan::groups::Grouped;
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::symbolic::{CostRules, Graph, record_job};
use corecast_validation::tables;

fn graph(collective: Collective, algorithm: &str, bytes: usize, plans: &Plans) -> Graph {
    let call = Call::new(collective, algorithm, 0, bytes).unwrap();
    record_job(&Job::new(&call, plans).unwrap()).unwrap()
}

fn flat(n: usize) -> Plans {
    Plans::of_tree(Grouped::flat(n, 0).tree())
}

/// Equations 14 and 16 with data, and without notifications back.
#[test]
fn a_broadcast_in_one_line_is_one_to_many() {
    for n in 3..=16 {
        let graph = graph(Collective::Broadcast, "line", 56, &flat(n));
        let what = format!("{n} ranks");
        let found = bounds(&graph, &one_package(n), &CostRules::default());
        equal(found.t_min, R_L + R_I + R_R + R_L, &what);
        equal(found.t_max, R_L + R_I + n as f64 * R_R + R_L, &what);
        let found = bounds(&graph, &tables::xeon_phi(n), &CostRules::default());
        let formula = phi::R_L + phi::R_I + phi::t_c(n - 1) + phi::R_L;
        equal(found.t_min, formula, &what);
    }
}

/// Equation 20 with data: for each child the root copies its data, which it has in its cache, into a line.
#[test]
fn a_broadcast_in_messages_is_one_to_many_over_different_lines() {
    for n in 2..=RANKS_MAX {
        let graph = graph(Collective::Broadcast, "messages", 56, &flat(n));
        let (what, others) = (format!("{n} ranks"), (n - 1) as f64);
        let found = bounds(&graph, &one_package(n), &CostRules::default());
        equal(found.t_min, others * (R_L + R_I) + R_R + R_L, &what);
        equal(found.t_max, others * (R_L + R_I + 2.0 * R_R) + R_L, &what);
    }
}

/// Equation 10 with data: the parent reads private lines one by one, each of which is its child's flag too.
#[test]
fn a_reduction_in_messages_is_many_to_one_over_different_lines() {
    for n in 2..=RANKS_MAX {
        let graph = graph(Collective::Reduce, "messages", 56, &flat(n));
        let (what, others) = (format!("{n} ranks"), (n - 1) as f64);
        let found = bounds(&graph, &one_package(n), &CostRules::default());
        equal(found.t_min, R_L + R_I + others * (R_R + R_L), &what);
        let one = R_I + 2.0 * R_R + R_L;
        equal(found.t_max, R_L + others * one, &what);
    }
}

/// A chain of notifications, each R_I + R_R, takes the way there and back.
#[test]
fn a_barrier_over_a_chain_is_one_to_one_many_times() {
    for n in 2..=RANKS_MAX {
        let mut children: Vec<Vec<usize>> = (1..n).map(|child| vec![child]).collect();
        children.push(Vec::new());
        let plans = Plans::of_tree(&Tree::from_children(0, children).unwrap());
        let graph = graph(Collective::Barrier, "tree", 0, &plans);
        let (what, edges) = (format!("{n} ranks"), 2.0 * (n - 1) as f64);
        let found = bounds(&graph, &one_package(n), &CostRules::default());
        equal(found.t_min, edges * (R_I + R_R), &what);
        equal(found.t_max, edges * (R_I + 2.0 * R_R), &what);
    }
}

/// In §4.2 children copy from where the data lie. In the best case they copy all at once, on Xeon Phi with contention
/// b + c·n and the slope per line; in the worst case they copy one after another.
#[test]
fn a_broadcast_of_many_lines_is_driven_by_the_copy() {
    for lines in [2, 8, 128] {
        for n in 2..=16 {
            let graph = graph(Collective::Broadcast, "whole", 64 * lines, &flat(n));
            let (what, others) = (format!("{n} ranks, {lines} lines"), (n - 1) as f64);
            let found = bounds(&graph, &one_package(n), &CostRules::default());
            // The root's descriptors, the last child's wait, copy and flag, and the root's wait for that flag.
            let flags = (others + 1.0) * R_I + 2.0 * R_R;
            // Where copies are short, the root's own flags take longer.
            let by_flags = others * (R_I + R_R);
            equal(found.t_min, by_flags.max(flags + t_m_near(lines)), &what);
            let stolen = R_I + 2.0 * R_R;
            let by_copies = (others + 1.0) * stolen + others * t_m_near(lines);
            // Short copies are over before the root has taken its flags back.
            let by_flags = 2.0 * others * stolen;
            equal(found.t_max, by_copies.max(by_flags), &what);
            let found = bounds(&graph, &tables::xeon_phi(n), &CostRules::default());
            let copy = match n {
                2 => phi::t_m(lines),
                _ => phi::t_c(n - 1) + 76.0 * lines as f64,
            };
            let flags = (others + 1.0) * phi::R_I + 2.0 * phi::R_R;
            let by_flags = others * (phi::R_I + phi::R_R);
            equal(found.t_min, by_flags.max(flags + copy), &what);
        }
    }
}

/// A message with a slot and lines of a body takes one wait, and the time of the lines that follow (Equation 4).
#[test]
fn a_long_message_is_one_wait_and_many_lines() {
    for lines in [2, 9, 32] {
        let bytes = 56 + 64 * (lines - 1);
        let graph = graph(Collective::Broadcast, "messages", bytes, &flat(2));
        let (what, count) = (format!("{lines} lines"), lines as f64);
        let found = bounds(&graph, &one_package(2), &CostRules::default());
        let write = count * (R_L + R_I);
        equal(found.t_min, write + R_R + t_m_near(lines), &what);
        let found = bounds(&graph, &two_packages(0, 1), &CostRules::default());
        equal(found.t_min, write + R_Q + t_m_far(1, lines), &what);
        equal(found.t_max, write + 2.0 * R_Q + t_m_far(1, lines), &what);
    }
}

/// Two pairs that copy over the link at the same time congest it: T_max has c·n·N of Equation 4, but only if the
/// copies cross.
#[test]
fn copies_that_cross_together_congest_the_link() {
    let lines = 64;
    let half = 64 * lines;
    // Ranks 0 and 1 lend to 2 and 3.
    let graph = |cross: bool| {
        let recorded = corecast_sim::symbolic::record(
            4,
            &corecast_collectives::Groups::new(4),
            |fabric, rank| {
                use corecast_wire::Fabric;
                let mut data = vec![0; half];
                let peer = if cross { (rank + 2) % 4 } else { rank ^ 1 };
                let lends = if cross { rank < 2 } else { rank % 2 == 0 };
                match lends {
                    true => {
                        fabric.lend(&&mut data[..], [peer], 0..half)?;
                        fabric.flush()
                    }
                    false => fabric.fetch(peer, &mut data),
                }
            },
        );
        recorded.unwrap()
    };
    let placement = two_packages(1, 2);
    let found = bounds(&graph(false), &placement, &CostRules::default());
    let stolen = R_I + 2.0 * R_R;
    equal(
        found.t_max,
        2.0 * stolen + t_m_near(lines),
        "within packages",
    );
    let found = bounds(&graph(true), &placement, &CostRules::default());
    // The flags cross together, too.
    let flag = R_I + 2.0 * t_m_far(2, 1);
    equal(found.t_max, 2.0 * flag + t_m_far(2, lines), "across");
    let alone = CostRules {
        congestion: false,
        ..CostRules::default()
    };
    let found = bounds(&graph(true), &placement, &alone);
    let flag = R_I + 2.0 * R_Q;
    equal(
        found.t_max,
        2.0 * flag + t_m_far(1, lines),
        "without congestion",
    );
}
