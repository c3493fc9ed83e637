//! Finds the best dissemination barriers: the number of rounds, and the number of lines in each round.

use super::candidates::{bounds, compare, ended};
use corecast_collectives::barrier::{LineSteps, m_way};
use corecast_collectives::groups::Groups;
use corecast_plan::Rounds;
use corecast_sim::symbolic::{Bounds, CostRules, Graph, Placement, record};

/// A dissemination that was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounded {
    /// The number of lines that each rank reads in each round: m, or fewer in the last round, where further lines
    /// would tell a rank nothing new.
    pub reads: Vec<usize>,
    /// The m of the dissemination; of several, the largest.
    pub m: usize,
    /// The ranks from which each rank hears in each round.
    pub rounds: Rounds,
    /// The bounds of the barrier.
    pub bounds: Bounds,
}

impl Rounded {
    /// The graph of the barrier over these rounds.
    #[must_use]
    pub fn graph(&self) -> Graph {
        graph(&self.rounds)
    }
}

/// The graph of the collective barrier over these rounds.
pub(super) fn graph(rounds: &Rounds) -> Graph {
    let mut groups = Groups::new(rounds.len());
    let steps = LineSteps::all(rounds, &mut groups);
    ended(record(rounds.len(), &groups, |fabric, rank| {
        m_way(fabric, &steps[rank])
    }))
}

fn rounded(rounds: Rounds, m: usize, placement: &Placement, rules: &CostRules) -> Rounded {
    let reads = (0..rounds.count()).map(|round| rounds.sources(round, 0).len());
    Rounded {
        reads: reads.collect(),
        m,
        bounds: bounds(&graph(&rounds), placement, rules),
        rounds,
    }
}

/// The best m-way dissemination for all ranks of `placement`.
///
/// # Panics
///
/// If there are fewer than two ranks.
///
/// # Cost
///
/// A graph for each number of rounds up to log2 n; in several packages, for each m below n.
///
/// # Examples
///
/// ```
/// use corecast_sim::symbolic::CostRules;
/// use corecast_validation::{choose, tables};
///
/// // Two rounds of two lines each, not three rounds of one, for 280 ns instead of 315.
/// let best = choose::dissemination(&tables::sandy_bridge(8), &CostRules::default());
/// assert_eq!((best.m, best.bounds.t_min), (2, 2.0 * (70.0 + 2.0 * 35.0)));
/// ```
#[must_use]
pub fn dissemination(placement: &Placement, rules: &CostRules) -> Rounded {
    let n = placement.ranks();
    assert!(n > 1, "a barrier of {n} ranks has no rounds");
    let packages = placement.packages();
    let one_package = packages.iter().all(|&package| package == packages[0]);
    let least_m = |rounds: u32| (1..n).find(|m| (m + 1).pow(rounds) >= n).unwrap_or(1);
    let all: Vec<usize> = match one_package {
        true => (1..=n.next_power_of_two().ilog2()).map(least_m).collect(),
        // In several packages, a greater m may take fewer transfers between packages.
        false => (1..n).collect(),
    };
    let candidates = all
        .into_iter()
        .map(|m| rounded(Rounds::dissemination(n, m + 1), m, placement, rules));
    let best = candidates.min_by(|a, b| compare(a.bounds, b.bounds));
    best.expect("at least one round")
}

/// The best dissemination with an m of its own for each round. Each round has the cost that it has within one
/// package.
///
/// # Panics
///
/// If there are fewer than two ranks.
///
/// # Cost
///
/// A graph for each m below n.
///
/// # Source
///
/// CLa §3.3.1, multi-m dissemination.
#[must_use]
pub fn several_m(placement: &Placement, rules: &CostRules) -> Rounded {
    let n = placement.ranks();
    assert!(n > 1, "a barrier of {n} ranks has no rounds");
    // A round of m lines costs as much as the whole barrier of m + 1 ranks.
    let round: Vec<f64> = (0..n)
        .map(|m| match m {
            0 => 0.0,
            m => {
                let alone = Placement::of_packages(*placement.costs(), &vec![0; m + 1]);
                let rounds = Rounds::dissemination(m + 1, m + 1);
                bounds(&graph(&rounds), &alone, rules).t_min
            }
        })
        .collect();
    let mut best: Vec<(f64, usize)> = vec![(0.0, 1); 2];
    for ranks in 2..=n {
        let cost = |factor: usize| round[factor - 1] + best[ranks.div_ceil(factor)].0;
        let factor = (2..=ranks).min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
        let factor = factor.unwrap_or(ranks);
        best.push((cost(factor), factor));
    }
    let (mut left, mut factors) = (n, Vec::new());
    while left > 1 {
        factors.push(best[left].1);
        left = left.div_ceil(best[left].1);
    }
    let m = factors.iter().max().map_or(1, |factor| factor - 1);
    rounded(of_factors(n, &factors), m, placement, rules)
}

/// Rounds that multiply the number of ranks of which each rank has heard by each factor in turn.
fn of_factors(n: usize, factors: &[usize]) -> Rounds {
    let mut reach = 1;
    let round = |&factor: &usize| {
        let distances: Vec<usize> = (1..factor).map(|m| m * reach).filter(|&d| d < n).collect();
        reach *= factor;
        (0..n)
            .map(|rank| distances.iter().map(|d| (rank + d) % n).collect())
            .collect()
    };
    match Rounds::new(n, factors.iter().map(round).collect()) {
        Ok(rounds) => rounds,
        Err(error) => panic!("a dissemination is a barrier: {error}"),
    }
}
