//! What the models say of what ran.

use corecast_bench::Comparison;
use corecast_bench::sized::Task;
use corecast_model::{Collective, CostBasis, MachineFile};

use super::own::OwnTeam;
use crate::models::Models;

/// Adds to the entry of each of `teams`, the first ones of the race, what the models say of the algorithm that ran, from
/// the costs of `file`; and notes which of them did not run what was asked for. There are no forecasts if `known` is
/// false.
pub(super) fn add(
    comparison: &mut Comparison,
    task: Task,
    teams: &[OwnTeam],
    (file, costs, known): (&MachineFile, CostBasis, bool),
) {
    let mut notes = Vec::new();
    for (team, entry) in teams.iter().zip(&mut comparison.entries) {
        let Some(ran) = entry.algorithm.as_deref() else {
            continue;
        };
        notes.extend(team.not_as_asked(task.operation, task.bytes, ran));
        let planned = &team.planned;
        let place = (
            &planned.rank_pus[..],
            planned.pinned,
            comparison.oversubscribed,
        );
        let Some(models) = Models::of_team(file, costs, place).ok().filter(|_| known) else {
            continue;
        };
        if task.operation == Collective::Barrier {
            entry.predicted_ns = team.planned_barrier(ran);
        }
        // Operations that run the algorithms of another one are not simulated.
        if task.operation.algorithms_of() == task.operation {
            entry.forecast = models.of(task.operation, ran, &planned.plans, task.bytes, true);
        }
    }
    comparison.notes.extend(notes);
}
