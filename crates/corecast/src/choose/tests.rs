//! Tests of what is searched and what is not; `examples/startup.rs` measures times.

use corecast_model::{Profile, RacedCandidate, synthetic};
use corecast_plan::{Shape, cost, smelt};

use super::best::{Budget, SearchTally};
use super::*;

/// Costs in two levels that grow with rank, so that no two schedules are equal by accident.
fn costs(n: usize) -> CostModel {
    let far = |i: usize, j: usize| f64::from(u8::from(i / 4 != j / 4));
    let numa = (0..n).map(|rank| (rank / 4) as u32).collect();
    let send = |i: usize, j: usize| 60.0 + 40.0 * far(i, j) + (i + 2 * j) as f64 / 8.0;
    let receive = |i: usize, j: usize| 220.0 + 190.0 * far(i, j) + (2 * i + j) as f64 / 8.0;
    CostModel::from_fn(Unit::Nanoseconds, numa, send, receive).unwrap()
}

fn threads(n: usize) -> Vec<u32> {
    (0..n as u32).collect()
}

fn none() -> Races {
    Races::none("a test")
}

/// All decisions of a starting team, and the counts of the search for them.
fn start(costs: &CostModel, races: &Races) -> (Vec<Choice>, SearchTally) {
    let (threads, preferences) = (threads(costs.n()), Preferences::default());
    let chooser = Chooser::new((costs, costs), &threads, &preferences, races).unwrap();
    let choices = Operation::ALL.map(|operation| chooser.choose(operation).unwrap());
    (choices.to_vec(), chooser.drafts.searcher.search_counts())
}

#[test]
fn a_start_searches_as_much_as_it_may_and_no_more() {
    for n in [1, 2, 3, 5, 8, 16, 33, 48, 64, 91, 128] {
        let budget = Budget::of(n);
        assert!(budget.moves * n as u64 <= 160_000 && budget.roots * n * n <= 6_144);
        let (_, search_counts) = start(&costs(n), &none());
        assert_eq!(
            search_counts.constructions,
            2 + 2 * budget.roots,
            "{n} members"
        );
        // Trees with the team's root are improved in both directions, and those of at most one other root.
        let allowed: &[usize] = match n {
            1 | 2 => &[0],
            _ => &[2, 4],
        };
        assert!(
            allowed.contains(&search_counts.improvements),
            "{n}: {search_counts:?}"
        );
        assert_eq!(
            search_counts.moves,
            search_counts.improvements as u64 * budget.moves
        );
    }
    let most = SearchTally {
        constructions: 2,
        improvements: 2,
        moves: 2_500,
        proofs: 0,
    };
    assert_eq!(start(&costs(128), &none()).1, most);
}

#[test]
fn each_operation_alone_comes_to_the_same() {
    for n in [2, 7, 24] {
        let (costs, threads, preferences) = (costs(n), threads(n), Preferences::default());
        for together in start(&costs, &none()).0 {
            let operation = together.operation;
            let alone = choose(&costs, &threads, operation, &preferences, &none()).unwrap();
            let shapes = |choice: &Choice| -> Vec<Shape> {
                choice.candidates.iter().map(|c| c.shape.clone()).collect()
            };
            assert_eq!(shapes(&alone), shapes(&together), "{operation} of {n}");
            assert_eq!(alone.reason, together.reason);
        }
    }
}

#[test]
fn the_best_is_no_worse_than_any_tree_and_starts_where_teams_start() {
    for spec in ["core:6", "package:2 core:4", "package:2 numa:2 core:5"] {
        let machine = synthetic(spec).unwrap();
        let costs = machine.costs();
        for choice in start(costs, &none()).0 {
            let best = choice
                .candidates
                .iter()
                .find(|c| c.pattern == Pattern::Best);
            let best = best.unwrap();
            for other in choice.candidates.iter().filter(|c| c.has_root()) {
                assert!(best.latency <= other.latency, "{spec}: {}", other.pattern);
            }
            if choice.operation != Operation::Barrier {
                assert_eq!(best.root, smelt::root(costs));
            }
            let plan = best.plan(costs, choice.operation).unwrap();
            assert!((plan.latency - best.latency).abs() <= 1e-9 * plan.latency);
        }
    }
}

#[test]
fn a_barrier_has_a_tree_for_each_way_where_that_pays() {
    let costs = costs(12);
    let (choices, _) = start(&costs, &none());
    let barrier = choices.iter().find(|c| c.operation == Operation::Barrier);
    let barrier = barrier.unwrap();
    let best = barrier
        .candidates
        .iter()
        .find(|c| c.pattern == Pattern::Best);
    let Shape::Trees { fan_in, fan_out } = &best.unwrap().shape else {
        panic!("sends are cheap and receives dear: one tree cannot suit both ways");
    };
    assert_eq!(fan_in.root(), fan_out.root());
    let single = cost::latency(&costs, fan_out, Operation::Barrier);
    assert!(best.unwrap().latency < single);
}

/// Races with a barrier that `name` won with these trees.
fn raced(n: usize, name: &str, fan_in: Option<Vec<Vec<usize>>>) -> Races {
    let star = || -> Vec<Vec<usize>> {
        let others = (1..n).collect();
        std::iter::once(others)
            .chain((1..n).map(|_| vec![]))
            .collect()
    };
    let entrant = |pattern: &str, children, fan_in| RacedCandidate {
        pattern: pattern.to_owned(),
        root: 0,
        children,
        fan_in,
        predicted_ns: 900.0,
        measured_ns: 400.0,
        interval_ns: (390.0, 410.0),
    };
    let mut profile = Profile::new("a machine".into(), "2026-11-22".into());
    profile.record(ProfileEntry {
        operation: "barrier".into(),
        threads: threads(n),
        winner: name.to_owned(),
        candidates: vec![
            entrant("sequential", Some(star()), None),
            entrant(name, Some(star()), fan_in),
            entrant("dissemination:3", None, None),
        ],
    });
    Races::of(profile, "a test")
}

#[test]
fn where_a_race_was_won_nothing_is_searched() {
    let n = 6;
    let (costs, threads, preferences) = (costs(n), threads(n), Preferences::default());
    let races = raced(n, "binary", None);
    let chooser = Chooser::new((&costs, &costs), &threads, &preferences, &races).unwrap();
    let choice = chooser.choose(Operation::Barrier).unwrap();
    assert_eq!(choice.decided_by, DecidedBy::Race);
    assert_eq!(
        chooser.drafts.searcher.search_counts(),
        SearchTally::default()
    );
    let beaten: Vec<String> = choice
        .runners_up()
        .iter()
        .map(|c| c.pattern.to_string())
        .collect();
    assert_eq!(beaten.len(), 2);
    assert!(beaten.contains(&"dissemination:3".to_owned()));
    let compared = compare(&costs, &threads, Operation::Barrier, &preferences, &races).unwrap();
    assert_eq!(compared.chosen().shape, choice.chosen().shape);
    assert_eq!(compared.reason, choice.reason);
    let others = compared.runners_up();
    assert!(others.iter().any(|other| other.pattern == Pattern::Best));
    assert!(others.len() > 5);
}

#[test]
fn both_trees_of_a_winner_run() {
    let n = 4;
    let (costs, threads, preferences) = (costs(n), threads(n), Preferences::default());
    let chain = vec![vec![1], vec![2], vec![3], vec![]];
    let decide =
        |races: &Races| choose(&costs, &threads, Operation::Barrier, &preferences, races).unwrap();
    let choice = decide(&raced(n, "best", Some(chain.clone())));
    let Shape::Trees { fan_in, fan_out } = &choice.chosen().shape else {
        panic!("two trees were raced");
    };
    assert_eq!(fan_in.child_lists(), chain);
    assert_eq!(fan_out.children(0), [1, 2, 3]);
    let one = decide(&raced(n, ONE_TREE, None));
    assert_eq!(one.chosen().pattern, Pattern::Best);
    assert_eq!(one.chosen().tree().unwrap().children(0), [1, 2, 3]);
    // The fan-in tree does not reach all ranks.
    let cut = decide(&raced(
        n,
        "best",
        Some(vec![vec![1], vec![], vec![], vec![]]),
    ));
    assert_eq!(cut.decided_by, DecidedBy::Model);
    assert!(cut.reason.contains("best, cannot run"), "{}", cut.reason);
}

#[test]
fn a_late_search_makes_no_moves_and_still_decides() {
    let costs = costs(20);
    let (threads, preferences, races) = (threads(20), Preferences::default(), none());
    let mut chooser = Chooser::new((&costs, &costs), &threads, &preferences, &races).unwrap();
    chooser.drafts.searcher.guard(Duration::ZERO);
    for operation in Operation::ALL {
        let choice = chooser.choose(operation).unwrap();
        assert_eq!(choice.decided_by, DecidedBy::Model);
        assert!(choice.candidates.iter().any(|c| c.pattern == Pattern::Best));
    }
    let search_counts = chooser.drafts.searcher.search_counts();
    assert_eq!(
        (search_counts.constructions, search_counts.improvements),
        (2, 0)
    );
}

#[test]
fn each_way_is_planned_with_its_own_costs() {
    let outward = costs(5);
    // Messages towards the root cost a turn at their sender.
    let inward = CostModel::from_fn(
        Unit::Nanoseconds,
        outward.numa_nodes().to_vec(),
        |i, j| outward.send(i, j) + 2_000.0,
        |i, j| outward.receive(i, j),
    )
    .unwrap();
    let (threads, preferences, races) = (threads(5), Preferences::default(), none());
    let chooser = Chooser::new((&inward, &outward), &threads, &preferences, &races).unwrap();
    let choice = chooser.choose(Operation::Barrier).unwrap();
    for candidate in choice.candidates {
        let latency = match &candidate.shape {
            Shape::Tree(tree) => {
                cost::latency(&inward, &tree.reversed(), Operation::Reduce)
                    + cost::latency(&outward, tree, Operation::Broadcast)
            }
            Shape::Trees { fan_in, fan_out } => {
                cost::latency(&inward, fan_in, Operation::Reduce)
                    + cost::latency(&outward, fan_out, Operation::Broadcast)
            }
            _ => continue,
        };
        assert_eq!(candidate.latency, latency, "{}", candidate.pattern);
    }
    let reduce = chooser.choose(Operation::Reduce).unwrap();
    assert!(reduce.chosen().latency >= 2_000.0);
}

/// Teams of any size and order are planned from one machine file.
#[test]
fn any_subset_in_any_order_has_its_plans() {
    let machine = synthetic("package:2 numa:2 core:4").unwrap();
    let mut order: Vec<usize> = (0..16).collect();
    for count in 2..=16 {
        order.rotate_left(5);
        order[..count].reverse();
        let part = machine.costs().subset(&order[..count]).unwrap();
        let threads: Vec<u32> = order[..count]
            .iter()
            .map(|&at| machine.threads()[at])
            .collect();
        for choice in choose_all(&part, &threads, &Preferences::default(), &none()).unwrap() {
            let plan = choice.chosen().plan(&part, choice.operation).unwrap();
            assert_eq!(plan.shape.len(), count);
            assert!(
                plan.lower_bound > 0.0 && plan.gap < 0.6,
                "{count}: {}",
                plan.gap
            );
        }
    }
}

#[test]
fn the_optimum_is_looked_for_where_it_was_asked_for() {
    let costs = costs(7);
    let threads = threads(7);
    let decide = |pattern| {
        let preferences = Preferences {
            pattern: Some(pattern),
            ..Preferences::default()
        };
        let (none, threads) = (none(), &threads[..]);
        let chooser = Chooser::new((&costs, &costs), threads, &preferences, &none).unwrap();
        let latencies = Operation::ALL.map(|operation| {
            let choice = chooser.choose(operation).unwrap();
            assert_eq!(choice.decided_by, DecidedBy::User);
            assert_eq!(choice.chosen().pattern, pattern);
            choice.chosen().latency
        });
        (latencies, chooser.drafts.searcher.search_counts().proofs)
    };
    let (optimal, proofs) = decide(Pattern::Optimal);
    let (best, none) = decide(Pattern::Best);
    assert_eq!((proofs, none), (4, 0));
    // With the same root no tree is better than the optimal one.
    assert!(optimal[0] <= best[0] && optimal[1] <= best[1]);
}

/// Costs of shared lines in a machine file are not used, because no probe measures them.
#[test]
fn costs_of_shared_lines_make_no_groups() {
    let words = "package:2 core:3 send=10,20 receive=30,60 write=5 transfer=2,4";
    let file = synthetic(words).unwrap();
    let (lines, bare) = (file.costs(), file.costs().without_lines());
    for pattern in [None, Some(Pattern::Best), Some(Pattern::Optimal)] {
        let preferences = Preferences {
            pattern,
            ..Preferences::default()
        };
        for operation in Operation::ALL {
            let chosen = |costs: &CostModel| {
                let choice = choose(costs, &threads(6), operation, &preferences, &none()).unwrap();
                let plan = choice.chosen().plan(costs, operation).unwrap();
                let tree = plan.tree().is_some() || plan.two_trees().is_some();
                assert!(tree || plan.rounds().is_some(), "{pattern:?} {operation}");
                (choice.chosen().shape.clone(), plan.latency)
            };
            assert_eq!(chosen(lines), chosen(&bare), "{pattern:?} {operation}");
        }
    }
}

/// The plans that a team runs by these decisions.
fn plans(barrier: &Choice, broadcast: &Choice, reduce: &Choice) -> corecast_collectives::Plans {
    use corecast_collectives::{BarrierPlan, Plans};
    let tree = |choice: &Choice| choice.chosen().tree().unwrap().clone();
    let barrier = BarrierPlan::of_shape(&barrier.chosen().shape).unwrap();
    Plans::new(barrier, tree(broadcast), tree(reduce)).unwrap()
}

#[test]
fn a_team_without_some_ranks_has_the_planners_repairs() {
    let races = none();
    let preferences = Preferences::default();
    for name in ["sandybridge-2x8", "sandybridge-e5-2650-2x8"] {
        let machine = corecast_model::builtin(name).unwrap();
        let (costs, threads) = (machine.costs(), machine.threads());
        let all = Chooser::new((costs, costs), threads, &preferences, &races).unwrap();
        let [barrier, broadcast, reduce] =
            [Operation::Barrier, Operation::Broadcast, Operation::Reduce]
                .map(|operation| all.choose(operation).unwrap());
        let plans = plans(&barrier, &broadcast, &reduce);
        let choices = [barrier, broadcast, reduce];
        let patterns = choices
            .each_ref()
            .map(|choice| (choice.operation, choice.chosen().pattern));
        for leaving in [&[3][..], &[choices[1].chosen().root], &[0, 7, 12, 15]] {
            let staying: Vec<usize> = (0..costs.n())
                .filter(|rank| !leaving.contains(rank))
                .collect();
            let left = costs.subset(&staying).unwrap();
            let pus: Vec<u32> = staying.iter().map(|&rank| threads[rank]).collect();
            let chooser = || Chooser::new((&left, &left), &pus, &preferences, &races).unwrap();
            for (known, choice) in [
                (true, &choices[0]),
                (true, &choices[1]),
                (false, &choices[2]),
            ] {
                let before = Before {
                    plans: &plans,
                    patterns: if known { &patterns } else { &[] },
                    costs: (costs, costs),
                    staying: &staying,
                };
                let operation = choice.operation;
                let fresh = chooser().choose(operation).unwrap();
                let repaired = chooser().after(Some(&before)).choose(operation).unwrap();
                assert_eq!(repaired.decided_by, DecidedBy::Repair, "{name} {operation}");
                let found = repaired.chosen();
                assert_eq!(found.shape.len(), staying.len());
                assert_eq!(
                    found.pattern,
                    if known {
                        choice.chosen().pattern
                    } else {
                        Pattern::Best
                    }
                );
                // A fresh search is the oracle; the planner's documentation has how far a repair may be off.
                let ratio = found.latency / fresh.chosen().latency;
                assert!(
                    ratio < 1.10,
                    "{name} {operation} without {leaving:?}: {ratio}"
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_repaired_is_chosen_anew() {
    use corecast_collectives::BarrierPlan;
    let races = none();
    let preferences = Preferences::default();
    let machine = corecast_model::synthetic("core:6").unwrap();
    let costs = machine.costs();
    let all = Chooser::new((costs, costs), machine.threads(), &preferences, &races).unwrap();
    let [barrier, broadcast, reduce] =
        [Operation::Barrier, Operation::Broadcast, Operation::Reduce]
            .map(|operation| all.choose(operation).unwrap());
    let plans = plans(&barrier, &broadcast, &reduce);
    let left = costs.subset(&[0, 2, 3, 4, 5]).unwrap();
    let pus = [0, 2, 3, 4, 5];
    let rounds = |radix| Pattern::Dissemination { radix }.rounds(6).unwrap();
    for (barrier, decided_by) in [
        (BarrierPlan::Counter(6), DecidedBy::Model),
        // The pattern of rounds that another process has chosen is found again.
        (BarrierPlan::Rounds(rounds(3)), DecidedBy::Repair),
    ] {
        let plans = plans.clone().with_barrier(barrier).unwrap();
        let before = Before {
            plans: &plans,
            patterns: &[],
            costs: (costs, costs),
            staying: &[0, 2, 3, 4, 5],
        };
        let chooser = Chooser::new((&left, &left), &pus, &preferences, &races).unwrap();
        let repaired = chooser
            .after(Some(&before))
            .choose(Operation::Barrier)
            .unwrap();
        assert_eq!(repaired.decided_by, decided_by);
        if decided_by == DecidedBy::Repair {
            assert_eq!(
                repaired.chosen().pattern,
                Pattern::Dissemination { radix: 3 }
            );
        }
    }
}
