//! Compares the optimiser over the symbolic model with all candidates of small teams, with what the paper says of its
//! own choices, and with the planner, which uses formulas.

use corecast_collectives::Plans;
use corecast_collectives::barrier::{GroupSchedule, LineSteps, m_way};
use corecast_collectives::groups::Groups;
use corecast_model::{CostModel, Place, Unit, builtin};
use corecast_plan::groups::{Grouped, latency};
use corecast_plan::{Operation, Rounds, Tree};
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::symbolic::{
    AccessCosts, AdditionOverlap, Analysis, Bounds, CostRules, Crossings, Graph, Placement,
    Stealing, record, record_job,
};
use corecast_validation::choose;
use corecast_validation::published;
use corecast_validation::tables;

fn bounds(graph: &Graph, placement: &Placement, rules: &CostRules) -> Bounds {
    Analysis::new(graph, placement, rules).bounds()
}

fn refined() -> CostRules {
    CostRules {
        inside: Stealing::OnePerOperation,
        ..CostRules::default()
    }
}

fn dissemination(rounds: &Rounds) -> Graph {
    let mut groups = Groups::new(rounds.len());
    let steps = LineSteps::all(rounds, &mut groups);
    record(rounds.len(), &groups, |fabric, rank| {
        m_way(fabric, &steps[rank])
    })
    .unwrap()
}

fn one_package(n: usize) -> Placement {
    Placement::of_packages(tables::SANDY_BRIDGE, &vec![0; n])
}

#[test]
fn the_best_m_is_the_best_of_all() {
    for n in 2..=20 {
        for placement in [one_package(n), tables::sandy_bridge(n), tables::xeon_phi(n)] {
            for contention in [false, true] {
                let rules = CostRules {
                    contention,
                    ..refined()
                };
                let all = (1..n).map(|m| {
                    let graph = dissemination(&Rounds::dissemination(n, m + 1));
                    bounds(&graph, &placement, &rules).t_min
                });
                let least = all.fold(f64::INFINITY, f64::min);
                let best = choose::dissemination(&placement, &rules);
                assert!((best.bounds.t_min - least).abs() < 1e-9, "{n} ranks");
            }
        }
    }
}

/// All lists of factors whose product is n or more, none of which could be left out.
fn factor_lists(n: usize) -> Vec<Vec<usize>> {
    if n <= 1 {
        return vec![Vec::new()];
    }
    let first = 2..=n;
    let with = first.flat_map(|factor| {
        let rests = factor_lists(n.div_ceil(factor)).into_iter();
        rests.map(move |rest| [vec![factor], rest].concat())
    });
    with.collect()
}

#[test]
fn several_m_are_the_best_of_all() {
    for n in 2..=10 {
        let placement = tables::xeon_phi(n);
        let cost = |factors: &Vec<usize>| {
            let mut reach = 1;
            let targets = factors.iter().map(|&factor| {
                let steps = (1..factor).map(|m| m * reach);
                let steps: Vec<usize> = steps.filter(|&step| step < n).collect();
                reach *= factor;
                let of = |rank| steps.iter().map(|step| (rank + step) % n).collect();
                (0..n).map(of).collect()
            });
            let rounds = Rounds::new(n, targets.collect()).unwrap();
            bounds(&dissemination(&rounds), &placement, &refined()).t_min
        };
        let least = factor_lists(n)
            .iter()
            .map(cost)
            .fold(f64::INFINITY, f64::min);
        let best = choose::several_m(&placement, &refined()).bounds.t_min;
        // Each round has the cost of a full one, but the last one can have fewer lines.
        assert!(
            best >= least - 1e-9 && best <= least * 1.06,
            "{n}: {best} {least}"
        );
        assert!(best <= choose::dissemination(&placement, &refined()).bounds.t_min + 1e-9);
    }
}

/// Every tree from rank 0, up to the names of ranks: each rank has a parent with a smaller number.
fn trees(n: usize) -> Vec<Tree> {
    let count: usize = (1..n).product();
    let tree = |mut code: usize| {
        let mut children = vec![Vec::new(); n];
        for rank in 1..n {
            children[code % rank].push(rank);
            code /= rank;
        }
        Tree::from_children(0, children).unwrap()
    };
    (0..count).map(tree).collect()
}

#[test]
fn trees_are_the_best_of_all() {
    type Algorithm = fn(&Tree, Option<&[u32]>) -> Graph;
    type Choose = fn(&Placement, &CostRules) -> choose::ChosenTree;
    let both: [(Algorithm, Choose); 2] = [
        (published::broadcast, choose::broadcast),
        (published::reduction, choose::reduction),
    ];
    // Costs with which a second level pays already in small teams.
    let dear = AccessCosts {
        memory: 10.0,
        ..tables::XEON_PHI
    };
    for n in 2..=7 {
        let trees = trees(n);
        let dear = Placement::of_packages(dear, &vec![0; n]);
        for (algorithm, choose) in both {
            let graphs: Vec<Graph> = trees.iter().map(|tree| algorithm(tree, None)).collect();
            for placement in [&one_package(n), &tables::xeon_phi(n), &dear] {
                let rules = CostRules::default();
                let all = graphs
                    .iter()
                    .map(|graph| bounds(graph, placement, &rules).t_min);
                let least = all.fold(f64::INFINITY, f64::min);
                let best = choose(placement, &rules);
                assert!(
                    (best.bounds.t_min - least).abs() < 1e-9,
                    "{n} ranks: {best:?}"
                );
                let graph = algorithm(&best.tree, None);
                assert_eq!(bounds(&graph, placement, &rules), best.bounds);
            }
        }
    }
    // More ranks never cost less.
    for (_, choose) in both {
        let cost = |n| {
            choose(&tables::xeon_phi(n), &CostRules::default())
                .bounds
                .t_min
        };
        let costs: Vec<f64> = (2..=60).map(cost).collect();
        assert!(
            costs.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9),
            "{costs:?}"
        );
    }
}

fn barrier(fan_in: &Grouped, fan_out: &Grouped) -> Graph {
    let mut groups = Groups::new(fan_in.len());
    let ways = GroupSchedule::all(fan_in, fan_out, &mut groups);
    let recorded = record(fan_in.len(), &groups, |fabric, rank| {
        corecast_collectives::barrier::groups(fabric, &ways[rank])
    });
    recorded.unwrap()
}

#[test]
fn notification_trees_are_the_best_of_all_with_one_group_each() {
    for n in 2..=7 {
        for placement in [one_package(n), tables::xeon_phi(n)] {
            let best = choose::notification(&placement, &CostRules::default());
            let cost = |tree: Tree| {
                let lists = tree.child_lists().iter();
                let lists = lists.map(|list| match list.is_empty() {
                    true => Vec::new(),
                    false => vec![list.clone()],
                });
                let fan_in = Grouped::from_groups(0, lists.collect()).unwrap();
                bounds(
                    &barrier(&fan_in, &best.fan_out),
                    &placement,
                    &CostRules::default(),
                )
                .t_min
            };
            let least = trees(n).into_iter().map(cost).fold(f64::INFINITY, f64::min);
            assert!(
                (best.bounds.t_min - least).abs() < 1e-9,
                "{n} ranks: {best:?}"
            );
        }
    }
}

/// Groups drawn at random.
fn random_groups(n: usize, random: &mut fastrand::Rng) -> Grouped {
    let mut lists: Vec<Vec<Vec<usize>>> = vec![Vec::new(); n];
    let mut ranks: Vec<usize> = (0..n).collect();
    random.shuffle(&mut ranks);
    for place in 1..n {
        let parent = ranks[random.usize(..place)];
        let groups = &mut lists[parent];
        let group = random.usize(..=groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(ranks[place]);
    }
    Grouped::from_groups(ranks[0], lists).unwrap()
}

/// Compares two programs that share no code: the planner's formulas for groups, and the graph of the collective.
#[test]
fn the_planner_predicts_t_min_of_any_groups() {
    let early = CostRules {
        overlap: AdditionOverlap::Counted,
        ..CostRules::default()
    };
    let mut random = fastrand::Rng::with_seed(7);
    // These two packages have no R_QI, which the built-in machine has in its messages, but which the paper does not
    // use.
    let two_packages = "package:2 core:8 send=70,70 receive=35,94 write=70 transfer=35,94";
    for (file, every) in [
        (corecast_model::synthetic(two_packages).unwrap(), 1),
        (builtin("xeonphi-knc-60x4").unwrap(), 4),
    ] {
        for _ in 0..300 {
            let n = random.usize(2..=16);
            let team: Vec<usize> = (0..n).map(|core| core * every).collect();
            let costs = file.costs().subset(&team).unwrap();
            let lines = costs.lines().unwrap();
            let places = lines.places().to_vec();
            let placement = Placement::new(AccessCosts::of_lines(lines.costs()), places);
            let plan = random_groups(n, &mut random);
            let mut reversed = plan.group_lists().to_vec();
            reversed.iter_mut().for_each(|list| list.reverse());
            let fan_in = Grouped::from_groups(plan.root(), reversed).unwrap();
            let found = bounds(&barrier(&fan_in, &plan), &placement, &early).t_min;
            let predicted = latency(&costs, &plan, Operation::Barrier);
            assert!(
                (found - predicted).abs() < 1e-6,
                "{plan:?}: {found} {predicted}"
            );
        }
    }
}

#[test]
fn what_the_paper_says_of_its_choices_comes_out() {
    for n in 2..=60 {
        // §3.3.3: "the use of contention tends to provide m = 2 or m = 1".
        let best = choose::dissemination(&tables::xeon_phi(n), &refined());
        assert!(best.m <= 2, "{n} ranks: {best:?}");
    }
    // §4.1.1: "the best dual-socket trees are almost always flat", by the text of §2.4.
    let fewest = CostRules {
        crossings: Crossings::Fewest,
        ..CostRules::default()
    };
    let flat = |n: &usize| choose::broadcast(&tables::sandy_bridge(*n), &fewest).depth() == 1;
    assert_eq!((9..=16).filter(flat).count(), 7);
    // Figure 6: the same line is faster in one package, for its best choice of a tree too.
    for n in 2..=8 {
        let tree = choose::broadcast(&one_package(n), &CostRules::default());
        assert_eq!(tree.depth(), 1, "{n} ranks");
    }
}

#[test]
fn the_document_is_what_the_model_says() {
    let report = choose::report();
    let document = include_str!("../../../../docs/choices.md");
    let same = report.lines().zip(document.lines());
    for (number, (now, then)) in same.enumerate() {
        let line = number + 1;
        assert_eq!(
            now, then,
            "line {line}: write docs/choices.md anew, see its head"
        );
    }
    assert_eq!(report.len(), document.len(), "write docs/choices.md anew");
    // In the last tables, whose rows have ten columns, the planner's prediction is T_min, as the document says.
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect();
    let tables = &report[report.find("## Notification trees").unwrap()..];
    let rows: Vec<Vec<String>> = tables
        .lines()
        .map(cells)
        .filter(|row: &Vec<_>| row.len() == 12)
        .collect();
    let numbers = rows
        .iter()
        .filter(|row| row[9].ends_with(|c: char| c.is_ascii_digit()));
    let differing: Vec<_> = numbers.clone().filter(|row| row[9] != row[10]).collect();
    assert!(differing.is_empty(), "{differing:?}");
    assert!(numbers.count() >= 60);
}

/// Random costs of a measured machine, in which each pair has its own.
fn measured(n: usize, random: &mut fastrand::Rng) -> CostModel {
    let mut other = random.fork();
    let send = |_, _| f64::from(random.u8(1..));
    let receive = |_, _| f64::from(other.u8(1..));
    CostModel::from_fn(Unit::Cycles, vec![0; n], send, receive).unwrap()
}

/// Where messages are measured, T_min of the collectives is what the planner predicts.
#[test]
fn the_planner_predicts_t_min_of_messages_on_measured_machines() {
    let mut random = fastrand::Rng::with_seed(11);
    let rules = CostRules::default();
    for _ in 0..200 {
        let n = random.usize(2..=24);
        let costs = measured(n, &mut random);
        let places = (0..n as u32).map(|core| Place {
            package: 0,
            numa_node: 0,
            core,
        });
        let placement = Placement::of_model(&costs, places.collect());
        let tree = random_groups(n, &mut random).tree().clone();
        let plans = Plans::of_tree(&tree);
        let t_min = |collective, algorithm| {
            let call = Call::new(collective, algorithm, tree.root(), 0).unwrap();
            let graph = record_job(&Job::new(&call, &plans).unwrap()).unwrap();
            bounds(&graph, &placement, &rules).t_min
        };
        let predicted = |operation| corecast_plan::cost::latency(&costs, &tree, operation);
        assert_eq!(
            t_min(Collective::Broadcast, "messages"),
            predicted(Operation::Broadcast)
        );
        assert_eq!(
            t_min(Collective::Barrier, "tree"),
            predicted(Operation::Barrier)
        );
        let reversed = corecast_plan::cost::latency(&costs, &tree.reversed(), Operation::Reduce);
        assert_eq!(t_min(Collective::Reduce, "messages"), reversed);
        let rounds = Rounds::dissemination(n, 2).latency(&costs);
        assert_eq!(t_min(Collective::Barrier, "dissemination"), rounds);
    }
}

/// Trees of groups cost no less with more ranks, and those of three ranks cost what the equations say.
#[test]
fn groups_of_broadcasts_are_the_best_of_their_shape() {
    let (placement, rules) = (tables::xeon_phi(9), CostRules::default());
    for algorithm in [choose::InGroups::Published, choose::InGroups::Collective] {
        let all = choose::broadcasts_in_groups(algorithm, &placement, &rules);
        let costs: Vec<f64> = all.iter().map(|one| one.bounds.t_min).collect();
        assert!(
            costs.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9),
            "{costs:?}"
        );
        assert_eq!(all[0].bounds.t_max, 0.0);
        for (index, one) in all.iter().enumerate() {
            assert_eq!((one.plan.len(), one.plan.root()), (index + 1, 0));
        }
    }
    // One group of all takes R_I + T_C(2) and two copies, less than two groups of one.
    let all = choose::broadcasts_in_groups(choose::InGroups::Collective, &placement, &rules);
    assert_eq!(all[2].plan, Grouped::flat(3, 0));
    let (own, memory, contended) = (8.6, 277.7, 320.5 + 2.0 * 56.2);
    assert!((all[2].bounds.t_min - (2.0 * own + memory + contended)).abs() < 1e-9);
    // Notifications back add R_I for the first access to their line, and R_R for each child.
    let all = choose::broadcasts_in_groups(choose::InGroups::Published, &placement, &rules);
    let back = memory + 2.0 * 235.8;
    let t_min = 2.0 * own + memory + contended + back;
    assert!((all[2].bounds.t_min - t_min).abs() < 1e-9);
}
