//! Every collective on the symbolic fabric has right results, a well-formed graph, and bounds in their order.

use corecast_collectives::{Groups, Plans};
use corecast_plan::Pattern;
use corecast_plan::groups::Grouped;
use corecast_sim::drive::{Call, Collective, Job};
use corecast_sim::symbolic::{
    AdditionOverlap, Analysis, CostRules, FoundAt, Graph, Op, Placement, Stuck, record, record_job,
    record_lines, record_results,
};
use corecast_validation::published;
use corecast_validation::published::Sharing;
use corecast_validation::tables;
use corecast_wire::Fabric;
use corecast_wire::cache_lines::{CacheLines, LineSet};
use std::cell::Cell;

/// All algorithms of all collectives on `n` ranks.
fn jobs(n: usize, bytes: usize) -> Vec<Job> {
    let costs = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    let plans = Plans::of_pattern(costs.costs(), Pattern::Binomial, Some(0)).unwrap();
    let packages = (0..n).map(|rank| u32::from(2 * rank >= n)).collect();
    let plans = plans.with_packages(packages).unwrap();
    let plans = plans.with_broadcast_groups(Grouped::flat(n, 0)).unwrap();
    let mut jobs = Vec::new();
    for collective in Collective::WITH_ALGORITHMS {
        for algorithm in corecast_sim::drive::algorithms(collective) {
            let call = Call::new(collective, algorithm, 0, bytes).unwrap();
            // Some algorithms need a power of two of ranks.
            jobs.extend(Job::new(&call, &plans));
        }
    }
    assert!(jobs.len() > 30, "{} jobs", jobs.len());
    jobs
}

const READINGS: [fn() -> CostRules; 2] = [CostRules::default, CostRules::repeated];

#[test]
fn every_collective_gives_what_it_must_and_takes_between_t_min_and_t_max() {
    for n in 1..=9 {
        for bytes in [0, 24, 300, 9000] {
            for job in jobs(n, bytes) {
                let what = format!("{} on {n} ranks", job.call());
                let ranks = Cell::new(0);
                let recorded = record_results(&job, |rank, given| {
                    assert_eq!(given, job.expected(rank), "{what}, rank {rank}");
                    ranks.set(ranks.get() + 1);
                });
                assert_eq!(ranks.get(), n, "{what}");
                let graph = recorded.unwrap_or_else(|stuck| panic!("{what}: {stuck}"));
                is_a_graph(&graph, &what);
                assert_eq!(record_job(&job).as_ref(), Ok(&graph), "{what}, again");
                for placement in [tables::sandy_bridge(n), halves(n), tables::xeon_phi(n)] {
                    for rules in READINGS {
                        has_bounds(&graph, &placement, &rules(), &what);
                    }
                }
            }
        }
    }
}

/// A placement with half of the ranks on each of two packages.
fn halves(n: usize) -> Placement {
    let packages: Vec<u32> = (0..n).map(|rank| u32::from(2 * rank >= n)).collect();
    Placement::of_packages(*tables::sandy_bridge(1).costs(), &packages)
}

fn is_a_graph(graph: &Graph, what: &str) {
    for (index, act) in graph.acts().iter().enumerate() {
        let before = act.before.iter().chain(&act.after);
        assert!(before.clone().all(|&other| other < index), "{what}");
        if let Some(before) = act.before {
            assert_eq!(graph.acts()[before].rank, act.rank, "{what}");
        }
        let theirs = |&of: &usize| graph.acts()[of].rank != act.rank;
        assert!(act.after.iter().all(theirs), "{what}");
        if act.op == Op::Wait {
            assert!(!act.after.is_empty(), "{what}: a wait for nobody");
        }
    }
}

fn has_bounds(graph: &Graph, placement: &Placement, rules: &CostRules, what: &str) {
    let analysis = Analysis::new(graph, placement, rules);
    let bounds = analysis.bounds();
    assert!(bounds.t_min <= bounds.t_max + 1e-6, "{what}: {bounds:?}");
    for rank in analysis.by_rank() {
        assert!(rank.t_min <= rank.t_max + 1e-6, "{what}: {rank:?}");
    }
    // The acts of the critical path take T_min together.
    let path = analysis.critical();
    let sum: f64 = path.iter().map(|&act| analysis.least().cost[act]).sum();
    assert!(
        (sum - bounds.t_min).abs() < 1e-6,
        "{what}: a path of {sum}, {bounds:?}"
    );
    let begins = analysis.longest().first().copied();
    let first = |act: usize| graph.acts()[act].before.is_none();
    assert!(begins.is_none_or(first), "{what}");
}

#[test]
fn what_comes_early_saves_time() {
    let early = CostRules {
        overlap: AdditionOverlap::Counted,
        ..CostRules::default()
    };
    for n in 2..=24 {
        for job in jobs(n, 24) {
            let graph = record_job(&job).unwrap();
            let placement = tables::sandy_bridge(n);
            let t_min = |rules| Analysis::new(&graph, &placement, rules).bounds().t_min;
            assert!(
                t_min(&early) <= t_min(&CostRules::default()) + 1e-6,
                "{}",
                job.call()
            );
        }
    }
    // Rank 3 adds late, when the others have added: what remains is one transfer, and the fetch.
    let mut lines = LineSet::new(4);
    let late = lines.flag("late", 0, 3);
    let counter = lines.counter("tally", &[1, 2, 3], 0);
    let graph = record_lines(&lines, |hand| {
        match hand.rank() {
            0 => {
                hand.write(late, 1);
                hand.wait(counter, 3)?;
            }
            3 => {
                hand.wait(late, 1)?;
                hand.add(counter, 1);
            }
            _ => hand.add(counter, 1),
        }
        Ok(())
    });
    let (graph, placement) = (graph.unwrap(), tables::sandy_bridge(4));
    let t_min = |rules| Analysis::new(&graph, &placement, rules).bounds().t_min;
    let come = 70.0 + 35.0;
    assert_eq!(t_min(&early), come + 35.0 + 35.0);
    assert_eq!(t_min(&CostRules::default()), come + 70.0 + 3.0 * 35.0);
}

/// The graphs of Figures 5, 9, 10b, 13 and 17 have the acts and edges that were counted by hand.
#[test]
fn graphs_of_the_figures() {
    use Sharing::{DifferentLines, SameLine};
    let check = |graph: &Graph, acts: usize, edges: [usize; 4], figure: &str| {
        assert_eq!(graph.acts().len(), acts, "Figure {figure}");
        assert_eq!(graph.edge_counts(), edges, "Figure {figure}");
    };
    let n = 5;
    let graph = published::many_to_one(n, SameLine);
    check(&graph, n + 1, [0, n, n - 1, 0], "5a");
    let graph = published::many_to_one(n, DifferentLines);
    check(&graph, 2 * n, [n - 1, n, 0, 0], "5b");
    let graph = published::one_to_many(n, SameLine);
    check(&graph, n + 1, [0, n, 0, 0], "9a");
    let graph = published::one_to_many(n, DifferentLines);
    check(&graph, 2 * n, [n - 1, n, 0, 0], "9b");

    // Three threads, m = 2: each writes once and reads twice.
    let rounds = corecast_plan::Rounds::dissemination(3, 3);
    let mut groups = Groups::new(3);
    let steps = corecast_collectives::barrier::LineSteps::all(&rounds, &mut groups);
    let graph = record(3, &groups, |fabric, rank| {
        corecast_collectives::barrier::m_way(fabric, &steps[rank])
    });
    check(&graph.unwrap(), 9, [6, 6, 0, 0], "10b");

    let four = vec![vec![1, 2], vec![3], vec![], vec![]];
    let four = corecast_plan::Tree::from_children(0, four).unwrap();
    // Root copy, write, wait; rank 1 wait, copy, copy, write, wait, add; leaves wait, copy, add.
    let graph = published::broadcast(&four, None);
    check(&graph, 3 + 6 + 3 + 3, [2 + 5 + 2 + 2, 6, 1, 0], "13");
    // Root write, wait, add, add; rank 1 write, wait, add, wait, copy, add; leaves wait, copy, add. A wait for a flag
    // is a wait for the data, too.
    let graph = published::reduction(&four, None);
    check(&graph, 4 + 6 + 3 + 3, [3 + 5 + 2 + 2, 6, 1, 0], "17");
}

#[test]
fn lines_are_found_where_they_are() {
    let mut lines = LineSet::new(3);
    let line = lines.broadcast("l", 0, &[1, 2]);
    let graph = record_lines(&lines, |hand| match hand.rank() {
        0 => {
            hand.write(line, 1);
            hand.write(line, 2);
            Ok(())
        }
        _ => hand.wait(line, 2),
    });
    let graph = graph.unwrap();
    let found = |act: usize| {
        let act = &graph.acts()[act];
        act.load.or(act.store).unwrap().found
    };
    assert_eq!(
        [found(0), found(1), found(2), found(3)],
        [
            FoundAt::Untouched,
            FoundAt::Again,
            FoundAt::With(0),
            FoundAt::With(0)
        ]
    );
    // Of two writes by one rank the last one is waited for; either can be stolen.
    assert_eq!(graph.acts()[2].after, [1]);
    assert_eq!(graph.e4(), [(2, 0), (3, 0)]);
}

#[test]
fn whoever_waits_in_vain_is_named() {
    let stuck = record(3, &Groups::new(3), |fabric, rank| match rank {
        0 => fabric.wait(2),
        1 => fabric.receive(0, &mut [0]),
        _ => Ok(()),
    });
    assert_eq!(
        stuck.unwrap_err().to_string(),
        "nobody goes on: rank 0 waits for change 1 of \"flag 2 → 0\", which has 0, rank 1 waits for \
         change 1 of \"slot 0 → 1\", which has 0; let all ranks do the same operation over the same plan"
    );
    let length = record(2, &Groups::new(2), |fabric, rank| match rank {
        0 => fabric.send(1, &[1, 2]),
        _ => fabric.receive(0, &mut [0]),
    });
    let expected = Stuck::Length {
        rank: 1,
        line: "slot 0 → 1 #0".to_owned(),
        came: 2,
        expected: 1,
    };
    assert_eq!(length.as_ref().unwrap_err(), &expected);
    assert!(
        expected.to_string().contains("rank 1 takes 1 bytes"),
        "{expected}"
    );
}

#[test]
#[should_panic(expected = "a graph of 4 ranks needs as many places")]
fn a_place_for_each_rank() {
    let graph = published::many_to_one(3, Sharing::SameLine);
    let _ = Analysis::new(&graph, &tables::xeon_phi(3), &CostRules::default());
}

/// Rule 2 counts once for an act: loading and storing in the own cache is one R_L for each line.
#[test]
fn a_copy_in_the_own_cache_costs_one_access_for_each_line() {
    for lines in [1, 3] {
        let mut set = LineSet::new(1);
        let [from, to] = ["from", "to"].map(|name| set.data(name, 0, lines));
        let graph = record_lines(&set, |hand| {
            hand.copy(from, to, lines);
            Ok(())
        });
        let (graph, placement) = (graph.unwrap(), tables::sandy_bridge(1));
        let bounds = Analysis::new(&graph, &placement, &CostRules::default()).bounds();
        let expected = 2.3 * lines as f64;
        assert!((bounds.t_min - expected).abs() < 1e-9, "{bounds:?}");
        assert!((bounds.t_max - expected).abs() < 1e-9, "{bounds:?}");
    }
}
