//! The log as replicas that are processes share it: one of them writes it, and all see how far it is.
//!
//! | line | written by | what |
//! | --- | --- | --- |
//! | 0 | who writes, and who says who that is | who writes, up to where replies may go out, whether the log has failed and why |
//! | 1 | who writes; who asks | snapshots |
//! | the next ones | who writes | why it has failed |
//! | one for each replica | it | whether its replies wait |
//!
//! **Invariant 1:** who writes has ended before another one is said to write, so one process at a time writes to the folder and to
//! the words of the writer.
//!
//! **Invariant 2:** what is released is in the log, and under `always` durable.
//!
//! A replica whose replies wait says so before it sleeps and looks once more, and the writer says how far the log is before it looks who
//! waits: a full fence lies between the two on both sides, so one of them sees what the other has said.

use std::sync::OnceLock;

use super::log::Mark;
use corecast_wire::{LineSlice, WORDS, Words, fence};

/// Words of line 0.
const RELEASED: usize = 0;
const WRITER: usize = 1;
/// 1 and the length of the text, once the log has failed.
const FAILED: usize = 2;
/// Bytes of all records.
const BYTES: usize = 3;
const CLOSED: usize = 4;
const WRITTEN: usize = 5;
/// Whether the next four are a mark.
const MARKED: usize = 6;
const MARK: usize = 7;

/// Words of line 1.
const ASKED: usize = 0;
const DONE: usize = 1;
const IS_SAVING: usize = 2;
const IS_BAD: usize = 3;
const SAVED_AT: usize = 4;
const SNAPSHOT_BYTES: usize = 5;
const SAVED_LOG_BYTES: usize = 6;

const TEXT_LINES: usize = 4;
const TEXT_BYTES: usize = TEXT_LINES * WORDS * size_of::<u64>();
const COMMON_LINES: usize = 2 + TEXT_LINES;

/// What is told about the log and its snapshots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saves {
    pub(crate) is_saving: bool,
    /// Whether the last snapshot was taken.
    pub(crate) is_ok: bool,
    /// When, in seconds since 1970.
    pub(crate) saved_at: u64,
    pub(crate) snapshot_bytes: u64,
    /// Bytes of all records when it was taken, and now.
    pub(crate) saved_log_bytes: u64,
    pub(crate) log_bytes: u64,
    /// Snapshots that somebody has asked for and that were taken, or not.
    pub(crate) done: u64,
}

/// The log as one of the replicas sees it, or whoever starts them.
#[derive(Clone, Debug)]
pub(crate) struct GroupLog {
    lines: LineSlice<Words>,
    /// Where its lines begin.
    first: usize,
    failed: OnceLock<String>,
}

impl GroupLog {
    /// Lines that it needs.
    pub(crate) const fn lines(replicas: usize) -> usize {
        COMMON_LINES + replicas
    }

    /// The log in the lines from `first` on, all zero in the beginning.
    pub(crate) fn new(lines: LineSlice<Words>, first: usize) -> Self {
        Self {
            lines,
            first,
            failed: OnceLock::new(),
        }
    }

    fn line(&self, number: usize) -> &Words {
        &self.lines[self.first + number]
    }

    /// Entries of the order whose replies may go out.
    pub(crate) fn released(&self) -> u64 {
        self.line(0).get(RELEASED)
    }

    /// Entries of the order before the end of the last record, at least.
    pub(crate) fn written(&self) -> u64 {
        self.line(0).get(WRITTEN)
    }

    /// Why nothing is written any more, if so.
    pub(crate) fn failed(&self) -> Option<&str> {
        if let Some(text) = self.failed.get() {
            return Some(text);
        }
        let length = usize::try_from(self.line(0).get(FAILED).checked_sub(1)?).ok()?;
        let words = (0..TEXT_BYTES / 8).map(|at| self.line(2 + at / WORDS).get(at % WORDS));
        let bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).take(length).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some(self.failed.get_or_init(|| text))
    }

    /// The start of the replica that writes; 0 if none was said to.
    pub(crate) fn writer(&self) -> u64 {
        self.line(0).get(WRITER)
    }

    /// Says who writes. The former one has ended.
    pub(crate) fn set_writer(&self, start: u64) {
        self.line(0).set(WRITER, start);
    }

    /// Whether the writer has made all durable at its end.
    pub(crate) fn is_closed(&self) -> bool {
        self.line(0).get(CLOSED) != 0
    }

    pub(crate) fn saves(&self) -> Saves {
        let (common, saves) = (self.line(0), self.line(1));
        Saves {
            is_saving: saves.get(IS_SAVING) != 0,
            is_ok: saves.get(IS_BAD) == 0,
            saved_at: saves.get(SAVED_AT),
            snapshot_bytes: saves.get(SNAPSHOT_BYTES),
            saved_log_bytes: saves.get(SAVED_LOG_BYTES),
            log_bytes: common.get(BYTES),
            done: saves.get(DONE),
        }
    }

    /// How often somebody has asked for a snapshot.
    pub(crate) fn asked(&self) -> u64 {
        self.line(1).get(ASKED)
    }

    /// Asks for a snapshot, and returns the number of the request.
    pub(crate) fn ask(&self) -> u64 {
        loop {
            let before = self.asked();
            if self.line(1).replace(ASKED, before, before + 1) {
                return before + 1;
            }
        }
    }

    /// Says whether replies of a replica wait.
    pub(crate) fn set_waits(&self, replica: usize, waits: bool) {
        self.line(COMMON_LINES + replica).set(0, u64::from(waits));
    }

    /// The writer says how snapshots are.
    pub(crate) fn set_saves(&self, it: &Saves) {
        let line = self.line(1);
        line.set(IS_SAVING, u64::from(it.is_saving));
        line.set(IS_BAD, u64::from(!it.is_ok));
        line.set(SAVED_AT, it.saved_at);
        line.set(SNAPSHOT_BYTES, it.snapshot_bytes);
        line.set(SAVED_LOG_BYTES, it.saved_log_bytes);
        self.line(0).set(BYTES, it.log_bytes);
        // Whoever sees it sees how it has ended.
        line.set(DONE, it.done);
    }

    /// The writer says how far the log is. A former one may have been further with entries that change nothing.
    pub(crate) fn set_released(&self, written: u64, released: u64) {
        self.line(0).set(WRITTEN, written);
        self.line(0).set(RELEASED, released.max(self.released()));
    }

    /// The writer says up to where whoever goes on need not read the log. If it is killed meanwhile, nothing is said.
    pub(crate) fn set_mark(&self, mark: Mark) {
        if self.mark() == Some(mark) {
            return;
        }
        let line = self.line(0);
        let words = [mark.segment, mark.offset, mark.end, mark.durable];
        line.set(MARKED, 0);
        for (at, word) in words.into_iter().enumerate() {
            line.set(MARK + at, word);
        }
        line.set(MARKED, 1);
    }

    /// What the writer has said, which has ended.
    pub(crate) fn mark(&self) -> Option<Mark> {
        let line = self.line(0);
        let [segment, offset, end, durable] = [0, 1, 2, 3].map(|at| line.get(MARK + at));
        (line.get(MARKED) == 1).then_some(Mark {
            segment,
            offset,
            end,
            durable,
        })
    }

    /// The writer says that nothing is written any more.
    pub(crate) fn set_failed(&self, why: &str) {
        let mut bytes = why.as_bytes().to_vec();
        bytes.truncate(TEXT_BYTES);
        let length = bytes.len();
        bytes.resize(TEXT_BYTES, 0);
        for (at, word) in bytes.chunks_exact(8).enumerate() {
            let word = u64::from_ne_bytes(word.try_into().expect("eight bytes"));
            self.line(2 + at / WORDS).set(at % WORDS, word);
        }
        self.line(0).set(FAILED, 1 + length as u64);
    }

    /// The writer says that all is durable, and that it ends.
    pub(crate) fn set_closed(&self) {
        self.line(0).set(CLOSED, 1);
    }

    /// The replicas whose replies wait, after the writer has said how far the log is.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = usize> {
        fence::full(false);
        let replicas = COMMON_LINES..self.lines.len() - self.first;
        replicas
            .filter(|it| self.line(*it).get(0) != 0)
            .map(|it| it - COMMON_LINES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_wire::Segment;

    #[test]
    fn what_one_process_says_another_one_sees() {
        let bytes = size_of::<Words>() * (3 + GroupLog::lines(2));
        let segment = Segment::new(bytes, None).unwrap();
        let lines = segment.at::<Words>(0, 3 + GroupLog::lines(2)).unwrap();
        let [one, other] = [0; 2].map(|_| GroupLog::new(lines.clone(), 3));
        assert_eq!(
            (other.released(), other.failed(), other.writer()),
            (0, None, 0)
        );
        let mark = Mark {
            segment: 1,
            offset: 2,
            end: 3,
            durable: 4,
        };
        assert_eq!(other.mark(), None);
        one.set_mark(mark);
        assert_eq!(other.mark(), Some(mark));
        assert_eq!((one.ask(), other.ask(), one.asked()), (1, 2, 2));
        other.set_waits(1, true);
        assert_eq!(one.waiting().collect::<Vec<_>>(), [1]);
        for length in [0, 1, 8, 300, TEXT_BYTES, TEXT_BYTES + 1] {
            let [one, other] = [0; 2].map(|_| GroupLog::new(lines.clone(), 3));
            let text = "why ".repeat(TEXT_BYTES)[..length].to_owned();
            one.set_failed(&text);
            assert_eq!(other.failed(), Some(&text[..length.min(TEXT_BYTES)]));
        }
        let saves = Saves {
            is_saving: true,
            is_ok: false,
            saved_at: 1,
            snapshot_bytes: 2,
            saved_log_bytes: 3,
            log_bytes: 4,
            done: 5,
        };
        one.set_saves(&saves);
        assert_eq!(format!("{:?}", other.saves()), format!("{saves:?}"));
    }
}
