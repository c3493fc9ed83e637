//! The log as a replica has it: what it has applied and is not in the log, and how far that is; and who writes it.

use std::sync::Arc;

use corecast_agree::Dispatch;

use super::log_writer::{AT_ONCE_BYTES_MAX, LogContext, LogWriter};
use crate::bytes::{ByteReader, ByteWriter};
use crate::durability::{Entry, GroupLog};
use crate::keyspace::{Keyspace, Write};

/// The log as a replica has it.
#[derive(Debug)]
pub(super) struct ReplicaLog {
    context: LogContext,
    me: usize,
    start: u64,
    /// If this replica writes.
    threads: Option<LogWriter>,
    /// Whether something was applied since the writer was told.
    is_news: bool,
    /// Bytes of that.
    news_bytes: usize,
    /// The thread was left all before this index.
    left: u64,
    /// How often somebody had asked for a snapshot.
    asked: u64,
    /// How far the log was when it was looked whose replies may go out.
    noted: (u64, bool),
    waits: bool,
}

impl ReplicaLog {
    pub(super) fn new(context: LogContext, me: usize, start: u64) -> Self {
        Self {
            context,
            me,
            start,
            threads: None,
            is_news: false,
            news_bytes: 0,
            left: 0,
            asked: 0,
            noted: (0, false),
            waits: false,
        }
    }

    /// The log as all replicas see it.
    pub(super) fn shared(&self) -> &Arc<GroupLog> {
        &self.context.log
    }

    /// The replica that writes, if one does.
    pub(super) fn writer(&self) -> Option<usize> {
        let LogContext { group, log, .. } = &self.context;
        (0..group.size()).find(|it| group.running(*it) == Some(log.writer()))
    }

    /// Notes what was applied.
    pub(super) fn applied(&mut self, index: u64, write: &Write) {
        self.news_bytes += self.context.tail.push(index, Entry::of(write));
        self.is_news = true;
    }

    /// Does what is due once all was applied that has come: writes, if this replica is said to, and forgets what is in the log.
    pub(super) fn advance(&mut self, keyspace: &Keyspace) {
        let LogContext { log, tail, .. } = &self.context;
        if self.threads.is_none() && log.writer() == self.start && log.failed().is_none() {
            match LogWriter::start(self.context.clone()) {
                Ok(threads) => self.threads = Some(threads),
                // It is tried again.
                Err(error) => eprintln!("corecast: no thread for the log: {error}"),
            }
        }
        match log.failed() {
            None => tail.trim(log.released()),
            Some(_) => tail.trim(u64::MAX),
        }
        let Some(threads) = &self.threads else {
            (self.is_news, self.news_bytes) = (false, 0);
            return;
        };
        threads.give(|| (tail.next(), keyspace.snapshot()));
        let asked = log.asked();
        // Records have some more bytes than entries. What the thread was left comes first.
        let is_short = std::mem::take(&mut self.news_bytes) <= AT_ONCE_BYTES_MAX / 2;
        let writes = is_short && log.released() >= self.left;
        let is_left = std::mem::take(&mut self.is_news)
            && !(writes && threads.write_at_once(&self.context, self.me));
        if is_left {
            self.left = tail.next();
        }
        if is_left || asked != self.asked {
            self.asked = asked;
            tail.tell();
        }
    }

    fn progress(&self) -> (u64, bool) {
        let log = &self.context.log;
        (log.released(), log.failed().is_some())
    }

    /// Notes how far the log is, before it is looked whose replies may go out.
    pub(super) fn note(&mut self) {
        self.noted = self.progress();
    }

    /// Says whether replies wait.
    pub(super) fn set_waits(&mut self, waits: bool) {
        if waits != self.waits {
            self.waits = waits;
            self.context.log.set_waits(self.me, waits);
        }
    }

    /// Whether replies wait that may go out. To be asked once the group was told that this replica sleeps.
    pub(super) fn is_awaited(&self) -> bool {
        self.waits && self.progress() != self.noted
    }

    /// Whether a snapshot that was asked for was taken, once that is known.
    pub(super) fn is_saved(&self, request: u64) -> Option<bool> {
        let log = &self.context.log;
        let saves = log.saves();
        if saves.done >= request {
            return Some(saves.is_ok);
        }
        // Nobody goes on with a log that has failed.
        (log.failed().is_some() && self.writer().is_none()).then_some(false)
    }

    /// What is not in the log, to go with the state of this replica.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut to = ByteWriter::default();
        self.context.tail.encode(&mut to);
        to.0
    }

    /// Takes it, of another replica of the same program.
    pub(super) fn decode(&mut self, tail: &[u8]) {
        let taken = self.context.tail.decode(&mut ByteReader(tail));
        assert!(taken, "replicas are of one version");
        (self.is_news, self.news_bytes) = (true, AT_ONCE_BYTES_MAX);
    }

    /// Makes all durable that was applied, if this replica writes.
    pub(super) fn close(&mut self) {
        if let Some(threads) = self.threads.take() {
            threads.close(&self.context.tail);
        }
    }
}
