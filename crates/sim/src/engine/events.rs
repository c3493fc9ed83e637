//! Handles events in the order of their times, until one lets a rank go on.

use super::world::{CoreWait, Due, Purpose, SimEvent, World};
use crate::VirtualTime;
use crate::memory;

impl World {
    /// Whether the suspended rank on `core` is the next to continue. If another rank is, it is kept for
    /// [`next`](Self::next).
    pub(super) fn next_is(&mut self, core: u32) -> bool {
        self.chosen = self.next();
        let mine = self.chosen == Some(core) && self.now <= self.limit;
        if mine {
            self.chosen = None;
        }
        mine
    }

    /// Handles events until one lets a rank continue, and returns the core of that rank; `None` if no events are left.
    pub(super) fn next(&mut self) -> Option<u32> {
        if let Some(core) = self.chosen.take() {
            return Some(core);
        }
        loop {
            let Due { at, event, .. } = self.events.pop()?;
            self.now = at;
            match event {
                SimEvent::Run(core) => {
                    self.cores[core as usize].wait = CoreWait::Turn;
                    return Some(core);
                }
                SimEvent::Arrive(id) => self.arrive(id),
                SimEvent::Done(id) => {
                    if let Some(core) = self.done(id) {
                        return Some(core);
                    }
                }
                SimEvent::Signal { to, tag } => {
                    let core = &mut self.cores[to as usize];
                    match core.inbox.iter_mut().find(|entry| entry.0 == tag) {
                        Some(entry) => entry.1 += 1,
                        None => core.inbox.push((tag, 1)),
                    }
                    if let CoreWait::Signal(first, last) = core.wait
                        && (first..=last).contains(&tag)
                    {
                        core.wait = CoreWait::Turn;
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
            memory::Arrival::Busy(until) => return self.queue(id, line, until),
            memory::Arrival::Arrives(at) => self.push(at, SimEvent::Arrive(id)),
            memory::Arrival::Done(at) => {
                self.push(at, SimEvent::Done(id));
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

    /// Queues a request whose line is busy.
    fn queue(&mut self, id: u32, line: u32, until: VirtualTime) {
        let queue = self.queued.entry(line).or_default();
        if queue.front() != Some(&id) {
            queue.push_back(id);
        }
        if queue.front() == Some(&id) {
            self.push(until, SimEvent::Arrive(id));
        }
    }

    /// Lets the next request in the queue try, after a request has got its line.
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
                self.push(free, SimEvent::Arrive(next));
            }
            None => drop(self.queued.remove(&line)),
        }
    }

    /// Wakes the ranks that have lost a line which they poll.
    fn wake(&mut self) {
        while let Some((at, core)) = self.memory.wakes.pop() {
            self.push(at.max(self.now), SimEvent::Run(core));
        }
    }

    /// Ends a request, and returns the core of the rank that continues now, if there is one.
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
                core.wait == CoreWait::Copies
            }
            Purpose::Store(number) => {
                self.drained(request.core, number, request.what);
                let core = &self.cores[request.core as usize];
                let room = core.stores.len() < self.memory.machine.sizes.stores;
                match core.wait {
                    CoreWait::Room => room,
                    CoreWait::Stores => core.stores.is_empty(),
                    _ => false,
                }
            }
        };
        goes_on.then(|| {
            self.cores[request.core as usize].wait = CoreWait::Turn;
            request.core
        })
    }
}
