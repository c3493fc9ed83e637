//! The symmetric memory of the ranks, behind everything else in the segment of a team of processes.

use super::sizes::{MemoryKind, MemorySizes, PAGE_BYTES};
use corecast_transfer::SymmetricMemory;
use corecast_wire::SegmentError;

/// The symmetric memory of each rank; none in a team of threads, or where the creator has set none aside.
///
/// All have as much as there is room for, so that processes need not tell each other.
pub(super) fn symmetric_memory(
    memory: &MemoryKind,
    sizes: &MemorySizes,
) -> Result<Vec<SymmetricMemory>, SegmentError> {
    let MemoryKind::Shared(segment, from) = memory else {
        return Ok(Vec::new());
    };
    let end = from.saturating_add(sizes.all());
    segment.require(end)?;
    let n = sizes.degrees.len();
    let each = segment.bytes().saturating_sub(end) / n / PAGE_BYTES * PAGE_BYTES;
    let of = |rank| SymmetricMemory::new(segment, end + rank * each, each);
    Ok((0..n).filter(|_| each > 0).map(of).collect())
}
