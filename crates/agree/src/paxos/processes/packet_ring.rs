//! A ring of packets from one process to another, either of which may be killed and started again.
//!
//! All that an end needs to go on is in the ring: the sender finds behind what was read the packets whose stamps are
//! those of their numbers, and the receiver has written how far it has read. A packet is there once its stamp is written, so
//! one that its sender was killed amid never was. A receiver that was killed finds some packets again, which 1Paxos bears as it
//! bears late ones.
//!
//! **Invariant 1:** the sender writes a slot only after it has seen that the packet there was read. **Invariant 2:** one process
//! at a time is the sender, and one the receiver.
//!
//! A sender that waits for room says so in the ring before it sleeps and looks once more, and the receiver says how far it has read before
//! it looks who waits: a full fence lies between the two on both sides, so one of them sees what the other has said.
//!
//! Orderings: the stamp is written with release after the packet, and read with acquire before it; how far was read is written with
//! release after packets were copied, and read with acquire before they are overwritten.

use corecast_wire::{LineRef, LineSlice, Words, fence};

use super::word_stream::{ENTRY_LINES, WordReader, WordWriter};

/// Lines of a slot.
pub(super) const SLOT_LINES: usize = ENTRY_LINES;

/// Words of a slot before the packet.
const STAMP: usize = 0;
const HEAD: usize = 1;
const PACKET: usize = 2;

/// Words of the line that is not a slot: how many packets were read, and whether the sender waits for room.
const READ: usize = 0;
const AWAITED: usize = 1;

/// The lines of a ring.
#[derive(Clone, Debug)]
pub(super) struct RingLines {
    /// See [`READ`].
    pub(super) read: LineRef<Words>,
    pub(super) slots: LineSlice<Words>,
}

impl RingLines {
    fn slot(&self, number: u64) -> &[Words] {
        let slots = self.slots.len() / SLOT_LINES;
        let first = (number as usize % slots) * SLOT_LINES;
        &self.slots[first..first + SLOT_LINES]
    }

    fn slots(&self) -> u64 {
        (self.slots.len() / SLOT_LINES) as u64
    }
}

/// The sending end.
#[derive(Debug)]
pub(super) struct RingSender {
    lines: RingLines,
    /// The number of the next packet, and how many are known to be read.
    next: u64,
    read: u64,
}

impl RingSender {
    /// Goes on where a former sender has ended.
    pub(super) fn new(lines: RingLines) -> Self {
        let read = lines.read.get(READ);
        let mut next = read;
        while lines.slot(next)[0].get(STAMP) == next + 1 {
            next += 1;
        }
        Self { lines, next, read }
    }

    /// Whether there is room.
    pub(super) fn can_send(&self) -> bool {
        self.has_room(self.read) || self.has_room(self.lines.read.get(READ))
    }

    /// Whether there is room where so many packets were read.
    fn has_room(&self, read: u64) -> bool {
        self.next - read < self.lines.slots()
    }

    /// Says that it waits for room. It has to look once more, behind a full fence.
    pub(super) fn await_room(&self) {
        self.lines.read.set(AWAITED, 1);
    }

    /// Sends a packet of up to 8 · 126 bytes, if there is room.
    pub(super) fn try_send(&mut self, tag: u32, packet: &[u8]) -> bool {
        if !self.has_room(self.read) {
            self.read = self.lines.read.get(READ);
            if !self.has_room(self.read) {
                return false;
            }
        }
        let slot = self.lines.slot(self.next);
        slot[0].set(HEAD, u64::from(tag) << 32 | packet.len() as u64);
        WordWriter::new(slot, PACKET).bytes(packet);
        self.next += 1;
        slot[0].set(STAMP, self.next);
        true
    }
}

/// The receiving end.
#[derive(Debug)]
pub(super) struct RingReceiver {
    lines: RingLines,
    next: u64,
    /// What was told to the sender, and whether it was since it was last looked whether the sender waits.
    told: u64,
    is_news: bool,
}

impl RingReceiver {
    /// Goes on where a former receiver has said that it was.
    pub(super) fn new(lines: RingLines) -> Self {
        let next = lines.read.get(READ);
        Self {
            lines,
            next,
            told: next,
            is_news: false,
        }
    }

    /// Whether the sender is to be woken: it waits for room, and there is some since this was last asked.
    pub(super) fn is_awaited(&mut self) -> bool {
        if !std::mem::take(&mut self.is_news) {
            return false;
        }
        fence::full(false);
        self.lines.read.get(AWAITED) != 0 && self.lines.read.replace(AWAITED, 1, 0)
    }

    /// Whether a packet is there.
    pub(super) fn can_receive(&self) -> bool {
        self.lines.slot(self.next)[0].get(STAMP) == self.next + 1
    }

    /// Copies the next packet to `packet`, and returns its tag. What is no packet is left out.
    pub(super) fn try_receive(&mut self, packet: &mut Vec<u8>) -> Option<u32> {
        let mut found = None;
        while found.is_none() && self.can_receive() {
            let slot = self.lines.slot(self.next);
            let head = slot[0].get(HEAD);
            let copied = WordReader::new(slot, PACKET).bytes(head as u32 as usize, packet);
            found = copied.map(|()| (head >> 32) as u32);
            self.next += 1;
            if self.next - self.told >= self.lines.slots() / 4 {
                (self.told, self.is_news) = (self.next, true);
                self.lines.read.set(READ, self.told);
            }
        }
        found
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use corecast_wire::Segment;

    /// A ring of eight slots.
    fn ring() -> RingLines {
        let segment = Segment::new(128 + 8 * SLOT_LINES * 128, None).unwrap();
        RingLines {
            read: segment.at::<Words>(0, 1).unwrap().get(0),
            slots: segment.at::<Words>(128, 8 * SLOT_LINES).unwrap(),
        }
    }

    #[test]
    fn a_sender_that_waits_for_room_is_told_of_it_once() {
        let lines = ring();
        let mut sender = RingSender::new(lines.clone());
        let mut receiver = RingReceiver::new(lines);
        let mut packet = Vec::new();
        for _ in 0..3 {
            while sender.try_send(1, b"packet") {}
            assert!(!sender.can_send() && !receiver.is_awaited());
            sender.await_room();
            // Room is told of by the quarter.
            receiver.try_receive(&mut packet);
            assert!(!sender.can_send() && !receiver.is_awaited());
            receiver.try_receive(&mut packet);
            assert!(sender.can_send() && receiver.is_awaited());
            while receiver.try_receive(&mut packet).is_some() {}
            assert!(!receiver.is_awaited(), "it is awake");
        }
    }

    /// Ends that are killed and start again at any time: packets come whole and in their order, none is lost, and those that
    /// come again follow each other.
    #[test]
    fn packets_come_in_their_order_whoever_is_killed() {
        let mut again = 0;
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let lines = ring();
            let mut sender = RingSender::new(lines.clone());
            let mut receiver = RingReceiver::new(lines.clone());
            let (mut sent, mut expected) = (0_u64, 0_u64);
            let mut packet = Vec::new();
            let bytes = |number: u64| vec![number as u8; (number * 37 % 970) as usize];
            for _ in 0..300 {
                match random.u8(..12) {
                    0 => {
                        // Amid a packet: all but its stamp is written.
                        let slot = lines.slot(sender.next);
                        if sender.next - lines.read.get(READ) < 8 {
                            slot[0].set(HEAD, u64::MAX);
                        }
                        sender = RingSender::new(lines.clone());
                    }
                    1 => receiver = RingReceiver::new(lines.clone()),
                    2..7 => {
                        if sender.try_send(sent as u32, &bytes(sent)) {
                            sent += 1;
                        }
                    }
                    _ => {
                        if let Some(tag) = receiver.try_receive(&mut packet) {
                            let number = u64::from(tag);
                            assert!(number <= expected, "{number} comes before {expected}");
                            again += u64::from(number < expected);
                            expected = expected.max(number + 1);
                            assert_eq!(packet, bytes(number));
                        }
                    }
                }
            }
            while receiver.try_receive(&mut packet).is_some() {}
            assert_eq!(receiver.next, sent);
        }
        assert!(again > 100, "{again}");
    }
}
