//! What a replica that is a process has applied and does not know to be in the log.
//!
//! Every replica keeps it, so that each can go on with the log where another one was killed: what was answered is in the log, and
//! what is not in the log all replicas have, or get with the state of another one.
//!
//! **Invariant:** it has all entries from some index on that is released, without a gap.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::entry::Entry;
use super::fault::seeded;
use super::source::Source;
use crate::bytes::{ByteReader, ByteWriter};

/// What a replica has applied and does not know to be in the log.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// With their indices in the order.
    entries: VecDeque<(u64, Vec<u8>)>,
    /// All before this index was applied.
    next: u64,
    /// Whoever waits shall look.
    is_news: bool,
}

impl Tail {
    fn lock(&self) -> MutexGuard<'_, State> {
        // What is in there holds whatever panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index after that of the entry that was applied last.
    pub(crate) fn next(&self) -> u64 {
        self.lock().next
    }

    /// Adds an entry that was applied, and returns its bytes.
    pub(crate) fn push(&self, index: u64, entry: Entry<'_>) -> usize {
        let mut bytes = Vec::new();
        entry.write(&mut bytes);
        let length = bytes.len();
        let mut state = self.lock();
        debug_assert!(index >= state.next, "entries come in their order");
        state.next = index + 1;
        if !bytes.is_empty() {
            state.entries.push_back((index, bytes));
        }
        length
    }

    /// Forgets what lies before `released`, which the log has.
    pub(crate) fn trim(&self, released: u64) {
        let mut state = self.lock();
        let released = match seeded!(TrimmedUnreleased) {
            true => state.next,
            false => released,
        };
        while state.entries.front().is_some_and(|it| it.0 < released) {
            state.entries.pop_front();
        }
    }

    /// Has whoever waits look.
    pub(crate) fn tell(&self) {
        self.lock().is_news = true;
        self.came.notify_all();
    }

    /// Waits until there is something to look at, for so long at most.
    pub(crate) fn wait(&self, longest: Duration) {
        let mut state = self.lock();
        if !state.is_news {
            let waited = self.came.wait_timeout(state, longest);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.is_news = false;
    }

    /// Appends it, to go with the state that it belongs to.
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        let state = self.lock();
        to.word(state.next);
        let taken = match seeded!(TailNotTaken) {
            true => 0,
            false => state.entries.len(),
        };
        to.word(taken as u64);
        for (index, bytes) in state.entries.iter().take(taken) {
            to.word(*index);
            to.bytes(bytes);
        }
    }

    /// Takes the place of what there was; `false` if these bytes are none.
    pub(crate) fn decode(&self, from: &mut ByteReader<'_>) -> bool {
        let read = (|| {
            let next = from.word()?;
            let entries = from.list(|from| Some((from.word()?, from.bytes()?.to_vec())))?;
            Some((next, entries))
        })();
        let Some((next, entries)) = read else {
            return false;
        };
        let mut state = self.lock();
        (state.next, state.entries) = (next, entries.into());
        true
    }

    /// Follows what comes, from this index on.
    pub(crate) fn follow(self: Arc<Self>, next: u64) -> impl Source {
        TailSource { tail: self, next }
    }
}

#[derive(Debug)]
struct TailSource {
    tail: Arc<Tail>,
    next: u64,
}

impl Source for TailSource {
    fn take(&mut self, each: &mut dyn FnMut(u64, Entry<'_>) -> ControlFlow<()>) -> u64 {
        let state = self.tail.lock();
        let first = state.entries.partition_point(|it| it.0 < self.next);
        for (index, bytes) in state.entries.range(first..) {
            if each(*index, Entry::Bytes(bytes)).is_break() {
                self.next = *index;
                return self.next;
            }
        }
        // A former writer may have been ahead.
        self.next = self.next.max(state.next);
        self.next
    }
}
