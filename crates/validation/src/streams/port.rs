//! A port: from one thread to another, one message at a time.
//!
//! The rdy-ack interface (Mencagli and others, Fig. 7) has two events, *ready* and *ack*, and room for one message.
//! §6.3 says which stores are forwarded: the lines are at home with one of the two threads; stores of the other one are
//! forwarded there, and that one drops the copies that it has read.
//!
//! ```text
//!             sender                                receiver
//!   ack?  ──► reset ack, write lines, set ready ──► ready? reset it, read lines, set ack
//! ```
//!
//! The generic runtime passes pointers: a slot that is empty or holds the number of a buffer, as the queues of
//! FastFlow do. The sender takes a buffer from its heap, and the receiver frees it.

use super::StreamRuntime;
use corecast_sim::engine::{Cpu, Setup};
use corecast_sim::memory::LineId;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// A one-way connection from a sender to a receiver.
#[derive(Clone, Debug)]
pub struct Port {
    runtime: StreamRuntime,
    ready: LineId,
    ack: LineId,
    data: LineId,
    /// Lines of its longest message.
    lines: usize,
    /// The tags of the notifications *ready* and *ack*.
    tags: (u32, u32),
    heap: Option<Heap>,
}

/// The home of a port, and the tags of its notifications.
#[derive(Clone, Copy, Debug)]
pub struct PortPlace {
    /// The home core of the lines, unless homes are spread.
    pub home: usize,
    /// The tag by which the receiver is notified.
    pub ready: u32,
    /// The tag by which the sender is notified.
    pub ack: u32,
}

impl Port {
    /// A port for messages of up to `lines` lines; with queues its messages are in buffers of `heap`.
    ///
    /// # Panics
    ///
    /// If the runtime is [`StreamRuntime::Queues`] and there is no heap.
    pub fn new(
        setup: &mut Setup<'_>,
        runtime: StreamRuntime,
        place: PortPlace,
        lines: usize,
        heap: Option<&Heap>,
    ) -> Self {
        let mut flag = |word| {
            let line = setup.allocate(place.home, 1);
            setup.write(place.home, line, word);
            line
        };
        let (ready, ack) = (flag(0), flag(1));
        let data = match runtime {
            StreamRuntime::Queues => ready,
            _ => setup.allocate(place.home, lines),
        };
        assert!(
            heap.is_some() || runtime != StreamRuntime::Queues,
            "queues need a heap"
        );
        Self {
            runtime,
            ready,
            ack,
            data,
            lines,
            tags: (place.ready, place.ack),
            heap: heap.cloned(),
        }
    }

    /// Looks once whether a message can be sent; not for [`StreamRuntime::Signals`], where one waits.
    pub fn has_room(&self, cpu: &mut Cpu<'_>) -> bool {
        match self.runtime {
            StreamRuntime::Queues => cpu.load(self.ready) == 0,
            _ => self.look(cpu, self.ack),
        }
    }

    /// Looks once whether a message has come; not for [`StreamRuntime::Signals`].
    pub fn has_message(&self, cpu: &mut Cpu<'_>) -> bool {
        match self.runtime {
            StreamRuntime::Queues => cpu.load(self.ready) != 0,
            _ => self.look(cpu, self.ready),
        }
    }

    /// Waits for room.
    pub fn await_room(&self, cpu: &mut Cpu<'_>) {
        match self.runtime {
            StreamRuntime::Signals => cpu.await_signal(self.tags.1),
            StreamRuntime::Queues => drop(cpu.wait_until(self.ready, |slot| slot == 0)),
            _ => self.await_flag(cpu, self.ack),
        }
    }

    /// Waits for a message.
    pub fn await_message(&self, cpu: &mut Cpu<'_>) {
        match self.runtime {
            StreamRuntime::Signals => cpu.await_signal(self.tags.0),
            StreamRuntime::Queues => drop(cpu.wait_until(self.ready, |slot| slot != 0)),
            _ => self.await_flag(cpu, self.ready),
        }
    }

    /// Returns where to write a message, when there is room.
    pub fn open(&self, cpu: &mut Cpu<'_>) -> LineId {
        match &self.heap {
            Some(heap) if self.runtime == StreamRuntime::Queues => heap.take(cpu),
            _ => {
                self.set(cpu, self.ack, 0);
                self.data
            }
        }
    }

    /// Writes a line of a message.
    pub fn write(&self, cpu: &mut Cpu<'_>, line: LineId, word: u64) {
        match self.runtime {
            StreamRuntime::Plain | StreamRuntime::Queues => cpu.store(line, word),
            StreamRuntime::Flags | StreamRuntime::Signals => cpu.store_home_forward(line, word),
        }
    }

    /// Sends the message that was written to `at`, which [`open`](Self::open) has returned, to core `to`.
    pub fn send(&self, cpu: &mut Cpu<'_>, to: usize, at: LineId) {
        match self.runtime {
            StreamRuntime::Signals => {
                // Several lines may come after the notification. A single line comes before it; a caller with other
                // stores under way fences first.
                if self.lines > 1 {
                    cpu.fence();
                }
                cpu.signal(to, self.tags.0);
            }
            StreamRuntime::Queues => self.pass(cpu, at),
            _ => {
                cpu.fence();
                self.set(cpu, self.ready, 1);
                cpu.fence();
            }
        }
    }

    /// Passes on a buffer that came from elsewhere; only for [`StreamRuntime::Queues`].
    pub fn pass(&self, cpu: &mut Cpu<'_>, at: LineId) {
        cpu.fence();
        cpu.store(self.ready, u64::from(at.number()) + 1);
    }

    /// Returns where a message is that has come.
    pub fn accept(&self, cpu: &mut Cpu<'_>) -> LineId {
        if self.runtime != StreamRuntime::Queues {
            self.set(cpu, self.ready, 0);
            return self.data;
        }
        let slot = cpu.load(self.ready);
        assert_ne!(slot, 0, "a message is there");
        cpu.store(self.ready, 0);
        LineId::from_number((slot - 1) as u32)
    }

    /// Tells the sender's core that the message at `at` was read.
    pub fn release(&self, cpu: &mut Cpu<'_>, from: usize, at: LineId) {
        if let (Some(heap), StreamRuntime::Queues) = (&self.heap, self.runtime) {
            return heap.free(cpu, at);
        }
        if self.runtime != StreamRuntime::Plain && !cpu.is_home(self.data) {
            (0..self.lines).for_each(|line| cpu.self_invalidate(self.data.offset(line)));
        }
        if self.runtime == StreamRuntime::Signals {
            return cpu.signal(from, self.tags.1);
        }
        cpu.fence();
        self.set(cpu, self.ack, 1);
        cpu.fence();
    }

    /// Lets the sender begin; it calls this once if the runtime is [`StreamRuntime::Signals`], where *ack* is no flag.
    pub fn prime(&self, cpu: &mut Cpu<'_>) {
        if self.runtime == StreamRuntime::Signals {
            let me = cpu.core();
            cpu.signal(me, self.tags.1);
        }
    }

    fn look(&self, cpu: &mut Cpu<'_>, flag: LineId) -> bool {
        let set = cpu.load(flag) == 1;
        if !set && self.runtime == StreamRuntime::Flags && !cpu.is_home(flag) {
            cpu.self_invalidate(flag);
        }
        set
    }

    fn await_flag(&self, cpu: &mut Cpu<'_>, flag: LineId) {
        match self.runtime == StreamRuntime::Flags && !cpu.is_home(flag) {
            true => while !self.look(cpu, flag) {},
            false => drop(cpu.wait_until(flag, |flag| flag == 1)),
        }
    }

    fn set(&self, cpu: &mut Cpu<'_>, flag: LineId, word: u64) {
        match self.runtime {
            StreamRuntime::Signals | StreamRuntime::Queues => {}
            StreamRuntime::Plain => cpu.store(flag, word),
            StreamRuntime::Flags => cpu.store_home_forward(flag, word),
        }
    }
}

/// The ports of one thread, which takes whichever is ready.
///
/// With notifications it takes the port that has waited longest. Otherwise it looks at one port after the other,
/// beginning after the last one that it looked at, with a pause of the machine's `poll` between two looks.
#[derive(Debug)]
pub struct Ports<'p> {
    ports: &'p [Port],
    next: usize,
    pause: f64,
}

impl<'p> Ports<'p> {
    /// Ports whose notifications have consecutive tags, and the pause between two looks.
    pub fn new(ports: &'p [Port], pause: f64) -> Self {
        Self {
            ports,
            next: 0,
            pause,
        }
    }

    /// Waits until a port has room, and returns its index.
    pub fn await_room(&mut self, cpu: &mut Cpu<'_>) -> usize {
        self.any(cpu, |port| port.tags.1, Port::has_room)
    }

    /// Waits until a port has a message, and returns its index.
    pub fn await_message(&mut self, cpu: &mut Cpu<'_>) -> usize {
        self.any(cpu, |port| port.tags.0, Port::has_message)
    }

    fn any(
        &mut self,
        cpu: &mut Cpu<'_>,
        tag: fn(&Port) -> u32,
        ready: fn(&Port, &mut Cpu<'_>) -> bool,
    ) -> usize {
        let (first, count) = (&self.ports[0], self.ports.len());
        if first.runtime == StreamRuntime::Signals {
            let first = tag(first);
            return (cpu.await_any_signal(first, first + count as u32 - 1) - first) as usize;
        }
        loop {
            let which = self.next;
            self.next = (which + 1) % count;
            if ready(&self.ports[which], cpu) {
                return which;
            }
            cpu.compute(self.pause);
        }
    }
}

/// Buffers of one size of one thread, as in an arena of glibc. The buffer that was freed first is given out first,
/// and a fresh one only when none is free. The lock and the list are lines of the simulated machine.
#[derive(Clone, Debug)]
pub struct Heap {
    lock: LineId,
    list: LineId,
    buffers: Rc<RefCell<Buffers>>,
}

#[derive(Debug)]
struct Buffers {
    fresh: VecDeque<LineId>,
    free: VecDeque<LineId>,
    /// In the order in which they were given out.
    used: VecDeque<LineId>,
}

impl Heap {
    /// An arena of `buffers` buffers of `lines` lines.
    pub fn new(setup: &mut Setup<'_>, buffers: usize, lines: usize) -> Self {
        let (lock, list) = (setup.allocate(0, 1), setup.allocate(0, 1));
        let fresh = (0..buffers).map(|_| setup.allocate(0, lines)).collect();
        Self {
            lock,
            list,
            buffers: Rc::new(RefCell::new(Buffers {
                fresh,
                free: VecDeque::new(),
                used: VecDeque::new(),
            })),
        }
    }

    /// Takes a free buffer.
    pub(super) fn take(&self, cpu: &mut Cpu<'_>) -> LineId {
        self.locked(cpu, |buffers| {
            let free = buffers.free.pop_front();
            let found = free.or_else(|| buffers.fresh.pop_front());
            let buffer = found.expect("as many buffers as can be in use at once");
            buffers.used.push_back(buffer);
            buffer
        })
    }

    /// Gives a buffer back.
    pub(super) fn free(&self, cpu: &mut Cpu<'_>, buffer: LineId) {
        self.locked(cpu, |buffers| {
            let place = buffers.used.iter().position(|&used| used == buffer);
            buffers.used.remove(place.expect("it was given out"));
            buffers.free.push_back(buffer);
        });
    }

    /// Gives back the buffer that was given out first.
    pub(super) fn free_oldest(&self, cpu: &mut Cpu<'_>) {
        self.locked(cpu, |buffers| buffers.free.extend(buffers.used.pop_front()));
    }

    /// Takes the lock, writes the list, and lets the lock go.
    fn locked<R>(&self, cpu: &mut Cpu<'_>, act: impl FnOnce(&mut Buffers) -> R) -> R {
        while cpu.add(self.lock, 1) != 0 {
            cpu.wait_until(self.lock, |holders| holders == 0);
        }
        let listed = cpu.load(self.list);
        let done = act(&mut self.buffers.borrow_mut());
        cpu.store(self.list, listed + 1);
        cpu.fence();
        cpu.store(self.lock, 0);
        done
    }
}
