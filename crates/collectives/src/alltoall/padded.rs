//! The length to which parts of different lengths are padded where ranks are not all linked.

use super::bruck::{bruck, scratch_bytes};
use crate::allreduce;
use crate::combine::On;
use crate::context::OpContext;
use crate::operator::Max;
use crate::transfer::TransferProtocol;
use corecast_wire::Fabric;
use std::ops::Range;

/// The bytes of the longest part of all ranks. Fails on a rank that expects another length than a
/// peer gives.
///
/// # Cost
///
/// A Bruck all-to-all of 8 bytes and an allreduction of 8; allocates 16 n bytes.
pub(super) fn longest<F: Fabric>(
    context: &mut OpContext<F>,
    give: impl Fn(usize) -> Range<usize>,
    take: impl Fn(usize) -> Range<usize>,
) -> Result<usize, F::Error> {
    let n = context.fabric.size();
    let given: Vec<u64> = (0..n).map(|rank| give(rank).len() as u64).collect();
    let mut lens = vec![0u64; n];
    let protocol = TransferProtocol::fitting(context.message_bytes, 1);
    let part = |rank: usize| rank * 8..(rank + 1) * 8;
    context.with_scratch(scratch_bytes(8, n), 1, |fabric, _, _, scratch| {
        let (send, recv) = (
            bytemuck::cast_slice(&given),
            bytemuck::cast_slice_mut(&mut lens),
        );
        bruck(fabric, send, part, recv, part, (scratch, 8), protocol)
    })?;
    for (rank, &len) in lens.iter().enumerate() {
        let expected = take(rank).len();
        if len != expected as u64 {
            return Err(context.fabric.wrong_length(rank, len as usize, expected));
        }
    }
    let mut most = [given.iter().copied().max().unwrap_or(0)];
    let data = bytemuck::cast_slice_mut(&mut most);
    allreduce::start(context, data, &On::<u64, _>::new(&Max))?;
    Ok(most[0] as usize)
}
