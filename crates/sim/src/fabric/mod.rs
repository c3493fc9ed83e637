//! A fabric over a simulated machine: each operation does the loads, stores and additions that it does on hardware.
//!
//! ```text
//!   collective ──► SimFabric ──► lines in the wires' layout ──► caches, networks, memories in virtual time
//! ```
//!
//! [`predict`] returns the time of one [`Job`](crate::drive::Job).

mod lone;
mod predict;
mod probe;
mod shots;
mod wires;

pub(crate) use lone::{Exchange, LoneTimes, ServerWork, lone, publish};
pub use predict::{CallPrediction, CallSetting, predict};
pub use probe::costs;
pub(crate) use shots::{Shots, shots};
pub(crate) use wires::{BODY_LINES, SLOTS, Used};

use crate::VirtualTime;
use crate::engine::Cpu;
use crate::memory::LineId;
use corecast_collectives::Groups;
use corecast_wire::broadcast_ring::RING_PAYLOAD_BYTES;
use corecast_wire::queue::{DEFAULT_SLOTS, message_bytes_max};
use corecast_wire::{Fabric, LINE_BYTES};
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::ops::Range;
use std::rc::Rc;
use wires::{DESCRIPTORS, Loan, RING_SLOTS, RingOf, Wires};

/// The lines of a team, for all of its ranks.
#[derive(Clone, Debug)]
pub struct SimTeam(Rc<RefCell<Wires>>);

impl SimTeam {
    /// Lines for the ranks on `cores`, which share those of `groups`.
    pub fn new(cores: &[usize], groups: &Groups) -> Self {
        Self(Rc::new(RefCell::new(Wires::new(cores, groups))))
    }
}

/// An open buffer, and the lines where it lies.
#[derive(Debug)]
pub struct SimWindow<'w> {
    bytes: &'w mut [u8],
    first: LineId,
    /// The number of the window among those of the rank.
    number: usize,
}

/// A loan that was not returned yet.
#[derive(Clone, Debug)]
pub(crate) struct OpenLoan {
    pub(crate) peer: usize,
    /// The number of the loan on its link.
    pub(crate) count: u64,
    pub(crate) window: usize,
    pub(crate) range: Range<usize>,
}

impl OpenLoan {
    /// The peer and the number of the first loan of bytes in `range` of a window.
    pub(crate) fn first_of(
        out: &[Self],
        window: usize,
        range: &Range<usize>,
    ) -> Option<(usize, u64)> {
        let first = out.iter().find(|one| one.holds(window, range));
        first.map(|one| (one.peer, one.count))
    }

    /// Whether it has bytes in `range` of a window.
    fn holds(&self, window: usize, range: &Range<usize>) -> bool {
        let apart = self.range.end <= range.start || range.end <= self.range.start;
        self.window == window && !apart
    }
}

/// Where a buffer of a rank lies.
#[derive(Debug)]
struct BufferRegion {
    first: LineId,
    lines: usize,
    /// The host addresses at which it was opened last, by which parts of it are recognised.
    address: Range<usize>,
}

/// One rank's end of a team on a simulated machine.
pub struct SimFabric<'c, 'y> {
    cpu: &'c mut Cpu<'y>,
    team: SimTeam,
    rank: usize,
    size: usize,
    out: Vec<OpenLoan>,
    /// The loans that peers fill, whose bytes are not in their windows yet.
    filling: Vec<OpenLoan>,
    regions: Vec<BufferRegion>,
    /// Windows opened by this call.
    opened: usize,
    /// This rank's line that says whether it reads a loan.
    reading: LineId,
    /// Bytes that were combined and whose time has not passed yet.
    combined: Rc<Cell<usize>>,
    bytes_per_tick: f64,
}

impl<'c, 'y> SimFabric<'c, 'y> {
    /// The end of the rank that runs on `cpu`, which combines `combine_bytes` in a unit of time.
    pub fn new(cpu: &'c mut Cpu<'y>, team: &SimTeam, combine_bytes: f64) -> Self {
        let (rank, size) = (cpu.rank(), team.0.borrow().len());
        let reading = cpu.allocate(1);
        cpu.pretend(reading, cpu.core(), []);
        Self {
            cpu,
            team: team.clone(),
            rank,
            size,
            out: Vec::new(),
            filling: Vec::new(),
            regions: Vec::new(),
            opened: 0,
            reading,
            combined: Rc::default(),
            bytes_per_tick: combine_bytes / 1000.0,
        }
    }

    /// Begins another call, whose windows are at the same lines as those of the last call.
    pub fn begin(&mut self) {
        self.opened = 0;
    }

    /// Waits until all `ranks` are here, without a message and without virtual time. All continue at the same time, and
    /// counters start anew.
    pub fn begin_measure(&mut self, ranks: usize) {
        self.catch_up();
        self.cpu.arrive_and_wait(ranks);
    }

    /// The core on which this rank runs.
    pub fn cpu(&mut self) -> &mut Cpu<'y> {
        self.cpu
    }

    /// An operator that adds bytes; the core takes time for them at its next operation.
    pub fn combine(&self) -> crate::drive::Bytes<impl Fn(usize) + use<>> {
        let combined = self.combined.clone();
        crate::drive::Bytes::new(move |bytes| combined.set(combined.get() + bytes))
    }

    /// Lets the time pass that combining has taken.
    pub(crate) fn catch_up(&mut self) {
        let bytes = self.combined.take();
        self.cpu
            .pass((bytes as f64 / self.bytes_per_tick).round() as VirtualTime);
    }

    /// Begins an operation.
    fn enter(&mut self) -> VirtualTime {
        self.catch_up();
        let start = self.cpu.time();
        self.cpu.pass(self.cpu.ticks().call);
        start
    }

    /// The line of entry `number` of a ring between two ranks.
    fn entry(&mut self, ends: (usize, usize), number: u64, part: RingOf) -> LineId {
        self.team.0.borrow_mut().entry(self.cpu, ends, number, part)
    }

    /// Looks whether `peer` sleeps, after something was published for it.
    fn look_for_sleeper(&mut self, peer: usize) {
        let parker = self.team.0.borrow_mut().parker(self.cpu, peer, self.rank);
        self.cpu.load(parker);
    }

    /// Waits until `peer` has returned the loan of that number.
    fn wait_for_ack(&mut self, peer: usize, count: u64) {
        let line = self
            .team
            .0
            .borrow_mut()
            .link(self.cpu, self.rank, peer)
            .returns;
        self.cpu.wait_until(line, |word| word >= count);
        self.out.retain(|out| out.peer != peer || out.count > count);
    }

    /// The first line of a byte range, counted from the line of byte 0, and the number of its lines.
    fn lines_of(range: &Range<usize>) -> (usize, usize) {
        let start = range.start / LINE_BYTES;
        match range.is_empty() {
            true => (start, 0),
            false => (start, range.end.div_ceil(LINE_BYTES) - start),
        }
    }

    /// Takes the next loan of `peer`: reads its lines, calls `taken` with it, and returns it.
    fn take_loan(&mut self, peer: usize, len: usize, taken: impl FnOnce(&mut Self, &Loan)) {
        let (loan, count) = self.next_loan(peer, len);
        self.cpu.store(self.reading, count);
        self.cpu.copy(loan.first, loan.lines);
        taken(self, &loan);
        self.catch_up();
        self.end_loan(peer, count);
    }

    /// Returns loan `count` of `peer`.
    fn end_loan(&mut self, peer: usize, count: u64) {
        let returns = {
            let mut wires = self.team.0.borrow_mut();
            wires.link(self.cpu, peer, self.rank).returns
        };
        self.cpu.store(returns, count);
        self.cpu.store(self.reading, 0);
        self.look_for_sleeper(peer);
    }

    /// Waits until the next loan of `peer` is there, and returns its number.
    fn look_for_loan(&mut self, peer: usize) -> u64 {
        let (line, count) = {
            let wires = &mut *self.team.0.borrow_mut();
            let count = wires.link(self.cpu, peer, self.rank).borrowed + 1;
            let line = wires.entry(self.cpu, (peer, self.rank), count - 1, RingOf::Descriptor);
            (line, count)
        };
        self.cpu.wait_until(line, |word| word >= count);
        count
    }

    /// Waits for the next loan of `peer`, and returns it with its number.
    fn next_loan(&mut self, peer: usize, len: usize) -> (Loan, u64) {
        let count = self.look_for_loan(peer);
        let mut wires = self.team.0.borrow_mut();
        let link = wires.link(self.cpu, peer, self.rank);
        link.borrowed = count;
        let loan = link.loans.pop_front().expect("offered");
        assert_eq!(loan.bytes.len(), len, "rank {peer} lends another length");
        (loan, count)
    }

    /// Takes the time of writing into `into`; where that is a part of a window, it stores the window's lines.
    fn write_into(&mut self, into: &[u8]) {
        let address = into.as_ptr() as usize;
        let inside = |region: &&BufferRegion| {
            region.address.contains(&address) && address + into.len() <= region.address.end
        };
        match self.regions.iter().find(inside) {
            Some(region) => {
                let start = address - region.address.start;
                let (from, lines) = Self::lines_of(&(start..start + into.len()));
                let first = region.first;
                for line in from..from + lines {
                    self.cpu.store_no_fetch(first.offset(line), 0);
                }
            }
            None => {
                let lines = into.len().div_ceil(LINE_BYTES) as VirtualTime;
                self.cpu.pass(lines * self.cpu.ticks().store);
            }
        }
    }
}

impl SimFabric<'_, '_> {
    /// A window over `bytes`. `written` says that this rank has just written them, as a program does with the data
    /// that it gives: then no other rank has a copy of their lines.
    pub fn open<'w>(&mut self, bytes: &'w mut [u8], written: bool) -> SimWindow<'w> {
        let lines = bytes.len().div_ceil(LINE_BYTES);
        let number = self.opened;
        self.opened += 1;
        let start = bytes.as_ptr() as usize;
        let address = start..start + bytes.len();
        let known = self
            .regions
            .get(number)
            .is_some_and(|region| region.lines >= lines);
        if !known {
            let region = BufferRegion {
                first: self.cpu.allocate(lines),
                lines,
                address: 0..0,
            };
            self.regions.truncate(number);
            self.regions.push(region);
        }
        let region = &mut self.regions[number];
        region.address = address;
        let first = region.first;
        if written || !known {
            let core = self.cpu.core();
            (0..lines).for_each(|line| self.cpu.pretend(first.offset(line), core, []));
        }
        SimWindow {
            bytes,
            first,
            number,
        }
    }
}

impl Fabric for SimFabric<'_, '_> {
    type Error = Infallible;
    type Window<'w> = SimWindow<'w>;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn notify(&mut self, peer: usize) -> Result<(), Infallible> {
        let start = self.enter();
        let (flag, count) = {
            let wires = &mut *self.team.0.borrow_mut();
            let link = wires.link(self.cpu, self.rank, peer);
            link.notified += 1;
            (link.flag, link.notified)
        };
        self.cpu.store(flag, count);
        self.look_for_sleeper(peer);
        self.cpu.note("notify", peer as u32, start);
        Ok(())
    }

    fn wait(&mut self, peer: usize) -> Result<(), Infallible> {
        let start = self.enter();
        let (flag, count) = {
            let wires = &mut *self.team.0.borrow_mut();
            let link = wires.link(self.cpu, peer, self.rank);
            link.waited += 1;
            (link.flag, link.waited)
        };
        self.cpu.wait_until(flag, |word| word >= count);
        self.cpu.note("wait", peer as u32, start);
        Ok(())
    }

    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Infallible> {
        let start = self.enter();
        let ends = (self.rank, peer);
        let (ack, before, mut freed) = {
            let wires = &mut *self.team.0.borrow_mut();
            let link = wires.link(self.cpu, self.rank, peer);
            (link.ack, link.sent, link.freed)
        };
        let sent = before.and_message(payload.len());
        let fits = sent.lines - before.lines <= BODY_LINES / 4;
        assert!(fits, "members split messages to fit");
        if !sent.fits(freed) {
            let fits = |word| sent.fits(Used::of_word(word));
            freed = Used::of_word(self.cpu.wait_until(ack, fits));
        }
        {
            let wires = &mut *self.team.0.borrow_mut();
            let link = wires.link(self.cpu, self.rank, peer);
            link.sent = sent;
            link.mail.push_back(payload.to_vec());
        }
        // The slot is stored last, because the receiver polls nothing else.
        for number in before.lines..sent.lines {
            let line = self.entry(ends, number, RingOf::Body);
            self.cpu.store(line, number + 1);
        }
        let slot = self.entry(ends, before.slots, RingOf::Slot);
        self.cpu.store(slot, sent.slots);
        // Looks for acknowledgements early, so that the next message need not wait for room.
        if sent.lines > before.lines && freed.lines + BODY_LINES / 2 < sent.lines {
            freed.lines = Used::of_word(self.cpu.load(ack)).lines;
        }
        self.team
            .0
            .borrow_mut()
            .link(self.cpu, self.rank, peer)
            .freed = freed;
        self.look_for_sleeper(peer);
        self.cpu.note("send", peer as u32, start);
        Ok(())
    }

    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), Infallible> {
        let start = self.enter();
        let ends = (peer, self.rank);
        let before = {
            let wires = &mut *self.team.0.borrow_mut();
            wires.link(self.cpu, peer, self.rank).received
        };
        let slot = self.entry(ends, before.slots, RingOf::Slot);
        self.cpu.wait_until(slot, |word| word > before.slots);
        let read = before.and_message(payload.len());
        for number in before.lines..read.lines {
            let line = self.entry(ends, number, RingOf::Body);
            self.cpu.prefetch(line);
        }
        self.cpu.flush();
        let given = {
            let wires = &mut *self.team.0.borrow_mut();
            let link = wires.link(self.cpu, peer, self.rank);
            let message = link.mail.pop_front().expect("its slot has come");
            assert_eq!(
                message.len(),
                payload.len(),
                "rank {peer} sends another length"
            );
            payload.copy_from_slice(&message);
            link.received = read;
            let old = link.given;
            link.given = read.given(old);
            (link.given != old).then_some((link.ack, link.given))
        };
        if let Some((ack, given)) = given {
            self.cpu.store(ack, given.word());
            self.look_for_sleeper(peer);
        }
        self.cpu.note("receive", peer as u32, start);
        Ok(())
    }

    fn publish(&mut self, line: usize, payload: &[u8]) -> Result<(), Infallible> {
        let start = self.enter();
        let (slot, number, readers, freed) = {
            let wires = &mut *self.team.0.borrow_mut();
            let (index, _) = wires.number(self.rank, 0, line);
            let ring = wires.ring(self.cpu, index);
            let (number, readers) = (ring.published, ring.readers.clone());
            let places: Vec<LineId> = ring.places.iter().map(|place| place.line).collect();
            let behind = (ring.freed + RING_SLOTS <= number).then_some((index, places));
            (
                wires.publish_line(self.cpu, index, number),
                number,
                readers,
                behind,
            )
        };
        if let Some((index, places)) = freed {
            let mut least = u64::MAX;
            for place in places {
                let read = self
                    .cpu
                    .wait_until(place, |word| word + RING_SLOTS > number);
                least = least.min(read);
            }
            self.team.0.borrow_mut().ring(self.cpu, index).freed = least;
        }
        {
            let wires = &mut *self.team.0.borrow_mut();
            let (index, _) = wires.number(self.rank, 0, line);
            let ring = wires.ring(self.cpu, index);
            ring.published += 1;
            let payload: Rc<[u8]> = payload.into();
            let places = ring.places.iter_mut();
            places.for_each(|place| place.mail.push_back(payload.clone()));
        }
        self.cpu.store(slot, number + 1);
        for reader in readers {
            self.look_for_sleeper(reader);
        }
        self.cpu.note("post", line as u32, start);
        Ok(())
    }

    fn read(&mut self, line: usize, payload: &mut [u8]) -> Result<(), Infallible> {
        let start = self.enter();
        let (slot, number, index, place) = {
            let wires = &mut *self.team.0.borrow_mut();
            let (index, place) = wires.number(self.rank, 1, line);
            let number = wires.ring(self.cpu, index).places[place].read;
            (
                wires.publish_line(self.cpu, index, number),
                number,
                index,
                place,
            )
        };
        self.cpu.wait_until(slot, |word| word > number);
        let (own, one) = {
            let wires = &mut *self.team.0.borrow_mut();
            let ring = wires.ring(self.cpu, index);
            let place = &mut ring.places[place];
            let message = place.mail.pop_front().expect("its line has come");
            assert_eq!(message.len(), payload.len(), "another length was posted");
            payload.copy_from_slice(&message);
            place.read += 1;
            (place.line, ring.one)
        };
        if (number + 1) % (RING_SLOTS / 2) == 0 {
            self.cpu.store(own, number + 1);
            self.look_for_sleeper(one);
        }
        self.cpu.note("read", line as u32, start);
        Ok(())
    }

    fn add(&mut self, line: usize) -> Result<(), Infallible> {
        let start = self.enter();
        let (counter, one) = {
            let wires = &mut *self.team.0.borrow_mut();
            let (index, _) = wires.number(self.rank, 2, line);
            let counter = wires.counter(self.cpu, index);
            (counter.line, counter.one)
        };
        self.cpu.add(counter, 1);
        self.look_for_sleeper(one);
        self.cpu.note("add", line as u32, start);
        Ok(())
    }

    fn collect(&mut self, line: usize) -> Result<(), Infallible> {
        let start = self.enter();
        let (counter, sum) = {
            let wires = &mut *self.team.0.borrow_mut();
            let (index, _) = wires.number(self.rank, 3, line);
            let counter = wires.counter(self.cpu, index);
            counter.collected += counter.adders;
            (counter.line, counter.collected)
        };
        self.cpu.wait_until(counter, |word| word >= sum);
        self.cpu.note("collect", line as u32, start);
        Ok(())
    }

    fn arrive_and_wait(&mut self, line: usize) -> Result<(), Infallible> {
        let start = self.enter();
        let (counter_barrier, sum, ranks) = {
            let wires = &mut *self.team.0.borrow_mut();
            let (index, place) = wires.number(self.rank, 4, line);
            let ranks = wires.members(index);
            let counter_barrier = wires.counter_barrier(self.cpu, index);
            counter_barrier.came[place] += 1;
            (
                counter_barrier.line,
                counter_barrier.came[place] * ranks.len() as u64,
                ranks,
            )
        };
        if self.cpu.add(counter_barrier, 1) + 1 == sum {
            let rank = self.rank;
            let others = ranks.into_iter().filter(|&other| other != rank);
            others.for_each(|other| self.look_for_sleeper(other));
        } else {
            self.cpu.wait_until(counter_barrier, |word| word >= sum);
        }
        self.cpu.note("meet", line as u32, start);
        Ok(())
    }

    fn message_bytes_max(&self) -> usize {
        message_bytes_max(DEFAULT_SLOTS)
    }

    /// A published message has one line on a simulated machine.
    fn publish_bytes_max(&self, _line: usize) -> usize {
        RING_PAYLOAD_BYTES
    }

    fn wrong_length(&self, peer: usize, sent: usize, expected: usize) -> Infallible {
        panic!(
            "rank {peer} gives {sent} bytes where rank {} expects {expected}",
            self.rank
        )
    }

    fn with_window<R>(
        &mut self,
        data: &mut [u8],
        _element: usize,
        written: bool,
        body: impl FnOnce(&mut Self, &mut Self::Window<'_>) -> R,
    ) -> R {
        let mut window = self.open(data, written);
        let number = window.number;
        let result = body(self, &mut window);
        // Its lines stay for the next call, but other bytes may lie at its address.
        if let Some(region) = self.regions.get_mut(number) {
            region.address = 0..0;
        }
        result
    }

    fn view<'b>(&self, window: &'b SimWindow<'_>, range: Range<usize>) -> &'b [u8] {
        &window.bytes[range]
    }

    fn view_mut<'b>(
        &mut self,
        window: &'b mut SimWindow<'_>,
        range: Range<usize>,
    ) -> Result<&'b mut [u8], Infallible> {
        while let Some((peer, count)) = OpenLoan::first_of(&self.out, window.number, &range) {
            self.wait_for_ack(peer, count);
        }
        let overlaps = |one: &mut OpenLoan| one.holds(window.number, &range);
        for filled in self.filling.extract_if(.., overlaps) {
            let mut wires = self.team.0.borrow_mut();
            let link = wires.link(self.cpu, self.rank, filled.peer);
            let bytes = link.filled.pop_front().expect("its return has come");
            window.bytes[filled.range].copy_from_slice(&bytes);
        }
        Ok(&mut window.bytes[range])
    }

    fn lend(
        &mut self,
        window: &SimWindow<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Infallible> {
        let start = self.enter();
        let (from, lines) = Self::lines_of(&range);
        let bytes: Rc<[u8]> = window.bytes[range.clone()].into();
        for peer in peers {
            let loan = Loan {
                first: window.first.offset(from),
                lines,
                bytes: bytes.clone(),
            };
            let count = self
                .team
                .0
                .borrow_mut()
                .link(self.cpu, self.rank, peer)
                .lent
                + 1;
            let standing = self.out.iter().filter(|out| out.peer == peer).count() as u64;
            if standing >= DESCRIPTORS {
                self.wait_for_ack(peer, count - DESCRIPTORS);
            }
            let descriptor = {
                let wires = &mut *self.team.0.borrow_mut();
                let link = wires.link(self.cpu, self.rank, peer);
                link.lent = count;
                link.loans.push_back(loan);
                wires.entry(self.cpu, (self.rank, peer), count - 1, RingOf::Descriptor)
            };
            self.out.push(OpenLoan {
                peer,
                count,
                window: window.number,
                range: range.clone(),
            });
            self.cpu.store(descriptor, count);
            self.look_for_sleeper(peer);
            self.cpu.note("lend", peer as u32, start);
        }
        Ok(())
    }

    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), Infallible> {
        let start = self.enter();
        self.take_loan(peer, len, |_, loan| each(0, &loan.bytes));
        self.cpu.note("borrow", peer as u32, start);
        Ok(())
    }

    fn fetch(&mut self, peer: usize, into: &mut [u8]) -> Result<(), Infallible> {
        let start = self.enter();
        self.take_loan(peer, into.len(), |fabric, loan| {
            into.copy_from_slice(&loan.bytes);
            fabric.write_into(into);
        });
        self.cpu.note("fetch", peer as u32, start);
        Ok(())
    }

    fn await_loan(&mut self, peer: usize, _: usize) -> Result<(), Infallible> {
        let start = self.enter();
        self.look_for_loan(peer);
        self.cpu.note("await", peer as u32, start);
        Ok(())
    }

    fn dismiss(&mut self, peer: usize, len: usize) -> Result<(), Infallible> {
        let start = self.enter();
        let (_, count) = self.next_loan(peer, len);
        self.end_loan(peer, count);
        self.cpu.note("dismiss", peer as u32, start);
        Ok(())
    }

    fn lend_to_fill(
        &mut self,
        window: &mut SimWindow<'_>,
        peer: usize,
        range: Range<usize>,
    ) -> Result<(), Infallible> {
        self.view_mut(window, range.clone())?;
        self.lend(window, [peer], range)?;
        let lent = self.out.last().expect("it was just lent");
        self.filling.push(lent.clone());
        Ok(())
    }

    fn fill(
        &mut self,
        peer: usize,
        len: usize,
        body: impl FnOnce(&mut Self, &mut [u8]) -> Result<(), Infallible>,
    ) -> Result<(), Infallible> {
        let start = self.enter();
        self.take_loan(peer, len, |fabric, loan| {
            // Bulk writes fetch lines for themselves alone, which takes as long as fetching them to read.
            let core = fabric.cpu.core();
            (0..loan.lines).for_each(|line| {
                fabric.cpu.pretend(loan.first.offset(line), core, []);
            });
            let mut part = loan.bytes.to_vec();
            let Ok(()) = body(fabric, &mut part);
            fabric.catch_up();
            let stores = loan.lines as VirtualTime * fabric.cpu.ticks().store;
            fabric.cpu.pass(stores);
            let mut wires = fabric.team.0.borrow_mut();
            let link = wires.link(fabric.cpu, peer, fabric.rank);
            link.filled.push_back(part.into());
        });
        self.cpu.note("fill", peer as u32, start);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        let start = self.enter();
        while let Some((peer, count)) = self.out.last().map(|out| (out.peer, out.count)) {
            self.wait_for_ack(peer, count);
        }
        self.cpu.note("settle", self.rank as u32, start);
        Ok(())
    }
}
