//! A reduction up a tree without copies in between: each parent reads its children's buffers, combining as it
//! reads, and pipeline segments flow through the tree.
//!
//! Leaves lend their data as they are. A member between leaf and root combines into a few pipeline segments
//! of scratch, which it lends to its parent in turn.

use crate::combine::Combine;
use crate::pipeline::PipelineSegments;
use crate::route::Route;
use corecast_wire::Fabric;

/// Number of pipeline segments of scratch that a member between leaf and root uses in turn.
pub const SCRATCH_SEGMENTS: usize = 4;

/// Combines the `len` bytes of all ranks' windows into `root`'s; the others' stay as they are. `scratch` has
/// [`SCRATCH_SEGMENTS`] times the bytes of a pipeline segment.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// Every byte of every member is read once by its parent; two lines per pipeline segment and member.
pub fn lent<F: Fabric>(
    fabric: &mut F,
    route: &Route,
    root: usize,
    (window, scratch): (&mut F::Window<'_>, &mut F::Window<'_>),
    len: usize,
    pipeline: PipelineSegments,
    combine: &impl Combine,
) -> Result<(), F::Error> {
    let element_size = combine.element_size();
    let room = pipeline.bytes(len, element_size);
    let is_leaf = route.inward(root).next().is_none();
    for (index, part) in pipeline.of(len, element_size).enumerate() {
        let Some(parent) = route.toward(root) else {
            let sum = fabric.view_mut(window, part.clone())?;
            for peer in route.inward(root) {
                fabric.borrow(peer, sum.len(), |start, piece| {
                    combine.combine(&mut sum[start..start + piece.len()], piece);
                })?;
            }
            continue;
        };
        if is_leaf {
            fabric.lend_to_combine(window, [parent], part)?;
            continue;
        }
        let place = index % SCRATCH_SEGMENTS * room;
        let place = place..place + part.len();
        let sum = fabric.view_mut(scratch, place.clone())?;
        let mine = fabric.view(window, part);
        gather(fabric, route.inward(root), sum, mine, combine)?;
        fabric.lend_to_combine(scratch, [parent], place)?;
    }
    fabric.flush()
}

/// Sets `sum` to `mine` combined with the data that `peers` lend, in their order. There must be at least one peer.
pub(super) fn gather<F: Fabric>(
    fabric: &mut F,
    peers: impl Iterator<Item = usize>,
    sum: &mut [u8],
    mine: &[u8],
    combine: &impl Combine,
) -> Result<(), F::Error> {
    for (index, peer) in peers.enumerate() {
        fabric.borrow(peer, sum.len(), |start, piece| {
            let end = start + piece.len();
            let sum = &mut sum[start..end];
            match index {
                0 => combine.combine_into(sum, &mine[start..end], piece),
                _ => combine.combine(sum, piece),
            }
        })?;
    }
    Ok(())
}
