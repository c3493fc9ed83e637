//! The operations of a core, for the program of a rank.

use super::world::{CoreWait, Purpose, SimEvent, World};
use crate::memory::{Access, Agent, CopyState, CostTicks, Counts, LineId, LineRequest};
use crate::{VirtualTime, ticks, units};
use corosensei::Yielder;
use std::cell::RefCell;
use std::rc::Rc;

/// A core, for the program that runs on it.
///
/// Each operation takes virtual time; [`now`](Self::now) returns the current time. One word stands for the content of a
/// line.
pub struct Cpu<'y> {
    world: Rc<RefCell<World>>,
    yielder: &'y Yielder<(), ()>,
    core: u32,
    rank: usize,
    time: VirtualTime,
}

impl<'y> Cpu<'y> {
    pub(super) fn new(
        world: Rc<RefCell<World>>,
        yielder: &'y Yielder<(), ()>,
        core: u32,
        rank: usize,
    ) -> Self {
        let time = world.borrow().now;
        Self {
            world,
            yielder,
            core,
            rank,
            time,
        }
    }

    /// The rank that runs here.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The core that it runs on.
    pub fn core(&self) -> usize {
        self.core as usize
    }

    /// The current time of this rank, in units of the machine.
    pub fn now(&self) -> f64 {
        units(self.time)
    }

    pub(crate) fn time(&self) -> VirtualTime {
        self.time
    }

    /// Allocates consecutive lines, at home with `core` unless the machine spreads lines.
    pub(crate) fn allocate_at(&self, core: usize, lines: usize) -> LineId {
        self.world.borrow_mut().memory.allocate(core, lines)
    }

    /// Sets the states of a line as if `writer` had written it long ago, and `readers` had read it since.
    pub(crate) fn pretend(
        &self,
        line: LineId,
        writer: usize,
        readers: impl IntoIterator<Item = usize>,
    ) {
        let memory = &mut self.world.borrow_mut().memory;
        let word = memory.line(line.0).word;
        memory.at_once(writer, line, Some(word));
        for reader in readers {
            memory.at_once(reader, line, None);
        }
    }

    /// Sets the state of a line as if a core had read it long ago and kept its copy.
    pub(crate) fn pretend_read(&self, line: LineId, core: usize) {
        let memory = &mut self.world.borrow_mut().memory;
        if memory.line(line.0).copy(core as u32).is_none() {
            memory.at_once(core, line, None);
        }
    }

    /// Waits until `count` ranks are here; all continue at the same time. Counters and the timeline start anew.
    pub(crate) fn arrive_and_wait(&mut self, count: usize) {
        self.fence();
        let mut world = self.world.borrow_mut();
        world.counter_barrier.push(self.core);
        if world.counter_barrier.len() == count {
            let at = world.now;
            let mut all = std::mem::take(&mut world.counter_barrier);
            all.sort_unstable();
            for core in all {
                world.push(at, SimEvent::Run(core));
            }
            world.trace.restart(at);
            world.memory.reset_counts();
        }
        drop(world);
        self.wait(CoreWait::Barrier);
    }

    /// The costs of the machine's parts, in thousandths of its unit.
    pub(crate) fn ticks(&self) -> CostTicks {
        self.world.borrow().memory.ticks
    }

    /// A random number below `limit`.
    pub(crate) fn chance(&self, limit: VirtualTime) -> VirtualTime {
        match limit {
            0 => 0,
            _ => self.world.borrow_mut().random.u64(0..limit),
        }
    }

    /// Allocates consecutive lines, at home with this core unless the machine spreads lines.
    pub fn allocate(&self, lines: usize) -> LineId {
        let mut world = self.world.borrow_mut();
        world.memory.allocate(self.core as usize, lines)
    }

    /// The state of a core's copy of a line at this moment, if it has one. Takes no time.
    pub fn state(&mut self, core: usize, line: LineId) -> Option<CopyState> {
        self.turn();
        self.world.borrow().memory.state(core as u32, line.0)
    }

    /// The counters of the whole machine at this moment. Takes no time.
    pub fn counts(&mut self) -> Counts {
        self.turn();
        self.world.borrow().memory.counts.clone()
    }

    /// Suspends the rank until all earlier events have happened.
    fn turn(&mut self) {
        let mut world = self.world.borrow_mut();
        match world.due() {
            Some(due) if due <= self.time => {
                world.push(self.time, SimEvent::Run(self.core));
                drop(world);
                self.stand_still();
            }
            _ => world.now = self.time,
        }
    }

    /// Suspends the rank until its next event; without a switch if no other rank continues before.
    fn stand_still(&mut self) {
        let mine = self.world.borrow_mut().next_is(self.core);
        if !mine {
            self.yielder.suspend(());
        }
        self.time = self.world.borrow().now;
    }

    /// Suspends the rank, for this reason.
    fn wait(&mut self, wait: CoreWait) {
        self.world.borrow_mut().cores[self.core as usize].wait = wait;
        self.stand_still();
    }

    fn request(&self, line: LineId, what: Access, word: u64) -> LineRequest {
        LineRequest {
            core: self.core,
            line: line.0,
            what,
            agent: Agent::Home,
            word,
        }
    }

    /// Makes a request and waits for it.
    fn ask(&mut self, mut request: LineRequest) -> u64 {
        {
            let mut world = self.world.borrow_mut();
            if let Some(took) = world.memory.hit(&mut request) {
                self.time += took;
                return request.word;
            }
            world.issue(request, Purpose::Answer);
            world.cores[self.core as usize].wait = CoreWait::Line(request.line);
        }
        self.stand_still();
        self.world.borrow().cores[self.core as usize].answer
    }

    /// Reads a line.
    pub fn load(&mut self, line: LineId) -> u64 {
        self.turn();
        let forwarded = {
            let world = self.world.borrow();
            let word = world.forwarded(self.core, line.0);
            word.map(|word| (word, world.memory.ticks.l1))
        };
        if let Some((word, took)) = forwarded {
            self.time += took;
            return word;
        }
        let request = self.request(line, Access::Load, 0);
        self.ask(request)
    }

    /// Writes a line; the core continues while the store waits in the buffer.
    pub fn store(&mut self, line: LineId, word: u64) {
        self.write(line, Access::Store, word);
    }

    /// Writes all of a line, so that its old content need not come.
    pub fn store_no_fetch(&mut self, line: LineId, word: u64) {
        self.write(line, Access::Fresh, word);
    }

    /// Writes a line into the cache of its home, and keeps no copy (home-forward semantics).
    pub fn store_home_forward(&mut self, line: LineId, word: u64) {
        let what = match self.is_home(line) {
            true => Access::Store,
            false => Access::Push,
        };
        self.write(line, what, word);
    }

    fn write(&mut self, line: LineId, what: Access, word: u64) {
        self.turn();
        let mut request = self.request(line, what, word);
        let full = {
            let world = &mut *self.world.borrow_mut();
            let sizes = &world.memory.machine.sizes;
            let (room, ordered) = (sizes.stores, sizes.ordered);
            let stores = &world.cores[self.core as usize].stores;
            let first = match ordered {
                true => stores.is_empty(),
                false => stores.iter().all(|store| store.line != line.0),
            };
            let full = stores.len() >= room;
            if room > 0
                && first
                && let Some(took) = world.memory.hit(&mut request)
            {
                self.time += took;
                return;
            }
            if room > 0 && !full {
                world.buffer(self.core, line.0, what, word);
                self.time += world.memory.ticks.store;
                return;
            }
            room > 0
        };
        if !full {
            // No buffer: the core waits for its stores.
            self.ask(request);
            return;
        }
        self.wait(CoreWait::Room);
        let mut world = self.world.borrow_mut();
        world.buffer(self.core, line.0, what, word);
        self.time += world.memory.ticks.store;
    }

    /// Adds to a line, and returns its word before the addition. All earlier stores of this core are done first.
    pub fn add(&mut self, line: LineId, value: u64) -> u64 {
        self.fence();
        let request = self.request(line, Access::Add, value);
        self.ask(request)
    }

    /// Waits until all stores of this core are done and visible to all cores.
    pub fn fence(&mut self) {
        self.turn();
        let done = self.world.borrow().cores[self.core as usize]
            .stores
            .is_empty();
        if !done {
            self.wait(CoreWait::Stores);
        }
    }

    /// Reads `count` lines, several at once.
    pub fn copy(&mut self, first: LineId, count: usize) {
        let (at_once, lone, own) = {
            let world = self.world.borrow();
            let sizes = &world.memory.machine.sizes;
            (sizes.misses, sizes.lone, world.memory.ticks.copy_line)
        };
        for index in 0..count {
            self.turn();
            let mut request = self.request(first.offset(index), Access::Load, 0);
            let hit = self.world.borrow_mut().memory.hit(&mut request);
            if let Some(took) = hit {
                self.time += took.max(own);
                continue;
            }
            let room = if index < lone { 1 } else { at_once };
            while self.world.borrow().cores[self.core as usize].copies >= room {
                self.wait(CoreWait::Copies);
            }
            let mut world = self.world.borrow_mut();
            world.cores[self.core as usize].copies += 1;
            world.issue(request, Purpose::Copy);
            self.time += own;
        }
        self.turn();
        while self.world.borrow().cores[self.core as usize].copies > 0 {
            self.wait(CoreWait::Copies);
        }
    }

    /// Requests a line and continues; [`flush`](Self::flush) waits for all such requests.
    pub fn prefetch(&mut self, line: LineId) {
        self.turn();
        let mut request = self.request(line, Access::Load, 0);
        let mut world = self.world.borrow_mut();
        if world.memory.hit(&mut request).is_none() {
            world.cores[self.core as usize].copies += 1;
            world.issue(request, Purpose::Copy);
        }
    }

    /// Waits for all lines that were requested by [`prefetch`](Self::prefetch).
    pub fn flush(&mut self) {
        self.turn();
        while self.world.borrow().cores[self.core as usize].copies > 0 {
            self.wait(CoreWait::Copies);
        }
    }

    /// Computes for this time, in units of the machine.
    pub fn compute(&mut self, time: f64) {
        self.time += ticks(time);
    }

    pub(crate) fn pass(&mut self, time: VirtualTime) {
        self.time += time;
    }

    /// Drops this core's copy of a line.
    pub fn self_invalidate(&mut self, line: LineId) {
        self.turn();
        let mut world = self.world.borrow_mut();
        let now = world.now;
        world.memory.give_up(now, self.core, line.0);
        self.time += world.memory.ticks.l1;
    }

    /// Polls a line until `wanted` holds of its word, and returns the word.
    ///
    /// # Cost
    ///
    /// One load for each change of the line.
    pub fn wait_until(&mut self, line: LineId, mut wanted: impl FnMut(u64) -> bool) -> u64 {
        loop {
            let word = self.load(line);
            if wanted(word) {
                return word;
            }
            self.turn();
            {
                let mut world = self.world.borrow_mut();
                if world.memory.line(line.0).copy(self.core).is_none()
                    || world.memory.line(line.0).word != word
                {
                    // Since the load this core has lost its copy, or the word was changed in place: load again.
                    continue;
                }
                world.memory.watch(line.0, self.core);
            }
            self.wait(CoreWait::Change(line.0));
        }
    }

    /// Notifies another core, without the caches.
    pub fn signal(&mut self, core: usize, tag: u32) {
        self.turn();
        let mut world = self.world.borrow_mut();
        let leaves = self.time + world.memory.ticks.notify;
        let at = world.memory.signal(self.core, core as u32, leaves);
        let to = core as u32;
        world.push(at, SimEvent::Signal { to, tag });
        self.time = leaves;
    }

    /// Waits for a notification with this tag.
    pub fn await_signal(&mut self, tag: u32) {
        self.await_any_signal(tag, tag);
    }

    /// Waits for a notification with a tag from `first` to `last`, and returns the tag. Of several, it takes the tag
    /// that has waited longest.
    pub fn await_any_signal(&mut self, first: u32, last: u32) -> u32 {
        self.turn();
        loop {
            {
                let mut world = self.world.borrow_mut();
                let inbox = &mut world.cores[self.core as usize].inbox;
                let wanted = |entry: &(u32, u32)| (first..=last).contains(&entry.0);
                if let Some(place) = inbox.iter().position(wanted) {
                    let tag = inbox[place].0;
                    inbox[place].1 -= 1;
                    if inbox[place].1 == 0 {
                        inbox.remove(place);
                    }
                    self.time += world.memory.ticks.notify;
                    return tag;
                }
            }
            self.wait(CoreWait::Signal(first, last));
        }
    }

    /// Whether this core's home is the home of the line.
    pub fn is_home(&self, line: LineId) -> bool {
        let world = self.world.borrow();
        world.memory.line(line.0).home == world.memory.machine.cores[self.core as usize].home
    }

    /// Records in the timeline what this rank has done since `start`.
    pub(crate) fn note(&self, name: &'static str, with: u32, start: VirtualTime) {
        let mut world = self.world.borrow_mut();
        let (rank, end) = (self.rank as u32, self.time);
        world.trace.note(rank, name, with, (start, end));
    }
}
