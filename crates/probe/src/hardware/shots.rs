//! Messages that come alone: after a pause, from a common start, to a receiver that waits.
//!
//! A collective meets its queues in this way. In a round trip the lines, the branches and the prefetchers are
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
//! Both threads read one clock of the system, whose own time is subtracted. Data lie in one buffer after the
//! other, so that receivers find theirs in the second cache.

use std::hint::black_box;
use std::time::Instant;

use corecast_wire::wait::Patient;

use super::end::PairEnd;
use super::stopwatch::{Lap, Stopwatch, Tail};
use super::threads::{PairRole, Stop};

/// Number of messages behind a sample.
pub(super) const SHOTS: usize = 16;

/// The tag of messages, which have one because the messages of collectives do.
const TAG: u32 = 7;

/// A message that is sent from the common start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shot {
    /// A message of one line.
    One,
    /// A long message.
    Long,
    /// One line each way.
    Crossed,
}

impl PairEnd {
    /// Runs a lap of shots. Returns the nanoseconds of each on this side.
    pub(super) fn shots(&mut self, shot: Shot, role: PairRole) -> Result<Vec<f64>, Stop> {
        (0..SHOTS).map(|_| self.shot(shot, role)).collect()
    }

    fn shot(&mut self, shot: Shot, role: PairRole) -> Result<f64, Stop> {
        let sends = role == PairRole::Leader || shot == Shot::Crossed;
        self.common_start.next(sends);
        self.meet(role)?;
        self.common_start.line_up(role, &self.turns)?;
        let range = &mut self.common_start;
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

    /// Returns when both threads have called it.
    fn meet(&mut self, role: PairRole) -> Result<(), Stop> {
        match role {
            PairRole::Leader => {
                self.turns.pass();
                self.turns.wait()?;
            }
            PairRole::Follower => {
                self.turns.wait()?;
                self.turns.pass();
            }
        }
        Ok(())
    }

    /// Runs a lap of long messages that are queued already. Returns the nanoseconds of one, at the follower.
    pub(super) fn taken_lap(&mut self, watch: &Stopwatch, role: PairRole) -> Result<f64, Stop> {
        let mut lap = Lap::default();
        for _ in 0..SHOTS {
            self.common_start.next(role == PairRole::Leader);
            let data = &mut self.common_start.data[self.common_start.place];
            if role == PairRole::Leader {
                self.queues.send(data).map_err(|_| Stop::OtherGone)?;
                // Without this the last lines might still be on their way into the receiver's cache.
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

/// Returns the mean of the shots of each lap.
pub(super) fn means(shots: &[f64]) -> Vec<f64> {
    let laps = shots.chunks(SHOTS);
    laps.map(|lap| lap.iter().sum::<f64>() / lap.len() as f64)
        .collect()
}
