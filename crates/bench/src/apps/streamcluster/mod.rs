//! Streamcluster: online k-median clustering of a stream of points.
//!
//! ```text
//! stream ─► chunk ─► local search ─► its centres, weighted by their points ─┐
//!        ─► chunk ─► local search ─► …                                      ├─► local search ─► centres
//!        ─► …                                                               ┘
//! local search ─► start (open by chance) ─► gain of opening x, x of a sample, thousands of times
//! ```
//!
//! The local search opens centres at a price each. It looks for the price at which between
//! `centres_min` and `centres_max` of them pay. Each look at a candidate takes a pass over all points, which ranks
//! share, and one reduction over the open centres, so the ranks synchronise very often.
//!
//! Coordinates are whole numbers below [`GRID`] and distances are squared, so sums are exact: the
//! result does not depend on the number of ranks, nor on how they synchronise. All random numbers
//! come from [`Dice`], which has the same state on every rank.
//!
//! Source: Guha, Mishra, Motwani, O'Callaghan, *Clustering Data Streams*, FOCS 2000 (facility
//! location by local search, the price by bisection, weighted centres as the next stream);
//! O'Callaghan and others, *Streaming-Data Algorithms for High-Quality Clustering*, ICDE 2002; the
//! shape of the benchmark and its constants after Bienia, *Benchmarking Modern Multiprocessors*,
//! 2011, §3.11 (PARSEC's streamcluster). None of their code is used.

mod dice;
mod gain;
mod points;
mod problem;
mod search;
mod start;

pub use dice::Dice;
pub use points::{GRID, Points, Stream};
pub use problem::{DIMENSIONS_MAX, POINTS_MAX, Problem, ProblemError};

use super::{Lost, SyncBackend};
use search::LocalSearch;

/// Result of a clustering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// Coordinates of the centres, one after the other.
    pub centres: Vec<i16>,
    /// How many points of the stream each centre stands for.
    pub weights: Vec<i64>,
    /// Number of candidates that were looked at.
    pub looks: u64,
}

/// Clusters `stream` as `rank` of `ranks`. All ranks call this, and all get the same solution.
///
/// # Errors
///
/// [`Lost`] if the ranks cannot synchronise any more, or this process was asked to end
/// ([`corecast_wire::ending`]): then all ranks get it, after a pass over their points at most.
///
/// # Panics
///
/// If the problem does not [check out](Problem::check), or is not the stream's.
///
/// # Examples
///
/// ```
/// use corecast_bench::apps::streamcluster::{Problem, Stream, alone};
///
/// let problem = Problem { points: 500, chunk: 200, dimensions: 3, ..Problem::default() };
/// let solution = alone(&problem, &Stream::random(&problem));
/// assert_eq!(solution.weights.iter().sum::<i64>(), 500);
/// ```
pub fn solve(
    problem: &Problem,
    stream: &Stream,
    (rank, ranks): (usize, usize),
    backend: &mut dyn SyncBackend,
) -> Result<Solution, Lost> {
    problem.check().expect("a problem that can be solved");
    let all = stream.points();
    assert_eq!(
        (all.len(), all.dimensions()),
        (problem.points, problem.dimensions),
        "a stream of this problem"
    );
    let mut dice = Dice::new(problem.seed);
    let mut seen = (Vec::new(), Vec::new());
    let mut looks = 0;
    let mut cluster = |points: Points<'_>| {
        let mut search = LocalSearch::new(problem, points, (rank, ranks), dice, backend);
        search.run()?;
        looks += search.looks();
        dice = search.dice();
        search.centres()
    };
    let chunks = (0..problem.points).step_by(problem.chunk);
    for start in chunks {
        let end = problem.points.min(start + problem.chunk);
        let (centres, weights) = cluster(all.part(start..end))?;
        seen.0.extend(centres);
        seen.1.extend(weights);
    }
    let (centres, weights) = cluster(Points::new(problem.dimensions, &seen.0, &seen.1))?;
    Ok(Solution {
        centres,
        weights,
        looks,
    })
}

/// Clusters `stream` on this thread alone.
///
/// # Panics
///
/// If the problem does not [check out](Problem::check), or is not the stream's; if this process was asked to end.
pub fn alone(problem: &Problem, stream: &Stream) -> Solution {
    let solution = solve(problem, stream, (0, 1), &mut SingleRank);
    solution.expect("a single rank meets nobody, and was not asked to end")
}

/// The backend of a single rank, which has nobody to wait for.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingleRank;

impl SyncBackend for SingleRank {
    fn barrier(&mut self) -> Result<(), Lost> {
        Ok(())
    }

    fn sum(&mut self, _data: &mut [i64]) -> Result<(), Lost> {
        Ok(())
    }

    fn min(&mut self, value: i64) -> Result<i64, Lost> {
        Ok(value)
    }

    fn join_sum(&mut self, value: i64) -> Result<i64, Lost> {
        Ok(value)
    }

    fn synchronisations(&self) -> u64 {
        0
    }
}
