//! An acceptor in memory that processes share.
//!
//! The memory outlives each process, which may be killed or stopped between any two writes. So there is no lock: a lock would
//! have to be taken from the dead, and what they left half done be seen and undone; and one that a stopped process holds would
//! stop all others.
//!
//! | part | writer | what |
//! | --- | --- | --- |
//! | state | any, by compare-and-swap | the promised ballot, and how many entries were written |
//! | floor | the acceptor's own process | below it all was dropped |
//! | slot `index % window` | the acceptor's own process | stamp, index, value |
//!
//! ```text
//! accept, by the acceptor's process:  stamp = 0, value, stamp = count + 1   and then   state (promised, count) → (ballot, count + 1)
//! prepare, by any process:            state (promised, count) → (ballot, count)   and then   reads all slots but that of count + 1
//! ```
//!
//! The one write that makes an entry accepted, or a ballot promised, is that of the state. **Invariant 1:** an entry is accepted
//! if its stamp is neither 0 nor count + 1. Where the state has changed between, the acceptor's process clears the slot, or a
//! later one does before it writes the next. **Invariant 2:** an accepted entry is never written again: a value of an index that
//! an acceptor has accepted is chosen, and nobody proposes another one for it. So what is overwritten lies below the floor, which is
//! raised before. **Invariant 3:** one process at a time is the acceptor's: whoever starts another one knows that the former has
//! ended.
//!
//! The dangerous interleaving: a new leader prepares and reads the slots while the acceptor's process writes one for the
//! former leader. Either the state was changed for the entry first, and the new leader sees its stamp; or the promise came first,
//! the acceptor finds the state changed, and answers with a refusal.
//!
//! Orderings: words are written with release and read with acquire, so a reader that finds a part of a new value finds a stamp
//! that has changed. The state is changed with both, so whoever changes it sees what was written before it was changed.

use corecast_wire::{LineRef, LineSlice, Words};

use super::word_stream::{WordReader, WordWriter};
use super::writes::Writes;
use super::{Piece, word_stream};
use crate::paxos::{Answer, Message, Submission, Window};

/// Words of the control line.
const STATE: usize = 0;
const FLOOR: usize = 1;

/// Words of a slot before the value.
const STAMP: usize = 0;
const INDEX: usize = 1;
const VALUE: usize = 2;

/// An acceptor in memory that processes share: what [`Acceptor`](crate::paxos::Acceptor) is, as long as no more entries are
/// kept than there are slots. What has no place is not answered.
#[derive(Debug)]
pub struct AcceptorMemory {
    control: LineRef<Words>,
    slots: LineSlice<Words>,
    slot_lines: usize,
    writes: Writes,
}

/// The promised ballot and the low half of the number of entries that were written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    promised: u64,
    count: u32,
}

impl State {
    fn of(word: u64) -> Self {
        Self {
            promised: word >> 32,
            count: word as u32,
        }
    }

    fn word(self) -> u64 {
        self.promised << 32 | u64::from(self.count)
    }

    /// The stamp of the entry that is written next. It is never 0, and entries of 2^32 writes before are long overwritten.
    fn next_stamp(self) -> u64 {
        1 << 32 | u64::from(self.count.wrapping_add(1))
    }
}

type Entry = crate::paxos::Value<Submission<Piece>>;

impl AcceptorMemory {
    /// Lines of a slot.
    pub const SLOT_LINES: usize = word_stream::ENTRY_LINES;

    /// The acceptor in these lines, all zero in the beginning.
    ///
    /// # Panics
    ///
    /// If the slots are no multiple of `slot_lines`, or none.
    pub fn new(control: LineRef<Words>, slots: LineSlice<Words>, slot_lines: usize) -> Self {
        assert!(slot_lines > 0 && !slots.is_empty() && slots.len().is_multiple_of(slot_lines));
        Self {
            control,
            slots,
            slot_lines,
            writes: Writes::default(),
        }
    }

    /// Clears what a former process of this acceptor has not finished. To be called by the process of the acceptor before its
    /// first step.
    pub fn recover(&self) {
        // Only this process changes the count.
        let pending = self.state().next_stamp();
        for number in 0..self.window() {
            let slot = self.slot(number);
            if slot[0].get(STAMP) == pending && !corecast_wire::mutated!(UnfinishedKept) {
                self.writes.next();
                slot[0].set(STAMP, 0);
            }
        }
    }

    /// Takes one message, as [`Acceptor::step`](crate::paxos::Acceptor::step) does. Any process may prepare, but only that of the
    /// acceptor accepts.
    ///
    /// # Cost
    ///
    /// An accept writes the lines of the value and changes the state, whose line is the acceptor's own unless another member
    /// prepares. A prepare reads all slots.
    pub fn step(&self, message: &Message<Submission<Piece>>) -> Option<Answer<Submission<Piece>>> {
        match message {
            Message::Prepare { ballot } => Some(Answer::Reply(self.prepare(*ballot))),
            Message::Accept {
                ballot,
                index,
                value,
                floor,
            } => self.accept(*ballot, *index, value, *floor),
            _ => None,
        }
    }

    fn prepare(&self, ballot: u64) -> Message<Submission<Piece>> {
        let count = loop {
            let state = self.state();
            if ballot < state.promised {
                let promised = state.promised;
                return Message::Nack { ballot, promised };
            }
            let next = State {
                promised: ballot,
                ..state
            };
            if self.change(state, next) {
                break state;
            }
        };
        let pending = count.next_stamp();
        let mut found = Vec::new();
        for number in 0..self.window() {
            found.extend(self.entry(number, pending));
        }
        // An entry that was overwritten while it was read lies below this floor.
        let floor = self.control.get(FLOOR);
        let mut accepted = Window::new(floor);
        let window = floor..floor.saturating_add(self.window());
        for (index, value) in found
            .into_iter()
            .filter(|(index, _)| window.contains(index))
        {
            accepted.insert(index, value);
        }
        Message::Promise { ballot, accepted }
    }

    fn accept(
        &self,
        ballot: u64,
        index: u64,
        value: &Entry,
        floor: u64,
    ) -> Option<Answer<Submission<Piece>>> {
        let refused = |promised| Some(Answer::Reply(Message::Nack { ballot, promised }));
        let mut state = self.state();
        if ballot < state.promised {
            return refused(state.promised);
        }
        let before = self.control.get(FLOOR);
        if floor > before {
            self.writes.next();
            self.control.set(FLOOR, floor);
        }
        let floor_now = floor.max(before);
        if index >= floor_now.saturating_add(self.window()) {
            return None;
        }
        let mut written = false;
        if index >= floor_now {
            match self.entry(index % self.window(), state.next_stamp()) {
                Some((other, accepted)) if other == index => {
                    debug_assert_eq!(accepted, *value, "index {index} was chosen before");
                    if accepted != *value {
                        return None;
                    }
                }
                _ => {
                    self.write(index, value, state.next_stamp());
                    written = true;
                }
            }
        }
        // Only promises come between.
        let count = state.count.wrapping_add(u32::from(written));
        while !self.change(
            state,
            State {
                promised: ballot,
                count,
            },
        ) {
            state = self.state();
            if ballot < state.promised && !corecast_wire::mutated!(PromiseUnseen) {
                if written {
                    self.writes.next();
                    self.slot(index % self.window())[0].set(STAMP, 0);
                }
                return refused(state.promised);
            }
        }
        if index < floor_now {
            return None;
        }
        Some(Answer::Broadcast(Message::Learn {
            index,
            value: value.clone(),
            floor,
        }))
    }

    /// Writes an entry, which is not accepted yet.
    fn write(&self, index: u64, value: &Entry, stamp: u64) {
        let slot = self.slot(index % self.window());
        let set = |place, word| {
            self.writes.next();
            slot[0].set(place, word);
        };
        if !corecast_wire::mutated!(StampKept) {
            set(STAMP, 0);
        }
        set(INDEX, index);
        self.writes.next();
        WordWriter::new(slot, VALUE).value(value);
        set(STAMP, stamp);
    }

    /// The accepted entry of a slot, unless its stamp is that of one that is not finished, or it changes meanwhile.
    fn entry(&self, number: u64, pending: u64) -> Option<(u64, Entry)> {
        let slot = self.slot(number);
        let stamp = slot[0].get(STAMP);
        let is_pending = stamp == pending && !corecast_wire::mutated!(UnfinishedReported);
        if stamp == 0 || is_pending {
            return None;
        }
        let index = slot[0].get(INDEX);
        let value = WordReader::new(slot, VALUE).value();
        if slot[0].get(STAMP) != stamp {
            return None;
        }
        Some((index, value?))
    }

    fn state(&self) -> State {
        State::of(self.control.get(STATE))
    }

    /// Changes the state if it is still `before`.
    fn change(&self, before: State, next: State) -> bool {
        self.writes.next();
        self.control.replace(STATE, before.word(), next.word())
    }

    fn window(&self) -> u64 {
        (self.slots.len() / self.slot_lines) as u64
    }

    fn slot(&self, number: u64) -> &[Words] {
        let first = number as usize * self.slot_lines;
        &self.slots[first..first + self.slot_lines]
    }

    /// Has this process be killed before the write after so many more, for models.
    #[cfg(any(test, loom))]
    pub fn kill_after(&self, writes: u32) {
        self.writes.kill_after(writes);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
