//! Virtual time: one coroutine per rank, and events in the order of their times.
//!
//! A rank runs until something is due that is earlier than its own clock; then it stands still, and the
//! earliest event is next. So all operations happen in the order of virtual time, and of two at the same time
//! the one that was asked for first: the same run gives the same, bit by bit, on every machine.
//!
//! ```text
//!   rank      load, hits: clock + 2        load, misses: a request, and the rank stands still
//!   events    ── arrives at its agent ──► states change, servers are booked ──► done: the rank goes on
//! ```
//!
//! A rank that polls costs no events: it sleeps until its copy of the line is invalidated, and looks again.

mod cpu;
mod run;
mod stores;

pub use cpu::Cpu;
pub use run::{Options, Outcome, ServerUse, Setup, SimError, run};

use crate::memory::{self, Memory, Request};
use crate::trace::Trace;
use crate::{Time, ticks};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use stores::Buffered;

/// What happens at some time.
#[derive(Clone, Copy, Debug)]
enum Event {
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
struct Due {
    at: Time,
    /// Events that there ever were: of two at the same time the first comes first.
    count: u64,
    event: Event,
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
enum Wait {
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
enum Purpose {
    /// The rank waits for it.
    Answer,
    /// A store that has been buffered, by its number.
    Store(u64),
    /// One of several lines.
    Copy,
}

/// What a core does beside its caches.
#[derive(Debug)]
struct Core {
    wait: Wait,
    /// Of the last request that the rank waited for.
    answer: u64,
    stores: VecDeque<Buffered>,
    /// Stores that were ever buffered.
    stored: u64,
    /// Lines of a copy that are under way.
    copies: usize,
    /// Notifications that have come, by tag.
    inbox: Vec<(u32, u32)>,
}

/// Everything but the ranks' stacks.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) memory: Memory,
    pub(crate) now: Time,
    events: BinaryHeap<Due>,
    /// Events that there ever were.
    count: u64,
    requests: Vec<(Request, Purpose)>,
    free: Vec<u32>,
    /// Requests that wait for a busy line, in the order of their arrival; the first one comes back when the line
    /// should be free.
    queued: BTreeMap<u32, VecDeque<u32>>,
    cores: Vec<Core>,
    pub(crate) trace: Trace,
    /// Who goes on next, if that is known.
    chosen: Option<u32>,
    /// When the run is given up.
    limit: Time,
    /// Cores that wait for all others.
    meeting: Vec<u32>,
    random: fastrand::Rng,
    /// Requests are late by up to so much.
    jitter: Time,
}

impl World {
    fn new(memory: Memory, trace: Trace, options: &Options) -> Self {
        let core = || Core {
            wait: Wait::Turn,
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

    fn push(&mut self, at: Time, event: Event) {
        self.count += 1;
        let count = self.count;
        self.events.push(Due { at, count, event });
    }

    /// The time of the next event.
    fn due(&self) -> Option<Time> {
        self.events.peek().map(|due| due.at)
    }

    /// Sends a request on its way.
    fn issue(&mut self, mut request: Request, purpose: Purpose) {
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
        self.push(at, Event::Arrive(id));
    }

    /// Whether the rank on `core`, which stands still, is the next that goes on. If not, who is is kept for
    /// [`next`](Self::next).
    fn next_is(&mut self, core: u32) -> bool {
        self.chosen = self.next();
        let mine = self.chosen == Some(core) && self.now <= self.limit;
        if mine {
            self.chosen = None;
        }
        mine
    }

    /// Handles events up to the next one that lets a rank go on: that rank. `None` if there are no more.
    fn next(&mut self) -> Option<u32> {
        if let Some(core) = self.chosen.take() {
            return Some(core);
        }
        loop {
            let Due { at, event, .. } = self.events.pop()?;
            self.now = at;
            match event {
                Event::Run(core) => {
                    self.cores[core as usize].wait = Wait::Turn;
                    return Some(core);
                }
                Event::Arrive(id) => self.arrive(id),
                Event::Done(id) => {
                    if let Some(core) = self.done(id) {
                        return Some(core);
                    }
                }
                Event::Signal { to, tag } => {
                    let core = &mut self.cores[to as usize];
                    match core.inbox.iter_mut().find(|entry| entry.0 == tag) {
                        Some(entry) => entry.1 += 1,
                        None => core.inbox.push((tag, 1)),
                    }
                    if let Wait::Signal(first, last) = core.wait
                        && (first..=last).contains(&tag)
                    {
                        core.wait = Wait::Turn;
                        return Some(to);
                    }
                }
            }
        }
    }

    fn arrive(&mut self, id: u32) {
        let request = &mut self.requests[id as usize].0;
        let line = request.line;
        match self.memory.arrive(self.now, request) {
            memory::Outcome::Busy(until) => return self.queue(id, line, until),
            memory::Outcome::Arrives(at) => self.push(at, Event::Arrive(id)),
            memory::Outcome::Done(at) => {
                self.push(at, Event::Done(id));
                let (request, purpose) = self.requests[id as usize];
                if let Purpose::Store(number) = purpose {
                    self.written(request.core, number, request.what);
                }
            }
        }
        if !self.queued.is_empty() {
            self.unqueue(id, line);
        }
        self.wake();
    }

    /// A request found its line busy.
    fn queue(&mut self, id: u32, line: u32, until: Time) {
        let queue = self.queued.entry(line).or_default();
        if queue.front() != Some(&id) {
            queue.push_back(id);
        }
        if queue.front() == Some(&id) {
            self.push(until, Event::Arrive(id));
        }
    }

    /// A request got its line: if it had waited, the next one is the first now.
    fn unqueue(&mut self, id: u32, line: u32) {
        let Some(queue) = self.queued.get_mut(&line) else {
            return;
        };
        if queue.front() != Some(&id) {
            return;
        }
        queue.pop_front();
        match queue.front() {
            Some(&next) => {
                let free = self.memory.line(line).busy.max(self.now);
                self.push(free, Event::Arrive(next));
            }
            None => drop(self.queued.remove(&line)),
        }
    }

    /// Ranks that have lost a line which they watch look again.
    fn wake(&mut self) {
        while let Some((at, core)) = self.memory.wakes.pop() {
            self.push(at.max(self.now), Event::Run(core));
        }
    }

    /// A request is done; the rank that goes on now.
    fn done(&mut self, id: u32) -> Option<u32> {
        let (request, purpose) = self.requests[id as usize];
        self.free.push(id);
        let core = &mut self.cores[request.core as usize];
        let goes_on = match purpose {
            Purpose::Answer => {
                core.answer = request.word;
                true
            }
            Purpose::Copy => {
                core.copies -= 1;
                core.wait == Wait::Copies
            }
            Purpose::Store(number) => {
                self.drained(request.core, number, request.what);
                let core = &self.cores[request.core as usize];
                let room = core.stores.len() < self.memory.machine.sizes.stores;
                match core.wait {
                    Wait::Room => room,
                    Wait::Stores => core.stores.is_empty(),
                    _ => false,
                }
            }
        };
        goes_on.then(|| {
            self.cores[request.core as usize].wait = Wait::Turn;
            request.core
        })
    }
}
