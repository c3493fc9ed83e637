//! The lines of a team, laid out as [`corecast_wire`] does. The table says which rank writes and which reads each
//! line, and in the memory of which rank it is.
//!
//! | line | written by | read by | in the memory of |
//! | --- | --- | --- | --- |
//! | flag | sender | receiver | receiver |
//! | 64 slots of a queue, 256 lines of its body | sender | receiver | receiver |
//! | acknowledgement | receiver, twice a lap | sender, when it runs out of room | sender |
//! | 8 descriptors of loans | lender | borrower | borrower |
//! | acknowledgement of loans | borrower | lender | lender |
//! | 16 lines of a broadcast ring | publisher | all others | publisher |
//! | place of a reader | reader, twice a lap | publisher, when it runs out of room | reader |
//! | arrival counter | all others, adding | collector | collector |
//! | counter barrier | all, adding | all | first of its ranks |
//! | parker | its rank, when it goes to sleep | a rank that publishes something for it | its rank |
//!
//! Each flag has a line of its own here; on hardware the two flags of a team of two ranks share one.
//!
//! Lines are made when they are first used, in the state of a team that has run for a while: the writer of a line has
//! written it, and its readers have read it since. Payloads travel beside the lines, in order; the number in a line
//! says that a payload has come.

use crate::engine::Cpu;
use crate::memory::LineId;
use corecast_collectives::Groups;
use corecast_wire::queue::{DEFAULT_SLOTS, body_lines, body_lines_for};
use std::collections::VecDeque;
use std::rc::Rc;

/// Slots of a queue.
pub(crate) const SLOTS: u64 = DEFAULT_SLOTS as u64;
/// Lines of the body of a queue.
pub(crate) const BODY_LINES: u64 = body_lines(DEFAULT_SLOTS) as u64;
/// Descriptors of loans on a link.
pub(super) const DESCRIPTORS: u64 = 8;
/// Lines of a broadcast ring, as [`corecast_wire::broadcast_ring`] has them.
pub(super) const RING_SLOTS: u64 = 16;

/// How much of a queue was written, read or given back since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) slots: u64,
    /// Lines of the body.
    pub(crate) lines: u64,
}

impl Used {
    /// The counts after one more message of `len` bytes.
    pub(crate) fn and_message(self, len: usize) -> Self {
        Self {
            slots: self.slots + 1,
            lines: self.lines + body_lines_for(len),
        }
    }

    /// Whether this much fits into a queue of which `freed` was given back.
    pub(crate) fn fits(self, freed: Self) -> bool {
        self.slots <= freed.slots + SLOTS && self.lines <= freed.lines + BODY_LINES
    }

    /// What a receiver that has read this much gives back, after `before`. It gives back twice a lap of either ring,
    /// and with the lines of the body also the slots.
    pub(crate) fn given(self, before: Self) -> Self {
        if self.lines >= before.lines + BODY_LINES / 2 {
            self
        } else if self.slots >= before.slots + SLOTS / 2 {
            Self {
                slots: self.slots,
                ..before
            }
        } else {
            before
        }
    }

    /// Both numbers as the one word that a line has here.
    pub(crate) fn word(self) -> u64 {
        self.slots << 32 | self.lines
    }

    pub(crate) fn of_word(word: u64) -> Self {
        Self {
            slots: word >> 32,
            lines: word & u64::from(u32::MAX),
        }
    }
}

/// The ring of a link to which a line belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RingOf {
    Slot,
    Body,
    Descriptor,
}

/// A ring of lines, which are made when they are first used.
#[derive(Debug, Default)]
pub(super) struct LineRing(Vec<LineId>);

impl LineRing {
    /// The line of entry `number`.
    pub(super) fn at(&mut self, number: u64, size: u64, make: impl FnMut() -> LineId) -> LineId {
        let place = (number % size) as usize;
        if place >= self.0.len() {
            self.0.resize_with(place + 1, make);
        }
        self.0[place]
    }
}

/// A loan: some lines, and their content when they were lent.
#[derive(Clone, Debug)]
pub(super) struct Loan {
    pub(super) first: LineId,
    pub(super) lines: usize,
    pub(super) bytes: Rc<[u8]>,
}

/// All lines from one rank to another, and both ends' counts.
#[derive(Debug)]
pub(super) struct WireLink {
    pub(super) flag: LineId,
    pub(super) notified: u64,
    pub(super) waited: u64,
    pub(super) slots: LineRing,
    pub(super) body: LineRing,
    pub(super) ack: LineId,
    pub(super) sent: Used,
    pub(super) received: Used,
    /// How much the receiver has given back.
    pub(super) given: Used,
    /// How much the sender knows to be given back.
    pub(super) freed: Used,
    pub(super) mail: VecDeque<Vec<u8>>,
    pub(super) descriptors: LineRing,
    pub(super) returns: LineId,
    pub(super) lent: u64,
    pub(super) borrowed: u64,
    pub(super) loans: VecDeque<Loan>,
    /// What the borrower has written to loans that it fills, in their order.
    pub(super) filled: VecDeque<Rc<[u8]>>,
}

impl WireLink {
    fn new(cores: &[usize], cpu: &Cpu<'_>, from: usize, to: usize) -> Self {
        let to_reader = || Wires::line(cores, cpu, to, from, &[to]);
        let back = || Wires::line(cores, cpu, from, to, &[from]);
        Self {
            flag: to_reader(),
            notified: 0,
            waited: 0,
            slots: LineRing::default(),
            body: LineRing::default(),
            ack: back(),
            sent: Used::default(),
            received: Used::default(),
            given: Used::default(),
            freed: Used::default(),
            mail: VecDeque::new(),
            descriptors: LineRing::default(),
            returns: back(),
            lent: 0,
            borrowed: 0,
            loans: VecDeque::new(),
            filled: VecDeque::new(),
        }
    }
}

/// A ring of lines that one rank publishes on and others read.
#[derive(Debug)]
pub(super) struct BroadcastRing {
    pub(super) one: usize,
    pub(super) readers: Vec<usize>,
    pub(super) ring: LineRing,
    pub(super) published: u64,
    /// How many messages the publisher knows all readers to have read.
    pub(super) freed: u64,
    /// The positions of the readers.
    pub(super) places: Vec<ReaderLine>,
}

/// The position of a reader of a broadcast ring.
#[derive(Debug)]
pub(super) struct ReaderLine {
    /// How many messages it has read.
    pub(super) read: u64,
    /// The line in which it tells the publisher how many.
    pub(super) line: LineId,
    /// The messages that it has not read yet.
    pub(super) mail: VecDeque<Rc<[u8]>>,
}

/// An arrival counter: a line that other ranks add to and one collects.
#[derive(Debug)]
pub(super) struct WireTally {
    pub(super) line: LineId,
    pub(super) one: usize,
    pub(super) adders: u64,
    pub(super) collected: u64,
}

/// A counter barrier: a line to which all its ranks add and that all of them watch.
#[derive(Debug)]
pub(super) struct WireMeeting {
    pub(super) line: LineId,
    /// How often each of its ranks has arrived.
    pub(super) came: Vec<u64>,
}

/// The lines of a team.
#[derive(Debug)]
pub(super) struct Wires {
    cores: Vec<usize>,
    /// For each rank the others to which it has lines, in order, with the index of the link in `links`.
    ways: Vec<Vec<(u32, u32)>>,
    links: Vec<WireLink>,
    pub(super) rings: Vec<Option<BroadcastRing>>,
    pub(super) counters: Vec<Option<WireTally>>,
    counter_barriers: Vec<Option<WireMeeting>>,
    groups: Groups,
    /// For each rank the indices of five kinds of lines: rings that it publishes on; rings that it reads, with its
    /// place among the readers; counters that it adds to; counters that it collects; counter barriers, with its place
    /// among their ranks.
    numbers: Vec<[Vec<(usize, usize)>; 5]>,
    parkers: Vec<Option<LineId>>,
}

impl Wires {
    pub(super) fn new(cores: &[usize], groups: &Groups) -> Self {
        let mut numbers: Vec<[Vec<(usize, usize)>; 5]> = vec![Default::default(); cores.len()];
        for (index, group) in groups.rings().iter().enumerate() {
            numbers[group.one][0].push((index, 0));
            for (place, &reader) in group.others.iter().enumerate() {
                numbers[reader][1].push((index, place));
            }
        }
        for (index, group) in groups.counters().iter().enumerate() {
            numbers[group.one][3].push((index, 0));
            group
                .others
                .iter()
                .for_each(|&adder| numbers[adder][2].push((index, 0)));
        }
        for (index, ranks) in groups.counter_barriers().iter().enumerate() {
            for (place, &rank) in ranks.iter().enumerate() {
                numbers[rank][4].push((index, place));
            }
        }
        fn none<T>(count: usize) -> Vec<Option<T>> {
            std::iter::repeat_with(|| None).take(count).collect()
        }
        Self {
            cores: cores.to_vec(),
            ways: vec![Vec::new(); cores.len()],
            links: Vec::new(),
            rings: none(groups.rings().len()),
            counters: none(groups.counters().len()),
            counter_barriers: none(groups.counter_barriers().len()),
            groups: groups.clone(),
            numbers,
            parkers: vec![None; cores.len()],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.cores.len()
    }

    /// A line in the memory of rank `near`, which `writer` has written and `readers` have read.
    pub(super) fn line(
        cores: &[usize],
        cpu: &Cpu<'_>,
        near: usize,
        writer: usize,
        readers: &[usize],
    ) -> LineId {
        let line = cpu.allocate_at(cores[near], 1);
        cpu.pretend(line, cores[writer], readers.iter().map(|&rank| cores[rank]));
        line
    }

    /// The lines from rank `from` to rank `to`.
    pub(super) fn link(&mut self, cpu: &Cpu<'_>, from: usize, to: usize) -> &mut WireLink {
        let index = self.way(cpu, from, to);
        &mut self.links[index]
    }

    /// The index of the link from rank `from` to rank `to`, which is made if there is none.
    fn way(&mut self, cpu: &Cpu<'_>, from: usize, to: usize) -> usize {
        let found = self.ways[from].binary_search_by_key(&(to as u32), |way| way.0);
        match found {
            Ok(place) => self.ways[from][place].1 as usize,
            Err(place) => {
                let index = self.links.len();
                self.ways[from].insert(place, (to as u32, index as u32));
                self.links.push(WireLink::new(&self.cores, cpu, from, to));
                index
            }
        }
    }

    /// The line of entry `number` of one of the rings of a link.
    pub(super) fn entry(
        &mut self,
        cpu: &Cpu<'_>,
        (from, to): (usize, usize),
        number: u64,
        part: RingOf,
    ) -> LineId {
        let index = self.way(cpu, from, to);
        let (cores, link) = (&self.cores, &mut self.links[index]);
        let make = || Self::line(cores, cpu, to, from, &[to]);
        match part {
            RingOf::Slot => link.slots.at(number, SLOTS, make),
            RingOf::Body => link.body.at(number, BODY_LINES, make),
            RingOf::Descriptor => link.descriptors.at(number, DESCRIPTORS, make),
        }
    }

    /// The index of a rank's line of some kind, and the rank's place in its group.
    pub(super) fn number(&self, rank: usize, kind: usize, line: usize) -> (usize, usize) {
        self.numbers[rank][kind][line]
    }

    pub(super) fn ring(&mut self, cpu: &Cpu<'_>, index: usize) -> &mut BroadcastRing {
        let (cores, group) = (&self.cores, &self.groups.rings()[index]);
        self.rings[index].get_or_insert_with(|| BroadcastRing {
            one: group.one,
            readers: group.others.clone(),
            ring: LineRing::default(),
            published: 0,
            freed: 0,
            places: group
                .others
                .iter()
                .map(|&reader| ReaderLine {
                    read: 0,
                    line: Self::line(cores, cpu, reader, reader, &[group.one]),
                    mail: VecDeque::new(),
                })
                .collect(),
        })
    }

    /// The line of published message `number` of a broadcast ring.
    pub(super) fn publish_line(&mut self, cpu: &Cpu<'_>, index: usize, number: u64) -> LineId {
        let cores = self.cores.clone();
        let ring = self.ring(cpu, index);
        let (one, readers) = (ring.one, &ring.readers);
        let make = || Self::line(&cores, cpu, one, one, readers);
        ring.ring.at(number, RING_SLOTS, make)
    }

    pub(super) fn counter(&mut self, cpu: &Cpu<'_>, index: usize) -> &mut WireTally {
        let (cores, group) = (&self.cores, &self.groups.counters()[index]);
        self.counters[index].get_or_insert_with(|| WireTally {
            line: Self::line(cores, cpu, group.one, group.others[0], &[group.one]),
            one: group.one,
            adders: group.others.len() as u64,
            collected: 0,
        })
    }

    pub(super) fn counter_barrier(&mut self, cpu: &Cpu<'_>, index: usize) -> &mut WireMeeting {
        let (cores, ranks) = (&self.cores, &self.groups.counter_barriers()[index]);
        self.counter_barriers[index].get_or_insert_with(|| WireMeeting {
            // The last rank has added last, and all others have read the line since.
            line: Self::line(
                cores,
                cpu,
                ranks[0],
                ranks[ranks.len() - 1],
                &ranks[..ranks.len() - 1],
            ),
            came: vec![0; ranks.len()],
        })
    }

    /// The ranks of a counter barrier.
    pub(super) fn members(&self, index: usize) -> Vec<usize> {
        self.groups.counter_barriers()[index].clone()
    }

    /// The line that says whether `rank` sleeps. `publisher`, which is about to look there, has a copy.
    pub(super) fn parker(&mut self, cpu: &Cpu<'_>, rank: usize, publisher: usize) -> LineId {
        let cores = &self.cores;
        let line =
            *self.parkers[rank].get_or_insert_with(|| Self::line(cores, cpu, rank, rank, &[]));
        cpu.pretend_read(line, cores[publisher]);
        line
    }
}
