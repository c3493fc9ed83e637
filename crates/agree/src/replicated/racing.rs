//! The race of the two designs of reads, in calls of the program itself.
//!
//! Handles tell of their calls some at a time. While the designs race, so many calls are a slice, and the time of a slice is the time
//! that all handles together took for it; whose turn comes is chosen for all replicas at once, so all handles agree. Then the faster design
//! stays, until the share of writes has changed much.

use super::options::{Chosen, Design, Reads, Why};
use corecast_collectives::learning::Race;
use corecast_wire::sync::{Instant, Mutex};
use std::sync::PoisonError;

/// Calls of a slice: at 20 ns each a slice takes thousand times as long as to read the clock.
const SLICE: u64 = 1024;

/// Calls after which a handle tells of them while the designs race.
const TOLD_RACING: u64 = 64;

/// Calls after which a handle tells of them otherwise.
const TOLD: u64 = 4096;

/// Calls of which the share of writes is taken, when no race goes on.
const WINDOW: u64 = 65_536;

/// The designs race again when the share of writes is more than so many times what it was when they raced, or less than that part.
const CHANGED: f64 = 4.0;

/// Shares below this one are alike: a write in so many calls costs nothing.
const SHARE_MIN: f64 = 1.0 / 256.0;

/// The designs by their numbers in the race, beginning with the one that runs now: it wins ties.
fn contenders(first: Design) -> Vec<u8> {
    match first {
        Design::Watermark => vec![0, 1],
        Design::Stable => vec![1, 0],
    }
}

fn design(number: u8) -> Design {
    match number {
        0 => Design::Watermark,
        _ => Design::Stable,
    }
}

/// The races of a structure. Without any, calls are not counted.
#[derive(Debug)]
pub(super) struct Racing(Option<Mutex<State>>);

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Of the slice, or the window.
    calls: u64,
    writes: u64,
}

#[derive(Debug)]
enum Phase {
    Races {
        race: Race,
        /// When the slice began; not before the first calls.
        began: Option<Instant>,
        /// Of the whole race.
        calls: u64,
        writes: u64,
    },
    Settled {
        ratio: f64,
        /// The share of writes during the race.
        share: f64,
    },
}

impl State {
    fn race(first: Design) -> Self {
        Self {
            phase: Phase::Races {
                race: Race::new(contenders(first)),
                began: None,
                calls: 0,
                writes: 0,
            },
            calls: 0,
            writes: 0,
        }
    }

    /// Notes calls that ended at this time. Returns the design that is used from now on, when that is to be decided.
    fn note(&mut self, calls: u64, writes: u64, now: Instant, current: Design) -> Option<Design> {
        self.calls += calls;
        self.writes += writes;
        match &mut self.phase {
            Phase::Races {
                race,
                began,
                calls,
                writes,
            } => {
                let Some(since) = *began else {
                    (*began, self.calls, self.writes) = (Some(now), 0, 0);
                    return None;
                };
                if self.calls < SLICE {
                    return None;
                }
                let took = now.saturating_duration_since(since).as_nanos() as u64;
                let of_slice = took.saturating_mul(SLICE) / self.calls;
                *calls += self.calls;
                *writes += self.writes;
                (*began, self.calls, self.writes) = (Some(now), 0, 0);
                let is_over = race.note(of_slice).is_some();
                if let Some(won) = is_over.then(|| race.conclude()).flatten() {
                    let share = *writes as f64 / *calls as f64;
                    let ratio = won.ratio;
                    self.phase = Phase::Settled { ratio, share };
                    return Some(design(won.winner));
                }
                Some(design(race.next()))
            }
            Phase::Settled { share, .. } => {
                if self.calls < WINDOW {
                    return None;
                }
                let before = share.max(SHARE_MIN);
                let after = (self.writes as f64 / self.calls as f64).max(SHARE_MIN);
                (self.calls, self.writes) = (0, 0);
                let has_changed = after > CHANGED * before || before > CHANGED * after;
                has_changed.then(|| {
                    *self = Self::race(current);
                    current
                })
            }
        }
    }

    fn why(&self) -> Why {
        match self.phase {
            Phase::Races { .. } => Why::Racing,
            Phase::Settled { ratio, share } => Why::Raced { ratio, share },
        }
    }
}

/// The calls of a handle that it has not told of.
#[derive(Debug)]
pub(super) struct Calls {
    /// How many more until it tells.
    left: u64,
    /// Of how many it tells then.
    told: u64,
    writes: u64,
}

impl Calls {
    /// Counts a call. Returns whether there is something to tell.
    #[inline(always)]
    pub(super) fn count(&mut self, writes: u64) -> bool {
        self.writes += writes;
        self.left -= 1;
        self.left == 0
    }
}

impl Racing {
    pub(super) fn new(reads: Reads) -> Self {
        let races = reads == Reads::Raced;
        Self(races.then(|| Mutex::new(State::race(reads.first()))))
    }

    fn with<R>(&self, body: impl FnOnce(&mut State) -> R) -> Option<R> {
        let state = self.0.as_ref()?;
        Some(body(
            &mut state.lock().unwrap_or_else(PoisonError::into_inner),
        ))
    }

    /// The count of a new handle.
    pub(super) fn calls(&self) -> Calls {
        // Nobody makes so many calls.
        let told = if self.0.is_some() {
            TOLD_RACING
        } else {
            u64::MAX
        };
        Calls {
            left: told,
            told,
            writes: 0,
        }
    }

    /// A handle tells of its calls. `current` and `choose` tell and set the design of all replicas.
    pub(super) fn tell(
        &self,
        calls: &mut Calls,
        current: impl FnOnce() -> Design,
        choose: impl FnOnce(Design),
    ) {
        let (count, writes) = (calls.told, std::mem::take(&mut calls.writes));
        let races = self.with(|state| {
            let chosen = state.note(count, writes, Instant::now(), current());
            if let Some(chosen) = chosen {
                choose(chosen);
            }
            matches!(state.phase, Phase::Races { .. })
        });
        calls.told = if races == Some(true) {
            TOLD_RACING
        } else {
            TOLD
        };
        calls.left = calls.told;
    }

    /// Which design is used, and why.
    pub(super) fn chosen(&self, current: impl FnOnce() -> Design) -> Chosen {
        let chosen = self.with(|state| state.why()).unwrap_or(Why::Asked);
        Chosen {
            design: current(),
            why: chosen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Calls of a program until the race is over. Returns the design, and the number of calls.
    fn settle(state: &mut State, now: &mut Instant, writes: u64, ns: [u64; 2]) -> (Design, u64) {
        let (mut current, mut calls) = (Design::Watermark, 0);
        while matches!(state.phase, Phase::Races { .. }) {
            let of_call = ns[usize::from(current == Design::Stable)];
            *now += Duration::from_nanos(of_call * TOLD_RACING);
            calls += TOLD_RACING;
            current = state
                .note(TOLD_RACING, writes, *now, current)
                .unwrap_or(current);
        }
        (current, calls)
    }

    #[test]
    fn the_faster_design_is_found_and_the_watermark_wins_ties() {
        for (ns, expected) in [
            ([100, 50], Design::Stable),
            ([50, 100], Design::Watermark),
            ([100, 90], Design::Stable),
            ([100, 100], Design::Watermark),
        ] {
            let mut state = State::race(Design::Watermark);
            let (found, calls) = settle(&mut state, &mut Instant::now(), 12, ns);
            assert_eq!(found, expected, "{ns:?}");
            // The last report of the first slice does not count.
            let most = SLICE * Race::calls_most(2) as u64 + TOLD_RACING;
            assert!(calls <= most && most <= 98_304 + TOLD_RACING, "{calls}");
            let Why::Raced { ratio, share } = state.why() else {
                panic!("{state:?}");
            };
            let (least, greatest) = (ns[0].min(ns[1]) as f64, ns[0].max(ns[1]) as f64);
            assert!((ratio - least / greatest).abs() < 0.01, "{ratio}");
            assert!((share - 12.0 / 64.0).abs() < 0.01, "{share}");
        }
    }

    #[test]
    fn another_mix_of_reads_and_writes_is_raced_again() {
        let mut state = State::race(Design::Watermark);
        let mut now = Instant::now();
        let (design, _) = settle(&mut state, &mut now, 6, [100, 50]);
        let window = WINDOW / TOLD;
        for _ in 0..3 * window {
            // A share of three times as many writes is much the same.
            let writes = 3 * 6 * TOLD / TOLD_RACING;
            assert_eq!(state.note(TOLD, writes, now, design), None);
        }
        for report in 1..=window {
            let again = state.note(TOLD, 5 * 6 * TOLD / TOLD_RACING, now, design);
            assert_eq!(again, (report == window).then_some(design));
        }
        assert_eq!(state.why(), Why::Racing);
        let (design, _) = settle(&mut state, &mut now, 30, [50, 100]);
        assert_eq!(design, Design::Watermark);
    }
}
