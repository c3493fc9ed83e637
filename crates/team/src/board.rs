//! What all members of a team share besides their lines: diaries, places to sleep, and the first
//! failure.

use crate::book::Book;
use crate::failure::{Did, Failure, Loss, Site};
use crate::operation::{Mark, Operation};
use crate::options::Options;
use crate::record::Record;
use corecast_wire::diary::{Diary, PAGES, Presence};
use corecast_wire::wait::Watch;
use corecast_wire::{FenceKind, Flag, Line, LineRef, Parker};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Shared by the members of one team.
#[derive(Debug)]
pub struct Board {
    pub(crate) diaries: Vec<LineRef<Diary>>,
    pub(crate) parkers: Vec<LineRef<Line<Parker>>>,
    /// [`FAILED`] after the first failure; [`CALLED_OFF`] and the number of the first operation that is
    /// called off.
    stopped: LineRef<Flag>,
    failure: Mutex<Option<Failure>>,
    fence: FenceKind,
    patience: Option<Duration>,
    join_limit: Duration,
    /// How processes tell each other.
    between: Option<Between>,
}

/// What ranks of different processes read of each other.
#[derive(Debug)]
pub(crate) struct Between {
    /// Each rank's call sites, in words.
    pub(crate) books: Vec<Book>,
    /// The first failure.
    pub(crate) record: Record,
}

/// What [`Board::stopped`] says: everything ends.
const FAILED: u64 = 1;
/// Flag bit: operations from sequence number n on are cancelled. The low bits hold n.
const CALLED_OFF: u64 = 1 << 32;

/// Attempts to read a failure record that another process is writing; together they take a thousand times longer than
/// writing does.
const PATIENCE_FOR_RECORD: u32 = 1000;

impl Board {
    pub(crate) fn new(
        diaries: Vec<LineRef<Diary>>,
        parkers: Vec<LineRef<Line<Parker>>>,
        stopped: LineRef<Flag>,
        fence: FenceKind,
        options: &Options,
        between: Option<Between>,
    ) -> Self {
        Self {
            diaries,
            parkers,
            stopped,
            failure: Mutex::new(None),
            fence,
            patience: options.patience,
            join_limit: options.join_limit,
            between,
        }
    }

    fn has_failed(&self) -> bool {
        self.stopped.seq() == FAILED
    }

    /// Whether operation number `seq` must end, and why.
    #[inline(always)]
    pub(crate) fn stops(&self, rank: usize, seq: u32) -> Result<(), Failure> {
        match self.stopped.seq() {
            0 => Ok(()),
            word => self.stopped_by(word, rank, seq),
        }
    }

    #[cold]
    fn stopped_by(&self, word: u64, rank: usize, seq: u32) -> Result<(), Failure> {
        if word == FAILED {
            return Err(self.failure().expect("the failure comes before the flag"));
        }
        // Numbers of operations wrap around.
        let ahead = seq.wrapping_sub(word as u32) as i32;
        if ahead >= 0 {
            return Err(Failure::CalledOff { rank });
        }
        Ok(())
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.seq() != 0
    }

    /// Operations from number `seq` on end, unless the team has failed.
    pub(crate) fn call_off(&self, seq: u32) {
        let kept = self.failure_guard();
        if kept.is_none() && self.stopped.seq() == 0 {
            self.stopped.raise(CALLED_OFF | u64::from(seq));
        }
        drop(kept);
        self.wake_all();
    }

    /// The book of a rank, between processes.
    pub(crate) fn book(&self, rank: usize) -> Option<&Book> {
        Some(&self.between.as_ref()?.books[rank])
    }

    pub(crate) fn fence(&self) -> FenceKind {
        self.fence
    }

    fn failure_guard(&self) -> MutexGuard<'_, Option<Failure>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        let mut kept = self.failure_guard();
        if kept.is_none() && self.has_failed() {
            let told = self.between.as_ref().and_then(|between| {
                // The one who raised the flag may have been second, and the first still be writing.
                (0..PATIENCE_FOR_RECORD).find_map(|_| {
                    std::thread::yield_now();
                    between.record.read()
                })
            });
            // A record that cannot be read was spoilt, or its writer has died over it.
            *kept = Some(told.unwrap_or_else(|| Failure::Spoilt {
                here: self.did(0),
                there: self.did(0),
            }));
        }
        kept.clone()
    }

    /// Keeps the first failure, wakes everybody, and returns the first failure.
    #[cold]
    pub(crate) fn fail(&self, failure: Failure) -> Failure {
        if matches!(failure, Failure::CalledOff { .. }) {
            // Operations before it go on: the team has not failed.
            return failure;
        }
        let first = match self.failure() {
            Some(first) => first,
            None => {
                let mut kept = self.failure_guard();
                let first = kept.get_or_insert(failure).clone();
                if let Some(between) = &self.between {
                    between.record.write(&first);
                }
                self.stopped.raise(FAILED);
                first
            }
        };
        self.wake_all();
        first
    }

    pub(crate) fn wake_all(&self) {
        for parker in &self.parkers {
            parker.wake_any(self.fence);
        }
    }

    /// The call site behind a word in the diary of `rank`.
    fn site(&self, rank: usize, word: u64) -> Option<Site> {
        let text = self.between.as_ref()?.books[rank].read(word)?;
        Some(Site::There(Arc::from(text)))
    }

    fn page(&self, rank: usize, seq: u32) -> Option<(Operation, Option<Site>)> {
        let diary = &self.diaries[rank];
        let (entry, word) = diary.page_at(seq)?;
        let here = diary.read_at(seq).filter(|(again, _)| *again == entry);
        let site = here.map(|(_, site)| Site::Here(site));
        Some((
            Operation::of_entry(entry)?,
            site.or_else(|| self.site(rank, word)),
        ))
    }

    /// What `rank` does, or did last.
    pub(crate) fn did(&self, rank: usize) -> Did {
        let now = self.diaries[rank].now();
        let page = self.page(rank, now.seq);
        Did {
            rank,
            operation: Operation::of_entry(now),
            site: page.and_then(|(_, site)| site),
        }
    }

    /// What `rank` did as operation number `seq`; what it does now if that is forgotten.
    fn did_at(&self, rank: usize, seq: u32) -> Did {
        match self.page(rank, seq) {
            Some((operation, site)) => Did {
                rank,
                operation: Some(operation),
                site,
            },
            None => self.did(rank),
        }
    }

    /// The failure of two of `ranks` whose last operations are not the same, if there are such.
    pub(crate) fn last_difference(&self, ranks: &[usize], marks: &[Mark]) -> Option<Failure> {
        let other = ranks[marks.iter().position(|mark| *mark != marks[0])?];
        let seq = self.did(ranks[0]).operation?.seq;
        let (here, there) = self
            .first_difference((ranks[0], other), seq)
            .unwrap_or_else(|| (self.did(ranks[0]), self.did_at(other, seq)));
        Some(Failure::Mismatch { here, there })
    }

    /// The first operation up to number `seq` that both ranks remember and that was not the same.
    fn first_difference(&self, (a, b): (usize, usize), seq: u32) -> Option<(Did, Did)> {
        let oldest = seq.saturating_sub(PAGES as u32);
        (oldest..=seq).find_map(|seq| {
            let [Some((mine, _)), Some((theirs, _))] =
                [a, b].map(|rank| self.diaries[rank].page_at(seq))
            else {
                return None;
            };
            (mine != theirs).then(|| (self.did_at(a, seq), self.did_at(b, seq)))
        })
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

    /// The process of `ranks` has ended: those that had not left are lost, and so is the team.
    pub fn lost(&self, ranks: &[usize], noticed_by: usize) {
        for &rank in ranks {
            let diary = &self.diaries[rank];
            if matches!(diary.presence(), Presence::Absent | Presence::Present) {
                diary.set_presence(Presence::Died, None);
                self.fail(Failure::PeerLost {
                    here: self.did(noticed_by),
                    there: self.did(rank),
                    how: Loss::Died,
                });
            }
        }
    }
}

/// Looks, while a member waits for a peer, whether that can still come.
///
/// A peer that is in the same operation, or behind, may come. **Invariant:** in every algorithm a
/// member has sent all of an operation's messages before it enters the next one *of the same lane*;
/// so a peer that is ahead there, or has left, has sent all that it will ever send, and one more
/// look decides.
pub(crate) struct PeerWatch<'a> {
    pub(crate) board: &'a Board,
    /// The diaries of the lane, if it is not the first.
    pub(crate) lane_diaries: Option<&'a [LineRef<Diary>]>,
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
            site: Some(Site::Here(self.site)),
        }
    }

    /// The failure of a peer whose operations are not the same as this rank's.
    pub(crate) fn mismatch(&self) -> Failure {
        self.mismatch_with(self.operation.seq)
    }

    /// The failure, if the histories show an operation in which the two ranks differ.
    pub(crate) fn difference(&self) -> Option<Failure> {
        let ranks = (self.rank, self.peer);
        let (here, there) = self.board.first_difference(ranks, self.operation.seq)?;
        Some(Failure::Mismatch { here, there })
    }

    /// Whether the peer is in this very operation.
    pub(crate) fn is_there(&self) -> bool {
        let diary = match self.lane_diaries {
            None => &self.board.diaries[self.peer],
            Some(lane) => &lane[self.peer],
        };
        diary.now() == self.operation.entry()
    }

    /// The failure; `seq` is the number of an operation of the peer's that does not fit.
    pub(crate) fn mismatch_with(&self, seq: u32) -> Failure {
        let (here, there) = self
            .board
            .first_difference((self.rank, self.peer), self.operation.seq)
            .unwrap_or_else(|| (self.here(), self.board.did_at(self.peer, seq)));
        Failure::Mismatch { here, there }
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

    /// The failure of a peer whose memory holds what no member writes.
    pub(crate) fn spoilt(&self) -> Failure {
        let there = self.board.did_at(self.peer, self.operation.seq);
        Failure::Spoilt {
            here: self.here(),
            there,
        }
    }

    /// Whether the peer does, or has done, something else than this operation.
    fn differs(&self) -> bool {
        let entry = self.operation.entry();
        let main = &self.board.diaries[self.peer];
        let now = match self.lane_diaries {
            None => main.now(),
            Some(lane) => {
                // Another lane may be far ahead, or behind: only this operation counts.
                let page = main.page_at(entry.seq);
                if page.is_some_and(|(theirs, _)| theirs != entry) {
                    return true;
                }
                lane[self.peer].now()
            }
        };
        let ahead = now.seq.wrapping_sub(entry.seq) as i32;
        ahead > 0 || (ahead == 0 && now != entry)
    }
}

impl PeerWatch<'_> {
    /// The failure that what the peer does, or did last, amounts to.
    fn verdict(&self, slept: Duration) -> Result<(), Failure> {
        let lost = |how| Failure::PeerLost {
            here: self.here(),
            there: self.board.did(self.peer),
            how,
        };
        let waited = slept;
        match self.board.diaries[self.peer].presence() {
            Presence::Left => return Err(lost(Loss::Left)),
            Presence::Panicked => return Err(lost(Loss::Panicked)),
            Presence::Died => return Err(lost(Loss::Died)),
            Presence::Absent if slept >= self.board.join_limit => {
                return Err(Failure::NeverJoined {
                    here: self.here(),
                    missing: self.peer,
                    waited,
                });
            }
            Presence::Absent | Presence::Present => {}
        }
        if self.differs() {
            return Err(self.mismatch());
        }
        if self
            .board
            .patience
            .is_some_and(|patience| slept >= patience)
        {
            return Err(Failure::Stalled {
                here: self.here(),
                there: self.board.did(self.peer),
                waited,
            });
        }
        Ok(())
    }
}

impl Watch for PeerWatch<'_> {
    type Error = Failure;

    fn check(&mut self, slept: Duration) -> Result<(), Failure> {
        let stops = || self.board.stops(self.rank, self.operation.seq);
        stops()?;
        // What stopped the team since may be why the peer went on, or left.
        self.verdict(slept)
            .or_else(|failure| stops().and(Err(failure)))
    }
}
