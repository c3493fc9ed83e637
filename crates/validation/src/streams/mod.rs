//! Streams of tasks through teams of threads, over the rdy-ack interface (Mencagli and others, §6 and §7).
//!
//! These programs are not collectives. With them the paper measured how much its *home-forwarding* saves; here they run
//! on the simulated machine, whose figures can then be compared with the paper's.
//!
//! ```text
//!   farm     emitter ──► one of many workers ──► collector        a task is a matrix
//!   map      scatter ──► two workers ──► two each … ──► gather    a task is some rows of one
//! ```
//!
//! [`port`] is the interface between threads in each of the runtimes; [`farm`] and [`map`]
//! are the programs.
//!
//! Where the paper gives no details, these are assumed; none of them was fitted:
//!
//! - a core creates, stores or first reads one word per cycle, so 16 cycles for a line;
//! - the grain, the time of the sequential program, includes all cache hits of that program;
//! - threads are on tiles in the order emitter, collector, workers; each interface holds one message;
//! - buffers of the generic runtime come from the heap as in glibc: each thread has an arena with a lock, a freed block
//!   returns to its arena, and the block that was freed first is allocated first.

pub mod farm;
pub mod map;
pub mod port;

use corecast_sim::engine::{Cpu, RunOptions, Setup, SimError, run};
use corecast_sim::machine::SimMachine;
use corecast_sim::memory::Counts;
use std::cell::Cell;
use std::fmt;

/// How threads pass tasks to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamRuntime {
    /// RA: shared flags, spread homes, invalidation.
    Plain,
    /// RA-HF, which the paper's tables also call RA-SM: shared flags; a thread that is not at home forwards its stores
    /// and keeps no copy.
    Flags,
    /// RA-UDN: notifications without the caches; data as in RA-HF.
    Signals,
    /// FF-QUEUE: queues of pointers, spread homes, invalidation.
    Queues,
}

impl StreamRuntime {
    /// The runtimes of farms and maps, in the order of the paper's tables.
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

/// Words of 4 bytes in a line of 64 bytes.
pub const WORDS: usize = 16;

/// The word that tells a worker that no task follows.
const END: u64 = u64::MAX;

/// The measurements of a stream, per task, in units of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamFlow {
    /// The mean time between two tasks.
    pub service: f64,
    /// Requests from one core's caches to another's.
    pub requests: f64,
    /// Those requests that invalidated a copy.
    pub invalidations: f64,
    /// Lines that were read from memory or written back.
    pub memory: f64,
}

/// The state of a stream when a task arrives at the collector.
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

    /// The measurements between this state and a later one; `back` tasks came back between them. Requests are divided
    /// by the mean of the tasks that were sent and those that came back, because tasks that are under way are half
    /// done.
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

/// The states before and after the measured tasks.
#[derive(Debug)]
struct StreamMarks {
    before: usize,
    tasks: usize,
    first: Option<StreamMark>,
    last: Option<StreamMark>,
}

impl StreamMarks {
    /// Measures `tasks` tasks, after the first `before`.
    fn new(before: usize, tasks: usize) -> Self {
        Self {
            before,
            tasks,
            first: None,
            last: None,
        }
    }

    /// Notes that the collector has come to this task.
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

/// Runs a program with one thread on each of the first `threads` cores; returns the measurements of its collector.
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
