//! The state of a run in virtual time: the memory, the events to come, and what each core waits for.

use super::outcome::RunOptions;
use crate::memory::{Access, LineRequest, Memory};
use crate::trace::Trace;
use crate::{VirtualTime, ticks};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// What happens at some time.
#[derive(Clone, Copy, Debug)]
pub(super) enum SimEvent {
    /// A rank goes on.
    Run(u32),
    /// A request arrives at its agent.
    Arrive(u32),
    /// A request is done.
    Done(u32),
    /// A notification arrives.
    Signal { to: u32, tag: u32 },
}

/// An event in the queue. Of two, the later one is less, so that the heap has the earliest at its top.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) at: VirtualTime,
    /// Events that there ever were: of two at the same time the first comes first.
    pub(super) count: u64,
    pub(super) event: SimEvent,
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.count).cmp(&(self.at, self.count))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
    }
}

impl Eq for Due {}

/// What a rank stands still for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoreWait {
    /// Its turn.
    Turn,
    /// A line.
    Line(u32),
    /// Another content of a line.
    Change(u32),
    /// Room for a store.
    Room,
    /// All of its stores.
    Stores,
    /// Lines that it copies.
    Copies,
    /// A notification, with any tag from the first to the last.
    Signal(u32, u32),
    /// All other ranks.
    Meeting,
    /// Nothing: it has ended.
    Over,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The rank waits for it.
    Answer,
    /// A store that has been buffered, by its number.
    Store(u64),
    /// One of several lines.
    Copy,
}

/// What a core does beside its caches.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) wait: CoreWait,
    /// Of the last request that the rank waited for.
    pub(super) answer: u64,
    pub(super) stores: VecDeque<Buffered>,
    /// Stores that were ever buffered.
    pub(super) stored: u64,
    /// Lines of a copy that are under way.
    pub(super) copies: usize,
    /// Notifications that have come, by tag.
    pub(super) inbox: Vec<(u32, u32)>,
}

/// Everything but the ranks' stacks.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) memory: Memory,
    pub(crate) now: VirtualTime,
    pub(super) events: BinaryHeap<Due>,
    /// Events that there ever were.
    pub(super) count: u64,
    pub(super) requests: Vec<(LineRequest, Purpose)>,
    pub(super) free: Vec<u32>,
    /// Requests that wait for a busy line, in the order of their arrival; the first one comes back when the line
    /// should be free.
    pub(super) queued: BTreeMap<u32, VecDeque<u32>>,
    pub(super) cores: Vec<Core>,
    pub(crate) trace: Trace,
    /// Who goes on next, if that is known.
    pub(super) chosen: Option<u32>,
    /// When the run is given up.
    pub(super) limit: VirtualTime,
    /// Cores that wait for all others.
    pub(super) meeting: Vec<u32>,
    pub(super) random: fastrand::Rng,
    /// Requests are late by up to so much.
    pub(super) jitter: VirtualTime,
}

/// How far a buffered store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreProgress {
    /// Nothing was done for it.
    Waits,
    /// Its line is on the way.
    Asked,
    /// Its line has come, or had.
    Ready,
    /// It is written, but the answers are still on their way.
    Written,
}

/// A store that is not done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffered {
    pub(super) number: u64,
    pub(super) line: u32,
    pub(super) word: u64,
    pub(super) what: Access,
    pub(super) progress: StoreProgress,
}

impl World {
    pub(super) fn new(memory: Memory, trace: Trace, options: &RunOptions) -> Self {
        let core = || Core {
            wait: CoreWait::Turn,
            answer: 0,
            stores: VecDeque::new(),
            stored: 0,
            copies: 0,
            inbox: Vec::new(),
        };
        let cores = memory.machine.cores.iter().map(|_| core()).collect();
        Self {
            memory,
            now: 0,
            events: BinaryHeap::new(),
            count: 0,
            requests: Vec::new(),
            free: Vec::new(),
            queued: BTreeMap::new(),
            cores,
            trace,
            chosen: None,
            limit: ticks(options.limit),
            meeting: Vec::new(),
            random: fastrand::Rng::with_seed(options.seed),
            jitter: ticks(options.jitter),
        }
    }

    pub(super) fn push(&mut self, at: VirtualTime, event: SimEvent) {
        self.count += 1;
        let count = self.count;
        self.events.push(Due { at, count, event });
    }

    /// The time of the next event.
    pub(super) fn due(&self) -> Option<VirtualTime> {
        self.events.peek().map(|due| due.at)
    }

    /// Sends a request on its way.
    pub(super) fn issue(&mut self, mut request: LineRequest, purpose: Purpose) {
        let late = match self.jitter {
            0 => 0,
            jitter => self.random.u64(0..=jitter),
        };
        let at = self.memory.begin(self.now, &mut request, self.now + late);
        let id = match self.free.pop() {
            Some(id) => {
                self.requests[id as usize] = (request, purpose);
                id
            }
            None => {
                self.requests.push((request, purpose));
                self.requests.len() as u32 - 1
            }
        };
        self.push(at, SimEvent::Arrive(id));
    }
}
