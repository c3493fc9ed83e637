//! Plans and options of a team that is not made, for the tuner that races them.

use super::Builder;
use crate::choose::{Choice, Chooser};
use crate::error::Error;
use corecast_collectives::Plans;
use corecast_plan::Operation;
use corecast_team::Options;

/// The plans, waits and options that [`Builder::build`] would make a team of.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The PU of each rank.
    pub rank_pus: Vec<u32>,
    /// Whether ranks would be pinned to these PUs.
    pub pinned: bool,
    /// The name of the wait strategy that its members would use, see [`Waits::policy`](crate::Waits::policy).
    pub waits: &'static str,
    /// The plans that operations would run over.
    pub plans: Plans,
    /// All other options of the team.
    pub options: Options,
    /// The decisions about broadcast, reduce and barrier: the chosen schedule first, then all others.
    pub choices: [Choice; 3],
}

impl Builder {
    /// Discovers and chooses as [`build`](Self::build) does, and returns the plans and options without making
    /// the team.
    ///
    /// # Errors
    ///
    /// The errors of [`build`](Self::build).
    ///
    /// # Cost
    ///
    /// All patterns are planned for all operations, also where a stored race has decided.
    ///
    /// # Examples
    ///
    /// ```
    /// let planned = corecast::Builder::new().threads(4).planned()?;
    /// assert_eq!(planned.plans.len(), 4);
    /// assert!(!planned.choices[0].runners_up().is_empty());
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn planned(self) -> Result<Planned, Error> {
        let draft = self.draft(None)?;
        let costs = draft.costs.both_ways();
        let chooser =
            Chooser::new(costs, &draft.rank_pus, &draft.preferences, &draft.races)?.guarded();
        let [broadcast, reduce, barrier] = [
            chooser.compare(Operation::Broadcast)?,
            chooser.compare(Operation::Reduce)?,
            chooser.compare(Operation::Barrier)?,
        ];
        Ok(Planned {
            plans: draft.plans(&barrier, &broadcast, &reduce)?,
            choices: [broadcast, reduce, barrier],
            pinned: draft.pin,
            waits: draft.waits.policy,
            options: draft.options.clone(),
            rank_pus: draft.rank_pus,
        })
    }
}
