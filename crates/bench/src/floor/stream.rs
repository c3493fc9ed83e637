//! A stream of cache lines from one rank to the other.

use crate::engine::{Engine, Flaw, Ledger, Member, Role};
use corecast_wire::Line;
use std::hint::{self, black_box};
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of payload per cache line, beside the word that announces them.
const WORDS: usize = 7;

/// One cache line: the payload of a message, and the number of the message.
#[derive(Debug, Default)]
#[repr(align(64))]
struct NumberedSlot {
    number: AtomicU64,
    words: [AtomicU64; WORDS],
}

const _: () = assert!(size_of::<NumberedSlot>() == 64);

/// A ring of cache lines whose slots carry their own announcement and are
/// acknowledged half a ring at a time: the least traffic by which 56 bytes per
/// message can flow.
///
/// A slot is new when its number is the next one, so that payload and
/// announcement cross in one line; the receiver writes a line of its own once
/// in half a ring.
///
/// # Cost
///
/// One line transfer and one invalidation per message, and `2 / slots` more of
/// each for the acknowledgements.
#[derive(Debug)]
pub struct LineStream {
    slots: Box<[NumberedSlot]>,
    read: Line<AtomicU64>,
}

impl LineStream {
    /// A ring of `slots` lines.
    ///
    /// # Panics
    ///
    /// If `slots` is not a power of two of at least 2.
    pub fn new(slots: usize) -> LineStream {
        assert!(
            slots.is_power_of_two() && slots >= 2,
            "a ring has a power of two of slots, at least 2; {slots} was asked for"
        );
        LineStream {
            slots: (0..slots).map(|_| NumberedSlot::default()).collect(),
            read: Line::default(),
        }
    }

    // A slot is written again only after `read` says that it was read: Release
    // by the receiver, Acquire by the sender. Its number is published with
    // Release after the words and read with Acquire before them, so the words
    // themselves need no order.

    #[inline(always)]
    fn send(&self, number: u64, read_seen: &mut u64) {
        let slots = self.slots.len() as u64;
        while number - *read_seen > slots {
            *read_seen = self.read.load(Ordering::Acquire);
        }
        let slot = &self.slots[(number & (slots - 1)) as usize];
        for (word, value) in slot.words.iter().zip(number..) {
            word.store(value, Ordering::Relaxed);
        }
        slot.number.store(number, Ordering::Release);
    }

    #[inline(always)]
    fn receive(&self, number: u64) -> [u64; WORDS] {
        let slots = self.slots.len() as u64;
        let slot = &self.slots[(number & (slots - 1)) as usize];
        while slot.number.load(Ordering::Acquire) != number {
            hint::spin_loop();
        }
        let words = std::array::from_fn(|i| slot.words[i].load(Ordering::Relaxed));
        if number & (slots / 2 - 1) == 0 {
            self.read.store(number, Ordering::Release);
        }
        words
    }
}

impl Engine for LineStream {
    fn name(&self) -> &str {
        "floor: line stream"
    }

    fn setting(&self) -> String {
        format!("{} slots", self.slots.len())
    }

    fn role(&self) -> Role {
        Role::Floor
    }

    fn ranks(&self) -> usize {
        2
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        match rank {
            0 => Box::new(StreamSource {
                stream: self,
                sent: 0,
                read_seen: 0,
            }),
            _ => Box::new(StreamSink {
                stream: self,
                received: 0,
            }),
        }
    }
}

struct StreamSource<'a> {
    stream: &'a LineStream,
    sent: u64,
    read_seen: u64,
}

impl Member for StreamSource<'_> {
    fn run(&mut self, operations: u64) {
        let (stream, mut read_seen) = (self.stream, self.read_seen);
        let end = self.sent + operations;
        for number in self.sent + 1..=end {
            stream.send(number, &mut read_seen);
        }
        (self.sent, self.read_seen) = (end, read_seen);
    }

    fn verify(&mut self, _rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        self.run(ledger.rounds() * self.stream.slots.len() as u64);
        Ok(())
    }
}

struct StreamSink<'a> {
    stream: &'a LineStream,
    received: u64,
}

impl Member for StreamSink<'_> {
    fn run(&mut self, operations: u64) {
        let stream = self.stream;
        let end = self.received + operations;
        for number in self.received + 1..=end {
            black_box(stream.receive(number));
        }
        self.received = end;
    }

    fn verify(&mut self, _rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let mut flaw = Ok(());
        for _ in 0..ledger.rounds() * self.stream.slots.len() as u64 {
            self.received += 1;
            let words = self.stream.receive(self.received);
            let expected = std::array::from_fn(|i| self.received + i as u64);
            if words != expected && flaw.is_ok() {
                flaw = Err(Flaw::WrongResult(format!(
                    "message {} held {words:?}",
                    self.received
                )));
            }
        }
        flaw
    }
}
