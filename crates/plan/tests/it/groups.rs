//! Trees with groups: costs against their definition, the search and the bound against all trees.

use std::ops::ControlFlow;

use crate::common::grouped::{all_grouped, costs};
use crate::common::{all_ordered_trees, close};
use corecast_model::{CostModel, LineCosts, Place, Unit, builtin, synthetic};
use corecast_plan::groups::{
    Grouped, TwoWays, best_order, fan_in_bound, fan_in_latency, fan_out_avail, latency,
    lower_bound, search, search_barrier, timeline, two_ways,
};
use corecast_plan::search::Effort;
use corecast_plan::{BusyKind, Operation, Tree, bound, cost, smelt};

fn known(costs: &CostModel) -> LineCosts {
    *costs.lines().unwrap().costs()
}

fn class(costs: &CostModel, i: usize, j: usize) -> usize {
    costs.lines().unwrap().proximity(i, j) as usize
}

/// The latency of the fan-out from its definition: the time when a member has the value, by
/// recursion from its parent.
fn naive_out(costs: &CostModel, grouped: &Grouped) -> f64 {
    fn avail(costs: &CostModel, grouped: &Grouped, rank: usize) -> f64 {
        let Some(p) = grouped.tree().parent(rank) else {
            return 0.0;
        };
        let line = known(costs);
        let mut time = avail(costs, grouped, p);
        for group in grouped.groups(p) {
            let polls: f64 = group
                .iter()
                .map(|&c| line.invalidate[class(costs, p, c)])
                .sum();
            time += match group[..] {
                [c] => costs.send(p, c),
                _ => line.write + polls,
            };
            if group.contains(&rank) {
                let at = class(costs, p, rank);
                return time
                    + match group.len() {
                        1 => costs.receive(p, rank),
                        g => line.base[at] + line.slope[at] * g as f64,
                    };
            }
        }
        unreachable!("its parent serves it")
    }
    (0..grouped.len())
        .map(|rank| avail(costs, grouped, rank))
        .fold(0.0, f64::max)
}

/// The latency of the fan-in from its definition: members add one after another, as they arrive.
fn naive_in(costs: &CostModel, grouped: &Grouped, rank: usize, reverse: bool) -> f64 {
    let line = known(costs);
    let mut groups = grouped.groups(rank).to_vec();
    if reverse {
        groups.reverse();
    }
    let mut clock = 0.0_f64;
    for group in groups {
        let arrival = |c: usize| naive_in(costs, grouped, c, reverse);
        if let [c] = group[..] {
            clock = clock.max(arrival(c) + costs.send(c, rank)) + costs.receive(c, rank);
            continue;
        }
        let mut waiting: Vec<(f64, usize)> = group.iter().map(|&c| (arrival(c), c)).collect();
        waiting.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut line_free = 0.0_f64;
        let mut next = line.write;
        for (arrived, c) in waiting {
            line_free = line_free.max(arrived) + next;
            next = line.transfer[class(costs, rank, c)];
        }
        clock = clock.max(line_free) + next;
    }
    clock
}

fn go_on<T>(_: &T) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn effort(moves: u64) -> Effort {
    Effort { seed: 7, moves }
}

/// Returns the result of a search that starts from Smelt's tree with root 0.
fn found(costs: &CostModel, operation: Operation, free: bool, bound: f64, moves: u64) -> Grouped {
    let start = smelt::tree(costs, 0);
    let effort = effort(moves);
    search(costs, operation, free, &start, bound, effort, &mut go_on)
}

/// Returns the result of a search for a barrier with two trees that starts from Smelt's tree with
/// root 0.
fn found_pair(costs: &CostModel, free: bool, bound: f64, moves: u64) -> TwoWays {
    let start = smelt::tree(costs, 0);
    let (fan_in, effort) = (start.reversed(), effort(moves));
    search_barrier(costs, free, &fan_in, &start, bound, effort, &mut go_on)
}

/// The latency of a broadcast.
fn broadcast(costs: &CostModel, grouped: &Grouped) -> f64 {
    latency(costs, grouped, Operation::Broadcast)
}

#[test]
fn costs_are_those_of_the_definition() {
    let mut checked = 0;
    for n in 2..=5 {
        for (at, grouped) in all_grouped(n).iter().enumerate() {
            let costs = costs(n, at % 8, at / 8 % 5, at as u64);
            let out = naive_out(&costs, grouped);
            let inward = naive_in(&costs, grouped, 0, true);
            let of = |operation| latency(&costs, grouped, operation);
            assert!(close(of(Operation::Broadcast), out), "{grouped:?}");
            assert!(close(of(Operation::Barrier), out + inward), "{grouped:?}");
            let listed = naive_in(&costs, grouped, 0, false);
            assert!(
                close(fan_in_latency(&costs, grouped), listed),
                "{grouped:?}"
            );
            assert!(close(two_ways(&costs, grouped, grouped), out + listed));
            checked += 1;
        }
    }
    assert!(checked > 600, "{checked}");
}

/// Groups of one member are messages, and cost the same to the last bit.
#[test]
fn groups_of_one_cost_what_their_tree_costs() {
    for n in 1..=5 {
        for (at, lists) in all_ordered_trees(n).into_iter().enumerate() {
            let tree = Tree::from_children(0, lists).unwrap();
            let costs = costs(n, at % 8, at % 5, at as u64);
            let grouped = Grouped::from(&tree);
            assert_eq!(grouped.to_tree().as_ref(), Some(&tree));
            for operation in [Operation::Broadcast, Operation::Reduce, Operation::Barrier] {
                assert_eq!(
                    latency(&costs, &grouped, operation),
                    cost::latency(&costs, &tree, operation)
                );
                assert_eq!(
                    timeline(&costs, &grouped, operation),
                    cost::timeline(&costs, &tree, operation)
                );
            }
            let reduce = cost::latency(&costs, &tree, Operation::Reduce);
            assert_eq!(fan_in_latency(&costs, &grouped), reduce);
        }
    }
}

#[test]
fn timelines_end_with_the_latency_and_do_not_overlap() {
    for (at, grouped) in all_grouped(5).iter().enumerate().step_by(7) {
        let costs = costs(5, at % 8, at / 8 % 5, at as u64);
        for operation in [Operation::Broadcast, Operation::Reduce, Operation::Barrier] {
            let line = timeline(&costs, grouped, operation);
            assert!(close(line.latency, latency(&costs, grouped, operation)));
            for busy in &line.busy {
                let follow = busy.windows(2).all(|two| two[0].end <= two[1].start + 1e-9);
                assert!(follow, "{grouped:?} {operation}: {busy:?}");
            }
            if operation == Operation::Broadcast {
                assert_eq!(line.avail, fan_out_avail(&costs, grouped));
                let sends = line.busy[0]
                    .iter()
                    .filter(|b| b.kind == BusyKind::Send)
                    .count();
                assert_eq!(sends, grouped.groups(0).len());
            }
        }
    }
}

/// Over all trees with 5 members: nothing is below the bound, no order beats `best_order`, and the
/// search finds the best nearly always.
#[test]
fn search_and_bound_against_all_trees() {
    let all = all_grouped(5);
    // A barrier over one tree keeps the fan-out's order, and can miss the best by that.
    let (mut hits, mut tried, mut hits_one, mut tried_one) = (0, 0, 0, 0);
    for at in 0..40_u64 {
        let costs = costs(5, at as usize % 8, at as usize / 8, at + 1);
        let mut check = |name: &str, least: f64, bound: f64, got: f64| {
            let slack = 1e-9 * least;
            assert!(
                bound <= least + slack,
                "{name} {at}: bound {bound} above {least}"
            );
            assert!(got >= least - slack, "{name} {at}: {got} below {least}");
            let hit = usize::from(got <= least + slack);
            match name {
                "one tree" => (hits_one, tried_one) = (hits_one + hit, tried_one + 1),
                _ => (hits, tried) = (hits + hit, tried + 1),
            }
        };
        let least = |of: &dyn Fn(&Grouped) -> f64| all.iter().map(of).fold(f64::INFINITY, f64::min);
        for operation in [Operation::Broadcast, Operation::Barrier] {
            let of = |grouped: &Grouped| latency(&costs, grouped, operation);
            let bound = lower_bound(&costs, operation, Some(0));
            let best = found(&costs, operation, false, bound, 4000);
            let name = if operation == Operation::Barrier {
                "one tree"
            } else {
                "broadcast"
            };
            check(name, least(&of), bound, of(&best));
        }
        let (out, inward) = (
            least(&|g| broadcast(&costs, g)),
            least(&|g| fan_in_latency(&costs, g)),
        );
        let bound = fan_in_bound(&costs, Some(0));
        assert!(
            bound <= inward * (1.0 + 1e-9),
            "{at}: {bound} above {inward}"
        );
        let both = lower_bound(&costs, Operation::Barrier, Some(0));
        let pair = found_pair(&costs, false, both, 8000);
        check("two trees", out + inward, both, pair.latency(&costs));
    }
    println!("{hits} of {tried} optimal, {hits_one} of {tried_one} over one tree");
    assert!(hits * 40 >= tried * 39, "{hits} of {tried}");
    assert!(hits_one * 10 >= tried_one * 9, "{hits_one} of {tried_one}");
}

#[test]
fn the_best_order_beats_all_others() {
    for (at, grouped) in all_grouped(5).iter().enumerate().step_by(11) {
        let costs = costs(5, at % 8, at / 8 % 5, at as u64);
        let ordered = best_order(&costs, grouped, Operation::Broadcast);
        let best = broadcast(&costs, &ordered);
        assert!(best <= broadcast(&costs, grouped) * (1.0 + 1e-12));
        // The root's groups in other orders, and the rest as it is.
        let mut lists = ordered.group_lists().to_vec();
        for turn in 0..lists[0].len() {
            lists[0].swap(0, turn);
            let other = Grouped::from_groups(0, lists.clone()).unwrap();
            assert!(best <= broadcast(&costs, &other) * (1.0 + 1e-12));
        }
    }
}

#[test]
fn a_free_root_is_at_least_as_good() {
    for at in 0..10_u64 {
        let costs = costs(6, at as usize % 8, at as usize % 5, at + 11);
        let run = |free| {
            let best = found(&costs, Operation::Broadcast, free, 0.0, 6000);
            broadcast(&costs, &best)
        };
        let (fixed, free) = (run(false), run(true));
        let bound = lower_bound(&costs, Operation::Broadcast, None);
        assert!(bound <= free * (1.0 + 1e-9), "{at}: {bound} above {free}");
        assert!(bound <= lower_bound(&costs, Operation::Broadcast, Some(0)) * (1.0 + 1e-9));
        assert!(
            free <= fixed * 1.02,
            "{at}: {free} with any root, {fixed} with 0"
        );

        let barrier = lower_bound(&costs, Operation::Barrier, None);
        let pair = found_pair(&costs, true, 0.0, 12_000);
        assert_eq!(pair.fan_in.root(), pair.fan_out.root());
        assert!(barrier <= pair.latency(&costs) * (1.0 + 1e-9));
    }
}

#[test]
fn without_line_costs_and_for_reductions_nothing_is_shared() {
    let plain = synthetic("package:2 core:4").unwrap().costs().clone();
    let tree = smelt::tree(&plain, 0);
    for operation in [Operation::Broadcast, Operation::Reduce, Operation::Barrier] {
        let same = found(&plain, operation, false, 0.0, 100);
        assert_eq!(same.to_tree().as_ref(), Some(&tree));
        let bound = bound::lower_bound(&plain, operation, Some(0));
        assert_eq!(lower_bound(&plain, operation, Some(0)), bound);
    }
    let file = builtin("sandybridge-2x8").unwrap();
    let reduce = found(file.costs(), Operation::Reduce, false, 0.0, 100);
    assert_eq!(reduce.to_tree(), Some(smelt::tree(file.costs(), 0)));
}

#[test]
fn the_same_seed_gives_the_same_tree() {
    let costs = costs(9, 0, 2, 3);
    let run = || found(&costs, Operation::Barrier, true, 0.0, 3000);
    assert_eq!(run(), run());
}

#[test]
fn a_watcher_ends_the_search() {
    let costs = costs(9, 0, 1, 3);
    let start = smelt::tree(&costs, 0);
    let mut looks = 0;
    let mut watch = |_: &_| {
        looks += 1;
        if looks < 3 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let effort = effort(u64::MAX);
    let got = search(
        &costs,
        Operation::Broadcast,
        false,
        &start,
        0.0,
        effort,
        &mut watch,
    );
    assert_eq!((got.len(), looks), (9, 3));
}

/// A cost model in which all members are alike.
fn uniform(n: usize, slope: f64) -> CostModel {
    let spec = format!(
        "core:{n} send=70 receive=35 write=70 transfer=35 base={} slope={slope}",
        35.0 - slope
    );
    synthetic(&spec).unwrap().costs().clone()
}

/// Least time for one holder to inform n − 1 others under uniform costs, from the recursion alone.
fn uniform_optimum(n: usize, slope: f64) -> f64 {
    fn inform(n: usize, slope: f64, known: &mut Vec<Option<f64>>) -> f64 {
        // The first service informs g; all g and the holder then share out the rest evenly in time,
        // the members with least time left getting fewest: tried for all shares of the holder.
        if n <= 1 {
            return 0.0;
        }
        if let Some(time) = known[n] {
            return time;
        }
        let mut best = f64::INFINITY;
        for g in 1..n {
            let arrive = if g == 1 {
                105.0
            } else {
                105.0 + slope * (g as f64 - 1.0)
            };
            for own in 1..=n - g {
                // Sub-trees of the g, as even as possible: time does not fall with size.
                let each = (n - own).div_ceil(g);
                let held = 70.0 + inform(own, slope, known);
                best = best.min(held.max(arrive + inform(each, slope, known)));
            }
        }
        known[n] = Some(best);
        best
    }
    inform(n, slope, &mut vec![None; n + 1])
}

/// Where the cost functions have an optimum by formula, bound and search agree with it: flat without
/// contention (CLa, §4.1.1: the best trees of Sandy Bridge are flat), Smelt's messages with much of
/// it, several groups in between (§3.2, Equation 26).
#[test]
fn uniform_costs_have_their_optimum() {
    for n in [2, 3, 4, 6, 9, 14] {
        for slope in [0.0, 3.0, 10.0, 30.0, 34.0] {
            let costs = uniform(n, slope);
            let optimum = uniform_optimum(n, slope);
            let bound = lower_bound(&costs, Operation::Broadcast, Some(0));
            assert!(
                close(bound, optimum),
                "{n}, {slope}: bound {bound}, optimum {optimum}"
            );
            let best = found(&costs, Operation::Broadcast, false, bound, 5000);
            let got = broadcast(&costs, &best);
            assert!(
                close(got, optimum),
                "{n}, {slope}: found {got}, optimum {optimum}"
            );
            let flat = broadcast(&costs, &Grouped::flat(n, 0));
            if slope == 0.0 {
                assert!(close(flat, optimum));
            }
        }
    }
    // One group of all is best up to some size, several groups beyond.
    let flat_is_best = |n: usize| {
        let flat = broadcast(&uniform(n, 10.0), &Grouped::flat(n, 0));
        close(flat, uniform_optimum(n, 10.0))
    };
    assert!(flat_is_best(4) && !flat_is_best(20));
}

/// Lines that cost more time steps than a number holds, on a machine that has no far members.
#[test]
fn lines_dearer_than_all_messages_are_left_out() {
    let place = |core| Place {
        package: 0,
        numa_node: 0,
        core,
    };
    let list = [1e15; 4];
    let lines = LineCosts {
        write: 1e15,
        invalidate: list,
        transfer: list,
        base: list,
        slope: list,
    };
    for n in [3, 5, 8] {
        let message = |_, _| 1e-9;
        let costs = CostModel::from_fn(Unit::Nanoseconds, vec![0; n], message, message).unwrap();
        let places = (0..n as u32).map(place).collect();
        let costs = costs.with_lines(lines, places).unwrap();
        for operation in [Operation::Broadcast, Operation::Barrier] {
            let without = bound::lower_bound(&costs, operation, Some(0));
            let with = lower_bound(&costs, operation, Some(0));
            assert!(with > 0.5 * without && with <= without * (1.0 + 1e-9));
        }
    }
}

/// CLa's Equation 26 splits what the first group leaves evenly, and lets the parent wait for the
/// group it has just served. The search is never above it.
#[test]
fn the_papers_notification_tree_is_not_better() {
    fn equation_26(n: usize) -> f64 {
        let (r_i, b, c) = (277.7, 320.5, 56.2);
        if n == 0 {
            return 0.0;
        }
        let with = |k: usize| r_i + b + c * k as f64 + equation_26((n - k).div_ceil(k + 1));
        (1..=n).map(with).fold(f64::INFINITY, f64::min)
    }
    // One thread on each core, as in the paper.
    let file = builtin("xeonphi-knc-60x4").unwrap();
    for n in [4, 10, 20, 40, 60] {
        let team: Vec<usize> = (0..n).map(|core| 4 * core).collect();
        let costs = file.costs().subset(&team).unwrap();
        let best = found(&costs, Operation::Broadcast, false, 0.0, 600);
        let (got, papers) = (broadcast(&costs, &best), equation_26(n - 1));
        assert!(got <= papers + 1e-9, "{n}: {got} above {papers}");
    }
}

/// The numbers of CLa's tables 5 and 6 come out of the cost functions.
#[test]
fn the_papers_equations_come_out() {
    let file = builtin("sandybridge-2x8").unwrap();
    // One thread on each core; 7 and 8 others in the two packages.
    let team: Vec<usize> = (0..16).map(|core| 2 * core).collect();
    let costs = file.costs().subset(&team).unwrap();
    let near = costs.subset(&(0..8).collect::<Vec<_>>()).unwrap();
    let (r_i, r_r, r_q) = (70.0, 35.0, 94.0);
    let singles = |n: usize| {
        let mut lists = vec![vec![]; n];
        lists[0] = (1..n).map(|c| vec![c]).collect();
        Grouped::from_groups(0, lists).unwrap()
    };
    assert_eq!(
        broadcast(&near, &Grouped::flat(8, 0)),
        r_i + r_r,
        "Equation 14"
    );
    assert_eq!(
        broadcast(&costs, &Grouped::flat(16, 0)),
        r_i + r_q,
        "Equation 15"
    );
    assert_eq!(
        broadcast(&near, &singles(8)),
        7.0 * r_i + r_r,
        "Equation 20"
    );
    let inward = fan_in_latency(&near, &Grouped::flat(8, 0));
    assert_eq!(inward, r_i + 7.0 * r_r, "Equation 6");
    assert_eq!(fan_in_latency(&near, &singles(8)), inward, "Equation 10");
    let inward = fan_in_latency(&costs, &Grouped::flat(16, 0));
    assert_eq!(inward, r_i + 7.0 * r_r + 8.0 * r_q, "Equation 7");
}
