//! One thread's end of what the two threads of a pair share.

use std::time::Instant;

use corecast_wire::queue::{Capacity, FIRST_LINK, QueuePair, join};
use corecast_wire::{Flag, Segment};

use super::common_start::CommonStart;
use super::pinned_end::{PinnedMemory, TakeError};
use super::turns::TurnFlags;
use crate::Config;

/// One thread's end of everything that the two share.
pub(super) struct PairEnd {
    pub(super) queues: QueuePair,
    pub(super) turns: TurnFlags,
    pub(super) common_start: CommonStart,
}

impl PairEnd {
    /// The leader's end and the follower's, of two queues whose slots lie with their receivers.
    pub(super) fn join(
        config: &Config,
        here: &PinnedMemory,
        there: &PinnedMemory,
    ) -> Result<(Self, Self), TakeError> {
        let (a, b) = (
            (&here.wait_strategy, &here.memory),
            (&there.wait_strategy, &there.memory),
        );
        let capacity = Capacity::of(config.slots);
        let (to_there, from_here) = join(config.backend, capacity, FIRST_LINK, a, b)?;
        let (to_here, from_there) = join(config.backend, capacity, FIRST_LINK + 1, b, a)?;
        let (base, start) = (Instant::now(), Segment::one::<Flag>(None)?);
        let end = |sender, receiver, mine: &PinnedMemory, theirs: &PinnedMemory| Self {
            queues: QueuePair { sender, receiver },
            turns: TurnFlags::new(mine.flag.clone(), theirs.flag.clone()),
            common_start: CommonStart::new(base, start.clone(), config.slots),
        };
        Ok((
            end(to_there, from_there, here, there),
            end(to_here, from_here, there, here),
        ))
    }
}
