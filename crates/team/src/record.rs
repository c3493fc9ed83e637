//! The first failure of a team, written so that every process can read it.

use crate::failure::{Did, Failure, Loss, Site};
use crate::operation::Operation;
use corecast_wire::diary::Entry;
use corecast_wire::{LineSlice, WORDS, Words};
use std::sync::Arc;
use std::time::Duration;

/// Lines of a record: what happened, and for each of two ranks what it did, and where.
pub(crate) const RECORD_LINES: usize = 5;

/// Where a failure is written down once.
#[derive(Debug)]
pub(crate) struct Record(LineSlice<Words>);

/// Words of the first line.
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

    /// Writes a failure, unless somebody has been first. Whoever is to read it must be told after.
    pub(crate) fn write(&self, failure: &Failure) {
        if !self.0[0].claim(CLAIM, 1) {
            return;
        }
        let (kind, first, second, here, there) = match failure {
            Failure::Mismatch { here, there } => (1, 0, 0, Some(here), Some(there)),
            Failure::Length {
                here,
                there,
                sent,
                expected,
            } => (2, *sent as u64, *expected as u64, Some(here), Some(there)),
            Failure::Spoilt { here, there } => (3, 0, 0, Some(here), Some(there)),
            Failure::PeerLost { here, there, how } => {
                let how = match how {
                    Loss::Left => 0,
                    Loss::Panicked => 1,
                    Loss::Died => 2,
                };
                (4, how, 0, Some(here), Some(there))
            }
            Failure::NeverJoined {
                here,
                missing,
                waited,
            } => (5, *missing as u64, nanos(*waited), Some(here), None),
            Failure::Stalled {
                here,
                there,
                waited,
            } => (6, nanos(*waited), 0, Some(here), Some(there)),
            Failure::Forked { rank } => (7, *rank as u64, 0, None, None),
            Failure::CalledOff { rank } => (8, *rank as u64, 0, None, None),
        };
        for (side, did) in [(0, here), (1, there)] {
            if let Some(did) = did {
                self.write_did(side, did);
            }
        }
        self.0[0].set(FIRST, first);
        self.0[0].set(SECOND, second);
        self.0[0].set(KIND, kind);
    }

    /// What was written, if it can be.
    pub(crate) fn read(&self) -> Option<Failure> {
        let word = |index| self.0[0].get(index);
        let (here, there) = (|| self.read_did(0), || self.read_did(1));
        Some(match word(KIND) {
            1 => Failure::Mismatch {
                here: here(),
                there: there(),
            },
            2 => Failure::Length {
                here: here(),
                there: there(),
                sent: word(FIRST) as usize,
                expected: word(SECOND) as usize,
            },
            3 => Failure::Spoilt {
                here: here(),
                there: there(),
            },
            4 => Failure::PeerLost {
                here: here(),
                there: there(),
                how: match word(FIRST) {
                    0 => Loss::Left,
                    1 => Loss::Panicked,
                    _ => Loss::Died,
                },
            },
            5 => Failure::NeverJoined {
                here: here(),
                missing: word(FIRST) as usize,
                waited: Duration::from_nanos(word(SECOND)),
            },
            6 => Failure::Stalled {
                here: here(),
                there: there(),
                waited: Duration::from_nanos(word(FIRST)),
            },
            7 => Failure::Forked {
                rank: word(FIRST) as usize,
            },
            8 => Failure::CalledOff {
                rank: word(FIRST) as usize,
            },
            _ => return None,
        })
    }

    fn write_did(&self, side: usize, did: &Did) {
        let line = &self.0[1 + 2 * side];
        line.set(0, did.rank as u64);
        let entry = did.operation.map(Operation::entry);
        line.set(
            1,
            entry.map_or(0, |entry| {
                u64::from(entry.seq) << 32 | u64::from(entry.what)
            }),
        );
        let site = did.site.as_ref().map(Site::to_string).unwrap_or_default();
        let room = (WORDS - 2 + WORDS) * 8;
        // The end of a path says more than its begin.
        let cut = (site.len().saturating_sub(room)..).find(|&at| site.is_char_boundary(at));
        let site = &site.as_bytes()[cut.unwrap_or(site.len())..];
        for (index, bytes) in site.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let (line, index) = text_place(side, index);
            self.0[line].set(index, u64::from_le_bytes(word));
        }
    }

    fn read_did(&self, side: usize) -> Did {
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
        Did {
            rank: line.get(0) as usize,
            operation: Operation::of_entry(Entry {
                seq: (entry >> 32) as u32,
                what: entry as u32,
            }),
            site: (!text.is_empty()).then(|| Site::There(Arc::from(text.as_ref()))),
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
mod tests {
    use super::*;
    use corecast_collectives::Collective;
    use corecast_wire::Segment;

    fn did(rank: usize, site: Option<&str>) -> Did {
        Did {
            rank,
            operation: Some(Operation {
                seq: 7,
                kind: Collective::Reduce,
                root: 3,
                in_flight: true,
            }),
            site: site.map(|site| Site::There(Arc::from(site))),
        }
    }

    #[test]
    fn failures_are_read_as_they_were_written_and_the_first_one_stays() {
        let (here, there) = (did(1, Some("a.rs:1:2")), did(70_000, None));
        let long = "x".repeat(300);
        let failures = [
            Failure::Mismatch {
                here: here.clone(),
                there: there.clone(),
            },
            Failure::Length {
                here: here.clone(),
                there: did(2, Some(&long[..240])),
                sent: 9,
                expected: usize::MAX,
            },
            Failure::Spoilt {
                here: there.clone(),
                there: here.clone(),
            },
            Failure::PeerLost {
                here: here.clone(),
                there: there.clone(),
                how: Loss::Died,
            },
            Failure::NeverJoined {
                here: here.clone(),
                missing: 5,
                waited: Duration::from_millis(12),
            },
            Failure::Stalled {
                here,
                there,
                waited: Duration::from_secs(9),
            },
            Failure::Forked { rank: 4 },
            Failure::CalledOff { rank: 3 },
        ];
        for failure in &failures {
            let segment = Segment::new(Segment::bytes_for::<Words>(RECORD_LINES), None).unwrap();
            let lines: LineSlice<Words> = segment.lines(RECORD_LINES).unwrap();
            let record = Record::new(lines.clone());
            assert_eq!(record.read(), None);
            record.write(failure);
            assert_eq!(Record::new(lines).read().as_ref(), Some(failure));
            record.write(&failures[0]);
            assert_eq!(record.read().as_ref(), Some(failure));
        }
    }
}
