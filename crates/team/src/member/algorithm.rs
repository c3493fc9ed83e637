//! The algorithm that a member runs for a call.

use super::Member;
use corecast_collectives::Collective;
use corecast_collectives::registry::Request;

impl Member {
    /// The name of the algorithm that this member runs for its next call of an operation: the one that the team was asked for,
    /// if it can run that, else the one that it has [learned](Self::learned) or races now, else the built-in choice. An
    /// algorithm that was asked for with a size has it in its name.
    ///
    /// `bytes` are those of a block, as in [`Algorithms`](crate::Algorithms), `element` those of an element, at least 1,
    /// and `root` is the rank where the operation starts or ends. A reduction is one whose operator does not need the
    /// order of ranks. Where parts differ in length, as in scatterv, `bytes` do not count.
    ///
    /// # Cost
    ///
    /// That of the choice: some nanoseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Collective, Options, Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let mut options = Options::default();
    /// options.algorithms.ask("allreduce", &[(4096, Some("trees")), (usize::MAX, Some("ring"))])?;
    /// let team = Team::with_options(plans, &options)?;
    /// let found = team.run(|member| {
    ///     let of = |bytes| member.algorithm(Collective::Allreduce, 0, bytes, 8);
    ///     [of(8), of(8192)]
    /// });
    /// assert_eq!(found, [["trees", "ring"]; 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn algorithm(
        &self,
        collective: Collective,
        root: usize,
        bytes: usize,
        element: usize,
    ) -> &'static str {
        let request = Request {
            element,
            root,
            keeps_order: self.context.traits().deterministic,
            ..Request::of_bytes(bytes)
        };
        self.context.next_algorithm(collective, &request)
    }
}
