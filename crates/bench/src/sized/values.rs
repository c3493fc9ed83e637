//! The inputs, and the naive reference that computes the right results.

use super::task::Task;
use corecast_model::Collective;

/// The value of rank `of` at position `at` of its input for operation `number`. Values are small
/// whole numbers, whose sums are exact in whatever order they are added.
pub(super) fn value(of: usize, number: u64, at: usize) -> f64 {
    ((of as u64 * 131 + number * 17 + (at as u64 % 1021) * 7) % 1021) as f64
}

/// The right value at position `at` of the result of `rank` for operation `number`.
pub(super) fn expected(task: &Task, rank: usize, number: u64, at: usize) -> f64 {
    let count = task.count();
    let sum = |ranks: usize, at| (0..ranks).map(|of| value(of, number, at)).sum();
    match task.operation {
        Collective::Barrier => 0.0,
        Collective::Broadcast => value(Task::ROOT, number, at),
        Collective::Scatter => value(Task::ROOT, number, rank * count + at),
        Collective::Gather | Collective::Allgather => value(at / count, number, at % count),
        Collective::Alltoall => value(at / count, number, rank * count + at % count),
        Collective::Reduce | Collective::Allreduce => sum(task.ranks, at),
        Collective::ReduceScatter => sum(task.ranks, rank * count + at),
        Collective::Scan => sum(rank + 1, at),
        Collective::Exscan => sum(rank, at),
        Collective::Scatterv => value(Task::ROOT, number, task.before(rank) + at),
        Collective::ReduceScatterv => sum(task.ranks, task.before(rank) + at),
        Collective::Gatherv | Collective::Allgatherv => {
            let (of, within) = place(&task.output(rank), at);
            value(of, number, within)
        }
        Collective::Alltoallv => {
            let (of, within) = place(&task.output(rank), at);
            let before: usize = task.input(of)[..rank].iter().sum();
            value(of, number, before + within)
        }
    }
}

/// The block that position `at` is in, and the position in it.
fn place(blocks: &[usize], mut at: usize) -> (usize, usize) {
    for (block, &length) in blocks.iter().enumerate() {
        match at.checked_sub(length) {
            None => return (block, at),
            Some(rest) => at = rest,
        }
    }
    unreachable!("positions are within the result")
}
