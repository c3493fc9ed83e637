//! The recording fabric: it records the primitives of CLa for each operation of [`Fabric`].
//!
//! | operation | primitives |
//! | --- | --- |
//! | `notify`, `wait` | write of a flag; wait for it |
//! | `send` | copy of the data into a line of the queue, write of the flag in that line |
//! | `receive` | wait for that line, copy of the data out of it |
//! | `publish`, `read` | as `send` and `receive`, with a line that several ranks poll; without data no copy |
//! | `add`, `collect` | add to an arrival counter; wait for it |
//! | `lend`, `lend_to_fill` | write of a flag that names the data |
//! | `borrow`, `fetch` | wait for it, copy of the data from where they lie, write of another flag back |
//! | `fill` | as `borrow`: the lines that are written come from where they lie |
//! | `dismiss` | wait for the flag that names the data, write of another flag back |
//! | `view_mut`, `flush` | wait for the flag that comes back |
//!
//! Each message, published message and loan has lines of its own (*single-use lines*), as on hardware within a lap.
//! Notifications between two ranks share one flag, and each arrival counter is one line. A rank's buffers are one set
//! of lines in its own cache; the recorded steps know which of these lines have copies elsewhere. Combining costs as
//! much as reading, as in the paper (§5.2). Flow control of queues and broadcast rings is not recorded, because no
//! operation waits for it by itself.

use super::recorder::{Recorder, Stuck};
use super::steps::{BufferPart, StepKind};
use super::traffic::{Parcel, Parcels, Traffic};
use crate::drive::Bytes;
use corecast_collectives::groups::{Group, Groups};
use corecast_wire::broadcast_ring::RING_PAYLOAD_BYTES;
use corecast_wire::cache_lines::LineKind;
use corecast_wire::queue::body_lines_for;
use corecast_wire::queue::{DEFAULT_SLOTS, message_bytes_max};
use corecast_wire::{Fabric, LINE_BYTES};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

/// The lines that a rank shares with others: their numbers among all of the team.
#[derive(Debug, Default)]
pub(super) struct Shared {
    publishes: Vec<usize>,
    reads: Vec<usize>,
    adds: Vec<usize>,
    collects: Vec<usize>,
    barrier_ends: Vec<usize>,
}

impl Shared {
    /// The shared lines of each of `n` ranks.
    pub(super) fn of_all(n: usize, groups: &Groups) -> Vec<Self> {
        let mut shared: Vec<Self> = (0..n).map(|_| Self::default()).collect();
        for (number, group) in groups.rings().iter().enumerate() {
            shared[group.one].publishes.push(number);
            for &reader in &group.others {
                shared[reader].reads.push(number);
            }
        }
        for (number, group) in groups.counters().iter().enumerate() {
            shared[group.one].collects.push(number);
            for &adder in &group.others {
                shared[adder].adds.push(number);
            }
        }
        for (number, ranks) in groups.counter_barriers().iter().enumerate() {
            ranks
                .iter()
                .for_each(|&rank| shared[rank].barrier_ends.push(number));
        }
        shared
    }
}

/// A part of a buffer that is lent to another rank.
#[derive(Debug)]
struct LentPart {
    /// Its addresses, which are only compared.
    bytes: Range<usize>,
    /// The line by which it is returned, and the rank that returns it.
    back: usize,
    peer: usize,
}

impl LentPart {
    fn overlaps(&self, bytes: &Range<usize>) -> bool {
        self.bytes.start < bytes.end && bytes.start < self.bytes.end
    }
}

/// The fabric of one rank whose operations are recorded; see [`record`](super::record()).
#[derive(Debug)]
pub struct Symbolic<'w> {
    rank: usize,
    size: usize,
    recorder: &'w Recorder,
    traffic: &'w RefCell<Traffic>,
    groups: &'w Groups,
    shared: Shared,
    lent: Vec<LentPart>,
    /// The addresses of parts that others fill, whose bytes are not there yet, with the rank that fills each.
    filling: Vec<(Range<usize>, usize)>,
    /// The addresses of this rank's windows.
    windows: Vec<Range<usize>>,
    /// Bytes that were combined and not yet recorded.
    combined: Rc<Cell<usize>>,
    /// How often each counter was collected and each flag was awaited, and how many ranks came to each counter barrier.
    heard: HashMap<usize, usize>,
}

impl<'w> Symbolic<'w> {
    /// The fabric of `rank` in a team of `size`.
    pub(super) fn new(
        (rank, size): (usize, usize),
        recorder: &'w Recorder,
        traffic: &'w RefCell<Traffic>,
        groups: &'w Groups,
        shared: Shared,
    ) -> Self {
        Self {
            rank,
            size,
            recorder,
            traffic,
            groups,
            shared,
            lent: Vec::new(),
            filling: Vec::new(),
            windows: Vec::new(),
            combined: Rc::default(),
            heard: HashMap::new(),
        }
    }

    /// A window over `bytes`. `written` says that this rank has just written them, as a program does with the data
    /// that it gives: then no other rank has a copy of their lines.
    pub fn open<'b>(&mut self, bytes: &'b mut [u8], written: bool) -> &'b mut [u8] {
        self.windows.push(addresses(bytes));
        if written {
            self.written(bytes);
        }
        bytes
    }

    fn line(&self, name: String, kind: LineKind, home: usize) -> usize {
        self.recorder.line(name, kind, home)
    }

    /// The lines of a rank's buffers.
    fn data(&self, rank: usize) -> usize {
        self.line(format!("data {rank}"), LineKind::Data, rank)
    }

    /// The number of lines of this kind that were used before.
    fn number(&self, what: &'static str, a: usize, b: usize) -> usize {
        let mut traffic = self.traffic.borrow_mut();
        let used = traffic.used.entry((what, a, b)).or_insert(0);
        *used += 1;
        *used - 1
    }

    fn await_value(&self, line: usize, value: usize) {
        self.recorder.wait(self.rank, line, value);
    }

    /// Records a step.
    fn step(&self, what: StepKind, after: &[usize]) -> usize {
        self.catch_up();
        let mut traffic = self.traffic.borrow_mut();
        traffic.steps.push(self.rank, what, after)
    }

    /// Records the bytes that were combined.
    pub(super) fn catch_up(&self) {
        let bytes = self.combined.take();
        if bytes > 0 {
            let mut traffic = self.traffic.borrow_mut();
            traffic
                .steps
                .push(self.rank, StepKind::Combine { bytes }, &[]);
        }
    }

    /// An operator that adds bytes; its work is recorded as a step.
    pub fn combine(&self) -> Bytes<impl Fn(usize) + use<>> {
        let combined = self.combined.clone();
        Bytes::new(move |bytes| combined.set(combined.get() + bytes))
    }

    /// The lines of a part of a window, if these addresses are in one.
    fn part(&self, addresses: &Range<usize>) -> Option<BufferPart> {
        let inside = |of: &Range<usize>| of.start <= addresses.start && addresses.end <= of.end;
        let window = self.windows.iter().rposition(inside)?;
        let start = self.windows[window].start;
        let (from, to) = (addresses.start - start, addresses.end - start);
        let lines = from / LINE_BYTES..to.div_ceil(LINE_BYTES);
        Some((self.rank, window, lines))
    }

    /// Records that this rank has written these bytes, if they are in one of its windows.
    fn written(&self, bytes: &[u8]) {
        let Some(part) = self.part(&addresses(bytes)) else {
            return;
        };
        let start = self.windows[part.1].start;
        let reading = |line: usize| {
            let line = start + line * LINE_BYTES..start + (line + 1) * LINE_BYTES;
            let lent = self.lent.iter().filter(|out| out.overlaps(&line));
            lent.map(|out| out.peer).collect()
        };
        let mut traffic = self.traffic.borrow_mut();
        traffic.steps.written(&part, reading);
    }

    /// Waits until one of these parcels has arrived, and takes it.
    fn take(
        &self,
        parcels: impl Fn(&mut Traffic) -> &mut Parcels,
        expected: usize,
        awaited: impl Fn() -> usize,
    ) -> Result<Parcel, Stuck> {
        self.await_parcel(&parcels, awaited);
        let parcel = parcels(&mut self.traffic.borrow_mut()).pop_front();
        let parcel = parcel.expect("a rank goes on when something has come");
        self.await_value(parcel.line, 1);
        self.check(parcel.line, parcel.bytes.len(), expected)?;
        Ok(parcel)
    }

    /// Goes on when one of these parcels has arrived; records nothing. `awaited` only names the wait in an error.
    fn await_parcel(
        &self,
        parcels: impl Fn(&mut Traffic) -> &mut Parcels,
        awaited: impl Fn() -> usize,
    ) {
        let is_there = || !parcels(&mut self.traffic.borrow_mut()).is_empty();
        if !is_there() {
            self.recorder.suspend(self.rank, (awaited(), 1), is_there);
        }
    }

    fn check(&self, line: usize, came: usize, expected: usize) -> Result<(), Stuck> {
        if came == expected {
            return Ok(());
        }
        let failure = Stuck::Length {
            rank: self.rank,
            line: self.recorder.name(line),
            came,
            expected,
        };
        self.traffic.borrow_mut().failure = Some(failure.clone());
        Err(failure)
    }

    fn write(&self, line: usize) {
        self.recorder.write(self.rank, line);
    }

    fn copy(&self, from: usize, to: usize, lines: usize) {
        self.recorder.copy(self.rank, from, to, lines);
    }

    /// Copies a payload of so many bytes into or out of a line that also holds a flag, and into or out of the lines
    /// of a body.
    fn carry(&self, from: usize, to: usize, bytes: usize) {
        if bytes > 0 {
            self.copy(from, to, 1 + body_lines_for(bytes) as usize);
        }
    }

    /// Waits until these loans are returned.
    fn regain(&self, lent: Vec<LentPart>) {
        for out in &lent {
            self.await_value(out.back, 1);
        }
        // A rank acknowledges all loans of this one in one line, so only its last return is waited for.
        let later = |place: usize, peer| lent[place + 1..].iter().any(|out| out.peer == peer);
        let last = lent.iter().enumerate();
        let last = last.filter(|(place, out)| !later(*place, out.peer));
        let returned: Vec<usize> = {
            let traffic = self.traffic.borrow();
            last.map(|(_, out)| traffic.returned[&out.back]).collect()
        };
        if !returned.is_empty() {
            self.step(StepKind::Regain, &returned);
        }
    }

    /// Waits for room in the queue to a rank; returns the step that makes room, if one is needed.
    fn await_room(&self, peer: usize, bytes: usize) -> Option<usize> {
        let ends = (self.rank, peer);
        let sent = {
            let mut traffic = self.traffic.borrow_mut();
            let queue = traffic.queues.entry(ends).or_default();
            queue.sent = queue.sent.and_message(bytes);
            queue.sent
        };
        let fits = || sent.fits(self.traffic.borrow().queues[&ends].given);
        if !fits() {
            let name = format!("queue {} → {peer}", self.rank);
            let awaited = (self.line(name, LineKind::Flag, self.rank), 1);
            self.recorder.suspend(self.rank, awaited, fits);
        }
        self.traffic.borrow().queues[&ends].room()
    }

    /// Waits until all loans of these addresses are returned.
    fn get_back(&mut self, bytes: &Range<usize>) {
        let (wanted, lent) = std::mem::take(&mut self.lent)
            .into_iter()
            .partition(|out| out.overlaps(bytes));
        self.lent = lent;
        self.regain(wanted);
    }

    /// Waits for the next loan of `peer`.
    fn next_loan(&self, peer: usize, len: usize) -> Result<Parcel, Stuck> {
        self.take(self.loans_of(peer), len, || self.offer_line(peer))
    }

    fn loans_of(&self, peer: usize) -> impl Fn(&mut Traffic) -> &mut Parcels + use<> {
        let pair = (peer, self.rank);
        move |traffic| traffic.loans.entry(pair).or_default()
    }

    fn offer_line(&self, peer: usize) -> usize {
        let name = format!("offer {peer} → {}", self.rank);
        self.line(name, LineKind::Flag, self.rank)
    }

    /// Lends, to be combined or not.
    fn lend_for(
        &mut self,
        window: &[u8],
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
        combined: bool,
    ) -> Result<(), Stuck> {
        let bytes = &window[range];
        let part = self.part(&addresses(bytes));
        let mut again = false;
        for peer in peers {
            let number = self.number("loan", self.rank, peer);
            let descriptor = format!("offer {} → {peer} #{number}", self.rank);
            let descriptor = self.line(descriptor, LineKind::Flag, peer);
            let back = format!("return {peer} → {} #{number}", self.rank);
            let back = self.line(back, LineKind::Flag, self.rank);
            self.write(descriptor);
            let step = self.step(StepKind::Lend { to: peer, again }, &[]);
            again = true;
            self.lent.push(LentPart {
                bytes: addresses(bytes),
                back,
                peer,
            });
            let mut traffic = self.traffic.borrow_mut();
            let parcels = traffic.loans.entry((self.rank, peer)).or_default();
            parcels.push_back(Parcel {
                part: part.clone().unwrap_or((self.rank, 0, 0..0)),
                combined,
                ..Parcel::here(descriptor, bytes, step)
            });
        }
        if !again {
            self.step(StepKind::Call, &[]);
        }
        Ok(())
    }

    /// Reads a loan, calls `used` with its bytes, and returns the loan.
    fn take_loan(
        &mut self,
        peer: usize,
        len: usize,
        combined: bool,
        used: impl FnOnce(&Self, &[u8]),
    ) -> Result<(), Stuck> {
        let bytes = self.read_loan(peer, len, combined)?;
        used(self, &bytes);
        self.give_back(peer);
        Ok(())
    }

    /// Reads the next loan of `peer`, to combine it or as it is. Its lender has said so: a fabric may have another way for each.
    fn read_loan(&self, peer: usize, len: usize, combined: bool) -> Result<Vec<u8>, Stuck> {
        let parcel = self.next_loan(peer, len)?;
        assert_eq!(
            parcel.combined, combined,
            "whether {} combines what {peer} lends",
            self.rank
        );
        let all = parcel.part.2.len();
        let fetched = self.traffic.borrow_mut().steps.read(self.rank, parcel.part);
        let borrow = StepKind::Borrow {
            from: peer,
            fetched,
            known: all - fetched,
        };
        self.step(borrow, &[parcel.step]);
        if len > 0 {
            self.copy(
                self.data(peer),
                self.data(self.rank),
                len.div_ceil(LINE_BYTES),
            );
        }
        Ok(parcel.bytes)
    }

    /// Returns the next loan of `peer`.
    fn give_back(&self, peer: usize) {
        let number = self.number("return", self.rank, peer);
        let back = format!("return {} → {peer} #{number}", self.rank);
        let back = self.line(back, LineKind::Flag, peer);
        self.write(back);
        let step = self.step(StepKind::Return, &[]);
        self.traffic.borrow_mut().returned.insert(back, step);
    }
}

fn addresses(bytes: &[u8]) -> Range<usize> {
    let first = bytes.as_ptr() as usize;
    first..first + bytes.len()
}

impl Fabric for Symbolic<'_> {
    type Error = Stuck;
    type Window<'w> = &'w mut [u8];

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn notify(&mut self, peer: usize) -> Result<(), Stuck> {
        let name = format!("flag {} → {peer}", self.rank);
        self.write(self.line(name, LineKind::Flag, peer));
        let step = self.step(StepKind::Notify { to: peer }, &[]);
        let mut traffic = self.traffic.borrow_mut();
        let flags = traffic.steps.flags.entry((self.rank, peer)).or_default();
        flags.push_back(step);
        Ok(())
    }

    fn wait(&mut self, peer: usize) -> Result<(), Stuck> {
        let name = format!("flag {peer} → {}", self.rank);
        let line = self.line(name, LineKind::Flag, self.rank);
        let heard = self.heard.entry(line).or_insert(0);
        *heard += 1;
        let heard = *heard;
        self.await_value(line, heard);
        let flag = {
            let mut traffic = self.traffic.borrow_mut();
            let flags = traffic.steps.flags.get_mut(&(peer, self.rank));
            flags.and_then(VecDeque::pop_front)
        };
        let (from, again) = (peer, heard > 1);
        self.step(StepKind::Wait { from, again }, flag.as_slice());
        Ok(())
    }

    fn send(&mut self, peer: usize, payload: &[u8]) -> Result<(), Stuck> {
        let room = self.await_room(peer, payload.len());
        let number = self.number("message", self.rank, peer);
        let name = format!("slot {} → {peer} #{number}", self.rank);
        let line = self.line(name, LineKind::Flag, peer);
        self.carry(self.data(self.rank), line, payload.len());
        self.write(line);
        let bytes = payload.len();
        let step = self.step(StepKind::Send { to: peer, bytes }, room.as_slice());
        let mut traffic = self.traffic.borrow_mut();
        let parcels = traffic.messages.entry((self.rank, peer)).or_default();
        parcels.push_back(Parcel::here(line, payload, step));
        Ok(())
    }

    fn receive(&mut self, peer: usize, payload: &mut [u8]) -> Result<(), Stuck> {
        let pair = (peer, self.rank);
        let parcel = self.take(
            |traffic| traffic.messages.entry(pair).or_default(),
            payload.len(),
            || {
                self.line(
                    format!("slot {peer} → {}", self.rank),
                    LineKind::Flag,
                    self.rank,
                )
            },
        )?;
        let bytes = payload.len();
        self.carry(parcel.line, self.data(self.rank), bytes);
        let step = self.step(StepKind::Receive { from: peer, bytes }, &[parcel.step]);
        let mut traffic = self.traffic.borrow_mut();
        let queue = traffic.queues.entry((peer, self.rank)).or_default();
        queue.taken(bytes, step);
        payload.copy_from_slice(&parcel.bytes);
        Ok(())
    }

    fn publish(&mut self, line: usize, payload: &[u8]) -> Result<(), Stuck> {
        let ring = self.shared.publishes[line];
        let Group { one, others, .. } = &self.groups.rings()[ring];
        let number = self.number("post", ring, 0);
        let name = format!("broadcast ring {ring} of {one} #{number}");
        let line = self.line(name, LineKind::BroadcastRing, others[0]);
        self.carry(self.data(self.rank), line, payload.len());
        self.write(line);
        let bytes = payload.len();
        let step = self.step(StepKind::Publish { bytes }, &[]);
        let mut traffic = self.traffic.borrow_mut();
        for &reader in others {
            let parcels = traffic.publishes.entry((ring, reader)).or_default();
            parcels.push_back(Parcel::here(line, payload, step));
        }
        Ok(())
    }

    fn read(&mut self, line: usize, payload: &mut [u8]) -> Result<(), Stuck> {
        let (ring, rank) = (self.shared.reads[line], self.rank);
        let one = self.groups.rings()[ring].one;
        let parcel = self.take(
            |traffic| traffic.publishes.entry((ring, rank)).or_default(),
            payload.len(),
            || {
                self.line(
                    format!("broadcast ring {ring} of {one}"),
                    LineKind::BroadcastRing,
                    rank,
                )
            },
        )?;
        let (from, bytes) = (one, payload.len());
        self.carry(parcel.line, self.data(self.rank), bytes);
        self.step(StepKind::Read { from, bytes }, &[parcel.step]);
        payload.copy_from_slice(&parcel.bytes);
        Ok(())
    }

    fn add(&mut self, line: usize) -> Result<(), Stuck> {
        let counter = self.shared.adds[line];
        let home = self.groups.counters()[counter].one;
        let line = self.line(
            format!("arrival counter {counter} of {home}"),
            LineKind::ArrivalCounter,
            home,
        );
        self.recorder.add(self.rank, line, None);
        let step = self.step(StepKind::Add { to: home }, &[]);
        let mut traffic = self.traffic.borrow_mut();
        traffic.steps.added.entry(counter).or_default().push(step);
        Ok(())
    }

    fn collect(&mut self, line: usize) -> Result<(), Stuck> {
        let counter = self.shared.collects[line];
        let Group { one, others, .. } = &self.groups.counters()[counter];
        let line = self.line(
            format!("arrival counter {counter} of {one}"),
            LineKind::ArrivalCounter,
            *one,
        );
        let heard = self.heard.entry(line).or_insert(0);
        *heard += others.len();
        let heard = *heard;
        self.await_value(line, heard);
        let adders = others.len();
        let added = self.traffic.borrow().steps.added[&counter][heard - adders..heard].to_vec();
        self.step(StepKind::Collect, &added);
        Ok(())
    }

    fn arrive_and_wait(&mut self, line: usize) -> Result<(), Stuck> {
        let counter_barrier = self.shared.barrier_ends[line];
        let ranks = &self.groups.counter_barriers()[counter_barrier];
        let line = self.line(
            format!("counter barrier {counter_barrier}"),
            LineKind::ArrivalCounter,
            ranks[0],
        );
        self.recorder.add(self.rank, line, None);
        let other = ranks.iter().copied().find(|&rank| rank != self.rank);
        let other = other.unwrap_or(self.rank);
        let step = self.step(StepKind::BarrierEnd { other }, &[]);
        let key = self.groups.counters().len() + counter_barrier;
        let mut traffic = self.traffic.borrow_mut();
        traffic.steps.added.entry(key).or_default().push(step);
        drop(traffic);
        let heard = self.heard.entry(line).or_insert(0);
        let before = *heard;
        *heard += ranks.len();
        let heard = *heard;
        self.await_value(line, heard);
        let added = self.traffic.borrow().steps.added[&key][before..heard].to_vec();
        self.step(StepKind::Collect, &added);
        Ok(())
    }

    fn message_bytes_max(&self) -> usize {
        message_bytes_max(DEFAULT_SLOTS)
    }

    /// A published message has one line here, as on a simulated machine.
    fn publish_bytes_max(&self, _line: usize) -> usize {
        RING_PAYLOAD_BYTES
    }

    fn wrong_length(&self, peer: usize, sent: usize, expected: usize) -> Stuck {
        Stuck::Length {
            rank: self.rank,
            line: format!("data of {peer}"),
            came: sent,
            expected,
        }
    }

    fn with_window<R>(
        &mut self,
        data: &mut [u8],
        _element: usize,
        written: bool,
        body: impl FnOnce(&mut Self, &mut Self::Window<'_>) -> R,
    ) -> R {
        let number = self.windows.len();
        let mut window = self.open(data, written);
        let result = body(self, &mut window);
        // Other bytes may lie at its address from now on.
        self.windows[number] = 0..0;
        result
    }

    fn view<'b>(&self, window: &'b Self::Window<'_>, range: Range<usize>) -> &'b [u8] {
        &window[range]
    }

    fn view_mut<'b>(
        &mut self,
        window: &'b mut Self::Window<'_>,
        range: Range<usize>,
    ) -> Result<&'b mut [u8], Stuck> {
        let asked = addresses(&window[range.clone()]);
        self.get_back(&asked);
        let overlaps =
            |(of, _): &mut (Range<usize>, usize)| of.start < asked.end && asked.start < of.end;
        let start = window.as_ptr() as usize;
        let filled: Vec<_> = self.filling.extract_if(.., overlaps).collect();
        for (of, peer) in filled {
            let mut traffic = self.traffic.borrow_mut();
            let filled = traffic.filled.get_mut(&(self.rank, peer));
            let bytes = filled.and_then(VecDeque::pop_front);
            let bytes = bytes.expect("its return has come");
            if let Some(part) = self.part(&of) {
                traffic.steps.forget(&part);
            }
            window[of.start - start..of.end - start].copy_from_slice(&bytes);
        }
        Ok(&mut window[range])
    }

    fn lend(
        &mut self,
        window: &Self::Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Stuck> {
        self.lend_for(window, peers, range, false)
    }

    fn lend_to_combine(
        &mut self,
        window: &Self::Window<'_>,
        peers: impl IntoIterator<Item = usize>,
        range: Range<usize>,
    ) -> Result<(), Stuck> {
        self.lend_for(window, peers, range, true)
    }

    fn borrow(
        &mut self,
        peer: usize,
        len: usize,
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<(), Stuck> {
        self.take_loan(peer, len, true, |_, bytes| each(0, bytes))
    }

    fn fetch(&mut self, peer: usize, into: &mut [u8]) -> Result<(), Stuck> {
        self.take_loan(peer, into.len(), false, |fabric, bytes| {
            into.copy_from_slice(bytes);
            let lines = into.len().div_ceil(LINE_BYTES);
            fabric.written(into);
            fabric.step(StepKind::Fill { lines }, &[]);
        })
    }

    fn await_loan(&mut self, peer: usize, _: usize) -> Result<(), Stuck> {
        let loans = self.loans_of(peer);
        self.await_parcel(&loans, || self.offer_line(peer));
        let lent = loans(&mut self.traffic.borrow_mut())
            .front()
            .map(|first| first.step);
        let lent = lent.expect("a rank goes on when something has come");
        self.step(StepKind::Look { from: peer }, &[lent]);
        Ok(())
    }

    fn dismiss(&mut self, peer: usize, len: usize) -> Result<(), Stuck> {
        let parcel = self.next_loan(peer, len)?;
        self.step(StepKind::Look { from: peer }, &[parcel.step]);
        self.give_back(peer);
        Ok(())
    }

    fn lend_to_fill(
        &mut self,
        window: &mut Self::Window<'_>,
        peer: usize,
        range: Range<usize>,
    ) -> Result<(), Stuck> {
        let at = addresses(self.view_mut(window, range.clone())?);
        self.lend(window, [peer], range)?;
        self.filling.push((at, peer));
        Ok(())
    }

    fn fill(
        &mut self,
        peer: usize,
        len: usize,
        body: impl FnOnce(&mut Self, &mut [u8]) -> Result<(), Stuck>,
    ) -> Result<(), Stuck> {
        let mut part = self.read_loan(peer, len, false)?;
        body(self, &mut part)?;
        let lines = len.div_ceil(LINE_BYTES);
        self.step(StepKind::Fill { lines }, &[]);
        {
            let mut traffic = self.traffic.borrow_mut();
            let filled = traffic.filled.entry((peer, self.rank)).or_default();
            filled.push_back(part);
        }
        self.give_back(peer);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Stuck> {
        self.step(StepKind::Call, &[]);
        let lent = std::mem::take(&mut self.lent);
        self.regain(lent);
        Ok(())
    }
}
