//! Lays any number of ranks on given hardware threads, several on one where there are too few.

use corecast_model::{CostModel, MachineFile};
use corecast_plan::Members;

use super::error::ContestError;

/// Returns a team of `ranks` ranks, laid round-robin over `threads`, and how many of these it uses.
///
/// Nothing was measured between two ranks on one hardware thread, and a message between them
/// takes a switch of context that no cost of a cache line describes. The team's highest costs
/// stand for it: the planner then keeps away from such pairs where it has a choice, and their
/// costs do not hide all others. Latencies of such a model predict nothing.
///
/// # Errors
///
/// A thread has no costs, or the costs of the team make no model.
pub fn lay(
    file: &MachineFile,
    threads: &[u32],
    ranks: usize,
) -> Result<(Members, usize), ContestError> {
    let used = &threads[..ranks.min(threads.len())];
    let single = Members::new(file, used.to_vec())?;
    if ranks == used.len() {
        return Ok((single, ranks));
    }
    let costs = &single.costs;
    let (send_max, receive_max) = (
        highest(costs, CostModel::send),
        highest(costs, CostModel::receive),
    );
    let place = |rank: usize| rank % used.len();
    let oversubscribed = CostModel::from_fn(
        costs.unit(),
        (0..ranks).map(|rank| costs.numa(place(rank))).collect(),
        |i, j| match (place(i), place(j)) {
            (a, b) if a == b => send_max,
            (a, b) => costs.send(a, b),
        },
        |i, j| match (place(i), place(j)) {
            (a, b) if a == b => receive_max,
            (a, b) => costs.receive(a, b),
        },
    );
    let team = Members {
        machine: single.machine.clone(),
        threads: (0..ranks).map(|rank| used[place(rank)]).collect(),
        numa: (0..ranks).map(|rank| single.numa[place(rank)]).collect(),
        costs: oversubscribed.map_err(ContestError::Costs)?,
    };
    Ok((team, used.len()))
}

/// The highest cost of any pair; 1 where there is no pair, since then all ranks are alike.
fn highest(costs: &CostModel, cost: impl Fn(&CostModel, usize, usize) -> f64) -> f64 {
    let n = costs.n();
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    pairs
        .filter(|(i, j)| i != j)
        .map(|(i, j)| cost(costs, i, j))
        .reduce(f64::max)
        .unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_threads_in_turn_at_the_highest_costs() {
        let file = corecast_model::synthetic("package:2 core:1").unwrap();
        let (team, pus) = lay(&file, file.threads(), 5).unwrap();
        assert_eq!(pus, 2);
        assert_eq!(team.threads, [0, 1, 0, 1, 0]);
        let costs = file.costs();
        assert_eq!(
            team.costs.receive(0, 2),
            costs.receive(0, 1).max(costs.receive(1, 0))
        );
        assert_eq!(team.costs.send(2, 3), costs.send(0, 1));
    }

    #[test]
    fn one_thread_holds_any_number_and_few_ranks_need_few() {
        let file = corecast_model::synthetic("core:4").unwrap();
        let (team, pus) = lay(&file, &[3], 4).unwrap();
        assert_eq!((team.threads, pus), (vec![3; 4], 1));
        let (team, pus) = lay(&file, &[3, 1, 2], 2).unwrap();
        assert_eq!((team.threads, pus), (vec![3, 1], 2));
    }
}
