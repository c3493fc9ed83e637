//! Trees with groups of few members, all of them, and costs of shared lines of many kinds.

use corecast_model::{CostModel, LineCosts, Place};
use corecast_plan::groups::Grouped;

use super::{all_ordered_trees, costs_of_kind};

/// A cost model of one of eight kinds, with line costs of one of five kinds that are in scale with
/// its messages.
pub(crate) fn costs(n: usize, kind: usize, lines: usize, seed: u64) -> CostModel {
    let model = costs_of_kind(n, kind, 2, seed);
    let mut random = fastrand::Rng::with_seed(seed ^ 0x5bd1_e995);
    let mean = |f: &dyn Fn(usize, usize) -> f64| {
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let sum: f64 = pairs.map(|(i, j)| f(i, j)).sum();
        sum / (n * n) as f64
    };
    let send = mean(&|i, j| model.send(i, j));
    let receive = mean(&|i, j| model.receive(i, j));
    let mut rising = |scale: f64| {
        let mut list = [0.0; 4].map(|_| random.f64() * scale);
        list.sort_by(f64::total_cmp);
        list
    };
    let lines = match lines {
        // Lines cost as much as messages, without contention.
        0 => LineCosts {
            write: send,
            invalidate: [0.0; 4],
            transfer: [receive; 4],
            base: [receive; 4],
            slope: [0.0; 4],
        },
        // Lines have contention.
        1 => LineCosts {
            write: send,
            invalidate: [0.0; 4],
            transfer: rising(receive),
            base: rising(receive),
            slope: rising(receive),
        },
        // Lines have all costs, also that of readers that poll.
        2 => LineCosts {
            write: send,
            invalidate: rising(send),
            transfer: rising(2.0 * receive),
            base: rising(2.0 * receive),
            slope: rising(0.3 * receive),
        },
        // Costs do not rise with the distance.
        3 => {
            let [a, b, c, d] = rising(receive);
            LineCosts {
                write: 0.3 * send,
                invalidate: [0.1 * send, 0.0, 0.0, 0.2 * send],
                transfer: [d, a, c, b],
                base: [c, d, a, b],
                slope: [a, c, b, 0.0],
            }
        }
        // Lines cost nothing but the fetch.
        _ => LineCosts {
            write: 0.0,
            invalidate: [0.0; 4],
            transfer: [1.0; 4],
            base: [0.0, 0.0, 1.0, 2.0],
            slope: [1.0, 2.0, 0.0, 0.0],
        },
    };
    let places = (0..n as u32).map(|i| Place {
        package: i / 4,
        numa_node: i / 2,
        core: i,
    });
    model.with_lines(lines, places.collect()).unwrap()
}

/// All trees with groups and root 0: every ordered tree, with its lists cut in all ways. The order
/// of members within a group does not matter, so only groups in rising order are made.
pub(crate) fn all_grouped(n: usize) -> Vec<Grouped> {
    fn cuts(list: &[usize]) -> Vec<Vec<Vec<usize>>> {
        if list.is_empty() {
            return vec![vec![]];
        }
        let heads = (1..=list.len()).filter(|&to| list[..to].is_sorted());
        heads
            .flat_map(|to| {
                let tails = cuts(&list[to..]);
                tails.into_iter().map(move |mut tail| {
                    tail.insert(0, list[..to].to_vec());
                    tail
                })
            })
            .collect()
    }
    let mut all = Vec::new();
    for lists in all_ordered_trees(n) {
        let mut partial: Vec<Vec<Vec<Vec<usize>>>> = vec![vec![]];
        for list in &lists {
            let ways = cuts(list);
            partial = partial
                .iter()
                .flat_map(|done| {
                    ways.iter()
                        .map(|way| [&done[..], std::slice::from_ref(way)].concat())
                })
                .collect();
        }
        all.extend(
            partial
                .into_iter()
                .map(|g| Grouped::from_groups(0, g).unwrap()),
        );
    }
    all
}
