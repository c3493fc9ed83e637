//! Equations 27 to 31: dissemination barriers (§3.3), on the collectives themselves.

use super::{R_I, R_Q, R_R, RANKS_MAX, bounds, equal, one_package, phi, t_m_far};
use corecast_collectives::barrier::{
    LineSteps, best_m, m_way, multi_m_rounds, package_root_rounds, pair_wise_rounds,
};
use corecast_collectives::groups::Groups;
use corecast_plan::Rounds;
use corecast_sim::symbolic::{CostRules, Graph, Placement, Stealing, record, record_lines};
use corecast_validation::tables;
use corecast_wire::cache_lines::{CacheLines, LineId, LineSet};

fn barrier(rounds: &Rounds) -> Graph {
    let mut groups = Groups::new(rounds.len());
    let steps = LineSteps::all(rounds, &mut groups);
    let recorded = record(rounds.len(), &groups, |fabric, rank| {
        m_way(fabric, &steps[rank])
    });
    recorded.unwrap()
}

/// The rules with one interference per operation, as in Equation 28, and no contention, as in Equation 27.
fn rules() -> CostRules {
    CostRules {
        contention: false,
        inside: Stealing::OnePerOperation,
        ..CostRules::default()
    }
}

/// How many lines each rank reads in each round: the distances 1·(m+1)^k to m·(m+1)^k below n.
fn reads(n: usize, m: usize) -> Vec<usize> {
    let mut all = Vec::new();
    let mut reach = 1;
    while reach < n {
        all.push((1..=m).filter(|i| i * reach < n).count());
        reach *= m + 1;
    }
    all
}

/// Equation 27, for whatever number of lines is read in each round.
fn least(reads: &[usize]) -> f64 {
    reads.iter().map(|&m| R_I + m as f64 * R_R).sum()
}

/// Equation 28, for whatever number of lines is read in each round.
fn most(reads: &[usize]) -> f64 {
    let operation = R_I + 2.0 * R_R;
    reads.iter().map(|&m| operation * (m + 1) as f64).sum()
}

#[test]
fn equations_27_and_28_dissemination() {
    for n in 2..=RANKS_MAX {
        for m in 1..n.min(17) {
            let graph = barrier(&Rounds::dissemination(n, m + 1));
            let reads = reads(n, m);
            let what = format!("{n} ranks, m = {m}");
            let found = bounds(&graph, &one_package(n), &rules());
            equal(found.t_min, least(&reads), &what);
            equal(found.t_max, most(&reads), &what);
            // The paper takes m lines in every round; where the last distances would reach n, ranks have heard
            // already, and read fewer lines.
            let (r, count) = (reads.len() as f64, m as f64);
            let published = r * (R_I + count * R_R);
            assert!(found.t_min <= published + 1e-9, "{what}");
            // All distances of the last round are below n.
            if n > m * (m + 1).pow(reads.len() as u32 - 1) {
                equal(found.t_min, published, &what);
                equal(found.t_max, r * (R_I + 2.0 * R_R) * (count + 1.0), &what);
            }
        }
    }
}

#[test]
fn equation_29_dissemination_with_contention_on_xeon_phi() {
    let with = CostRules {
        contention: true,
        ..rules()
    };
    for n in 2..=RANKS_MAX {
        for m in 1..n.min(17) {
            let graph = barrier(&Rounds::dissemination(n, m + 1));
            let (reads, what) = (reads(n, m), format!("{n} ranks, m = {m}"));
            let placement = tables::xeon_phi(n);
            let round = |&m: &usize| phi::R_I + m as f64 * phi::t_c(m);
            let formula: f64 = reads.iter().map(round).sum();
            equal(bounds(&graph, &placement, &with).t_min, formula, &what);
            let round = |&m: &usize| phi::R_I + m as f64 * phi::R_R;
            let formula: f64 = reads.iter().map(round).sum();
            equal(bounds(&graph, &placement, &rules()).t_min, formula, &what);
            // For T_max the paper has no contention: "interferences that cause threads not to read
            // flags simultaneously" (§3.3.1).
            let round = |&m: &usize| (phi::R_I + 2.0 * phi::R_R) * (m + 1) as f64;
            let formula: f64 = reads.iter().map(round).sum();
            equal(bounds(&graph, &placement, &with).t_max, formula, &what);
        }
    }
}

#[test]
fn several_m_cost_what_each_round_reads() {
    for n in 2..=RANKS_MAX {
        let rounds = multi_m_rounds(n);
        let reads: Vec<usize> = (0..rounds.count())
            .map(|round| rounds.sources(round, 0).len())
            .collect();
        let found = bounds(&barrier(&rounds), &one_package(n), &rules());
        equal(found.t_min, least(&reads), &format!("{n} ranks"));
        equal(found.t_max, most(&reads), &format!("{n} ranks"));
    }
}

/// Sizes of two packages: all small ones, and some that are [`RANKS_MAX`] ranks together.
fn sizes() -> impl Iterator<Item = [usize; 2]> {
    let small = (1..=9).flat_map(|a| (1..=9).map(move |b| [a, b]));
    let even = (10..=RANKS_MAX / 2).map(|half| [half, half]);
    small.chain(even).chain([[40, 24], [1, 63], [62, 2]])
}

fn packages([first, second]: [usize; 2]) -> Vec<u32> {
    let mut packages = vec![0; first];
    packages.resize(first + second, 1);
    packages
}

/// The cost of the slower package's dissemination, with the m that the barrier takes.
fn slower(sizes: [usize; 2], cost: fn(&[usize]) -> f64) -> f64 {
    let of = |n: usize| cost(&reads(n, best_m(n)));
    of(sizes[0]).max(of(sizes[1]))
}

#[test]
fn equation_30_pair_wise() {
    let rules = CostRules {
        inside: Stealing::OnePerOperation,
        ..CostRules::default()
    };
    let (mut as_published, mut below) = (0, 0);
    for sizes in sizes() {
        let packages = packages(sizes);
        let placement = Placement::of_packages(tables::SANDY_BRIDGE, &packages);
        let found = bounds(&barrier(&pair_wise_rounds(&packages)), &placement, &rules);
        let what = format!("{} and {} ranks", sizes[0], sizes[1]);
        equal(found.t_min, slower(sizes, least) + R_I + R_Q, &what);
        let n = sizes[0] + sizes[1];
        let more = sizes[0].abs_diff(sizes[1]);
        let formula = slower(sizes, most) + 2.0 * (R_I + 2.0 * t_m_far(n, 1)) + more as f64 * R_Q;
        if sizes[0] == sizes[1] {
            as_published += 1;
            equal(found.t_max, formula, &what);
        } else {
            // There are fewer transfers than ranks, and fewer readers of a line than the packages differ by.
            below += 1;
            assert!(
                found.t_max <= formula + 1e-9,
                "{what}: {} {formula}",
                found.t_max
            );
        }
    }
    assert_eq!((as_published, below), (32, 75));
}

#[test]
fn equation_31_a_root_for_each_package() {
    let rules = CostRules {
        inside: Stealing::OnePerOperation,
        across: Stealing::EachReader,
        congestion: false,
        ..CostRules::default()
    };
    for sizes in sizes() {
        let packages = packages(sizes);
        let placement = Placement::of_packages(tables::SANDY_BRIDGE, &packages);
        let found = bounds(
            &barrier(&package_root_rounds(&packages)),
            &placement,
            &rules,
        );
        let what = format!("{} and {} ranks", sizes[0], sizes[1]);
        let n = (sizes[0] + sizes[1]) as f64;
        equal(found.t_min, slower(sizes, least) + R_I + R_Q, &what);
        equal(
            found.t_max,
            slower(sizes, most) + 2.0 * R_I + n * R_Q,
            &what,
        );
    }
}

/// Compares a flag for each rank, which is written in every round, with a flag for each rank and round (§3.3.1).
#[test]
fn single_use_lines_have_no_edges_e4() {
    let dissemination = |n: usize, single_use: bool| {
        let rounds = n.ilog2() as usize;
        let mut lines = LineSet::new(n);
        let line = |lines: &mut LineSet, rank: usize, round: usize| {
            lines.broadcast(
                format!("flag {rank} {round}"),
                rank,
                &[(rank + (1 << round)) % n],
            )
        };
        // A flag of a rank that it writes in every round is polled by all that hear from it.
        let all = |lines: &mut LineSet, rank: usize| {
            let told: Vec<usize> = (0..rounds).map(|round| (rank + (1 << round)) % n).collect();
            vec![lines.broadcast(format!("flag {rank}"), rank, &told); rounds]
        };
        let mut of = |rank| match single_use {
            true => (0..rounds)
                .map(|round| line(&mut lines, rank, round))
                .collect(),
            false => all(&mut lines, rank),
        };
        let flags: Vec<Vec<LineId>> = (0..n).map(&mut of).collect();
        let traced = record_lines(&lines, |hand| {
            for (round, &flag) in flags[hand.rank()].iter().enumerate() {
                let value = if single_use { 1 } else { round as u64 + 1 };
                hand.write(flag, value);
                let peer = (hand.rank() + n - (1 << round)) % n;
                hand.wait(flags[peer][round], value)?;
            }
            Ok(())
        });
        traced.unwrap()
    };
    for n in [2, 4, 8, 16, 32] {
        let (single, shared) = (dissemination(n, true), dissemination(n, false));
        let rounds = n.ilog2() as usize;
        assert_eq!(single.edge_counts()[3], 0, "{n} ranks");
        // A shared flag is written in several rounds, so a wait can meet the write of another one.
        assert_eq!(shared.edge_counts()[3] > 0, rounds > 1, "{n} ranks");
        let of = |graph| bounds(graph, &one_package(n), &CostRules::default());
        assert_eq!(
            of(&shared).t_max > of(&single).t_max,
            rounds > 1,
            "{n} ranks"
        );
    }
}
