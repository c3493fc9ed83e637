//! One ordered pair: several stages over one pair of fresh queues.

use std::hint::black_box;
use std::sync::mpsc::{Receiver as Inbox, Sender as BounceBuffer, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use corecast_model::Pu;
use corecast_wire::ending;
use corecast_wire::queue::{ReceiveError, SendError};

use super::end::PairEnd;
use super::pinned_end::{PinnedMemory, TakeError, still_pinned};
use super::shots::{Shot, means};
use super::stopwatch::{Lap, Stopwatch, Tail};
use super::threads::{PairRole, Stop, joined};
use crate::{Config, Estimate, PairCosts, ProbeError};

/// Laps before the first sample of a stage: caches, branch predictors and clocks warm up, and
/// every slot gets into its steady state.
const WARM_UP_LAPS: usize = 4;

/// Laps between two looks at the samples, the pinning and the time.
const LAPS_PER_ORDER: usize = 16;

/// The payload of every message.
const PAYLOAD: [u8; 8] = *b"corecast";

/// The quantity that a stage times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimedStage {
    /// Batches in turns, with the write buffer left alone.
    Batch,
    /// Single messages in turns, with the write buffer drained.
    Alone,
    /// Round trips.
    RoundTrip,
    /// Messages from a common start.
    Shot(Shot),
    /// Long messages that are queued already.
    Taken,
}

/// A number of laps of one stage.
#[derive(Clone, Copy, Debug)]
struct LapOrder {
    stage: TimedStage,
    laps: usize,
}

/// The follower's samples of one order, in nanoseconds per message.
type FollowerReport = Result<Vec<f64>, ProbeError>;

/// The number of stages.
const STAGES: u32 = 7;

/// Measures the ordered pair on two threads of its own, within about `limit`. Also returns notes on memory
/// that was not placed on the intended node.
pub(super) fn measure(
    config: &Config,
    from: &Pu,
    to: &Pu,
    limit: Duration,
) -> Result<(PairCosts, Vec<String>), ProbeError> {
    let broken = ProbeError::Broken {
        from: from.os_index,
        to: to.os_index,
    };
    let memory = |error| match error {
        TakeError::Probe(error) => error,
        TakeError::Memory(source) => ProbeError::Memory {
            from: from.os_index,
            to: to.os_index,
            source,
        },
    };
    let (seats, pinned_end) = channel();
    let (ends, end) = channel();
    let (orders, order) = channel();
    let (reports, report) = channel();
    std::thread::scope(|scope| {
        let follower = Builder::new().spawn_scoped(scope, move || {
            let taken = PinnedMemory::take(to, config.slots).map_err(memory)?;
            let note = taken.placement_note(to);
            if seats.send(taken).is_err() {
                return Err(Stop::OtherGone);
            }
            let end: PairEnd = end.recv().map_err(|_| Stop::OtherGone)?;
            end.follow(config, to, &order, &reports)?;
            Ok(note)
        });
        let follower = follower.map_err(ProbeError::Spawn)?;
        let leader = Builder::new().spawn_scoped(scope, move || {
            let mine = PinnedMemory::take(from, config.slots).map_err(memory)?;
            let note = mine.placement_note(from);
            let theirs = pinned_end.recv().map_err(|_| Stop::OtherGone)?;
            let (here, there) = PairEnd::join(config, &mine, &theirs).map_err(memory)?;
            if ends.send(there).is_err() {
                return Err(Stop::OtherGone);
            }
            let costs = here.lead(config, from, limit, &orders, &report)?;
            Ok((costs, note))
        });
        // Without a leader the ends of its channels are dropped, and the follower leaves by itself.
        let led = match leader {
            Ok(leader) => joined(leader),
            Err(error) => Err(Stop::Error(ProbeError::Spawn(error))),
        };
        match (led, joined(follower)) {
            (Ok((costs, a)), Ok(b)) => Ok((costs, a.into_iter().chain(b).collect())),
            (Err(Stop::Error(error)), _) | (_, Err(Stop::Error(error))) => Err(error),
            _ if ending::is_asked() => Err(ProbeError::INTERRUPTED),
            _ => Err(broken),
        }
    })
}

impl PairEnd {
    /// Runs the leader: gives orders until the samples have settled.
    fn lead(
        mut self,
        config: &Config,
        pu: &Pu,
        limit: Duration,
        orders: &BounceBuffer<LapOrder>,
        reports: &Inbox<FollowerReport>,
    ) -> Result<PairCosts, Stop> {
        let watch = Stopwatch::new();
        let mut stage = |stage| {
            let deadline = Instant::now() + limit / STAGES;
            let (mut mine, mut theirs) = (Vec::new(), Vec::new());
            let mut laps = WARM_UP_LAPS;
            loop {
                let order = LapOrder { stage, laps };
                if ending::is_asked() {
                    return Err(ProbeError::INTERRUPTED.into());
                }
                orders.send(order).map_err(|_| Stop::OtherGone)?;
                let samples = self.laps(config, order, &watch, PairRole::Leader)?;
                // A follower that failed has already returned the reason.
                let report = reports.recv().map_err(|_| Stop::OtherGone)??;
                still_pinned(pu)?;
                if laps == LAPS_PER_ORDER {
                    match stage {
                        TimedStage::Shot(shot) => {
                            let samples = later(shot, &samples, &report);
                            theirs.extend_from_slice(&samples);
                            mine.extend(samples);
                        }
                        _ => {
                            mine.extend(samples);
                            theirs.extend(report);
                        }
                    }
                    if let Some(both) = finished(config, &mine, &theirs, deadline) {
                        return Ok::<_, Stop>(both);
                    }
                }
                laps = LAPS_PER_ORDER;
            }
        };
        let (send, receive) = stage(TimedStage::Batch)?;
        let (send_drained, receive_alone) = stage(TimedStage::Alone)?;
        let (one_way, _) = stage(TimedStage::RoundTrip)?;
        let (one, _) = stage(TimedStage::Shot(Shot::One))?;
        let (long, _) = stage(TimedStage::Shot(Shot::Long))?;
        let (crossed, _) = stage(TimedStage::Shot(Shot::Crossed))?;
        let (_, taken) = stage(TimedStage::Taken)?;
        Ok(PairCosts {
            send,
            receive,
            send_drained,
            receive_alone,
            one_way,
            one,
            long,
            crossed,
            taken,
        })
    }

    /// Runs the follower: executes orders until the leader leaves.
    fn follow(
        mut self,
        config: &Config,
        pu: &Pu,
        orders: &Inbox<LapOrder>,
        reports: &BounceBuffer<FollowerReport>,
    ) -> Result<(), Stop> {
        let watch = Stopwatch::new();
        while let Ok(order) = orders.recv() {
            let samples = self.laps(config, order, &watch, PairRole::Follower)?;
            let report = still_pinned(pu).map(|()| samples);
            if reports.send(report).is_err() {
                return Err(Stop::OtherGone);
            }
        }
        Ok(())
    }

    /// Executes one order on either side. Returns a sample for each lap.
    fn laps(
        &mut self,
        config: &Config,
        order: LapOrder,
        watch: &Stopwatch,
        role: PairRole,
    ) -> Result<Vec<f64>, Stop> {
        if let TimedStage::Shot(shot) = order.stage {
            let mut all = Vec::new();
            for _ in 0..order.laps {
                all.extend(self.shots(shot, role)?);
            }
            return Ok(all);
        }
        (0..order.laps)
            .map(|_| match (order.stage, role) {
                (TimedStage::Batch, PairRole::Leader) => {
                    self.send_lap::<false>(config, config.batch, watch)
                }
                (TimedStage::Alone, PairRole::Leader) => self.send_lap::<true>(config, 1, watch),
                (TimedStage::Batch, PairRole::Follower) => {
                    self.receive_lap(config, config.batch, watch)
                }
                (TimedStage::Alone, PairRole::Follower) => self.receive_lap(config, 1, watch),
                (TimedStage::RoundTrip, PairRole::Leader) => self.round_trips(config, watch),
                (TimedStage::RoundTrip, PairRole::Follower) => self.echo(config),
                (TimedStage::Taken, role) => self.taken_lap(watch, role),
                (TimedStage::Shot(_), _) => unreachable!("has its own laps"),
            })
            .collect()
    }

    fn send_lap<const DRAIN: bool>(
        &mut self,
        config: &Config,
        batch: usize,
        watch: &Stopwatch,
    ) -> Result<f64, Stop> {
        let mut lap = Lap::default();
        for _ in 0..config.slots / batch {
            let sent = lap.time(batch, |messages| {
                for _ in 0..messages {
                    self.queues.sender.send(&PAYLOAD)?;
                }
                if DRAIN {
                    corecast_wire::drain_stores();
                }
                Ok(())
            });
            sent.map_err(|_: SendError| Stop::OtherGone)?;
            self.turns.pass();
            self.turns.wait()?;
        }
        let tail = if DRAIN { Tail::Pending } else { Tail::Done };
        Ok(watch.per_message(lap, tail, config.slots))
    }

    fn receive_lap(
        &mut self,
        config: &Config,
        batch: usize,
        watch: &Stopwatch,
    ) -> Result<f64, Stop> {
        let mut lap = Lap::default();
        let mut buffer = [0; PAYLOAD.len()];
        for _ in 0..config.slots / batch {
            self.turns.wait()?;
            let received = lap.time(batch, |messages| {
                for _ in 0..messages {
                    self.queues.receiver.receive(&mut buffer)?;
                    black_box(&buffer);
                }
                Ok(())
            });
            received.map_err(|_: ReceiveError| Stop::OtherGone)?;
            self.turns.pass();
        }
        Ok(watch.per_message(lap, Tail::Pending, config.slots))
    }

    /// Runs a lap of round trips. The sample is half of one round trip.
    fn round_trips(&mut self, config: &Config, watch: &Stopwatch) -> Result<f64, Stop> {
        self.turns.pass();
        self.turns.wait()?;
        let mut lap = Lap::default();
        let mut buffer = [0; PAYLOAD.len()];
        lap.time(config.slots, |trips| {
            for _ in 0..trips {
                self.queues.send(&PAYLOAD).map_err(|_| Stop::OtherGone)?;
                self.queues
                    .receive(&mut buffer)
                    .map_err(|_| Stop::OtherGone)?;
                black_box(&buffer);
            }
            Ok::<_, Stop>(())
        })?;
        Ok(watch.per_message(lap, Tail::Pending, 2 * config.slots))
    }

    /// Runs the other side of [`round_trips`](Self::round_trips), which times nothing.
    fn echo(&mut self, config: &Config) -> Result<f64, Stop> {
        self.turns.wait()?;
        self.turns.pass();
        let mut buffer = [0; PAYLOAD.len()];
        for _ in 0..config.slots {
            self.queues
                .receive(&mut buffer)
                .map_err(|_| Stop::OtherGone)?;
            self.queues.send(&buffer).map_err(|_| Stop::OtherGone)?;
        }
        Ok(0.0)
    }
}

/// Returns a sample for each lap of shots. The time of a shot is that of its receiver; of two shots that
/// cross it is the longer one.
fn later(shot: Shot, leader: &[f64], follower: &[f64]) -> Vec<f64> {
    match shot {
        Shot::One | Shot::Long => means(follower),
        Shot::Crossed => {
            let both = leader.iter().zip(follower);
            means(&both.map(|(a, b)| a.max(*b)).collect::<Vec<f64>>())
        }
    }
}

/// Returns both estimates once they are good enough, or once the time or the samples are used up.
fn finished(
    config: &Config,
    mine: &[f64],
    theirs: &[f64],
    deadline: Instant,
) -> Option<(Estimate, Estimate)> {
    let over = mine.len() >= config.samples_max || Instant::now() >= deadline;
    if mine.len() < config.samples_min && !over {
        return None;
    }
    let both = Estimate::of(mine).zip(Estimate::of(theirs))?;
    let settled = both.0.settled(config.precision) && both.1.settled(config.precision);
    (settled || over).then_some(both)
}
