//! The writes of one turn of an event loop whose replica is a process: they are one command of the group.
//!
//! To agree on a command takes the same time however many writes it has. So connections that are ready in one turn leave their writes
//! here, and neither their replies go out nor their next requests run before these are answered. To all others a write that is not
//! answered may be done or not, so nobody can tell that it waits.

use std::sync::OnceLock;

use crate::arguments::Span;
use crate::keyspace::{Call, OwnedRun, Response, Run};
use crate::store::StoreHandle;

/// A batch is agreed on once its requests are as long as this.
const BYTES_MAX: usize = 256 << 10;

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
    resp3: bool,
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
        // Replies to one operation are in one version of the protocol.
        if self.has_writes() && self.open.resp3 != run.resp3 {
            self.agree(store);
        }
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
        (self.now, self.seed, self.resp3) = (run.now, run.seed, run.resp3);
        self.parts.push((asker, self.calls.len()));
    }

    fn close(self) -> (OwnedRun, Vec<(Asker, usize)>) {
        let run = OwnedRun {
            bytes: self.bytes,
            spans: self.spans,
            calls: self.calls,
            now: self.now,
            seed: self.seed,
            resp3: self.resp3,
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
        Response::Replies { bytes, ends } => Some((bytes, ends)),
        _ => None,
    };
    let mut start = 0;
    parts.into_iter().map(move |(asker, calls)| {
        let own = replies.as_ref().map(|(bytes, ends)| {
            let from = std::mem::replace(&mut start, ends[calls - 1]);
            bytes[from..start].to_vec()
        });
        (asker, own)
    })
}
