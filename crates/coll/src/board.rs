//! What all members of a team share besides their lines: diaries, places to sleep, and the first
//! failure.

use crate::failure::{Did, Failure};
use crate::operation::{Mark, Operation};
use crate::team::Options;
use corecast_wire::diary::{Diary, PAGES, Presence};
use corecast_wire::wait::Watch;
use corecast_wire::{FenceKind, Flag, Line, LineRef, Parker, fence_kind};
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Shared by the members of one team.
#[derive(Debug)]
pub(crate) struct Board {
    pub(crate) diaries: Vec<LineRef<Diary>>,
    pub(crate) parkers: Vec<LineRef<Line<Parker>>>,
    /// Raised to 1 by the first failure.
    failed: LineRef<Flag>,
    failure: Mutex<Option<Failure>>,
    fence: FenceKind,
    patience: Option<Duration>,
    join_limit: Duration,
}

impl Board {
    pub(crate) fn new(
        diaries: Vec<LineRef<Diary>>,
        parkers: Vec<LineRef<Line<Parker>>>,
        failed: LineRef<Flag>,
        options: &Options,
    ) -> Self {
        Self {
            diaries,
            parkers,
            failed,
            failure: Mutex::new(None),
            fence: fence_kind(),
            patience: options.patience,
            join_limit: options.join_limit,
        }
    }

    #[inline(always)]
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.seq() != 0
    }

    fn failure_guard(&self) -> MutexGuard<'_, Option<Failure>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        self.failure_guard().clone()
    }

    /// Keeps the first failure, wakes everybody, and returns the first failure.
    #[cold]
    pub(crate) fn fail(&self, failure: Failure) -> Failure {
        let first = self.failure_guard().get_or_insert(failure).clone();
        self.failed.raise(1);
        self.wake_all();
        first
    }

    pub(crate) fn wake_all(&self) {
        for parker in &self.parkers {
            parker.wake_any(self.fence);
        }
    }

    /// What `rank` does, or did last.
    pub(crate) fn did(&self, rank: usize) -> Did {
        let diary = &self.diaries[rank];
        let now = diary.now();
        Did {
            rank,
            operation: Operation::of_entry(now),
            site: diary.read_at(now.seq).map(|(_, site)| site),
        }
    }

    /// What `rank` did as operation number `seq`; what it does now if that is forgotten.
    fn did_at(&self, rank: usize, seq: u32) -> Did {
        match self.diaries[rank].read_at(seq) {
            Some((entry, site)) => Did {
                rank,
                operation: Operation::of_entry(entry),
                site: Some(site),
            },
            None => self.did(rank),
        }
    }

    /// The failure of two ranks whose last operations are not the same, if there are such.
    pub(crate) fn last_difference(&self, marks: &[Mark]) -> Option<Failure> {
        let other = marks.iter().position(|mark| *mark != marks[0])?;
        let here = self.did(0);
        let watch = PeerWatch {
            board: self,
            rank: 0,
            operation: here.operation?,
            site: here.site?,
            peer: other,
        };
        Some(watch.mismatch())
    }

    /// A member leaves: whoever waits for it wakes and looks.
    pub(crate) fn leave(&self, rank: usize, panicked: bool) {
        let presence = if panicked {
            Presence::Panicked
        } else {
            Presence::Left
        };
        self.diaries[rank].set_presence(presence, None);
        self.wake_all();
    }
}

/// Looks, while a member waits for a peer, whether that can still come.
///
/// A peer that is in the same operation, or behind, may come. **Invariant:** in every algorithm a
/// member has sent all of an operation's messages before it enters the next one; so a peer that
/// is ahead, or has left, has sent all that it will ever send, and one more look decides.
pub(crate) struct PeerWatch<'a> {
    pub(crate) board: &'a Board,
    pub(crate) rank: usize,
    pub(crate) operation: Operation,
    pub(crate) site: &'static Location<'static>,
    pub(crate) peer: usize,
}

impl PeerWatch<'_> {
    fn here(&self) -> Did {
        Did {
            rank: self.rank,
            operation: Some(self.operation),
            site: Some(self.site),
        }
    }

    /// The failure of a peer whose operations are not the same as this rank's.
    pub(crate) fn mismatch(&self) -> Failure {
        self.mismatch_with(self.operation.seq)
    }

    /// The same; `seq` is the number of an operation of the peer's that does not fit.
    pub(crate) fn mismatch_with(&self, seq: u32) -> Failure {
        let (here, there) = self.first_difference().unwrap_or_else(|| {
            let there = self.board.did_at(self.peer, seq);
            (self.here(), there)
        });
        Failure::Mismatch { here, there }
    }

    /// The first operation that both ranks remember and that was not the same.
    fn first_difference(&self) -> Option<(Did, Did)> {
        let oldest = self.operation.seq.saturating_sub(PAGES as u32);
        (oldest..=self.operation.seq).find_map(|seq| {
            let pages = [self.rank, self.peer].map(|rank| self.board.diaries[rank].read_at(seq));
            let [Some((mine, _)), Some((theirs, _))] = pages else {
                return None;
            };
            let did = |rank| self.board.did_at(rank, seq);
            (mine != theirs).then(|| (did(self.rank), did(self.peer)))
        })
    }

    pub(crate) fn length(&self, sent: usize, expected: usize) -> Failure {
        let there = self.board.did_at(self.peer, self.operation.seq);
        let here = self.here();
        Failure::Length {
            here,
            there,
            sent,
            expected,
        }
    }
}

impl PeerWatch<'_> {
    /// The failure of a peer whose memory holds what no member writes.
    pub(crate) fn spoilt(&self) -> Failure {
        let there = self.board.did_at(self.peer, self.operation.seq);
        Failure::Spoilt {
            here: self.here(),
            there,
        }
    }
}

impl Watch for PeerWatch<'_> {
    type Error = Failure;

    fn check(&mut self, slept: Duration) -> Result<(), Failure> {
        if let Some(failure) = self
            .board
            .has_failed()
            .then(|| self.board.failure())
            .flatten()
        {
            return Err(failure);
        }
        let diary = &self.board.diaries[self.peer];
        let (here, waited) = (self.here(), slept);
        match diary.presence() {
            Presence::Left | Presence::Panicked => {
                return Err(Failure::PeerLost {
                    here,
                    there: self.board.did(self.peer),
                    panicked: diary.presence() == Presence::Panicked,
                });
            }
            Presence::Absent if slept >= self.board.join_limit => {
                let missing = self.peer;
                return Err(Failure::NeverJoined {
                    here,
                    missing,
                    waited,
                });
            }
            Presence::Absent | Presence::Present => {}
        }
        let entry = diary.now();
        let ahead = entry.seq.wrapping_sub(self.operation.seq) as i32;
        if ahead > 0 || (ahead == 0 && entry != self.operation.entry()) {
            return Err(self.mismatch());
        }
        if self
            .board
            .patience
            .is_some_and(|patience| slept >= patience)
        {
            let there = self.board.did(self.peer);
            return Err(Failure::Stalled {
                here,
                there,
                waited,
            });
        }
        Ok(())
    }
}
