//! The calls of one rank: those that are not split yet, and sums over all others.

use super::stamps::{Arrival, ArrivalStamps};
use corecast_collectives::Collective;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::{AddAssign, Range};
use std::panic::Location;
use std::sync::Arc;
use std::thread::{self, ThreadId};

/// Calls that wait to be split. Many are split at once, since the lines of other ranks then come sixteen stamps at a
/// time; a quarter of the stamps that ranks keep, so that a rank may be three quarters ahead.
pub(super) const BATCH: usize = super::stamps::STAMPS / 4;

/// What a member calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallKind {
    /// An operation that blocks.
    Operation(Collective),
    /// The start of an operation in flight, which waits where too many are in flight.
    Start(Collective),
    /// A wait for operations in flight.
    Wait,
}

/// Where a member is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallSite {
    /// A place in a source file.
    Source(&'static Location<'static>),
    /// The address to which the program's own call returns; see [`Member::set_caller`](crate::Member::set_caller).
    Code(NonZeroUsize),
}

/// Sums over calls. Each call is split or not, so the time in all of them is that of the three parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSums {
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that are not split.
    pub unsplit: u64,
    /// Time from the call to the last arrival that it depends on.
    pub imbalance: u64,
    /// Time from that arrival until the call returns.
    pub mechanism: u64,
    /// Time in calls that are not split.
    pub unsplit_time: u64,
    /// Time of the longest call.
    pub longest: u64,
}

impl CallSums {
    /// The time in the calls.
    pub fn time(&self) -> u64 {
        self.imbalance + self.mechanism + self.unsplit_time
    }

    /// The sums of a call from `came` to `left`, for which the last one came at `last`.
    pub(super) fn split(came: u64, last: u64, left: u64) -> Self {
        let left = left.max(came);
        let last = last.clamp(came, left);
        Self {
            calls: 1,
            imbalance: last - came,
            mechanism: left - last,
            longest: left - came,
            ..Self::default()
        }
    }

    /// The sums of a call that is not split.
    pub(super) fn whole(came: u64, left: u64) -> Self {
        let time = left.saturating_sub(came);
        Self {
            calls: 1,
            unsplit: 1,
            unsplit_time: time,
            longest: time,
            ..Self::default()
        }
    }
}

impl AddAssign for CallSums {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.unsplit += other.unsplit;
        self.imbalance += other.imbalance;
        self.mechanism += other.mechanism;
        self.unsplit_time += other.unsplit_time;
        self.longest = self.longest.max(other.longest);
    }
}

/// A call of an operation that blocks, from its arrival on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) seq: u64,
    pub(super) kind: Collective,
    pub(super) root: u32,
    pub(super) site: CallSite,
    pub(super) came: u64,
}

/// The ranks whose arrival a call of `rank` depends on, by what the operation means: all that must have come before it
/// can return with its result.
pub(super) fn awaited(kind: Collective, root: usize, rank: usize, size: usize) -> Range<usize> {
    match kind {
        Collective::Broadcast | Collective::Scatter | Collective::Scatterv if rank == root => 0..0,
        Collective::Broadcast | Collective::Scatter | Collective::Scatterv => root..root + 1,
        Collective::Reduce | Collective::Gather | Collective::Gatherv if rank != root => 0..0,
        Collective::Scan | Collective::Exscan => 0..rank,
        Collective::Barrier
        | Collective::Reduce
        | Collective::Allreduce
        | Collective::Gather
        | Collective::Allgather
        | Collective::Alltoall
        | Collective::ReduceScatter
        | Collective::Gatherv
        | Collective::Allgatherv
        | Collective::Alltoallv
        | Collective::ReduceScatterv => 0..size,
    }
}

/// The calls of one rank.
#[derive(Debug)]
pub(super) struct CallLog {
    rank: usize,
    /// Of all ranks.
    stamps: Arc<[ArrivalStamps]>,
    /// Calls that are not split yet, and when each returned.
    waiting: Vec<(Call, u64)>,
    sums: BTreeMap<(CallSite, CallKind), CallSums>,
    /// The thread that has called first, which need not be the one that has joined the rank.
    pub(super) thread: Option<ThreadId>,
    /// When the rank was joined, and when its member was dropped, or came to the end of a run that no other has followed.
    pub(super) joined: Option<u64>,
    pub(super) dropped: Option<u64>,
}

impl CallLog {
    pub(super) fn new(rank: usize, stamps: Arc<[ArrivalStamps]>) -> Self {
        Self {
            rank,
            stamps,
            waiting: Vec::with_capacity(BATCH),
            sums: BTreeMap::new(),
            thread: None,
            joined: None,
            dropped: None,
        }
    }

    /// Notes that the calling thread calls.
    pub(super) fn visit(&mut self) {
        if self.thread.is_none() {
            self.thread = Some(thread::current().id());
        }
    }

    /// Adds a call that returned at `left`.
    pub(super) fn add(&mut self, call: Call, left: u64) {
        self.settle_old(call.seq);
        self.waiting.push((call, left));
    }

    /// Splits calls before their stamps are overwritten, where this rank has come to operation number `seq`.
    pub(super) fn settle_old(&mut self, seq: u64) {
        // Operations in flight have numbers as well, so the oldest call may be older than there are calls.
        let is_old = |(oldest, _): &(Call, u64)| seq - oldest.seq >= BATCH as u64;
        if self.waiting.first().is_some_and(is_old) {
            self.settle();
        }
    }

    /// Adds a call that is not split.
    pub(super) fn add_whole(&mut self, kind: CallKind, site: CallSite, sums: CallSums) {
        *self.sums.entry((site, kind)).or_default() += sums;
    }

    /// Splits the calls that wait for it, and returns all sums.
    pub(super) fn settle(&mut self) -> &BTreeMap<(CallSite, CallKind), CallSums> {
        let mut waiting = std::mem::take(&mut self.waiting);
        for (call, left) in waiting.drain(..) {
            let sums = match self.last_arrival(&call, left) {
                Some(last) => CallSums::split(call.came, last, left),
                None => CallSums::whole(call.came, left),
            };
            self.add_whole(CallKind::Operation(call.kind), call.site, sums);
        }
        self.waiting = waiting;
        &self.sums
    }

    /// The last arrival that a call depends on; `None` if that is not known any more.
    fn last_arrival(&self, call: &Call, left: u64) -> Option<u64> {
        let ranks = awaited(call.kind, call.root as usize, self.rank, self.stamps.len());
        let others = ranks.filter(|&rank| rank != self.rank);
        others
            .map(|rank| match self.stamps[rank].read(call.seq, left) {
                Arrival::At(time) => Some(time),
                // As if it came right after: an operation without data need not wait.
                Arrival::NotYet => Some(left),
                Arrival::Overwritten => None,
            })
            .try_fold(call.came, |last, time| Some(last.max(time?)))
    }
}
