//! Streams of tasks through teams of threads, over the rdy-ack interface (Mencagli and others, §6 and §7).
//!
//! Not collectives: what `crates/collectives` has is run by [`corecast_sim::drive`]. These are the programs with which that paper
//! measured what its *home-forwarding* saves, so that the machine underneath can be held against its figures.
//!
//! ```text
//!   farm     emitter ──► one of many workers ──► collector        a task is a matrix
//!   map      scatter ──► two workers ──► two each … ──► gather    a task is some rows of one
//! ```
//!
//! [`port`] is the interface, and what stands in for it in the generic runtime; [`farm`] and [`map`] are the programs.
//!
//! What the paper does not say is assumed as follows, and nothing of it was fitted:
//!
//! - a core moves a word a cycle, 16 for a line, whether it makes it, stores it or reads it for the first time;
//! - the grain, which is the time of the sequential program, has all hits of that program in it;
//! - threads are on tiles in the order emitter, collector, workers; each interface has one place;
//! - buffers of the generic runtime come from the heap, as glibc has it: an arena with a lock for each thread, to
//!   which a block returns, and of which it is given out first that was freed first.

pub mod farm;
pub mod map;
pub mod port;

use corecast_sim::engine::{Cpu, RunOptions, Setup, SimError, run};
use corecast_sim::machine::SimMachine;
use corecast_sim::memory::Counts;
use std::cell::Cell;
use std::fmt;

/// How threads pass tasks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamRuntime {
    /// RA: shared flags, homes anywhere, invalidation.
    Plain,
    /// RA-HF, which the paper's tables also call RA-SM: shared flags; who is not at home forwards its stores and keeps
    /// no copy.
    Flags,
    /// RA-UDN: notifications past the caches; data as before.
    Signals,
    /// FF-QUEUE: queues of pointers, homes anywhere, invalidation.
    Queues,
}

impl StreamRuntime {
    /// Those that run farms and maps, in the order of the paper's tables.
    pub const STREAMS: [Self; 3] = [Self::Signals, Self::Flags, Self::Queues];

    /// Whether lines are spread over all homes.
    pub const fn spreads(self) -> bool {
        matches!(self, Self::Plain | Self::Queues)
    }
}

impl fmt::Display for StreamRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Plain => "RA",
            Self::Flags => "RA-HF",
            Self::Signals => "RA-UDN",
            Self::Queues => "FF-QUEUE",
        })
    }
}

/// Words of a line: of 4 bytes, in lines of 64.
pub const WORDS: usize = 16;

/// What tells a worker that no task follows.
const END: u64 = u64::MAX;

/// What a stream took, in units of the machine, from a task in the middle to the last.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamFlow {
    /// Between two tasks, on average.
    pub service: f64,
    /// Requests from one core's caches to another's, for a task.
    pub requests: f64,
    /// Of those, copies that were invalidated.
    pub invalidations: f64,
    /// Lines that came from memory or went there, for a task.
    pub memory: f64,
}

/// How far it was, at the collector.
#[derive(Clone, Debug)]
struct StreamMark {
    at: f64,
    /// Tasks that have been sent off.
    sent: u64,
    counts: Counts,
}

impl StreamMark {
    fn here(cpu: &mut Cpu<'_>, sent: &Cell<u64>) -> Self {
        Self {
            counts: cpu.counts(),
            sent: sent.get(),
            at: cpu.now(),
        }
    }

    /// From this one to a later one, between which so many tasks came back. Of requests, half are counted for tasks
    /// that were sent, half for those that came back: where more are under way at the end than at the beginning,
    /// they are half done.
    fn flow(&self, later: &Self, back: usize) -> StreamFlow {
        use corecast_sim::memory::LineSource::Memory;
        let sent = later.sent - self.sent;
        let (back, tasks) = (back as f64, (sent as f64 + back as f64) / 2.0);
        let of = |what: fn(&Counts) -> u64| (what(&later.counts) - what(&self.counts)) as f64;
        StreamFlow {
            service: (later.at - self.at) / back,
            requests: of(Counts::to_other_caches) / tasks,
            invalidations: of(|counts| counts.invalidations) / tasks,
            memory: of(|counts| counts.from(Memory) + counts.write_backs) / tasks,
        }
    }
}

/// Where the tasks that are measured begin and end.
#[derive(Debug)]
struct StreamMarks {
    before: usize,
    tasks: usize,
    first: Option<StreamMark>,
    last: Option<StreamMark>,
}

impl StreamMarks {
    /// `tasks` of them, after those `before`.
    fn new(before: usize, tasks: usize) -> Self {
        Self {
            before,
            tasks,
            first: None,
            last: None,
        }
    }

    /// The collector has come to this task.
    fn pass(&mut self, task: usize, cpu: &mut Cpu<'_>, sent: &Cell<u64>) {
        if task == self.before {
            self.first = Some(StreamMark::here(cpu, sent));
        } else if task == self.before + self.tasks {
            self.last = Some(StreamMark::here(cpu, sent));
        }
    }

    fn flow(self) -> StreamFlow {
        let marks = self.first.zip(self.last);
        let (first, last) = marks.expect("tasks are measured");
        first.flow(&last, self.tasks)
    }
}

/// Runs a program with a thread for each of so many cores from 0 on: the flow that its collector has seen.
fn flow<S: 'static>(
    machine: &SimMachine,
    threads: usize,
    setup: impl FnOnce(&mut Setup<'_>) -> S,
    body: impl Fn(&mut Cpu<'_>, &S) -> Option<StreamFlow> + 'static,
) -> Result<StreamFlow, SimError> {
    let cores: Vec<usize> = (0..threads).collect();
    let options = RunOptions {
        limit: 1e12,
        checking: false,
        ..RunOptions::default()
    };
    let outcome = run(machine, &cores, &options, setup, body)?;
    let mut found = outcome.results.into_iter().flatten();
    Ok(found.next().expect("the collector measures"))
}
