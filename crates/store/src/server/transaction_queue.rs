//! What waits for `EXEC`.

use std::collections::HashMap;

use crate::arguments::{Args, Span};
use crate::commands::Command;
use crate::resp::REQUEST_BYTES_MAX;

/// Commands that wait for `EXEC`.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    pub(super) bytes: Vec<u8>,
    pub(super) spans: Vec<Span>,
    pub(super) calls: Vec<Queued>,
    /// A command was refused, so all are.
    pub(super) failed: bool,
}

/// A command, with the places of its words among the spans.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    pub(super) command: &'static Command,
    pub(super) first: usize,
    pub(super) end: usize,
}

/// The keys that a client watches, with their databases and what was seen of them.
pub(super) type Watches = HashMap<(u8, Box<[u8]>), u64>;

impl Transaction {
    /// Keeps a command for later; returns whether there was room.
    pub(super) fn queue(&mut self, command: &'static Command, args: Args<'_>) -> bool {
        let more: usize = args.from(0).map(<[u8]>::len).sum();
        if self.bytes.len() + more + 64 * self.calls.len() > REQUEST_BYTES_MAX {
            return false;
        }
        let first = self.spans.len();
        for word in args.from(0) {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(word);
            self.spans.push(Span::new(start, self.bytes.len()));
        }
        let end = self.spans.len();
        self.calls.push(Queued {
            command,
            first,
            end,
        });
        true
    }

    /// Whether one of the commands is a write.
    pub(super) fn writes(&self) -> bool {
        self.calls.iter().any(|it| it.command.writes())
    }

    pub(super) fn fail(&mut self) {
        self.failed = true;
    }

    /// Bytes that are held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<Span>()
    }
}
