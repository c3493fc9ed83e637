//! Plans with groups: found and checked.

use std::ops::ControlFlow;

use crate::common::{close, costs_of_kind};
use corecast_model::{CostModel, LineCosts, Place, builtin, synthetic};
use corecast_plan::check::{self, CheckError};
use corecast_plan::groups::{self, Grouped};
use corecast_plan::{
    Effort, Operation, Pattern, Plan, PlanError, RepairError, RootChoice, Shape, Tree, chain, plan,
    plan_with,
};
use fastrand::Rng;

/// A team on two packages, some of whose members share cores, with whole line costs.
fn costs(n: usize, seed: u64) -> CostModel {
    let mut random = Rng::with_seed(seed);
    let mut list = |most: usize| [0; 4].map(|_| random.usize(..most) as f64);
    let lines = LineCosts {
        write: list(90)[0],
        invalidate: list(9),
        transfer: list(60),
        base: list(80),
        slope: list(20),
    };
    let place = |rank: usize| Place {
        package: u32::from(rank >= n / 2),
        numa_node: u32::from(rank >= n / 2),
        core: rank as u32 / 2,
    };
    let model = costs_of_kind(n, seed as usize % 8, 2, seed);
    model
        .with_lines(lines, (0..n).map(place).collect())
        .unwrap()
}

/// A random tree with random groups.
fn any_grouped(n: usize, root: usize, random: &mut Rng) -> Grouped {
    let mut lists: Vec<Vec<Vec<usize>>> = vec![Vec::new(); n];
    let mut inside = vec![root];
    let mut outside: Vec<usize> = (0..n).filter(|&rank| rank != root).collect();
    while !outside.is_empty() {
        let rank = outside.swap_remove(random.usize(..outside.len()));
        let list = &mut lists[inside[random.usize(..inside.len())]];
        match random.usize(..3) {
            0 => list.push(vec![rank]),
            _ if list.is_empty() => list.push(vec![rank]),
            _ => {
                let group = random.usize(..list.len());
                list[group].push(rank);
            }
        }
        inside.push(rank);
    }
    Grouped::from_groups(root, lists).unwrap()
}

#[test]
fn groups_by_hand() {
    let machine = "package:2 core:3 send=10,20 receive=30,60 write=7 invalidate=1,2 transfer=5,9 \
                   base=3,8 slope=2,4";
    let file = synthetic(machine).unwrap();
    let play = |operation, lists: [Vec<Vec<usize>>; 6]| {
        check::grouped(file.costs(), operation, 0, &lists).unwrap()
    };
    let none = Vec::new;
    // 0 writes for 1, 2 (near, 1 each) and 3 (far, 2): 11; three fetch: 9, and 20 far. 1 sends to 4.
    let lists = [
        vec![vec![1, 2, 3]],
        vec![vec![4]],
        vec![vec![5]],
        none(),
        none(),
        none(),
    ];
    let out = play(Operation::Broadcast, lists.clone());
    assert_eq!(out.done, [11.0, 40.0, 40.0, 31.0, 100.0, 100.0]);
    assert_eq!(out.messages, 3);
    // In: 3 adds from 0 to 7. 4 and 5 send until 20 and are taken until 80; 1 adds after 3, whose
    // line is far: 89; 2 after 1, near: 94; the parent fetches from 2: 99.
    let both = play(Operation::Barrier, lists.clone());
    assert_eq!(both.latency, 99.0 + 100.0);
    // A reduction has private lines, whatever the groups. Member 3 is taken last, when everything is
    // ready.
    let tree = lists.map(|list| list.concat());
    let same = check::tree(file.costs(), Operation::Reduce, 0, &tree).unwrap();
    let groups = tree.map(|list| list.into_iter().map(|c| vec![c]).collect());
    assert_eq!(play(Operation::Reduce, groups), same);
}

/// The checker and the planner agree on the latency, although they share no code for it.
#[test]
fn checker_and_costs_agree() {
    for seed in 1..400 {
        let mut random = Rng::with_seed(seed);
        let n = 1 + random.usize(..14);
        let (costs, root) = (costs(n, seed), random.usize(..n));
        let one = any_grouped(n, root, &mut random);
        let two = any_grouped(n, root, &mut random);
        for operation in Operation::ALL {
            let said = groups::latency(&costs, &one, operation);
            let found = check::grouped(&costs, operation, root, one.group_lists()).unwrap();
            assert!(close(found.latency, said), "{seed} {operation}");
            let made = Plan::of_groups(&costs, Pattern::Best, operation, one.clone()).unwrap();
            let timeline = made.timeline(&costs).unwrap();
            assert!(close(timeline.latency, said), "{seed} {operation}");
            check::plan(&costs, &made).unwrap_or_else(|error| panic!("{seed}: {error}"));
        }
        let said = groups::two_ways(&costs, &one, &two);
        let found = check::two_grouped(&costs, root, one.group_lists(), two.group_lists());
        assert!(close(found.unwrap().latency, said), "{seed}");
        let timeline = groups::two_ways_timeline(&costs, &one, &two);
        assert!(close(timeline.latency, said), "{seed}");
    }
}

/// Changes the place or the group of a member. Returns `false` if it has changed nothing.
fn corrupt(lists: &mut [Vec<Vec<usize>>], random: &mut Rng) -> bool {
    let n = lists.len();
    let (from, to) = (random.usize(..n), random.usize(..n));
    if lists[from].is_empty() {
        return false;
    }
    let at = random.usize(..lists[from].len());
    match random.usize(..5) {
        // Groups change places.
        0 => lists[from].rotate_left(1),
        // Two groups become one.
        1 if lists[from].len() > 1 => {
            let group = lists[from].remove(at);
            lists[from][0].extend(group);
        }
        // One group becomes two.
        2 if lists[from][at].len() > 1 => {
            let rest = lists[from][at].split_off(1);
            lists[from].push(rest);
        }
        // A group has another parent.
        3 => {
            let group = lists[from].remove(at);
            lists[to].push(group);
        }
        // A member joins another group.
        4 if lists[from][at].len() > 1 && !lists[to].is_empty() => {
            let rank = lists[from][at].remove(0);
            lists[to][0].push(rank);
        }
        _ => return false,
    }
    true
}

#[test]
fn wrong_groups_are_found() {
    let (mut tried, mut caught, mut cycles) = (0, 0, 0);
    for seed in 1..2500 {
        let mut random = Rng::with_seed(seed);
        let n = 3 + random.usize(..12);
        let (costs, root) = (costs(n, seed), random.usize(..n));
        let right = any_grouped(n, root, &mut random);
        let operation = [Operation::Broadcast, Operation::Barrier][random.usize(..2)];
        let mut made = Plan::of_groups(&costs, Pattern::Best, operation, right.clone()).unwrap();
        let mut lists = right.group_lists().to_vec();
        if made.groups().is_none() || !corrupt(&mut lists, &mut random) {
            continue;
        }
        tried += 1;
        let found = check::grouped(&costs, operation, root, &lists);
        let Ok(wrong) = Grouped::from_groups(root, lists) else {
            assert!(matches!(found, Err(CheckError::Cycle { .. })), "{found:?}");
            cycles += 1;
            continue;
        };
        let latency = groups::latency(&costs, &wrong, operation);
        made.shape = Shape::Groups(wrong);
        match check::plan(&costs, &made) {
            Err(CheckError::Latency { said, found }) => {
                assert!(said == made.latency && close(found, latency), "{seed}");
                caught += 1;
            }
            // The change makes no difference.
            Ok(checked) => assert!(close(checked.latency, made.latency), "{seed}"),
            Err(error) => panic!("{seed}: {error}"),
        }
    }
    assert!(
        tried > 400 && caught > tried / 3 && cycles > 10,
        "{tried} {caught} {cycles}"
    );
}

#[test]
fn wrong_lists_of_groups_are_found() {
    let costs = costs(4, 5);
    let refused = |lists: [Vec<Vec<usize>>; 4]| {
        check::grouped(&costs, Operation::Barrier, 0, &lists).unwrap_err()
    };
    let none = Vec::new;
    let error = refused([vec![vec![1, 2], vec![]], vec![vec![3]], none(), none()]);
    assert_eq!(error, CheckError::EmptyGroup { rank: 0, group: 1 });
    let error = refused([vec![vec![1, 2]], vec![vec![3, 2]], none(), none()]);
    assert_eq!(error, CheckError::Repeated { rank: 2, times: 2 });
    let error = refused([vec![vec![1, 2]], none(), none(), none()]);
    assert_eq!(error, CheckError::Dropped { rank: 3 });
    let error = refused([vec![vec![1, 2, 4]], vec![vec![3]], none(), none()]);
    assert_eq!(error, CheckError::Outside { rank: 4, last: 3 });
    let flat = Grouped::flat(4, 0);
    let bare = costs.without_lines();
    let error = check::grouped(&bare, Operation::Broadcast, 0, flat.group_lists()).unwrap_err();
    assert_eq!(error, CheckError::NoLines);
    let made = Plan::of_groups(&bare, Pattern::Best, Operation::Broadcast, flat.clone());
    assert_eq!(made.unwrap_err(), PlanError::NoLines);
    let mut made = Plan::of_groups(&costs, Pattern::Best, Operation::Broadcast, flat).unwrap();
    made.root = 2;
    let error = check::plan(&costs, &made).unwrap_err();
    assert_eq!(error, CheckError::Root { plan: 2, tree: 0 });
    let flat = || Grouped::flat(4, 2);
    made.shape = Shape::GroupedTrees {
        fan_in: flat(),
        fan_out: flat(),
    };
    let operation = Operation::Broadcast;
    let error = check::plan(&costs, &made).unwrap_err();
    assert_eq!(error, CheckError::Unsuited { operation });
}

fn found(costs: &CostModel, pattern: Pattern, operation: Operation, root: RootChoice) -> Plan {
    let effort = Effort {
        seed: 3,
        moves: 20_000,
    };
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    let made = plan_with(costs, pattern, operation, root, effort, go_on).unwrap();
    check::plan(costs, &made).unwrap_or_else(|error| panic!("{pattern} {operation}: {error}"));
    made
}

#[test]
fn searches_find_the_papers_groups() {
    let file = builtin("sandybridge-2x8").unwrap();
    let costs = file.costs();
    for pattern in [Pattern::Best, Pattern::Optimal] {
        let out = found(costs, pattern, Operation::Broadcast, RootChoice::Rank(3));
        assert_eq!((out.latency, out.proved_optimal), (164.0, true));
        assert_eq!((out.root, out.groups()), (3, Some(&Grouped::flat(32, 3))));
        assert_eq!(
            (out.tree(), out.outward(), out.rounds()),
            (None, None, None)
        );
        let both = found(costs, pattern, Operation::Barrier, RootChoice::Auto);
        let (fan_in, fan_out) = both.two_grouped().unwrap();
        assert_eq!((fan_in.root(), fan_out.root()), (both.root, both.root));
        let bound = groups::lower_bound(costs, Operation::Barrier, None);
        assert!(close(both.lower_bound, bound));
        let trees = found(
            &costs.without_lines(),
            pattern,
            Operation::Barrier,
            RootChoice::Auto,
        );
        assert!(both.latency < 0.8 * trees.latency);
        // A reduction shares no lines.
        let reduce = found(costs, pattern, Operation::Reduce, RootChoice::Auto);
        let bare = found(
            &costs.without_lines(),
            pattern,
            Operation::Reduce,
            RootChoice::Auto,
        );
        assert_eq!(reduce, bare);
        assert!(reduce.tree().is_some());
    }
    let again = || found(costs, Pattern::Best, Operation::Barrier, RootChoice::Auto);
    assert_eq!(again(), again());
}

#[test]
fn searches_with_groups_are_valid_and_never_worse() {
    for seed in 1..40 {
        let n = 1 + seed as usize % 12;
        let costs = costs(n, seed);
        let root = RootChoice::Rank(seed as usize % n);
        for operation in Operation::ALL {
            let made = found(&costs, Pattern::Best, operation, root);
            let bare = found(&costs.without_lines(), Pattern::Best, operation, root);
            let smelt = plan(&costs, Pattern::Smelt, operation, root).unwrap();
            let what = format!("{seed} {operation}");
            assert!(made.latency <= smelt.latency * (1.0 + 1e-9), "{what}");
            // The search space with groups is the larger one.
            if bare.proved_optimal {
                assert!(made.lower_bound <= bare.latency * (1.0 + 1e-9), "{what}");
            }
            let bound = groups::lower_bound(&costs, operation, Some(made.root));
            assert!(
                operation == Operation::Reduce || close(made.lower_bound, bound.min(made.latency)),
                "{what}"
            );
            let mut watched = 0;
            let stop = &mut |_: &_| {
                watched += 1;
                ControlFlow::Break(())
            };
            let soon = plan_with(
                &costs,
                Pattern::Best,
                operation,
                root,
                Effort {
                    seed,
                    moves: u64::MAX,
                },
                stop,
            )
            .unwrap();
            check::plan(&costs, &soon).unwrap();
            assert!(watched <= 1, "{what}");
        }
    }
}

/// A search tries trees first and then groups, but its watcher sees it as one search.
#[test]
fn watchers_see_moves_that_never_become_fewer() {
    let mut looks = 0;
    for (seed, operation) in (1..60).flat_map(|seed| Operation::ALL.map(|o| (seed, o))) {
        let n = 3 + seed as usize % 9;
        let (costs, mut before) = (costs(n, seed), 0);
        let watch = &mut |seen: &corecast_plan::Progress| {
            assert!(
                seen.moves >= before,
                "{seed} {operation}: {seen:?} after {before}"
            );
            before = seen.moves;
            looks += 1;
            ControlFlow::Continue(())
        };
        let effort = Effort { seed, moves: 500 };
        let made = plan_with(
            &costs,
            Pattern::Best,
            operation,
            RootChoice::Auto,
            effort,
            watch,
        );
        check::plan(&costs, &made.unwrap()).unwrap();
    }
    assert!(looks > 500, "{looks} looks");
}

/// Where lines cost more than any message, the plan is a tree, and its bound is that of the larger
/// search space.
#[test]
fn dear_lines_are_not_shared() {
    let words = "package:2 core:4 send=10,20 receive=30,60 write=900 transfer=900";
    let file = synthetic(words).unwrap();
    let costs = file.costs();
    for operation in Operation::ALL {
        let made = found(costs, Pattern::Best, operation, RootChoice::Rank(0));
        assert!(
            made.tree().is_some() || made.two_trees().is_some(),
            "{operation}"
        );
        let bound = groups::lower_bound(costs, operation, Some(0));
        assert!(made.lower_bound >= bound.min(made.latency) - 1e-9 && made.gap < 0.5);
    }
}

#[test]
fn groups_are_not_repaired() {
    let file = builtin("sandybridge-2x8").unwrap();
    let costs = file.costs();
    let stay = costs.subset(&(0..31).collect::<Vec<_>>()).unwrap();
    for operation in [Operation::Broadcast, Operation::Barrier] {
        let made = found(costs, Pattern::Best, operation, RootChoice::Auto);
        assert_eq!(made.without(&stay, 31), Err(RepairError::Groups));
        let bare = found(
            &costs.without_lines(),
            Pattern::Best,
            operation,
            RootChoice::Auto,
        );
        assert!(bare.without(&stay, 31).is_ok());
        let certified = made.certify(costs);
        check::plan(costs, &certified).unwrap();
        assert!(certified.lower_bound >= made.lower_bound);
    }
}

/// A critical chain has no gap from 0 to the latency, also where members wait for each other at a
/// line.
#[test]
fn critical_chains_of_groups_have_no_break() {
    for seed in 1..200 {
        let mut random = Rng::with_seed(seed);
        let n = 2 + random.usize(..12);
        let lines = LineCosts {
            write: 20.0,
            invalidate: [1.0; 4],
            transfer: [5.0, 7.0, 7.0, 11.0],
            base: [4.0, 6.0, 6.0, 9.0],
            slope: [1.0, 2.0, 2.0, 3.0],
        };
        let file = synthetic("package:2 core:7 send=10,20 receive=30,60").unwrap();
        let file = file.with_lines(lines).unwrap();
        let costs = file.costs().subset(&(0..n).collect::<Vec<_>>()).unwrap();
        let root = random.usize(..n);
        let one = any_grouped(n, root, &mut random);
        let two = any_grouped(n, root, &mut random);
        let mut all = Operation::ALL
            .map(|op| groups::timeline(&costs, &one, op))
            .to_vec();
        all.push(groups::two_ways_timeline(&costs, &one, &two));
        for timeline in all {
            let chain = chain::critical_chain(&timeline);
            let times: Vec<_> = chain.iter().map(|m| timeline.busy[m.rank][m.at]).collect();
            assert_eq!(times[0].start, 0.0, "{seed}");
            assert_eq!(times.last().unwrap().end, timeline.latency, "{seed}");
            assert!(times.windows(2).all(|w| w[0].end == w[1].start), "{seed}");
        }
    }
}

#[test]
fn groups_of_one_are_plain_trees() {
    let costs = costs(9, 4);
    let tree = Pattern::Smelt.tree(&costs, 2).unwrap();
    for operation in Operation::ALL {
        let made = |grouped| Plan::of_groups(&costs, Pattern::Smelt, operation, grouped).unwrap();
        let plain = made(Grouped::from(&tree));
        assert_eq!(plain.tree(), Some(&tree));
        let of_tree: Tree = tree.clone();
        let expected = Plan::of_tree(&costs, Pattern::Smelt, operation, of_tree).unwrap();
        assert_eq!(plain, expected);
    }
}
