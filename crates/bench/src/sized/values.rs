//! The inputs, and the naive reference that computes the right results.

use super::task::Task;
use corecast_model::Collective;

/// The value of rank `of` at position `at` of its input for operation `number`. Values are small
/// whole numbers, whose sums are exact in whatever order they are added.
pub(super) fn value(of: usize, number: u64, at: usize) -> f64 {
    ((of as u64 * 131 + number * 17 + (at as u64 % 1021) * 7) % 1021) as f64
}

/// The right values of the result of `rank` for operation `number`, by position.
pub(super) fn expected(task: &Task, rank: usize, number: u64) -> impl Fn(usize) -> f64 + use<> {
    let Task {
        operation, ranks, ..
    } = *task;
    let (count, before) = (task.count(), task.before(rank));
    let blocks = task.output(rank);
    // Of what each rank gives in an uneven all-to-all, where the part for this rank begins.
    let begins: Vec<usize> = match operation {
        Collective::Alltoallv => (0..ranks)
            .map(|of| task.input(of)[..rank].iter().sum())
            .collect(),
        _ => Vec::new(),
    };
    let sum = move |ranks: usize, at| (0..ranks).map(|of| value(of, number, at)).sum();
    move |at| match operation {
        Collective::Barrier => 0.0,
        Collective::Broadcast => value(Task::ROOT, number, at),
        Collective::Scatter => value(Task::ROOT, number, rank * count + at),
        Collective::Gather | Collective::Allgather => value(at / count, number, at % count),
        Collective::Alltoall => value(at / count, number, rank * count + at % count),
        Collective::Reduce | Collective::Allreduce => sum(ranks, at),
        Collective::ReduceScatter => sum(ranks, rank * count + at),
        Collective::Scan => sum(rank + 1, at),
        Collective::Exscan => sum(rank, at),
        Collective::Scatterv => value(Task::ROOT, number, before + at),
        Collective::ReduceScatterv => sum(ranks, before + at),
        Collective::Gatherv | Collective::Allgatherv => {
            let (of, within) = place(&blocks, at);
            value(of, number, within)
        }
        Collective::Alltoallv => {
            let (of, within) = place(&blocks, at);
            value(of, number, begins[of] + within)
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
