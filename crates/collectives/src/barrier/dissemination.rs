//! A barrier of rounds of notifications, after which each rank has heard of all others, directly or
//! not (Hensgen, Finkel and Manber 1988; with more than one target per round CLa §3.3).
//!
//! With two ranks it is one mutual exchange of lines, which is the least that a barrier can cost.

use corecast_plan::Rounds;
use corecast_wire::Fabric;

/// One rank's part of a round schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    targets: Box<[usize]>,
    sources: Box<[usize]>,
}

impl Steps {
    /// The part of `rank`.
    ///
    /// # Panics
    ///
    /// If `rank` is not in the schedule.
    pub fn of(rounds: &Rounds, rank: usize) -> Self {
        let step = |round| Step {
            targets: rounds.targets(round, rank).into(),
            sources: rounds.sources(round, rank).into(),
        };
        Self((0..rounds.count()).map(step).collect())
    }
}

/// Returns when all ranks have come.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// With m targets per round: ⌈log_{m+1} n⌉ rounds, in each of which every rank writes and reads up
/// to m lines.
#[inline(always)]
pub fn dissemination<F: Fabric>(fabric: &mut F, steps: &Steps) -> Result<(), F::Error> {
    for step in &steps.0 {
        for &peer in &step.targets {
            fabric.notify(peer)?;
        }
        for &peer in &step.sources {
            fabric.wait(peer)?;
        }
    }
    Ok(())
}
