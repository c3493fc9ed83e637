//! What members' calls take, if [`Options::record`](crate::Options::record) asks for it: for each call site, how much of
//! the time passed until the last rank came that the call depends on, and how much after that.
//!
//! ```text
//! arrival      the rank's stamp goes to its own lines                 stamps.rs
//! operation    runs as ever
//! return       the call goes to the rank's log                        log.rs
//! now and then 256 calls are split by the stamps of the others, and added up by call site
//! ```

mod log;
mod stamps;

pub use log::{CallKind, CallSite, CallSums};
pub(crate) use stamps::{ArrivalStamps, STAMP_LINES};

use corecast_collectives::Collective;
use corecast_wire::arch::{cycles, cycles_per_ns};
use corecast_wire::fork::{ForkDetector, forked_since};
use corecast_wire::sync::{Mutex, MutexGuard};
use log::{Call, CallLog};
use std::num::NonZeroUsize;
use std::panic::Location;
use std::sync::{Arc, PoisonError};
use std::thread::ThreadId;

/// The calls of a team's members, those of this process.
#[derive(Debug)]
pub struct Recording {
    stamps: Arc<[ArrivalStamps]>,
    /// By rank; `None` for ranks of other processes.
    logs: Vec<Option<Arc<Mutex<CallLog>>>>,
    fork_detector: ForkDetector,
}

/// The calls at one place of the program by one rank, with times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteCalls {
    /// The rank that called.
    pub rank: usize,
    /// Where it was called.
    pub site: CallSite,
    /// The operation.
    pub kind: CallKind,
    /// The number of calls and their times.
    pub sums: CallSums,
}

/// From joining a rank until its member was dropped or its last run has ended, in ticks of [`cycles`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The thread that has called first; `None` if there was no call.
    pub thread: Option<ThreadId>,
    /// When the rank was joined.
    pub joined: u64,
    /// When the member was dropped, or its last run has ended; the time of the question if it is still there.
    pub left: u64,
}

impl Recording {
    /// `stamps` has those of every rank, `owned` says which ranks are in this process.
    pub(crate) fn new(
        stamps: Vec<ArrivalStamps>,
        owned: &[bool],
        fork_detector: ForkDetector,
    ) -> Self {
        let stamps: Arc<[ArrivalStamps]> = stamps.into();
        let log = |(rank, &owned): (usize, &bool)| {
            owned.then(|| Arc::new(Mutex::new(CallLog::new(rank, Arc::clone(&stamps)))))
        };
        Self {
            logs: owned.iter().enumerate().map(log).collect(),
            stamps,
            fork_detector,
        }
    }

    /// The recorder of a rank of this process, whose member is joined now.
    pub(crate) fn recorder(&self, rank: usize) -> Option<Recorder> {
        let log = Arc::clone(self.logs.get(rank)?.as_ref()?);
        locked(&log).joined = Some(cycles());
        Some(Recorder {
            stamps: self.stamps[rank].clone(),
            log,
            call: None,
            caller: None,
        })
    }

    /// The calls that have returned so far, in the order of ranks, call sites and kinds; none in a forked process.
    ///
    /// # Cost
    ///
    /// A lock for each rank, and a look at the other ranks' arrivals at up to 256 operations each.
    pub fn calls(&self) -> Vec<SiteCalls> {
        let rate = cycles_per_ns();
        let mut all = Vec::new();
        for (rank, log) in self.logs() {
            let mut log = locked(log);
            all.extend(log.settle().iter().map(|(&(site, kind), sums)| SiteCalls {
                rank,
                site,
                kind,
                sums: sums.in_ns(rate),
            }));
        }
        all
    }

    /// Nanoseconds from joining a rank until its member was dropped or its last run has ended, or until now, of all members
    /// together.
    pub fn member_ns(&self) -> u64 {
        let rate = cycles_per_ns();
        let stays = self.stays();
        in_ns(stays.iter().map(|stay| stay.left - stay.joined).sum(), rate)
    }

    /// The stays of all members of this process, those that have joined.
    pub fn stays(&self) -> Vec<Stay> {
        let now = cycles();
        let stay = |(_, log): (usize, &Arc<Mutex<CallLog>>)| {
            let log = locked(log);
            let joined = log.joined?;
            Some(Stay {
                thread: log.thread,
                joined,
                left: log.dropped.unwrap_or(now).max(joined),
            })
        };
        self.logs().filter_map(stay).collect()
    }

    /// The logs of this process. Those of a parent may be locked by threads that are not in a forked process.
    fn logs(&self) -> impl Iterator<Item = (usize, &Arc<Mutex<CallLog>>)> {
        let here = !forked_since(&self.fork_detector);
        let logs = self.logs.iter().enumerate().filter(move |_| here);
        logs.filter_map(|(rank, log)| Some((rank, log.as_ref()?)))
    }
}

fn locked(log: &Mutex<CallLog>) -> MutexGuard<'_, CallLog> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_ns(ticks: u64, rate: f64) -> u64 {
    (ticks as f64 / rate).round() as u64
}

impl CallSums {
    fn in_ns(self, rate: f64) -> Self {
        Self {
            imbalance: in_ns(self.imbalance, rate),
            mechanism: in_ns(self.mechanism, rate),
            unsplit_time: in_ns(self.unsplit_time, rate),
            longest: in_ns(self.longest, rate),
            ..self
        }
    }
}

/// Records the calls of one member.
#[derive(Debug)]
pub(crate) struct Recorder {
    stamps: ArrivalStamps,
    log: Arc<Mutex<CallLog>>,
    /// The operation that the member is in.
    call: Option<Call>,
    /// Where the program has called whoever calls the member.
    caller: Option<NonZeroUsize>,
}

impl Recorder {
    /// Calls from now on are those of `caller`; of the places where the member is called if there is none.
    pub(crate) fn set_caller(&mut self, caller: Option<NonZeroUsize>) {
        self.caller = caller;
    }

    fn site(&self, site: &'static Location<'static>) -> CallSite {
        self.caller.map_or(CallSite::Source(site), CallSite::Code)
    }

    /// The member comes to operation number `seq`.
    #[cold]
    #[inline(never)]
    pub(crate) fn arrive(
        &mut self,
        seq: u64,
        kind: Collective,
        root: u32,
        site: &'static Location<'static>,
    ) {
        let came = cycles();
        self.stamps.note(seq, came);
        self.call = Some(Call {
            seq,
            kind,
            root,
            site: self.site(site),
            came,
        });
    }

    /// The operation has ended. One that failed is not split, as some ranks may never have come to it.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave(&mut self, succeeded: bool) {
        let left = cycles();
        let Some(call) = self.call.take() else {
            return;
        };
        let mut log = locked(&self.log);
        log.visit();
        match succeeded {
            true => log.add(call, left),
            false => {
                let kind = CallKind::Operation(call.kind);
                log.add_whole(kind, call.site, CallSums::whole(call.came, left));
            }
        }
    }

    /// A call that began at `came` returns, which is not split. The member has begun `seq` operations.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_whole(
        &self,
        (kind, site): (CallKind, &'static Location<'static>),
        came: u64,
        seq: u64,
    ) {
        let sums = CallSums::whole(came, cycles());
        let mut log = locked(&self.log);
        log.visit();
        log.add_whole(kind, self.site(site), sums);
        log.settle_old(seq);
    }

    /// The member is dropped, or has come to the end of a run.
    pub(crate) fn end(&self) {
        locked(&self.log).dropped = Some(cycles());
    }

    /// The member has come back.
    pub(crate) fn resume(&self) {
        locked(&self.log).dropped = None;
    }
}

#[cfg(test)]
mod tests;
