//! The configuration log in memory that processes share.
//!
//! Each member has two buffers, and one word, the *head*, says which buffer of which member has the last entry, and its
//! position. A member writes its entry to that of its buffers which is not the last entry, and then changes the head, if it
//! is still that of the entry before. So an append is one write, whoever is killed or stopped in the middle.
//!
//! **Invariant 1:** the buffer that the head names is not written. Only its owner could, and it looks at the head first; that
//! the head names another of its buffers meanwhile, it would have to do itself. **Invariant 2:** of two members that append at one
//! position one succeeds. A reader copies the entry and looks at the head once more: if it has not changed, the copy is whole.
//!
//! Orderings: the head is changed with release and read with acquire, so the entry comes with it; words are written with release and
//! read with acquire, so a reader that finds a part of a later entry finds another head.

use corecast_wire::{LineRef, LineSlice, WORDS, Words};

use super::Piece;
use super::word_stream::{ENTRY_LINES, WordReader, WordWriter};
use super::writes::Writes;
use crate::paxos::{Configuration, Submission, Window, first_configuration};

/// The configuration log in memory that processes share: what [`ConfigurationLog`](crate::paxos::ConfigurationLog) is.
#[derive(Debug)]
pub struct ConfigurationMemory {
    head: LineRef<Words>,
    /// Two buffers for each member.
    buffers: LineSlice<Words>,
    size: usize,
    writes: Writes,
}

/// What the head says: position, member, and which of its buffers.
#[derive(Clone, Copy)]
struct Head {
    position: u64,
    member: usize,
    buffer: usize,
}

impl Head {
    fn of(word: u64) -> Self {
        Self {
            position: word >> 8,
            member: (word >> 1 & 0x7f) as usize,
            buffer: (word & 1) as usize,
        }
    }

    fn word(self) -> u64 {
        self.position << 8 | (self.member as u64) << 1 | self.buffer as u64
    }
}

type Entry = Configuration<Submission<Piece>>;

impl ConfigurationMemory {
    /// Lines of a buffer for entries that carry up to `window` values.
    pub const fn buffer_lines(window: usize) -> usize {
        HEADER_WORDS.div_ceil(WORDS) + window * ENTRY_LINES
    }

    /// The log of `size` members in these lines, all zero in the beginning.
    ///
    /// # Panics
    ///
    /// If there are not two buffers of the same number of lines for each member.
    pub fn new(head: LineRef<Words>, buffers: LineSlice<Words>, size: usize) -> Self {
        assert!(buffers.len() >= 2 * size && buffers.len().is_multiple_of(2 * size));
        Self {
            head,
            buffers,
            size,
            writes: Writes::default(),
        }
    }

    /// Position of the last entry.
    pub fn position(&self) -> u64 {
        Head::of(self.head.get(0)).position
    }

    /// The last entry, and its position.
    ///
    /// # Cost
    ///
    /// A copy of all that it carries, and another one for each entry that is appended meanwhile.
    pub fn last(&self) -> (u64, Entry) {
        loop {
            let word = self.head.get(0);
            let head = Head::of(word);
            if head.position == 0 {
                return (0, first_configuration(self.size));
            }
            let entry = self.read(head);
            let is_whole = self.head.get(0) == word || corecast_wire::mutated!(HeadUnchecked);
            if let (Some(entry), true) = (entry, is_whole) {
                return (head.position, entry);
            }
        }
    }

    /// Appends an entry of member `me` if its position will be this one, and returns whether it did. Only the process of that
    /// member may call it.
    pub fn append(&self, me: usize, position: u64, entry: &Entry) -> bool {
        let before = Head::of(self.head.get(0));
        if before.position + 1 != position {
            return false;
        }
        let is_own = before.member == me && before.position > 0;
        let other = if corecast_wire::mutated!(OneBuffer) {
            before.buffer
        } else {
            1 - before.buffer
        };
        let buffer = if is_own { other } else { 0 };
        self.write(me, buffer, entry);
        let head = Head {
            position,
            member: me,
            buffer,
        };
        self.writes.next();
        self.head.replace(0, before.word(), head.word())
    }

    fn write(&self, member: usize, buffer: usize, entry: &Entry) {
        self.writes.next();
        let mut writer = WordWriter::new(self.buffer(member, buffer), 0);
        let carried = &entry.carried;
        for word in [
            entry.leader as u64,
            entry.acceptor as u64,
            entry.members,
            carried.floor(),
            carried.iter().count() as u64,
        ] {
            writer.word(word);
        }
        self.writes.next();
        for (index, value) in carried.iter() {
            writer.word(index);
            writer.value(value);
        }
    }

    /// The entry of a buffer; none if it is no entry, or changes meanwhile.
    fn read(&self, head: Head) -> Option<Entry> {
        if head.member >= self.size {
            return None;
        }
        let mut reader = WordReader::new(self.buffer(head.member, head.buffer), 0);
        let (leader, acceptor) = (reader.word()?, reader.word()?);
        let (members, floor, count) = (reader.word()?, reader.word()?, reader.word()?);
        let mut carried = Window::new(floor);
        for _ in 0..count {
            let index = reader.word()?;
            if index - floor.min(index) > self.buffers.len() as u64 {
                return None;
            }
            carried.insert(index, reader.value()?);
        }
        Some(Configuration {
            leader: usize::try_from(leader).ok().filter(|it| *it < self.size)?,
            acceptor: usize::try_from(acceptor)
                .ok()
                .filter(|it| *it < self.size)?,
            members,
            carried,
        })
    }

    fn buffer(&self, member: usize, buffer: usize) -> &[Words] {
        let lines = self.buffers.len() / (2 * self.size);
        let first = (2 * member + buffer) * lines;
        &self.buffers[first..first + lines]
    }

    /// Has this process be killed before the write after so many more, for models.
    #[cfg(any(test, loom))]
    pub fn kill_after(&self, writes: u32) {
        self.writes.kill_after(writes);
    }
}

/// Words of an entry before what it carries.
const HEADER_WORDS: usize = 5;
