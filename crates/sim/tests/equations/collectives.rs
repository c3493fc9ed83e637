//! What the equations say of Corecast's own collectives: the same code that runs on hardware.

use crate::{R_I, R_L, R_R, RANKS_MAX, bounds, equal, one_package, phi};
use corecast_coll::Plans;
use corecast_plan::Tree;
use corecast_plan::groups::Grouped;
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::symbolic::{Graph, Reading, Seats, record_job};

fn graph(collective: Collective, algorithm: &str, bytes: usize, plans: &Plans) -> Graph {
    let call = Call::new(collective, algorithm, 0, bytes).unwrap();
    record_job(&Job::new(&call, plans).unwrap()).unwrap()
}

fn flat(n: usize) -> Plans {
    Plans::of_tree(Grouped::flat(n, 0).tree())
}

/// Equations 14 and 16 with data; nobody reports back.
#[test]
fn a_broadcast_in_one_line_is_one_to_many() {
    for n in 3..=16 {
        let graph = graph(Collective::Broadcast, "line", 56, &flat(n));
        let what = format!("{n} ranks");
        let found = bounds(&graph, &one_package(n), &Reading::default());
        equal(found.t_min, R_L + R_I + R_R + R_L, &what);
        equal(found.t_max, R_L + R_I + n as f64 * R_R + R_L, &what);
        let found = bounds(&graph, &Seats::xeon_phi(n), &Reading::default());
        let formula = phi::R_L + phi::R_I + phi::t_c(n - 1) + phi::R_L;
        equal(found.t_min, formula, &what);
    }
}

/// Equation 20 with data, and twice: the root copies once and then finds its data in its cache.
#[test]
fn a_broadcast_in_messages_is_one_to_many_over_different_lines() {
    for n in 2..=RANKS_MAX {
        let graph = graph(Collective::Broadcast, "messages", 56, &flat(n));
        let (what, others) = (format!("{n} ranks"), (n - 1) as f64);
        let found = bounds(&graph, &one_package(n), &Reading::default());
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
        let found = bounds(&graph, &one_package(n), &Reading::default());
        equal(found.t_min, R_L + R_I + others * (R_R + R_L), &what);
        let one = R_I + 2.0 * R_R + R_L;
        equal(found.t_max, R_L + others * one, &what);
    }
}

/// A chain of notifications, each R_I + R_R, there and back.
#[test]
fn a_barrier_over_a_chain_is_one_to_one_many_times() {
    for n in 2..=RANKS_MAX {
        let mut children: Vec<Vec<usize>> = (1..n).map(|child| vec![child]).collect();
        children.push(Vec::new());
        let plans = Plans::of_tree(&Tree::from_children(0, children).unwrap());
        let graph = graph(Collective::Barrier, "tree", 0, &plans);
        let (what, edges) = (format!("{n} ranks"), 2.0 * (n - 1) as f64);
        let found = bounds(&graph, &one_package(n), &Reading::default());
        equal(found.t_min, edges * (R_I + R_R), &what);
        equal(found.t_max, edges * (R_I + 2.0 * R_R), &what);
    }
}
