//! The library's own decision as plans with bounds, so that commands say and race what teams run.

use anyhow::Result;
use corecast::choose::{Candidate, Choice};

use crate::planning::{Team, Timed};

/// The plan of one candidate of `choice`, with its bound and the time that finding it took.
///
/// # Errors
///
/// A team that the choice is not about.
pub(super) fn timed(team: &Team, choice: &Choice, candidate: &Candidate) -> Result<Timed> {
    Ok(Timed {
        plan: candidate.plan(&team.costs, choice.operation)?,
        search_ms: candidate.search.as_secs_f64() * 1e3,
    })
}
