//! The common start of the two threads of a pair, and the buffers from which long messages are
//! sent.

use std::hint::black_box;
use std::time::{Duration, Instant};

use corecast_wire::queue::{SLOT_PAYLOAD_BYTES, message_bytes_max};
use corecast_wire::{Flag, LINE_BYTES, LineRef};

use super::threads::{PairRole, Stop};
use super::turns::TurnFlags;

/// Time between the agreement on a start and the start: as long as races of collectives pause.
const LEAD: Duration = Duration::from_micros(4);

/// Polls for a start between two looks whether the other thread has left.
const POLLS: u32 = 1024;

/// Bytes of a long message, where the queue allows that many.
const LONG_BYTES: usize = 4096;

const _: () = assert!(LONG_BYTES > SLOT_PAYLOAD_BYTES);

/// Number of buffers, which are used one after the other.
const PLACES: usize = 64;

/// Returns the bytes of the long messages of a queue with this many slots.
pub(crate) fn long_bytes(slots: usize) -> usize {
    LONG_BYTES.min(message_bytes_max(slots))
}

/// One thread's part of the common start, and its data.
#[derive(Debug)]
pub(super) struct CommonStart {
    base: Instant,
    /// The start that the leader gives, in nanoseconds after `base`; it only grows.
    start: LineRef<Flag>,
    /// The last start that was seen.
    pub(super) last: u64,
    /// The time of two readings of the clock, in nanoseconds.
    pub(super) clock: u64,
    pub(super) data: Vec<Vec<u8>>,
    pub(super) place: usize,
}

impl CommonStart {
    pub(super) fn new(base: Instant, start: LineRef<Flag>, slots: usize) -> Self {
        let pair = |_| Instant::now().elapsed().as_nanos() as u64;
        Self {
            base,
            start,
            last: 0,
            clock: (0..1000).map(pair).min().unwrap_or(0),
            data: vec![vec![0; long_bytes(slots)]; PLACES],
            place: 0,
        }
    }

    pub(super) fn now(&self) -> u64 {
        self.base.elapsed().as_nanos() as u64
    }

    /// Goes to the next buffer. With `fresh` its data are written anew, into the sender's own
    /// cache.
    pub(super) fn next(&mut self, fresh: bool) {
        self.place = (self.place + 1) % PLACES;
        let data = &mut self.data[self.place];
        if fresh {
            let bytes = data.iter_mut().step_by(LINE_BYTES);
            bytes.for_each(|byte| *byte = byte.wrapping_add(1));
        }
        black_box(data);
    }

    /// Returns at the same time on both threads.
    pub(super) fn line_up(&mut self, role: PairRole, turns: &TurnFlags) -> Result<(), Stop> {
        if role == PairRole::Leader {
            self.start.raise(self.now() + LEAD.as_nanos() as u64);
        }
        let mut at = self.start.seq();
        let mut polls = 0_u32;
        while at == self.last {
            polls = polls.wrapping_add(1);
            // The leader gives a start or leaves.
            if polls.is_multiple_of(POLLS) && turns.is_alone() {
                return Err(Stop::OtherGone);
            }
            at = self.start.seq();
        }
        self.last = at;
        while self.now() < at {}
        Ok(())
    }
}
