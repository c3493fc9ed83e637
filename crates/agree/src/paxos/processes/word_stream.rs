//! Numbers, bytes and values one after another in the words of shared lines.

use corecast_wire::{WORDS, Words};

use super::piece::Piece;
use crate::paxos::group::wires::Coded;
use crate::paxos::{Submission, Value};

/// The mark of a value that is nothing, beside the length of a command.
const NOTHING: u64 = 1 << 32;

/// Lines of an entry: the words before it, and a value with the longest piece.
pub(super) const ENTRY_LINES: usize = (2 + 3 + Piece::BYTES_MAX.div_ceil(8)).div_ceil(WORDS);

/// Writes words one after another.
pub(super) struct WordWriter<'a> {
    lines: &'a [Words],
    at: usize,
}

/// Reads words one after another. Whatever they are, it ends with the lines.
pub(super) struct WordReader<'a> {
    lines: &'a [Words],
    at: usize,
}

impl<'a> WordWriter<'a> {
    /// Writes from word `at` on.
    pub(super) fn new(lines: &'a [Words], at: usize) -> Self {
        Self { lines, at }
    }

    pub(super) fn word(&mut self, word: u64) {
        self.lines[self.at / WORDS].set(self.at % WORDS, word);
        self.at += 1;
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_ne_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_ne_bytes(last));
        }
    }

    pub(super) fn value(&mut self, value: &Value<Submission<Piece>>) {
        let Some(submission) = value else {
            return self.word(NOTHING);
        };
        let bytes = submission.command.bytes();
        self.word(bytes.len() as u64);
        self.word(submission.origin);
        self.word(submission.number);
        self.bytes(bytes);
    }
}

impl<'a> WordReader<'a> {
    /// Reads from word `at` on.
    pub(super) fn new(lines: &'a [Words], at: usize) -> Self {
        Self { lines, at }
    }

    pub(super) fn word(&mut self) -> Option<u64> {
        let word = self.lines.get(self.at / WORDS)?.get(self.at % WORDS);
        self.at += 1;
        Some(word)
    }

    /// Replaces what is in `bytes` by the next `len` bytes.
    pub(super) fn bytes(&mut self, len: usize, bytes: &mut Vec<u8>) -> Option<()> {
        bytes.clear();
        if len > 8 * (self.lines.len() * WORDS).saturating_sub(self.at) {
            return None;
        }
        while bytes.len() < len {
            let word = self.word()?.to_ne_bytes();
            let left = len - bytes.len();
            bytes.extend_from_slice(&word[..left.min(8)]);
        }
        Some(())
    }

    pub(super) fn value(&mut self) -> Option<Value<Submission<Piece>>> {
        let head = self.word()?;
        if head == NOTHING {
            return Some(None);
        }
        let (origin, number) = (self.word()?, self.word()?);
        let mut bytes = Vec::new();
        self.bytes(usize::try_from(head).ok()?, &mut bytes)?;
        Some(Some(Submission {
            origin,
            number,
            command: Piece::of(&bytes)?,
        }))
    }
}
