//! The first failure of a team, written so that every process can read it.

use crate::failure::{Failure, Loss, RankActivity, Site};
use crate::operation::Operation;
use corecast_wire::op_history::Entry;
use corecast_wire::{LineSlice, WORDS, Words};
use std::sync::Arc;
use std::time::Duration;

/// Lines of a record: one for the failure's kind and numbers, and two for each of two ranks, with its operation
/// and call site.
pub(crate) const RECORD_LINES: usize = 5;

/// The place in shared memory where a team's first failure is written.
#[derive(Debug)]
pub(crate) struct Record(LineSlice<Words>);

/// Indices of the words of the first line.
const CLAIM: usize = 0;
const KIND: usize = 1;
const FIRST: usize = 2;
const SECOND: usize = 3;

impl Record {
    /// # Panics
    ///
    /// If these are not [`RECORD_LINES`] lines.
    pub(crate) fn new(lines: LineSlice<Words>) -> Self {
        assert_eq!(lines.len(), RECORD_LINES);
        Self(lines)
    }

    /// Claims the record for one failure; returns whether nobody had claimed it before.
    pub(crate) fn claim(&self) -> bool {
        self.0[0].claim(CLAIM, 1)
    }

    /// Writes a failure, unless another thread has begun to write one; returns whether it has written. The stop word
    /// that makes others read it must be set afterwards.
    pub(crate) fn write(&self, failure: &Failure) -> bool {
        if !self.claim() {
            return false;
        }
        let (kind, first, second, local, remote) = match failure {
            Failure::Mismatch { local, remote } => (1, 0, 0, Some(local), Some(remote)),
            Failure::Length {
                local,
                remote,
                sent,
                expected,
            } => (2, *sent as u64, *expected as u64, Some(local), Some(remote)),
            Failure::Corrupt { local, remote } => (3, 0, 0, Some(local), Some(remote)),
            Failure::PeerLost { local, remote, how } => {
                let how = match how {
                    Loss::Left => 0,
                    Loss::Panicked => 1,
                    Loss::Died => 2,
                };
                (4, how, 0, Some(local), Some(remote))
            }
            Failure::NeverJoined {
                local,
                missing,
                waited,
            } => (5, *missing as u64, nanos(*waited), Some(local), None),
            Failure::Stalled {
                local,
                remote,
                waited,
            } => (6, nanos(*waited), 0, Some(local), Some(remote)),
            Failure::Forked { rank } => (7, *rank as u64, 0, None, None),
            Failure::Cancelled { rank } => (8, *rank as u64, 0, None, None),
        };
        for (side, activity) in [(0, local), (1, remote)] {
            if let Some(activity) = activity {
                self.write_activity(side, activity);
            }
        }
        self.0[0].set(FIRST, first);
        self.0[0].set(SECOND, second);
        self.0[0].set(KIND, kind);
        true
    }

    /// The failure that was written; `None` if there is none, or it is not complete.
    pub(crate) fn read(&self) -> Option<Failure> {
        let word = |index| self.0[0].get(index);
        let (local, remote) = (|| self.read_activity(0), || self.read_activity(1));
        Some(match word(KIND) {
            1 => Failure::Mismatch {
                local: local(),
                remote: remote(),
            },
            2 => Failure::Length {
                local: local(),
                remote: remote(),
                sent: word(FIRST) as usize,
                expected: word(SECOND) as usize,
            },
            3 => Failure::Corrupt {
                local: local(),
                remote: remote(),
            },
            4 => Failure::PeerLost {
                local: local(),
                remote: remote(),
                how: match word(FIRST) {
                    0 => Loss::Left,
                    1 => Loss::Panicked,
                    _ => Loss::Died,
                },
            },
            5 => Failure::NeverJoined {
                local: local(),
                missing: word(FIRST) as usize,
                waited: Duration::from_nanos(word(SECOND)),
            },
            6 => Failure::Stalled {
                local: local(),
                remote: remote(),
                waited: Duration::from_nanos(word(FIRST)),
            },
            7 => Failure::Forked {
                rank: word(FIRST) as usize,
            },
            8 => Failure::Cancelled {
                rank: word(FIRST) as usize,
            },
            _ => return None,
        })
    }

    fn write_activity(&self, side: usize, activity: &RankActivity) {
        let line = &self.0[1 + 2 * side];
        line.set(0, activity.rank as u64);
        let entry = activity.operation.map(Operation::entry);
        line.set(
            1,
            entry.map_or(0, |entry| {
                u64::from(entry.seq) << 32 | u64::from(entry.what)
            }),
        );
        let site = activity
            .site
            .as_ref()
            .map(Site::to_string)
            .unwrap_or_default();
        let room = (WORDS - 2 + WORDS) * 8;
        // A long site keeps its end, which has the line and says more than the beginning of a path.
        let cut = (site.len().saturating_sub(room)..).find(|&at| site.is_char_boundary(at));
        let site = &site.as_bytes()[cut.unwrap_or(site.len())..];
        for (index, bytes) in site.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let (line, index) = text_place(side, index);
            self.0[line].set(index, u64::from_le_bytes(word));
        }
    }

    fn read_activity(&self, side: usize) -> RankActivity {
        let line = &self.0[1 + 2 * side];
        let entry = line.get(1);
        let text: Vec<u8> = (0..WORDS - 2 + WORDS)
            .flat_map(|index| {
                let (line, index) = text_place(side, index);
                self.0[line].get(index).to_le_bytes()
            })
            .take_while(|&byte| byte != 0)
            .collect();
        let text = String::from_utf8_lossy(&text);
        RankActivity {
            rank: line.get(0) as usize,
            operation: Operation::of_entry(Entry {
                seq: (entry >> 32) as u32,
                what: entry as u32,
            }),
            site: (!text.is_empty()).then(|| Site::Remote(Arc::from(text.as_ref()))),
        }
    }
}

/// Line and word of the `index`-th word of a text.
fn text_place(side: usize, index: usize) -> (usize, usize) {
    match index {
        0..14 => (1 + 2 * side, index + 2),
        _ => (2 + 2 * side, index - 14),
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
