//! The threads of a race.
//!
//! A crew is one thread per placement, kept for the whole race. Between jobs its
//! threads sleep on a condition variable, since another crew or another process
//! may be under measurement then. For a batch they wake, meet at a start line,
//! and each notes when it starts and when it ends.
//!
//! ```text
//! controller   post(job) ──────── sleeps ───────────────► outcomes
//! rank 0          wake ─ warm ─┐ line ┌─ start … end ─┐
//! rank 1             wake ─ warm ─────┘─ start … end ────┘ report, sleep
//! ```

use crate::cpu_placement::{self, CpuPlacement};
use crate::engine::{Engine, Flaw, Ledger, Member};
use crate::sized::RankTimes;
use std::any::Any;
use std::hint;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

/// Pauses before a rank with a PU of its own yields it, since unpinned ranks may come to share one.
/// They take about as long as a wake-up, so that an idle machine never yields.
const SPINS: u32 = 4000;

/// Threads on one list of placements, and the engines that run on them.
pub(crate) struct Crew<'a> {
    placements: Vec<CpuPlacement>,
    engines: Vec<&'a dyn Engine>,
    post: Mutex<CrewPost>,
    posted: Condvar,
    finished: Condvar,
    line: StartLine,
}

/// A job of all threads of a crew. Engines are numbered within the crew.
#[derive(Clone, Copy, Debug)]
enum CrewJob {
    Pin,
    Verify { engine: usize },
    Batch { engine: usize, operations: u64 },
    Dismiss,
}

struct CrewPost {
    number: u64,
    job: CrewJob,
    ledger: Option<Arc<Ledger>>,
    working: usize,
    outcomes: Vec<RankOutcome>,
}

#[derive(Clone)]
enum RankOutcome {
    None,
    Pinned(Result<(), String>),
    Verified(Result<(), Flaw>),
    Ran {
        start: Instant,
        end: Instant,
        own: Option<Duration>,
    },
    Panicked(String),
}

impl<'a> Crew<'a> {
    pub(crate) fn new(placements: &[CpuPlacement]) -> Crew<'a> {
        Crew {
            placements: placements.to_vec(),
            engines: Vec::new(),
            post: Mutex::new(CrewPost {
                number: 0,
                job: CrewJob::Pin,
                ledger: None,
                working: 0,
                outcomes: vec![RankOutcome::None; placements.len()],
            }),
            posted: Condvar::new(),
            finished: Condvar::new(),
            line: StartLine::new(placements),
        }
    }

    /// Adds an engine and returns its number in this crew.
    pub(crate) fn add(&mut self, engine: &'a dyn Engine) -> usize {
        self.engines.push(engine);
        self.engines.len() - 1
    }

    /// Starts the threads, none if there is no engine. They end when the returned guard is dropped.
    pub(crate) fn muster<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> Mustered<'scope>
    where
        'a: 'scope,
    {
        let ranks = match self.engines.is_empty() {
            true => 0,
            false => self.placements.len(),
        };
        for rank in 0..ranks {
            scope.spawn(move || self.work(rank));
        }
        Mustered { crew: self }
    }

    fn lock(&self) -> MutexGuard<'_, CrewPost> {
        // Jobs run outside the lock and catch panics, so the state is whole.
        self.post.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_up(&self, job: CrewJob, ledger: Option<Arc<Ledger>>) -> MutexGuard<'_, CrewPost> {
        let mut post = self.lock();
        post.number += 1;
        post.job = job;
        post.ledger = ledger;
        post.working = self.placements.len();
        post.outcomes.fill(RankOutcome::None);
        self.posted.notify_all();
        post
    }

    fn perform(&self, job: CrewJob, ledger: Option<Arc<Ledger>>) -> Vec<RankOutcome> {
        let post = self.put_up(job, ledger);
        let post = self
            .finished
            .wait_while(post, |post| post.working > 0)
            .unwrap_or_else(PoisonError::into_inner);
        post.outcomes.clone()
    }

    fn work(&self, rank: usize) {
        let mut members: Vec<Option<Box<dyn Member + '_>>> =
            self.engines.iter().map(|_| None).collect();
        let mut seen = 0;
        loop {
            let (job, ledger) = {
                let post = self
                    .posted
                    .wait_while(self.lock(), |post| post.number == seen)
                    .unwrap_or_else(PoisonError::into_inner);
                seen = post.number;
                (post.job, post.ledger.clone())
            };
            if matches!(job, CrewJob::Dismiss) {
                return;
            }
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
                self.carry_out(rank, job, ledger.as_deref(), &mut members)
            }))
            .unwrap_or_else(|panic| RankOutcome::Panicked(panic_text(panic.as_ref())));
            let mut post = self.lock();
            post.outcomes[rank] = outcome;
            post.working -= 1;
            if post.working == 0 {
                self.finished.notify_all();
            }
        }
    }

    fn carry_out<'s>(
        &'s self,
        rank: usize,
        job: CrewJob,
        ledger: Option<&Ledger>,
        members: &mut [Option<Box<dyn Member + 's>>],
    ) -> RankOutcome {
        match (job, ledger) {
            (CrewJob::Pin, _) => RankOutcome::Pinned(cpu_placement::take(self.placements[rank])),
            (CrewJob::Verify { engine }, Some(ledger)) => {
                let member =
                    members[engine].get_or_insert_with(|| self.engines[engine].member(rank));
                self.line.meet();
                RankOutcome::Verified(member.verify(rank, ledger))
            }
            (CrewJob::Batch { engine, operations }, _) => {
                let member =
                    members[engine].get_or_insert_with(|| self.engines[engine].member(rank));
                member.turn();
                // Brings caches, branch prediction and sleeping threads into their
                // steady state after the wake-up.
                member.run(operations / 16);
                self.line.meet();
                let start = Instant::now();
                let own = member.measure(operations);
                let end = Instant::now();
                RankOutcome::Ran { start, end, own }
            }
            (CrewJob::Verify { .. } | CrewJob::Dismiss, _) => RankOutcome::None,
        }
    }
}

/// A crew whose threads run; dismisses them when dropped.
pub(crate) struct Mustered<'s> {
    crew: &'s Crew<'s>,
}

impl Mustered<'_> {
    /// Moves every thread to its placement; returns one line for each refusal.
    pub(crate) fn pin(&self) -> Vec<String> {
        if self.crew.engines.is_empty() {
            return Vec::new();
        }
        let outcomes = self.crew.perform(CrewJob::Pin, None);
        let refused = outcomes.into_iter().filter_map(|outcome| match outcome {
            RankOutcome::Pinned(Err(reason)) => Some(reason),
            _ => None,
        });
        refused.collect()
    }

    /// Checks an engine on all ranks; the error is the reason for which it fails.
    pub(crate) fn verify(&self, engine: usize, rounds: u64) -> Result<(), String> {
        let wanted = self.crew.engines[engine].ranks();
        if wanted != self.crew.placements.len() {
            return Err(format!(
                "the engine is for {wanted} ranks and this race has {}: it is not timed",
                self.crew.placements.len()
            ));
        }
        let ledger = Arc::new(Ledger::new(wanted, rounds));
        let job = CrewJob::Verify { engine };
        for outcome in self.crew.perform(job, Some(ledger)) {
            match outcome {
                RankOutcome::Verified(result) => result.map_err(|flaw| flaw.to_string())?,
                RankOutcome::Panicked(text) => return Err(format!("a rank panicked: {text}")),
                _ => {}
            }
        }
        Ok(())
    }

    /// Runs one batch. Returns the time from the first start to the last end, or the longest that
    /// members measured themselves; and the times that the ranks saw.
    pub(crate) fn batch(
        &self,
        engine: usize,
        operations: u64,
    ) -> Result<(Duration, Option<RankTimes>), String> {
        let mut means = Vec::new();
        let mut first: Option<Instant> = None;
        let mut last: Option<Instant> = None;
        let mut longest: Option<Duration> = None;
        for outcome in self
            .crew
            .perform(CrewJob::Batch { engine, operations }, None)
        {
            match outcome {
                RankOutcome::Ran { start, end, own } => {
                    longest = longest.max(own);
                    means.push((end - start).as_nanos() as f64 / operations.max(1) as f64);
                    first = Some(first.map_or(start, |first| first.min(start)));
                    last = Some(last.map_or(end, |last| last.max(end)));
                }
                RankOutcome::Panicked(text) => return Err(format!("a rank panicked: {text}")),
                _ => {}
            }
        }
        let whole = first.zip(last).map(|(first, last)| last - first);
        let times = match longest {
            Some(_) => self.crew.engines[engine].rank_times(),
            None => RankTimes::of_means(&means),
        };
        Ok((longest.or(whole).unwrap_or_default(), times))
    }
}

impl Drop for Mustered<'_> {
    fn drop(&mut self) {
        drop(self.crew.put_up(CrewJob::Dismiss, None));
    }
}

/// The barrier at which all ranks wait for the last of them before a batch.
struct StartLine {
    arrived: AtomicU64,
    ranks: u64,
    waiting: Waiting,
}

impl StartLine {
    fn new(placements: &[CpuPlacement]) -> StartLine {
        StartLine {
            arrived: AtomicU64::new(0),
            ranks: placements.len() as u64,
            waiting: Waiting::new(cpu_placement::oversubscribed(placements)),
        }
    }

    fn meet(&self) {
        // The count never goes back: arrival a belongs to start a / ranks.
        // AcqRel and Acquire pair with each other, so that what ranks did
        // before the line is ordered before what any rank does after it.
        let arrival = self.arrived.fetch_add(1, Ordering::AcqRel);
        let all = (arrival / self.ranks + 1) * self.ranks;
        self.waiting
            .until(|| self.arrived.load(Ordering::Acquire) >= all);
    }
}

/// How a rank waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    spins: u32,
}

impl Waiting {
    pub(crate) fn new(oversubscribed: bool) -> Waiting {
        Waiting {
            spins: if oversubscribed { 0 } else { SPINS },
        }
    }

    pub(crate) fn setting(self) -> String {
        match self.spins {
            0 => "yields".to_owned(),
            spins => format!("yields after {spins} pauses"),
        }
    }

    pub(crate) fn until(self, ready: impl Fn() -> bool) {
        let mut spins = 0;
        while !ready() {
            if spins < self.spins {
                spins += 1;
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
        .to_owned()
}
