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

pub use log::{CallKind, CallSums};
pub(crate) use stamps::{ArrivalStamps, STAMP_LINES};

use corecast_collectives::Collective;
use corecast_wire::arch::{cycles, cycles_per_ns};
use corecast_wire::fork::{ForkDetector, forked_since};
use corecast_wire::sync::{Mutex, MutexGuard};
use log::{Call, CallLog};
use std::panic::Location;
use std::sync::{Arc, PoisonError};

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
    /// Where it called.
    pub site: &'static Location<'static>,
    /// The operation.
    pub kind: CallKind,
    /// The number of calls and their times.
    pub sums: CallSums,
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
        let (rate, now) = (cycles_per_ns(), cycles());
        let member = |(_, log): (usize, &Arc<Mutex<CallLog>>)| {
            let log = locked(log);
            let end = log.dropped.unwrap_or(now);
            log.joined.map_or(0, |joined| end.saturating_sub(joined))
        };
        in_ns(self.logs().map(member).sum(), rate)
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
}

impl Recorder {
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
            site,
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
        log.add_whole(kind, site, sums);
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
