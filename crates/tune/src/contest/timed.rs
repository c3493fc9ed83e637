//! A plan, and how long it took to find.

use std::time::Instant;

use corecast::choose::{Candidate, Choice};
use corecast_plan::{Members, Operation, Pattern, Plan, PlanError, RootChoice, plan};

/// A plan, and how long it took to find.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The plan.
    pub plan: Plan,
    /// Wall-clock time in milliseconds.
    pub search_ms: f64,
}

impl Timed {
    /// The plan of one candidate of the library's own decision, so that commands say and race what teams
    /// run.
    ///
    /// # Errors
    ///
    /// A team that the choice is not about.
    pub fn of_choice(
        team: &Members,
        choice: &Choice,
        candidate: &Candidate,
    ) -> Result<Self, PlanError> {
        Ok(Self {
            plan: candidate.plan(&team.costs, choice.operation)?,
            search_ms: candidate.search.as_secs_f64() * 1e3,
        })
    }

    /// The plan of `pattern`, of messages or rounds alone: what is raced and chosen has costs that were
    /// measured, and those of shared lines were not.
    ///
    /// # Errors
    ///
    /// A root outside of the team, or a pattern that cannot do the operation.
    pub fn search(
        team: &Members,
        pattern: Pattern,
        operation: Operation,
        root: RootChoice,
    ) -> Result<Self, PlanError> {
        let start = Instant::now();
        let costs = team.costs.without_lines();
        let plan = plan(&costs, pattern, operation, root)?;
        Ok(Self {
            plan,
            search_ms: start.elapsed().as_secs_f64() * 1e3,
        })
    }
}
