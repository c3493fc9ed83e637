//! The writes of one turn of an event loop whose replica is a process: they are one command of the group.
//!
//! To agree on a command takes the same time however many writes it has. So connections that are ready in one turn leave their writes
//! here, and neither their replies go out nor their next requests run before these are answered. To all others a write that is not
//! answered may be done or not, so nobody can tell that it waits.

use std::sync::OnceLock;

use crate::arguments::Span;
use crate::durability::fault::seeded;
use crate::keyspace::{Call, OwnedRun, Response, Run};
use crate::store::StoreHandle;

/// A batch is agreed on once its requests are as long as this. As a command it has some 70 pieces then, of which 128 may be under way: more
/// at a time gains nothing, and if this replica lags and has to take the state of another one, all whose writes are in a batch are cut off.
const BYTES_MAX: usize = 32 << 10;

/// A connection: its place among those that are there, which another one may take, and its number, which is of no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    pub(super) key: usize,
    pub(super) id: u64,
}

/// What a connection is answered; `None` if that is not known.
pub(super) type Answer = (Asker, Option<Vec<u8>>);

/// The writes of a turn that are not agreed on, and the answers to others that were not fetched.
#[derive(Debug, Default)]
pub(super) struct Batch {
    open: Open,
    answers: Vec<Answer>,
}

/// Writes that are not agreed on.
#[derive(Debug, Default)]
struct Open {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    calls: Vec<Call>,
    now: i64,
    seed: u64,
    /// Whose writes they are, and the number of calls up to the last of each.
    parts: Vec<(Asker, usize)>,
}

impl Batch {
    /// Whether writes wait to be agreed on.
    pub(super) fn has_writes(&self) -> bool {
        !self.open.parts.is_empty()
    }

    /// Leaves the writes of a connection, which leaves no more until they are answered.
    pub(super) fn leave(
        &mut self,
        store: &mut StoreHandle,
        asker: Asker,
        run: &Run<'_>,
        answers_value: bool,
    ) {
        self.open.add(asker, run);
        // Of replies that may be long a batch has one, so that not all of them are in memory at a time.
        if answers_value || self.open.bytes.len() >= BYTES_MAX {
            self.agree(store);
        }
    }

    /// Has the group agree on what was left, and waits for it.
    pub(super) fn agree(&mut self, store: &mut StoreHandle) {
        if self.has_writes() {
            let (run, parts) = std::mem::take(&mut self.open).close();
            self.answers.extend(split(parts, store.run(run)));
        }
    }

    /// Fetches the answers.
    pub(super) fn answers(&mut self) -> Vec<Answer> {
        std::mem::take(&mut self.answers)
    }
}

impl Open {
    fn add(&mut self, asker: Asker, run: &Run<'_>) {
        let (base, first) = (self.bytes.len(), self.spans.len() as u32);
        self.bytes.extend_from_slice(run.bytes);
        self.spans.extend(run.spans.iter().map(|it| it.moved(base)));
        self.calls.extend(run.calls.iter().map(|call| Call {
            first: call.first + first,
            end: call.end + first,
            ..*call
        }));
        (self.now, self.seed) = (run.now, run.seed);
        self.parts.push((asker, self.calls.len()));
    }

    fn close(self) -> (OwnedRun, Vec<(Asker, usize)>) {
        let run = OwnedRun {
            bytes: self.bytes,
            spans: self.spans,
            calls: self.calls,
            now: self.now,
            seed: self.seed,
            watched: Vec::new(),
            tells_ends: true,
            was_run: OnceLock::new(),
        };
        (run, self.parts)
    }
}

/// What each connection is answered.
fn split(parts: Vec<(Asker, usize)>, response: Response) -> impl Iterator<Item = Answer> {
    let replies = match response {
        Response::Replies { bytes, ends, .. } => Some((bytes, ends)),
        _ => None,
    };
    let mut start = 0;
    parts.into_iter().map(move |(asker, calls)| {
        let own = replies.as_ref().map(|(bytes, ends)| {
            let from = std::mem::replace(&mut start, ends[calls - 1]);
            let from = if seeded!(RepliesOfOthers) { 0 } else { from };
            bytes[from..start].to_vec()
        });
        (asker, own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands;
    use crate::durability::fault::{self, Fault};
    use crate::keyspace::{Keyspace, Write};
    use corecast_agree::Dispatch;
    use fastrand::Rng;

    /// Some writes of a connection, and the word by word the same as one operation.
    fn writes(random: &mut Rng) -> OwnedRun {
        let mut open = Open::default();
        let asker = Asker { key: 0, id: 0 };
        for _ in 0..random.u8(1..4) {
            let key = format!("k{}", random.u8(..6));
            let number = random.u8(..).to_string();
            let words: Vec<&str> = match random.u8(..7) {
                0 => vec!["SET", &key, &number],
                1 => vec!["SET", &key, &number, "GET"],
                2 => vec!["APPEND", &key, &number],
                3 => vec!["DEL", &key, "k1"],
                4 => vec!["INCR", &key],
                5 => vec!["RENAME", &key, "k2"],
                _ => vec!["GETDEL", &key],
            };
            let (mut bytes, mut spans) = (Vec::new(), Vec::new());
            for word in &words {
                spans.push(Span::new(bytes.len(), bytes.len() + word.len()));
                bytes.extend_from_slice(word.as_bytes());
            }
            let call = Call {
                command: commands::find(words[0].as_bytes()).unwrap(),
                first: 0,
                end: words.len() as u32,
                database: random.u8(..2),
                resp3: random.bool(),
            };
            let run = Run {
                bytes: &bytes,
                spans: &spans,
                calls: &[call],
                now: 5,
                seed: 0,
            };
            open.add(asker, &run);
        }
        open.close().0
    }

    /// The first case whose connections are not answered as one after another.
    fn first_failure() -> Option<u64> {
        (0..200).find(|seed| {
            let mut random = Rng::with_seed(*seed);
            let (mut alone, mut together) = (Keyspace::default(), Keyspace::default());
            (0..20).any(|_| {
                let (mut open, mut expected) = (Open::default(), Vec::new());
                for id in 0..random.u64(1..6) {
                    let own = writes(&mut random);
                    let asker = Asker { key: 7, id };
                    open.add(asker, &own.run());
                    let replies = match alone.write(&Write::Run(Box::new(own))) {
                        Response::Replies { bytes, .. } => Some(bytes),
                        _ => None,
                    };
                    expected.push((asker, replies));
                }
                let (run, parts) = open.close();
                let response = together.write(&Write::Run(Box::new(run)));
                let answers: Vec<Answer> = split(parts, response).collect();
                let same = alone.encode(Vec::new()) == together.encode(Vec::new());
                answers != expected || !same
            })
        })
    }

    #[test]
    fn each_is_answered_as_if_it_came_alone() {
        assert_eq!(first_failure(), None);
        let found = fault::with(Some(Fault::RepliesOfOthers), first_failure);
        assert!(found.is_some(), "nobody noticed");
    }

    #[test]
    fn what_is_not_known_is_told_to_nobody() {
        let asker = |id| Asker { key: 0, id };
        let parts = vec![(asker(1), 2), (asker(2), 3)];
        let answers: Vec<Answer> = split(parts, Response::TooLong).collect();
        assert_eq!(answers, [(asker(1), None), (asker(2), None)]);
    }
}
