//! Pins ranks to their PUs, and reports whether they still are pinned.

use std::fmt;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use corecast_machine::{CpuList, PinState, ThreadId, pin_current, pin_state, pin_state_of};
use serde::Serialize;

use crate::debug;

/// The state of a rank's pinning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
#[non_exhaustive]
pub enum Pinning {
    /// The team does not pin.
    Off,
    /// The rank's thread has not been pinned yet: it has not started, is another process's, or is
    /// the user's own, which has not called [`Team::pin_here`](crate::Team::pin_here).
    Planned,
    /// The thread is confined to its PU.
    Held,
    /// The thread was confined to its PU, and its mask has been changed since.
    Lost {
        /// The mask that was found.
        #[serde(serialize_with = "as_text")]
        mask: CpuList,
    },
    /// The system keeps the mask without obeying it.
    Ignored {
        /// The PU on which the thread was seen.
        runs_on: u32,
    },
    /// The system accepted the pinning and does not tell whether it holds.
    Unknown,
    /// The system refused; the thread runs wherever it may.
    Refused {
        /// The system's error.
        reason: String,
    },
}

fn as_text<S: serde::Serializer>(list: &CpuList, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(list)
}

impl fmt::Display for Pinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Planned => f.write_str("planned"),
            Self::Held => f.write_str("held"),
            Self::Lost { mask } => write!(f, "lost, the thread's mask is {mask} now"),
            Self::Ignored { runs_on } => {
                write!(f, "ignored by the system, the thread runs on PU {runs_on}")
            }
            Self::Unknown => f.write_str("accepted, the system does not tell whether it holds"),
            Self::Refused { reason } => write!(f, "refused: {reason}"),
        }
    }
}

impl Pinning {
    fn of(state: PinState) -> Self {
        match state {
            PinState::Held => Self::Held,
            PinState::Lost { mask } => Self::Lost { mask },
            PinState::Ignored { runs_on } => Self::Ignored { runs_on },
            PinState::Unknown => Self::Unknown,
        }
    }
}

/// The pinnings of a team.
#[derive(Debug)]
pub(crate) struct Pins {
    rank_pus: Vec<u32>,
    ranks: Mutex<Vec<RankPin>>,
}

#[derive(Clone, Debug)]
struct RankPin {
    last_seen: Pinning,
    /// The thread, while it lives.
    thread: Option<ThreadId>,
}

impl Pins {
    /// The pinnings of a team whose rank r runs on `rank_pus[r]`; `wanted` is false if it does not
    /// pin.
    pub(crate) fn new(rank_pus: Vec<u32>, wanted: bool) -> Self {
        let last_seen = if wanted {
            Pinning::Planned
        } else {
            Pinning::Off
        };
        let rank = RankPin {
            last_seen,
            thread: None,
        };
        let ranks = Mutex::new(vec![rank; rank_pus.len()]);
        Self { rank_pus, ranks }
    }

    /// Pins the calling thread to the PU of `rank`.
    pub(crate) fn pin_here(&self, rank: usize) -> Pinning {
        let pu = self.rank_pus[rank];
        if self.ranks()[rank].last_seen == Pinning::Off {
            return Pinning::Off;
        }
        let (pinning, thread) = match pin_current(pu) {
            Ok(_) => (Pinning::of(pin_state(pu)), Some(ThreadId::current())),
            Err(error) => {
                let reason = error.to_string();
                (Pinning::Refused { reason }, None)
            }
        };
        self.complain(rank, &pinning);
        self.ranks()[rank] = RankPin {
            last_seen: pinning.clone(),
            thread,
        };
        pinning
    }

    /// Tells that the calling thread, which is that of `rank`, is about to end.
    pub(crate) fn leave(&self, rank: usize) {
        let pinned = self.ranks()[rank].thread.is_some();
        if pinned {
            let last_seen = Pinning::of(pin_state(self.rank_pus[rank]));
            self.complain(rank, &last_seen);
            self.ranks()[rank] = RankPin {
                last_seen,
                thread: None,
            };
        }
    }

    /// The pinning of each rank: as it is now for running threads, and as it was last seen for
    /// others.
    pub(crate) fn look(&self) -> Vec<Pinning> {
        let mut ranks = self.ranks();
        for (rank, &pu) in ranks.iter_mut().zip(&self.rank_pus) {
            if let Some(thread) = rank.thread {
                match pin_state_of(thread, pu) {
                    // The thread has ended, or the system does not tell.
                    PinState::Unknown => {}
                    state => rank.last_seen = Pinning::of(state),
                }
            }
        }
        ranks.iter().map(|rank| rank.last_seen.clone()).collect()
    }

    fn complain(&self, rank: usize, pinning: &Pinning) {
        static REFUSED: Once = Once::new();
        static LOST: Once = Once::new();
        let (once, what) = match pinning {
            Pinning::Refused { .. } | Pinning::Ignored { .. } => (&REFUSED, "runs unpinned"),
            Pinning::Lost { .. } => (&LOST, "may have run elsewhere than planned"),
            _ => return,
        };
        let pu = self.rank_pus[rank];
        debug::warn(once, || {
            format!("rank {rank} {what}: pinning to PU {pu} {pinning}")
        });
    }

    fn ranks(&self) -> MutexGuard<'_, Vec<RankPin>> {
        self.ranks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn a_refused_pinning_is_told_and_harmless() {
        // No kernel has so many PUs.
        let pins = Pins::new(vec![1_000_000], true);
        assert_eq!(pins.look(), [Pinning::Planned]);
        let refused = pins.pin_here(0);
        assert!(matches!(refused, Pinning::Refused { .. }), "{refused}");
        pins.leave(0);
        assert_eq!(pins.look(), [refused]);
    }

    #[test]
    fn a_pinning_that_somebody_undoes_is_lost() {
        let usable = corecast_machine::process_mask().clone();
        let Some(pu) = usable.first().filter(|_| usable.len() > 1) else {
            return;
        };
        let pins = Pins::new(vec![pu], true);
        let (done, rest) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                pins.pin_here(0);
                let _ = corecast_machine::confine_current(&usable);
                done.wait();
                rest.wait();
            });
            done.wait();
            let seen = pins.look().remove(0);
            rest.wait();
            // A sandbox may refuse pinning or hide its state.
            if !matches!(seen, Pinning::Refused { .. } | Pinning::Unknown) {
                let mask = usable.clone();
                assert_eq!(seen, Pinning::Lost { mask });
            }
        });
    }
}
