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
    /// The plan of one candidate of the library's own choice, so that commands show and race what teams run.
    ///
    /// # Errors
    ///
    /// The choice is about another team.
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

    /// The plan of `pattern`, made of messages or rounds alone: costs of shared lines are not measured, so no plan
    /// over them is proposed.
    ///
    /// # Errors
    ///
    /// The root is outside of the team, or the pattern cannot do the operation.
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
