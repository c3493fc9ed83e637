//! A barrier of rounds, in which each rank writes a line of its own and reads those of others.

use corecast_plan::Rounds;
use corecast_wire::cache_lines::{CacheLines, LineId, LineSet};

/// One rank's part of a step.
#[derive(Clone, Debug)]
struct Step {
    write: Option<LineId>,
    waits: Box<[LineId]>,
}

/// The dissemination barrier, with a flag for each rank and step (Figure 10a; *single-use lines*, §3.3.1).
///
/// # Examples
///
/// ```
/// use corecast_collectives::one_line::Dissemination;
/// use corecast_plan::Rounds;
/// use corecast_wire::cache_lines::LineSet;
///
/// // Nine ranks, two of which each rank hears in each of two steps.
/// let mut lines = LineSet::new(9);
/// let _ = Dissemination::new(&mut lines, &Rounds::dissemination(9, 3));
/// assert_eq!(lines.lines().len(), 2 * 9);
/// ```
#[derive(Clone, Debug)]
pub struct Dissemination(Vec<Vec<Step>>);

impl Dissemination {
    /// A barrier with the rounds of this schedule as its steps.
    ///
    /// # Panics
    ///
    /// If the schedule is for more ranks than the set.
    pub fn new(lines: &mut LineSet, schedule: &Rounds) -> Self {
        let n = schedule.len();
        let mut all = vec![Vec::with_capacity(schedule.count()); n];
        for step in 0..schedule.count() {
            let flags: Vec<Option<LineId>> = (0..n)
                .map(|rank| match schedule.targets(step, rank) {
                    [] => None,
                    targets => Some(lines.broadcast(format!("flag {rank}.{step}"), rank, targets)),
                })
                .collect();
            for (rank, steps) in all.iter_mut().enumerate() {
                let sources = schedule.sources(step, rank).iter();
                steps.push(Step {
                    write: flags[rank],
                    waits: sources.filter_map(|&source| flags[source]).collect(),
                });
            }
        }
        Self(all)
    }

    /// This rank's part: returns when all ranks have called it in this round.
    ///
    /// # Errors
    ///
    /// The error of a wait.
    ///
    /// # Cost
    ///
    /// Equations 27 to 29: ⌈log_{m+1} n⌉ steps of R_I + m·R_R in the best case.
    #[inline]
    pub fn run<L: CacheLines>(&self, lines: &mut L, round: u64) -> Result<(), L::Error> {
        for step in &self.0[lines.rank()] {
            if let Some(flag) = step.write {
                lines.write(flag, round);
            }
            step.waits
                .iter()
                .try_for_each(|&flag| lines.wait(flag, round))?;
        }
        Ok(())
    }
}
