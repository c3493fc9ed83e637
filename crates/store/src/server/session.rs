//! What a client has chosen.

use super::transaction_queue::{Transaction, Watches};

/// The version of Redis whose commands, replies and errors these are.
pub(super) const REDIS_VERSION: &str = "7.0.15";

/// Whether a client wants replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Replies {
    /// None, until it says otherwise.
    pub(super) off: bool,
    /// None to this command.
    pub(super) skips: bool,
    /// None to the next one.
    pub(super) skips_next: bool,
}

impl Replies {
    /// Whether what is answered now is dropped.
    pub(super) fn are_dropped(self) -> bool {
        self.off || self.skips
    }

    /// Goes on to the next command.
    pub(super) fn next(&mut self) {
        self.skips = std::mem::take(&mut self.skips_next);
    }
}

/// A command that a client has called, and its subcommand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastCommand {
    pub(super) name: &'static str,
    pub(super) subcommand: &'static str,
}

/// What a client has chosen.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: u64,
    pub(super) database: u8,
    pub(super) resp3: bool,
    /// Whether it may do anything: it gave the password, or there is none.
    pub(super) known: bool,
    pub(super) name: Vec<u8>,
    pub(super) replies: Replies,
    pub(super) transaction: Option<Box<Transaction>>,
    pub(super) watches: Watches,
    /// The command that it has called last.
    pub(super) last: LastCommand,
    /// The commands that `EXEC` runs and their bytes, amid them.
    pub(super) runs: Option<(usize, usize)>,
    /// It has said `CLIENT NO-EVICT ON`, which others are shown.
    pub(super) no_evict: bool,
    /// It is to be cut off once what it was answered is written.
    pub(super) ends: bool,
}

impl Session {
    pub(super) fn new(id: u64, known: bool) -> Self {
        Self {
            id,
            database: 0,
            resp3: false,
            known,
            name: Vec::new(),
            replies: Replies::default(),
            transaction: None,
            watches: Watches::default(),
            last: LastCommand::default(),
            runs: None,
            no_evict: false,
            ends: false,
        }
    }
}
