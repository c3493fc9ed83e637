//! One replica: the structure behind its lock, and what its threads tell each other.

use super::mailbox::Mailbox;
use super::noting::Noting;
use super::pending::Pending;
use crate::Dispatch;
use corecast_wire::fence::{self, FenceKind, fence_kind};
use corecast_wire::reader_lock::ReaderSlot;
use corecast_wire::shared_log::{Cursor, Kept};
use corecast_wire::sync::{AtomicU32, AtomicU64, Mutex, Ordering, mutated};
use corecast_wire::wait::Watch;
use corecast_wire::{Line, LineSlice, Parker, ReaderLock, Segment, WaitConfig, WaitStrategy};
use std::convert::Infallible;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The structure, and how much of the log is in it.
pub(super) struct State<T: Dispatch> {
    pub(super) data: T,
    /// The number of entries that were applied.
    pub(super) applied: u64,
    pub(super) cursor: Cursor<T::Write>,
    pub(super) noting: Noting,
}

impl<T: Dispatch> State<T> {
    /// Whether every entry that any replica has applied is applied here too: the next one is not written yet.
    #[inline(always)]
    pub(super) fn has_all(&self) -> bool {
        self.cursor.is_pending(self.applied)
    }
}

/// A replica, and a slot there.
pub(super) type AtReplica<T> = (Arc<Replica<T>>, ReaderSlot<State<T>>);

type MailboxOf<T> = Mailbox<<T as Dispatch>::Write, <T as Dispatch>::Response>;

/// A replica.
pub(super) struct Replica<T: Dispatch> {
    pub(super) number: usize,
    pub(super) lock: Arc<ReaderLock<State<T>>>,
    /// What writers at other replicas have noted here.
    pub(super) pending: Arc<Pending>,
    /// By slot.
    pub(super) mailboxes: Box<[Line<MailboxOf<T>>]>,
    bells: LineSlice<Line<Parker>>,
    fence: FenceKind,
    /// The threads that wait for the lock, for readers to leave, or for an answer.
    pub(super) waiting: Waiting,
    /// How many entries are applied at least, for those who trim the log.
    pub(super) applied: Line<AtomicU64>,
    /// 1 if the log went on without this replica.
    left_behind: AtomicU32,
    /// The number of entries by which it may lag.
    pub(super) lag_max: AtomicU64,
    /// Entries that it has not applied, if it was left behind.
    kept: Mutex<Option<Kept<T::Write>>>,
}

/// Slots for threads that copy a replica, beside those of its handles.
const SPARE_SLOTS: usize = 4;

impl<T: Dispatch> Replica<T> {
    pub(super) fn new(number: usize, state: State<T>, handles: usize, log_len: u64) -> Self {
        let slots = handles + SPARE_SLOTS;
        let segment = Segment::new(Segment::bytes_for::<Line<Parker>>(slots), None);
        let bells = segment.and_then(|segment| segment.lines(slots));
        Self {
            number,
            applied: Line(AtomicU64::new(state.applied)),
            lock: Arc::new(ReaderLock::new(state, slots)),
            pending: Arc::new(Pending::new()),
            mailboxes: (0..slots).map(|_| Line(Mailbox::new())).collect(),
            bells: bells.expect("there are some pages of memory"),
            fence: fence_kind(),
            waiting: Waiting::default(),
            left_behind: AtomicU32::new(0),
            lag_max: AtomicU64::new(log_len),
            kept: Mutex::new(None),
        }
    }

    /// The wait strategy of a slot.
    pub(super) fn wait_strategy(&self, slot: usize, wait_config: WaitConfig) -> WaitStrategy {
        WaitStrategy::with_fence(wait_config, self.bells.get(slot), self.fence)
    }

    /// Rings those that wait for this replica, when it is dropped: after the guard of the lock that is made later.
    pub(super) fn rings(&self) -> Rings<'_, T> {
        Rings(self)
    }

    /// Wakes all threads of this replica that wait for anything.
    #[cold]
    #[inline(never)]
    pub(super) fn ring_all(&self) {
        for bell in &self.bells[..self.lock.slots_used()] {
            bell.wake_for(TOKEN, self.fence);
        }
    }

    /// Whether every entry that a read must see is applied: all that is noted of what it looks at, or all that there is.
    #[inline(always)]
    pub(super) fn has_all_of(&self, state: &State<T>, operation: &T::Read<'_>) -> bool {
        let footprint = || T::read_footprint(operation);
        self.pending.is_applied(state.applied, footprint) || state.has_all()
    }

    /// Whether the log went on without this replica. It is set by others under the mutex of all replicas, and taken back
    /// by whoever holds this replica's lock.
    #[inline]
    pub(super) fn is_left_behind(&self) -> bool {
        // Relaxed: whoever must not miss it has reserved entries since, which orders it.
        self.left_behind.load(Ordering::Relaxed) != 0
    }

    /// The log will go on without this replica. What it has not applied yet of what it may have appended is kept, see
    /// `keep`.
    pub(super) fn leave_behind(&self) {
        // Relaxed: the caller's look at the end of the log orders it.
        self.left_behind.store(1, Ordering::Relaxed);
    }

    pub(super) fn keep(&self, kept: Option<Kept<T::Write>>) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = kept;
    }

    /// What was kept for this replica when it was left behind.
    pub(super) fn kept(&self) -> Option<Kept<T::Write>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone()
    }

    /// The replica follows the log again, from this entry on.
    pub(super) fn follow_from(&self, index: u64) {
        self.keep(None);
        // Relaxed, both: read under the mutex of all replicas, or by the holder of the lock.
        self.applied.store(index, Ordering::Relaxed);
        self.left_behind.store(0, Ordering::Relaxed);
    }
}

/// Rings when it is dropped.
pub(super) struct Rings<'a, T: Dispatch>(&'a Replica<T>);

impl<T: Dispatch> Drop for Rings<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let Self(replica) = self;
        if replica.waiting.are_any(replica.fence) && !mutated!(ReplicaUnrung) {
            replica.ring_all();
        }
    }
}

/// All sleepers wait for the same token, since a thread of a replica waits for one of few things.
const TOKEN: u32 = 1;

/// The number of threads that wait for long, so that nobody rings in vain.
#[derive(Default)]
pub(super) struct Waiting(Line<AtomicU32>);

impl Waiting {
    /// Whether anybody waits, for a thread that has just done what they may wait for.
    #[inline(always)]
    pub(super) fn are_any(&self, kind: FenceKind) -> bool {
        // The fence's partner is the one that a sleeper passes before its last look.
        fence::light(kind);
        // Acquire: synchronises with the addition in `wait`, so the sleeper's slot is known.
        self.0.load(Ordering::Acquire) != 0
    }

    /// Waits until `look` finds something. Whoever makes it do so looks whether there are `are_any` afterwards.
    ///
    /// It is no part of its callers' code: the registers that a wait takes would be missed where nobody waits.
    #[inline(never)]
    pub(super) fn wait<R>(
        &self,
        wait_strategy: &WaitStrategy,
        look: impl FnMut() -> Option<R>,
    ) -> R {
        let counted = || {
            // Release: synchronises with the load in `are_any`.
            self.0.fetch_add(1, Ordering::Release);
            Counted(self)
        };
        match wait_strategy.wait_watched(TOKEN, counted, look) {
            Ok(found) => found,
            Err(never) => match never {},
        }
    }
}

/// One thread that waits for long.
struct Counted<'a>(&'a Waiting);

impl Watch for Counted<'_> {
    type Error = Infallible;

    fn check(&mut self, _waited: Duration) -> Result<(), Infallible> {
        Ok(())
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        // Relaxed: a number too large costs a look at some lines.
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
