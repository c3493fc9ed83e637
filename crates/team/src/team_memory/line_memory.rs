//! Memory for the lines of algorithms: as much as is asked for in a team of threads, and what was kept for that near each rank
//! in a segment of several processes.

use super::sizes::{MemoryKind, MemorySizes};
use crate::error::TeamError;
use corecast_wire::sync::Mutex;
use corecast_wire::{Segment, SegmentError};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

/// What is kept for lines near each rank; a team of threads keeps nothing.
#[derive(Debug, Default)]
pub(super) struct LineMemory(Mutex<Option<Vec<Near>>>);

/// Memory near a rank, and how many bytes of it are left.
type Near = (Arc<Segment>, usize);

impl LineMemory {
    /// Memory near each rank with so many bytes. All processes of a team get the same if they ask for the same in the same
    /// order.
    pub(super) fn near(
        &self,
        memory: &MemoryKind,
        nodes: &[Option<u32>],
        sizes: &MemorySizes,
        bytes: &[usize],
    ) -> Result<Vec<Arc<Segment>>, TeamError> {
        let MemoryKind::Shared(segment, from) = memory else {
            return Ok(private(nodes, bytes)?);
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_none() {
            *kept = Some(sizes.near_ranks(segment, *from, nodes)?);
        }
        let kept = kept.as_mut().expect("it was made above");
        let mut ranks = kept.iter().zip(bytes).enumerate();
        if let Some((rank, (&(_, left), &wanted))) =
            ranks.find(|(_, ((_, left), wanted))| *wanted > left)
        {
            return Err(TeamError::LinesOfProcesses { rank, wanted, left });
        }
        for ((_, left), wanted) in kept.iter_mut().zip(bytes) {
            *left -= wanted;
        }
        Ok(kept.iter().map(|(near, _)| Arc::clone(near)).collect())
    }
}

/// A segment for each NUMA node that is known, and one for all other ranks.
fn private(nodes: &[Option<u32>], bytes: &[usize]) -> Result<Vec<Arc<Segment>>, SegmentError> {
    let mut sizes: HashMap<Option<u32>, usize> = HashMap::new();
    for (&node, &bytes) in nodes.iter().zip(bytes) {
        let size = sizes.entry(node).or_insert(0);
        *size = size.saturating_add(bytes);
    }
    let segments = sizes.into_iter();
    let segments = segments.map(|(node, bytes)| Ok((node, Segment::new(bytes, node)?)));
    let segments: HashMap<_, _> = segments.collect::<Result<_, SegmentError>>()?;
    Ok(nodes
        .iter()
        .map(|node| Arc::clone(&segments[node]))
        .collect())
}
