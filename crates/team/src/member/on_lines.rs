//! Algorithms over lines of their own, as an operation of the team.

use super::{Amid, Member};
use crate::failure::Failure;
use crate::hardware::{MemberLines, TeamLines};
use corecast_collectives::Collective;
use std::panic::Location;

impl Member {
    /// Runs this rank's part of an algorithm in CLa's primitives, which lays out its lines itself:
    /// [`CacheLines`](corecast_wire::cache_lines::CacheLines). `body` gets the lines and the number of the round, which
    /// is 1 at the member's first call with these lines.
    ///
    /// It is an operation of the team like any other: all members call it, in the same order, with the same lines. `kind`
    /// and `root` say what the algorithm does; failures and recordings name it so.
    ///
    /// # Errors
    ///
    /// [`Failure`], also for a wait in `body`: it ends when a rank that writes the line is lost, or does something else.
    ///
    /// # Panics
    ///
    /// If the lines are those of another team, or `root` is outside of the team.
    ///
    /// # Cost
    ///
    /// What the algorithm does to its lines, and a store to the line by which others see where this rank is.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Collective, Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// use corecast_collectives::one_line::OneLineReduction;
    /// use corecast_wire::cache_lines::{CacheLines, LineSet};
    ///
    /// let mut set = LineSet::new(3);
    /// let tree = corecast_plan::Tree::from_children(0, vec![vec![1, 2], vec![], vec![]])?;
    /// let reduction = OneLineReduction::new(&mut set, &tree, None);
    /// let team = Team::new(plans)?;
    /// let lines = team.lines(&set)?;
    /// let sums = team.run(|member| {
    ///     let mine = reduction.data(member.rank());
    ///     member.on_lines(&lines, Collective::Reduce, 0, |lines, round| {
    ///         lines.set_payload(mine, [lines.rank() as u64 + 1; 7]);
    ///         reduction.run(lines, round)?;
    ///         Ok(lines.payload(mine)[0])
    ///     })
    /// });
    /// assert_eq!(sums, [Ok(6), Ok(2), Ok(3)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn on_lines<R>(
        &mut self,
        lines: &TeamLines,
        kind: Collective,
        root: usize,
        body: impl FnOnce(&mut MemberLines<'_>, u64) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        assert!(
            lines.belong_to(self.team_memory.state()),
            "these lines are those of another team: make them by `lines` of the member's own team"
        );
        let round = lines.begin_round(self.rank());
        self.begin(kind, root, None, Location::caller())?;
        let amid = Amid(self);
        let fabric = &mut amid.0.context.fabric;
        let ended = body(&mut MemberLines::new(fabric, lines, round), round);
        if ended.is_ok() {
            lines.end_round(amid.0.rank(), round);
        }
        amid.end(ended)
    }
}
