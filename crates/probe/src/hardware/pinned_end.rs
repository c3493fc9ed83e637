//! The pinning and the memory of each of the two threads of a pair.

use std::sync::Arc;

use corecast_machine::{PinState, pin_current, pin_state};
use corecast_model::Pu;
use corecast_wire::queue::{Capacity, receiver_bytes, sender_bytes};
use corecast_wire::{Flag, LineRef, Placement, Segment, SegmentError, WaitConfig, WaitStrategy};

use crate::ProbeError;

/// The memory of a pinned thread, which the thread makes itself: where the system refuses to bind
/// memory to a NUMA node, the first touch still puts it there.
#[derive(Clone, Debug)]
pub(super) struct PinnedMemory {
    pub(super) wait_strategy: WaitStrategy,
    pub(super) memory: Arc<Segment>,
    pub(super) flag: LineRef<Flag>,
}

impl PinnedMemory {
    /// Pins the calling thread to `pu` and makes its memory.
    pub(super) fn take(pu: &Pu, slots: usize) -> Result<Self, TakeError> {
        // Dropping it leaves the thread confined, as the thread ends with the measurement.
        drop(pin_current(pu.os_index).map_err(ProbeError::from)?);
        still_pinned(pu)?;
        let node = Some(pu.numa_os_index);
        Ok(Self {
            wait_strategy: WaitStrategy::new(WaitConfig::BALANCED, Segment::one(node)?),
            // Slots to receive in, and the acknowledgement line of the queue to send in.
            memory: Segment::new(receiver_bytes(Capacity::of(slots)) + sender_bytes(), node)?,
            flag: Segment::one(node)?,
        })
    }

    /// Returns a note for the user if the memory does not lie on the intended node.
    pub(super) fn placement_note(&self, pu: &Pu) -> Option<String> {
        match self.memory.placement() {
            Placement::Elsewhere(why) => {
                Some(format!("lines received on PU {}: {why}", pu.os_index))
            }
            _ => None,
        }
    }
}

/// Reasons for which a thread cannot be pinned or gets no memory.
#[derive(Debug)]
pub(super) enum TakeError {
    Probe(ProbeError),
    Memory(SegmentError),
}

impl From<ProbeError> for TakeError {
    fn from(error: ProbeError) -> Self {
        Self::Probe(error)
    }
}

impl From<SegmentError> for TakeError {
    fn from(error: SegmentError) -> Self {
        Self::Memory(error)
    }
}

/// Checks that the calling thread still runs where it was pinned, as far as the system tells.
pub(crate) fn still_pinned(pu: &Pu) -> Result<(), ProbeError> {
    let os_index = pu.os_index;
    match pin_state(os_index) {
        PinState::Held | PinState::Unknown => Ok(()),
        PinState::Lost { mask } => Err(ProbeError::PinLost { os_index, mask }),
        PinState::Ignored { runs_on } => Err(ProbeError::PinIgnored { os_index, runs_on }),
    }
}
