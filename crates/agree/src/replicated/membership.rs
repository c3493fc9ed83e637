//! The replicas that there are, how far each has come, and what becomes of one that lags.

use super::noting::{Noted, Noting};
use super::options::{Design, Options, ReplicaError};
use super::racing::Racing;
use super::replica::{AtReplica, Replica, State, Waiting};
use crate::Dispatch;
use corecast_wire::fence::{FenceKind, fence_kind};
use corecast_wire::shared_log::{BLOCK, Cursor, SharedLog};
use corecast_wire::sync::{AtomicU64, Mutex, Ordering, mutated};
use corecast_wire::{Line, WaitConfig};
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// What all replicas share.
pub(super) struct Membership<T: Dispatch> {
    pub(super) log: Arc<SharedLog<T::Write>>,
    pub(super) options: Options,
    fence: FenceKind,
    /// The threads that wait for an entry that was reserved and is not written yet.
    pub(super) waiting: Waiting,
    /// Changes with the replicas that there are, and with the design of reads: whoever has reserved entries looks whether it knows
    /// those that it must note them at.
    configuration: Line<AtomicU64>,
    pub(super) racing: Racing,
    members: Mutex<Members<T>>,
}

/// The replicas, how they serve reads, and who follows the order of writes.
struct Members<T: Dispatch> {
    /// By their numbers; `None` was removed.
    all: Vec<Option<Member<T>>>,
    design: Design,
    /// How many entries each follower has taken.
    followers: Vec<Arc<AtomicU64>>,
}

struct Member<T: Dispatch> {
    replica: Arc<Replica<T>>,
    handles: usize,
}

/// A replica that lags by more than this part of a log is helped by others. One whose threads were only kept from running for some
/// time slices catches up by itself, in its own caches.
const HELPED_PART: u64 = 4;

/// While a replica is copied or installed, it may lag by this many logs.
const PATIENCE: u64 = 64;

impl<T: Dispatch> Members<T> {
    fn attached(&self) -> impl Iterator<Item = &Arc<Replica<T>>> {
        let replicas = self.all.iter().flatten().map(|member| &member.replica);
        replicas.filter(|replica| !replica.is_left_behind())
    }

    fn get(&mut self, replica: usize) -> Result<&mut Member<T>, ReplicaError> {
        let member = self.all.get_mut(replica).and_then(Option::as_mut);
        member.ok_or(ReplicaError::NoSuchReplica { replica })
    }
}

impl<T: Dispatch> Membership<T> {
    pub(super) fn new(options: Options, first: T) -> Self {
        assert!(
            options.replicas > 0,
            "a structure without replicas is nowhere"
        );
        assert!(
            options.handles > 0,
            "nobody could use replicas without handles"
        );
        let log = Arc::new(SharedLog::new());
        let membership = Self {
            log: Arc::clone(&log),
            options,
            fence: fence_kind(),
            waiting: Waiting::default(),
            configuration: Line(AtomicU64::new(1)),
            racing: Racing::new(options.reads),
            members: Mutex::new(Members {
                all: Vec::new(),
                design: options.reads.first(),
                followers: Vec::new(),
            }),
        };
        let copies: Vec<T> = (1..options.replicas)
            .map(|_| T::install(first.snapshot()))
            .collect();
        for data in std::iter::once(first).chain(copies) {
            let cursor = log.cursor(0).expect("nothing was trimmed");
            membership.with(|members| membership.push(members, data, cursor, 0));
        }
        membership
    }

    fn with<R>(&self, body: impl FnOnce(&mut Members<T>) -> R) -> R {
        body(&mut self.members.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(
        &self,
        members: &mut Members<T>,
        data: T,
        cursor: Cursor<T::Write>,
        applied: u64,
    ) -> usize {
        let number = members.all.len();
        let state = State {
            data,
            applied,
            cursor,
            noting: Noting::new(),
        };
        let Options {
            handles, log_len, ..
        } = self.options;
        let replica = Arc::new(Replica::new(number, state, handles, log_len));
        let member = Member {
            replica,
            handles: 0,
        };
        members.all.push(Some(member));
        self.reconfigure();
        if members.design == Design::Stable {
            self.begin_noting(members, number..number + 1);
        }
        number
    }

    /// From now on whoever reserves entries finds that the configuration has changed, and asks where to note them. The caller has the
    /// mutex of all replicas, so nobody is told before the change is whole.
    fn reconfigure(&self) {
        // Release: synchronises with the load in `Noting::note`. The additions are those of the mutex's holder.
        self.configuration.fetch_add(1, Ordering::Release);
    }

    /// Lets reads at these replicas trust in notes, of all entries that are not reserved yet.
    fn begin_noting(&self, members: &Members<T>, numbers: Range<usize>) {
        let end = match mutated!(JoinerUnfenced) {
            true => 0,
            false => self.log.fence(),
        };
        for member in members.all[numbers].iter().flatten() {
            member.replica.pending.begin(end);
        }
    }

    /// The number of the configuration, for a thread that has reserved entries. It is not older than what was changed
    /// before, by Invariant 3 of the log.
    #[inline(always)]
    pub(super) fn configuration(&self) -> u64 {
        // Acquire: synchronises with the addition in `reconfigure`.
        self.configuration.load(Ordering::Acquire)
    }

    /// Where entries of replica `own` are noted: at all others, if at all.
    #[cold]
    #[inline(never)]
    pub(super) fn noted(&self, own: usize) -> Noted {
        self.with(|members| {
            let all = members.all.iter().flatten().map(|member| &member.replica);
            let others = all.filter(|it| it.number != own && members.design == Design::Stable);
            let others = others.map(|it| Arc::clone(&it.pending)).collect();
            (self.configuration(), others)
        })
    }

    /// The design by which reads are served.
    pub(super) fn design(&self) -> Design {
        self.with(|members| members.design)
    }

    /// Serves reads by this design from now on. Reads of both designs may overlap.
    #[cold]
    pub(super) fn choose(&self, design: Design) {
        self.with(|members| {
            if members.design == design {
                return;
            }
            members.design = design;
            if design == Design::Watermark {
                for member in members.all.iter().flatten() {
                    member.replica.pending.cease();
                }
            }
            self.reconfigure();
            if design == Design::Stable {
                self.begin_noting(members, 0..members.all.len());
            }
        });
    }

    /// The numbers of the replicas.
    pub(super) fn numbers(&self) -> Vec<usize> {
        self.with(|members| {
            let replicas = members.all.iter().flatten();
            replicas.map(|member| member.replica.number).collect()
        })
    }

    /// Takes a slot for a handle, and says how many handles there are now.
    pub(super) fn enter(&self, replica: usize) -> Result<(AtReplica<T>, usize), ReplicaError> {
        self.with(|members| {
            let member = members.get(replica)?;
            let handles = member.handles;
            let full = ReplicaError::TooManyHandles { replica, handles };
            if handles == self.options.handles {
                return Err(full);
            }
            let found = Arc::clone(&member.replica);
            let slot = found.lock.slot().ok_or(full)?;
            member.handles += 1;
            let all = members
                .all
                .iter()
                .flatten()
                .map(|member| member.handles)
                .sum();
            Ok(((found, slot), all))
        })
    }

    /// A handle has gone.
    pub(super) fn leave(&self, replica: usize) {
        self.with(|members| {
            if let Ok(member) = members.get(replica) {
                member.handles -= 1;
            }
        });
    }

    /// Removes a replica without handles.
    pub(super) fn remove(&self, replica: usize) -> Result<(), ReplicaError> {
        let removed = self.with(|members| {
            let others = members.attached().filter(|it| it.number != replica).count();
            let member = members.get(replica)?;
            if member.handles > 0 {
                let handles = member.handles;
                return Err(ReplicaError::HasHandles { replica, handles });
            }
            if others == 0 {
                return Err(ReplicaError::LastReplica { replica });
            }
            let removed = members.all[replica].take();
            self.reconfigure();
            Ok(removed)
        });
        // The structure is dropped without the mutex.
        removed.map(drop)
    }

    /// The wait strategy of handles, when there are this many.
    pub(super) fn wait_config(&self, handles: usize) -> WaitConfig {
        let by_number = || {
            let usable = std::thread::available_parallelism().map_or(1, usize::from);
            WaitConfig::for_team(handles, usable)
        };
        self.options.wait_config.unwrap_or_else(by_number)
    }

    /// Wakes those that wait for entries, for a thread that has just written some.
    #[inline]
    pub(super) fn ring(&self) {
        if self.waiting.are_any(self.fence) && !mutated!(LogUnrung) {
            self.ring_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn ring_all(&self) {
        let all: Vec<_> = self.with(|members| {
            let replicas = members.all.iter().flatten();
            replicas.map(|member| Arc::clone(&member.replica)).collect()
        });
        for replica in all {
            replica.ring_all();
        }
    }

    /// Trims the log to what replicas still need. Those that lag by more than a log are left behind, but not `own`, whose threads
    /// run; the others that lag are returned, to be helped.
    #[cold]
    #[inline(never)]
    pub(super) fn look_after(&self, own: &Replica<T>) -> Vec<Arc<Replica<T>>> {
        let end = self.log.end();
        self.log.prepare_after(end);
        let mut helped = Vec::new();
        self.with(|members| {
            let mut needed = end;
            // A replica that was left behind leaves nobody behind, so that one remains.
            let may_leave = !own.is_left_behind();
            for replica in members.attached() {
                // Relaxed: it only grows, and the blocks that are read are kept by those who read.
                let applied = replica.applied.load(Ordering::Relaxed);
                let lag = end.saturating_sub(applied);
                if replica.number != own.number {
                    if may_leave && lag > replica.lag_max.load(Ordering::Relaxed) {
                        self.leave_behind(replica, applied);
                        continue;
                    }
                    if lag > (self.options.log_len / HELPED_PART).max(4 * BLOCK) {
                        helped.push(Arc::clone(replica));
                    }
                }
                needed = needed.min(applied);
            }
            for taken in &members.followers {
                // Relaxed: as above.
                needed = needed.min(taken.load(Ordering::Relaxed));
            }
            if mutated!(TrimmedEarly) {
                needed = end;
            }
            self.log.trim(needed);
        });
        helped
    }

    /// A follower of all entries that are not reserved yet: its cursor, the entry that comes next, and where it tells how many
    /// it has taken.
    pub(super) fn follow(&self) -> (Cursor<T::Write>, u64, Arc<AtomicU64>) {
        self.with(|members| {
            // The log is trimmed under the same mutex.
            let next = self.log.end();
            let cursor = self.log.cursor(next);
            let cursor = cursor.expect("the log is not trimmed past its end");
            let taken = Arc::new(AtomicU64::new(next));
            members.followers.push(Arc::clone(&taken));
            (cursor, next, taken)
        })
    }

    /// A follower has gone.
    pub(super) fn unfollow(&self, taken: &Arc<AtomicU64>) {
        self.with(|members| members.followers.retain(|it| !Arc::ptr_eq(it, taken)));
    }

    /// The log goes on without this replica, which keeps what it needs to answer for what it has appended: entries that it
    /// reserves after the look at the end are nothing, see `combine`.
    fn leave_behind(&self, replica: &Replica<T>, applied: u64) {
        replica.leave_behind();
        let end = self.log.fence();
        replica.keep(Some(self.log.keep(applied..end)));
    }

    /// A replica to copy, other than `except`, and a slot there. `None` if all slots are taken at the moment.
    ///
    /// # Panics
    ///
    /// If writes have panicked at all of them.
    pub(super) fn donor(&self, except: Option<usize>) -> Option<AtReplica<T>> {
        self.with(|members| {
            let others = members.attached().filter(|it| Some(it.number) != except);
            let mut sound = others.filter(|it| !it.lock.is_poisoned()).peekable();
            assert!(
                sound.peek().is_some(),
                "a write has panicked at every replica"
            );
            sound.find_map(|replica| Some((Arc::clone(replica), replica.lock.slot()?)))
        })
    }

    /// The replica may lag by many logs while it is copied or installed.
    pub(super) fn be_patient(&self, replica: &Replica<T>) {
        let lag_max = self.options.log_len.saturating_mul(PATIENCE);
        // Relaxed: a limit.
        replica.lag_max.store(lag_max, Ordering::Relaxed);
    }

    /// The replica may lag by a log again.
    pub(super) fn be_strict(&self, replica: &Replica<T>) {
        // Relaxed: a limit.
        let log_len = self.options.log_len;
        replica.lag_max.store(log_len, Ordering::Relaxed);
    }

    /// Lets `replica` follow the log from this entry on, by a copy of `donor`, whose lock the caller holds so that it stays
    /// there. `None` if the donor was left behind meanwhile.
    pub(super) fn rejoin(
        &self,
        replica: &Replica<T>,
        donor: &Replica<T>,
        applied: u64,
    ) -> Option<Cursor<T::Write>> {
        self.with(|_| {
            let cursor = self.cursor(donor, applied)?;
            replica.follow_from(applied);
            Some(cursor)
        })
    }

    /// Adds a replica that is a copy of `donor`, as `rejoin` does.
    pub(super) fn join(&self, data: T, donor: &Replica<T>, applied: u64) -> Option<usize> {
        self.with(|members| {
            let cursor = self.cursor(donor, applied)?;
            Some(self.push(members, data, cursor, applied))
        })
    }

    fn cursor(&self, donor: &Replica<T>, applied: u64) -> Option<Cursor<T::Write>> {
        match donor.is_left_behind() {
            true => None,
            false => self.log.cursor(applied),
        }
    }
}
