//! The state of a run in virtual time: the memory, the events to come, and what each core waits for.

use super::outcome::RunOptions;
use crate::memory::{Access, LineRequest, Memory};
use crate::trace::Trace;
use crate::{VirtualTime, ticks};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// An event in virtual time.
#[derive(Clone, Copy, Debug)]
pub(super) enum SimEvent {
    /// The rank on this core continues.
    Run(u32),
    /// A request arrives at its agent.
    Arrive(u32),
    /// A request is done.
    Done(u32),
    /// A notification arrives.
    Signal { to: u32, tag: u32 },
}

/// An event in the queue. A later event is less than an earlier one, so that the heap has the earliest on top.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) at: VirtualTime,
    /// The number of the event; of two events at the same time the one with the lower number comes first.
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

/// Why the rank on a core is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CoreWait {
    /// Earlier events have to happen first.
    Turn,
    /// It waits for a line.
    Line(u32),
    /// It polls a line, and waits for a change.
    Change(u32),
    /// It waits for a free entry of its store buffer.
    Room,
    /// It waits for all of its stores.
    Stores,
    /// It waits for lines that it copies.
    Copies,
    /// It waits for a notification with a tag from the first to the last.
    Signal(u32, u32),
    /// It waits for all other ranks.
    Barrier,
    /// It has ended.
    Over,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// An operation of the rank, which waits for the answer.
    Answer,
    /// The buffered store with this number.
    Store(u64),
    /// One line of a copy.
    Copy,
}

/// The state of a core beside its caches.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) wait: CoreWait,
    /// The result of the last request for which the rank waited.
    pub(super) answer: u64,
    pub(super) stores: VecDeque<Buffered>,
    /// How many stores were buffered so far.
    pub(super) stored: u64,
    /// Lines of a copy that are under way.
    pub(super) copies: usize,
    /// Notifications that have arrived: tag and count.
    pub(super) inbox: Vec<(u32, u32)>,
}

/// The whole state of a run, except the stacks of its ranks.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) memory: Memory,
    pub(crate) now: VirtualTime,
    pub(super) events: BinaryHeap<Due>,
    /// How many events there were so far.
    pub(super) count: u64,
    pub(super) requests: Vec<(LineRequest, Purpose)>,
    pub(super) free: Vec<u32>,
    /// Requests that wait for a busy line, in the order of their arrival. The first one is tried again when the line
    /// should be free.
    pub(super) queued: BTreeMap<u32, VecDeque<u32>>,
    pub(super) cores: Vec<Core>,
    pub(crate) trace: Trace,
    /// The core whose rank continues next, if that is known.
    pub(super) chosen: Option<u32>,
    /// The time at which the run is given up.
    pub(super) limit: VirtualTime,
    /// Cores that wait for all others.
    pub(super) counter_barrier: Vec<u32>,
    pub(super) random: fastrand::Rng,
    /// The greatest random delay of a request.
    pub(super) jitter: VirtualTime,
}

/// The progress of a buffered store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreProgress {
    /// No request was made for it.
    Waits,
    /// Its line was requested.
    Asked,
    /// Its line is in the cache, or was there.
    Ready,
    /// It is written, but not all answers have arrived.
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
            counter_barrier: Vec::new(),
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
