//! CLa's one-line algorithms, from one source: threads, a machine in virtual time and the symbolic model get the results
//! that a plain computation has, and times are between the bounds of the cost formulas.

use corecast_collectives::one_line::{
    Dissemination, FlatBarrier, GroupedBroadcast, OneLineBroadcast, OneLineReduction, Sharing,
};
use corecast_collectives::{Collective, Plans};
use corecast_plan::groups::Grouped;
use corecast_plan::{Pattern, Rounds, Tree};
use corecast_sim::engine::{RunOptions, RunOutcome};
use corecast_sim::lines::run_lines;
use corecast_sim::machine::cla;
use corecast_sim::symbolic::{
    AccessCosts, Analysis, CostRules, Graph, Op, Placement, record_lines,
};
use corecast_team::Team;
use corecast_wire::cache_lines::{CacheLines, LineId, LineSet, Payload};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Debug)]
enum Program {
    Flat(FlatBarrier),
    Dissemination(Dissemination),
    Broadcast(OneLineBroadcast, usize),
    Grouped(GroupedBroadcast),
    Reduction(OneLineReduction, usize),
}

/// What a rank gives in a round.
fn given(rank: usize, round: u64) -> Payload {
    std::array::from_fn(|word| 1 + rank as u64 * 1000 + round * 10 + word as u64)
}

impl Program {
    fn collective(&self) -> (Collective, usize) {
        match self {
            Self::Flat(_) | Self::Dissemination(_) => (Collective::Barrier, 0),
            Self::Broadcast(_, root) => (Collective::Broadcast, *root),
            Self::Grouped(_) => (Collective::Broadcast, 0),
            Self::Reduction(_, root) => (Collective::Reduce, *root),
        }
    }

    fn data(&self, rank: usize) -> Option<LineId> {
        match self {
            Self::Flat(_) | Self::Dissemination(_) => None,
            Self::Broadcast(program, _) => Some(program.data(rank)),
            Self::Grouped(program) => Some(program.data(rank)),
            Self::Reduction(program, _) => Some(program.data(rank)),
        }
    }

    /// One source for all three.
    fn run<L: CacheLines>(&self, lines: &mut L, round: u64) -> Result<Payload, L::Error> {
        let data = self.data(lines.rank());
        if let Some(data) = data {
            lines.set_payload(data, given(lines.rank(), round));
        }
        match self {
            Self::Flat(program) => program.run(lines, round),
            Self::Dissemination(program) => program.run(lines, round),
            Self::Broadcast(program, _) => program.run(lines, round),
            Self::Grouped(program) => program.run(lines, round),
            Self::Reduction(program, _) => program.run(lines, round),
        }?;
        Ok(data.map_or(Payload::default(), |data| lines.payload(data)))
    }

    /// The result of a rank, if the operation says what it is.
    fn expected(&self, n: usize, rank: usize, round: u64) -> Option<Payload> {
        match self.collective() {
            (Collective::Broadcast, root) => Some(given(root, round)),
            (Collective::Reduce, root) if rank == root => {
                let all = (0..n).map(|rank| given(rank, round));
                all.reduce(|a, b| std::array::from_fn(|word| a[word] + b[word]))
            }
            (Collective::Reduce, _) => None,
            _ => Some(Payload::default()),
        }
    }
}

/// Packages of which the second has the later half of the ranks.
fn packages(n: usize) -> Vec<u32> {
    (0..n).map(|rank| u32::from(2 * rank >= n)).collect()
}

fn programs(n: usize) -> Vec<(LineSet, Program)> {
    let mut all = Vec::new();
    let mut make = |of: &dyn Fn(&mut LineSet) -> Program| {
        let mut lines = LineSet::new(n);
        let program = of(&mut lines);
        all.push((lines, program));
    };
    for fan_in in [Sharing::SameLine, Sharing::DifferentLines] {
        for fan_out in [Sharing::SameLine, Sharing::DifferentLines] {
            make(&|lines| Program::Flat(FlatBarrier::new(lines, fan_in, fan_out)));
        }
    }
    for radix in [2, 3] {
        let rounds = Rounds::dissemination(n, radix);
        make(&|lines| Program::Dissemination(Dissemination::new(lines, &rounds)));
    }
    let costs = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    for (name, root) in [("chain", 0), ("binomial", n - 1), ("sequential", n / 2)] {
        let pattern: Pattern = name.parse().unwrap();
        let plans = Plans::of_pattern(costs.costs(), pattern, Some(root)).unwrap();
        let tree: &Tree = plans.broadcast();
        let packages = packages(n);
        for packages in [None, Some(&packages[..])] {
            make(&|lines| Program::Broadcast(OneLineBroadcast::new(lines, tree, packages), root));
            make(&|lines| Program::Reduction(OneLineReduction::new(lines, tree, packages), root));
        }
    }
    let halves: Vec<Vec<usize>> = (1..n)
        .collect::<Vec<_>>()
        .chunks(n.div_ceil(2).max(1))
        .map(<[usize]>::to_vec)
        .collect();
    let mut lists = vec![halves];
    lists.resize(n, Vec::new());
    let plan = Grouped::from_groups(0, lists).unwrap();
    make(&|lines| Program::Grouped(GroupedBroadcast::new(lines, &plan)));
    all
}

const ROUNDS: u64 = 3;

#[track_caller]
fn check(program: &Program, n: usize, found: &[Vec<Payload>], place: &str) {
    for (rank, rounds) in found.iter().enumerate() {
        assert_eq!(rounds.len() as u64, ROUNDS);
        for (round, payload) in (1..).zip(rounds) {
            if let Some(expected) = program.expected(n, rank, round) {
                assert_eq!(*payload, expected, "{place}, rank {rank}, round {round}");
            }
        }
    }
}

#[test]
fn threads_have_the_results_of_a_plain_computation() {
    for n in 1..=5 {
        let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
        let plans = Plans::of_pattern(machine.costs(), Pattern::Smelt, None).unwrap();
        let team = Team::new(plans).unwrap();
        let all: Vec<_> = programs(n)
            .into_iter()
            .map(|(lines, program)| (team.lines(&lines).unwrap(), program))
            .collect();
        let come: Vec<AtomicUsize> = all.iter().map(|_| AtomicUsize::new(0)).collect();
        let found = team.run(|member| {
            let of = |(number, (lines, program)): (usize, &(_, Program))| -> Vec<Payload> {
                let (kind, root) = program.collective();
                let round = |_| {
                    come[number].fetch_add(1, Ordering::Relaxed);
                    let result = member.on_lines(lines, kind, root, |lines, round| {
                        program.run(lines, round).map(|result| (round, result))
                    });
                    let (round, result) = result.unwrap();
                    if kind == Collective::Barrier {
                        let came = come[number].load(Ordering::Relaxed);
                        assert!(came >= round as usize * n, "{came} in round {round}");
                    }
                    result
                };
                (0..ROUNDS).map(round).collect()
            };
            all.iter().enumerate().map(of).collect::<Vec<_>>()
        });
        for (number, (_, program)) in all.iter().enumerate() {
            let of_program: Vec<_> = found.iter().map(|all| all[number].clone()).collect();
            check(program, n, &of_program, &format!("threads, {program:?}"));
        }
    }
}

/// The results of all ranks on the machine of the paper, by round.
fn simulated(lines: &LineSet, program: &Program, rounds: u64) -> RunOutcome<Vec<Payload>> {
    let cores: Vec<usize> = (0..lines.ranks()).collect();
    let (machine, options, of) = (cla::sandy_bridge(), RunOptions::default(), program.clone());
    let outcome = run_lines(lines, &machine, &cores, &options, move |rank| {
        let result = |round| {
            let Ok(result) = of.run(rank, round);
            result
        };
        (1..=rounds).map(result).collect()
    });
    outcome.unwrap()
}

#[test]
fn a_simulated_machine_has_the_results_of_a_plain_computation() {
    for n in [1, 2, 3, 5, 9] {
        for (lines, program) in programs(n) {
            let what = format!("simulated, {program:?}");
            check(
                &program,
                n,
                &simulated(&lines, &program, ROUNDS).results,
                &what,
            );
        }
    }
}

fn graph_of(lines: &LineSet, program: &Program, rounds: u64) -> (Graph, Vec<Vec<Payload>>) {
    let found = RefCell::new(vec![Vec::new(); lines.ranks()]);
    let graph = record_lines(lines, |rank| {
        for round in 1..=rounds {
            let result = program.run(rank, round)?;
            found.borrow_mut()[rank.rank()].push(result);
        }
        Ok(())
    });
    (graph.unwrap(), found.into_inner())
}

#[test]
fn the_symbolic_model_has_the_results_of_a_plain_computation() {
    for n in [1, 2, 3, 5, 9] {
        for (lines, program) in programs(n) {
            let (_, found) = graph_of(&lines, &program, ROUNDS);
            check(&program, n, &found, &format!("symbolic, {program:?}"));
        }
    }
}

/// In the graph of a barrier a path leads from the first act of each rank to the last act of each other one.
#[test]
fn barriers_are_barriers_in_their_graphs() {
    for n in 2..=9 {
        for (lines, program) in programs(n) {
            if program.collective().0 != Collective::Barrier {
                continue;
            }
            let (graph, _) = graph_of(&lines, &program, 1);
            let mut heard: Vec<u64> = Vec::new();
            let mut at_end = vec![0; n];
            for act in graph.acts() {
                let before = act.before.iter().chain(&act.after);
                let known = before.fold(1 << act.rank, |known, &of| known | heard[of]);
                heard.push(known);
                at_end[act.rank] = known;
            }
            assert_eq!(at_end, vec![(1 << n) - 1; n], "{program:?}");
        }
    }
}

/// Table 1 of the paper.
fn sandy_bridge(n: usize) -> Placement {
    let file = corecast_model::builtin("sandybridge-2x8").unwrap();
    let costs = AccessCosts::of_lines(file.costs().lines().unwrap().costs());
    let packages: Vec<u32> = (0..n).map(|rank| u32::from(rank >= 8)).collect();
    Placement::of_packages(costs, &packages)
}

/// A path through the graph cannot take less than T_min, and the worst that can happen to it is T_max.
#[test]
fn simulated_times_are_between_the_bounds() {
    for n in [2, 3, 5, 8, 12] {
        for (lines, program) in programs(n) {
            let (graph, _) = graph_of(&lines, &program, 1);
            let bounds = |rules| Analysis::new(&graph, &sandy_bridge(n), &rules).bounds();
            let (least, most) = (bounds(CostRules::least()), bounds(CostRules::default()));
            let end = simulated(&lines, &program, 1).end();
            // Virtual time has a resolution of 0.001 ns.
            let inside = least.t_min - 0.05 <= end && end <= most.t_max + 0.05;
            assert!(inside, "{end}, {least:?}, {most:?}, {n} ranks, {program:?}");
        }
    }
}

#[test]
fn whoever_waits_for_a_value_in_vain_is_named() {
    let mut lines = LineSet::new(2);
    let flag = lines.flag("flag", 0, 1);
    let stuck = record_lines(&lines, |rank| match rank.rank() {
        0 => {
            rank.write(flag, 1);
            Ok(())
        }
        _ => rank.wait(flag, 2),
    });
    let stuck = stuck.unwrap_err().to_string();
    assert!(
        stuck.contains("rank 1 waits for change 2 of \"flag\", which has 1"),
        "{stuck}"
    );
    let (machine, options) = (cla::sandy_bridge(), RunOptions::default());
    let stuck = run_lines(
        &lines,
        &machine,
        &[0, 1],
        &options,
        move |rank| match rank.rank() {
            0 => rank.write(flag, 1),
            _ => {
                let Ok(()) = rank.wait(flag, 2);
            }
        },
    );
    let stuck = stuck.unwrap_err().to_string();
    assert!(stuck.contains("everybody waits"), "{stuck}");
}

/// Several writes before a wait are one change for it, and a value of 0 needs none.
#[test]
fn values_are_counted_as_changes() {
    let mut lines = LineSet::new(2);
    let counter = lines.counter("counter", &[0], 1);
    let graph = record_lines(&lines, |rank| match rank.rank() {
        0 => {
            rank.add(counter, 5);
            rank.add(counter, 5);
            Ok(())
        }
        _ => {
            rank.wait(counter, 0)?;
            rank.wait(counter, 7)
        }
    });
    let graph = graph.unwrap();
    let waits: Vec<_> = graph
        .acts()
        .iter()
        .filter(|act| act.op == Op::Wait)
        .collect();
    // The act of rank 0 that brings about 7 is its second one.
    let adds: Vec<usize> = (0..graph.acts().len())
        .filter(|&act| graph.acts()[act].op == Op::Add)
        .collect();
    assert!(waits[0].after.is_empty());
    assert_eq!(waits[1].after, [adds[1]]);
}
