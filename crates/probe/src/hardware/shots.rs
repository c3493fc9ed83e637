//! Messages that come alone: after a pause, from a common start, to a receiver that waits.
//!
//! That is how a collective meets its queues. In a round trip the lines, the branches and the prefetchers are
//! warm from the message before; a message after a pause took 1.4 times as long on a two-core KVM guest (AMD
//! EPYC, Zen 5, November 2026).
//!
//! ```text
//!   leader                                   follower
//!   writes its data anew
//!        ─────────── both are here ───────────
//!   start := now + 4 µs        ─────────►   sees the start
//!   waits for it                             waits for it
//!   sends                                    receives, and looks at the clock
//! ```
//!
//! Both look at one clock of the system, whose own time is taken off. Data lie in one buffer after the other, so
//! that those who receive find theirs in the second cache.

use std::hint::black_box;
use std::time::{Duration, Instant};

use corecast_wire::queue::{SLOT_PAYLOAD_BYTES, message_bytes_max};
use corecast_wire::wait::Patient;
use corecast_wire::{Flag, LINE_BYTES, LineRef};

use super::pair::{End, Role, Stop};
use super::stopwatch::{Lap, Stopwatch, Tail};
use super::turns::Turns;

/// Messages behind a sample.
pub(super) const SHOTS: usize = 16;

/// How long before it a start is agreed on: as long as races of collectives pause.
const LEAD: Duration = Duration::from_micros(4);

/// What marks messages: collectives mark theirs.
const TAG: u32 = 7;

/// Looks for a start between two looks for who should give it.
const POLLS: u32 = 1024;

/// Bytes of a long message where the queue takes as much.
const LONG_BYTES: usize = 4096;

/// Buffers that data lie in, one after the other.
const PLACES: usize = 64;

/// Bytes of the long messages of a queue with so many slots.
pub(crate) fn long_bytes(slots: usize) -> usize {
    LONG_BYTES.min(message_bytes_max(slots))
}

/// What is sent from the common start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shot {
    /// A message of one line.
    One,
    /// A long one.
    Long,
    /// One line each way.
    Crossed,
}

/// One thread's part of the common start, and its data.
#[derive(Debug)]
pub(super) struct Range {
    base: Instant,
    /// Nanoseconds after `base`, from the leader; times only grow.
    start: LineRef<Flag>,
    /// The last start that was seen.
    last: u64,
    /// What two looks at the clock take, in nanoseconds.
    clock: u64,
    data: Vec<Vec<u8>>,
    place: usize,
}

impl Range {
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

    fn now(&self) -> u64 {
        self.base.elapsed().as_nanos() as u64
    }

    /// The next buffer; what is sent from it is fresh, in the sender's own cache.
    fn next(&mut self, fresh: bool) {
        self.place = (self.place + 1) % PLACES;
        let data = &mut self.data[self.place];
        if fresh {
            let bytes = data.iter_mut().step_by(LINE_BYTES);
            bytes.for_each(|byte| *byte = byte.wrapping_add(1));
        }
        black_box(data);
    }

    /// Returns at an instant that is the same for both threads.
    fn line_up(&mut self, role: Role, turns: &Turns) -> Result<(), Stop> {
        if role == Role::Leader {
            self.start.raise(self.now() + LEAD.as_nanos() as u64);
        }
        let mut at = self.start.seq();
        let mut polls = 0_u32;
        while at == self.last {
            polls = polls.wrapping_add(1);
            // The leader gives a start, or goes.
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

impl End {
    /// A lap of shots: nanoseconds of each, on either side.
    pub(super) fn shots(&mut self, shot: Shot, role: Role) -> Result<Vec<f64>, Stop> {
        (0..SHOTS).map(|_| self.shot(shot, role)).collect()
    }

    fn shot(&mut self, shot: Shot, role: Role) -> Result<f64, Stop> {
        let sends = role == Role::Leader || shot == Shot::Crossed;
        self.range.next(sends);
        self.meet(role)?;
        self.range.line_up(role, &self.turns)?;
        let range = &mut self.range;
        let all = &mut range.data[range.place];
        let len = match shot {
            Shot::Long => all.len(),
            Shot::One | Shot::Crossed => all.len().min(8),
        };
        let data = &mut all[..len];
        let begin = Instant::now();
        if sends {
            let sent = self.queues.sender.send_watched(TAG, data, || Patient);
            sent.map_err(|_| Stop::OtherGone)?;
        }
        if !sends || shot == Shot::Crossed {
            let receiver = &mut self.queues.receiver;
            let received = receiver.receive_exact(TAG, data, || Patient);
            received.map_err(|_| Stop::OtherGone)?;
        }
        black_box(data);
        let took = begin.elapsed().as_nanos() as u64;
        Ok(took.saturating_sub(range.clock).max(1) as f64)
    }

    /// Returns when both threads are here.
    fn meet(&mut self, role: Role) -> Result<(), Stop> {
        match role {
            Role::Leader => {
                self.turns.pass();
                self.turns.wait()?;
            }
            Role::Follower => {
                self.turns.wait()?;
                self.turns.pass();
            }
        }
        Ok(())
    }

    /// A lap of long messages that lie there when they are received: nanoseconds of one, at the follower.
    pub(super) fn taken_lap(&mut self, watch: &Stopwatch, role: Role) -> Result<f64, Stop> {
        let mut lap = Lap::default();
        for _ in 0..SHOTS {
            self.range.next(role == Role::Leader);
            let data = &mut self.range.data[self.range.place];
            if role == Role::Leader {
                self.queues.send(data).map_err(|_| Stop::OtherGone)?;
                // Else its last lines might still be on their way into its cache.
                corecast_wire::drain_stores();
                self.turns.pass();
                self.turns.wait()?;
                continue;
            }
            self.turns.wait()?;
            lap.time(1, |messages| {
                for _ in 0..messages {
                    let received = self.queues.receive(data);
                    received.map_err(|_| Stop::OtherGone)?;
                    black_box(&*data);
                }
                Ok::<_, Stop>(())
            })?;
            self.turns.pass();
        }
        Ok(watch.per_message(lap, Tail::Pending, SHOTS))
    }
}

/// Means of the shots of each lap.
pub(super) fn means(shots: &[f64]) -> Vec<f64> {
    let laps = shots.chunks(SHOTS);
    laps.map(|lap| lap.iter().sum::<f64>() / lap.len() as f64)
        .collect()
}

const _: () = assert!(LONG_BYTES > SLOT_PAYLOAD_BYTES);
