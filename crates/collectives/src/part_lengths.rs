//! The lengths of parts that only one rank knows, for scatters and gathers along trees.

use crate::broadcast;
use crate::context::OpContext;
use corecast_wire::Fabric;
use std::ops::Range;

/// Broadcasts the bytes of all parts, which only `root` knows: where ranks are not all linked, the ranks on the way
/// need them. Fails on a rank whose part has another length than `mine`.
pub(crate) fn announce<F: Fabric>(
    context: &mut OpContext<F>,
    root: usize,
    part: impl Fn(usize) -> Range<usize>,
    mine: usize,
) -> Result<Vec<u64>, F::Error> {
    let (rank, n) = (context.fabric.rank(), context.fabric.size());
    let mut lens = vec![0u64; n];
    if rank == root {
        (0..n).for_each(|rank| lens[rank] = part(rank).len() as u64);
    }
    broadcast::start(context, root, bytemuck::cast_slice_mut(&mut lens), 8)?;
    if lens[rank] != mine as u64 {
        return Err(context.fabric.wrong_length(root, lens[rank] as usize, mine));
    }
    Ok(lens)
}

/// Returns the function from an interval of ranks, counted from `root` on, around, to the bytes of their parts.
pub(crate) fn around(lens: &[u64], root: usize) -> impl Fn(Range<usize>) -> usize + Copy {
    move |ranks| ranks.map(|v| lens[(v + root) % lens.len()] as usize).sum()
}
