//! The store as one replica has it: a sequential structure, whose operations are runs of commands.
//!
//! A read borrows the bytes that its commands came in and the buffer that their replies go to, so a value is copied once, from
//! the store to the socket's buffer. A write owns its bytes, since every replica applies it.
//!
//! **Architecture invariant:** replicas that applied the same writes are equal. What a command needs besides the store, the
//! time and random numbers, comes with it.

mod encoded;

use std::cell::Cell;
use std::sync::OnceLock;

use corecast_agree::{Dispatch, Footprint};

use crate::arguments::{Args, Span};
use crate::bytes::{ByteReader, ByteWriter};
use crate::commands::{Command, Context, DATABASES, Databases, Kind, Lookups};
use crate::database;
use crate::resp::Reply;

/// No replies to one call are longer.
pub(crate) const REPLY_BYTES_MAX: usize = 1 << 30;

/// A command that was called, with its words among the spans of its run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) command: &'static Command,
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) database: u8,
    /// Its reply is in RESP3.
    pub(crate) resp3: bool,
}

/// Commands that run one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) spans: &'a [Span],
    pub(crate) calls: &'a [Call],
    /// Milliseconds since 1970.
    pub(crate) now: i64,
    pub(crate) seed: u64,
}

impl<'a> Run<'a> {
    pub(crate) fn args(&self, call: &Call) -> Args<'a> {
        let spans = &self.spans[call.first as usize..call.end as usize];
        Args::new(self.bytes, spans)
    }

    fn context<'b>(&self, at: usize, call: &Call, lookups: &'b Cell<Lookups>) -> Context<'b> {
        Context {
            database: call.database,
            now: self.now,
            seed: self.seed.wrapping_add(at as u64),
            lookups,
        }
    }

    fn footprint(&self) -> Footprint {
        match self.calls {
            [call] if call.command.has_one_key() => {
                let key = self.args(call).get(1);
                Footprint::Key(database::hash(key).wrapping_add(call.database.into()))
            }
            _ => Footprint::Everything,
        }
    }
}

/// An operation that changes nothing.
#[derive(Debug)]
pub(crate) enum Read<'a> {
    /// Runs commands that are reads, until their replies have become longer than `bytes_soft`.
    Run {
        run: Run<'a>,
        replies: &'a mut Vec<u8>,
        bytes_soft: usize,
    },
    /// Looks at keys, for `WATCH`.
    Looks {
        keys: Args<'a>,
        database: u8,
        now: i64,
        looks: &'a mut Vec<u64>,
    },
    /// How full the databases are, and whether keys are due to be removed.
    Facts { now: i64 },
}

/// A key that must not have changed.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) database: u8,
    pub(crate) key: Box<[u8]>,
    /// Of [`Database::look`](crate::database::Database::look).
    pub(crate) look: u64,
}

/// A key that was removed, and its database.
pub(crate) type Removed = (u8, Box<[u8]>);

/// An operation that changes the store.
#[derive(Debug)]
pub(crate) enum Write {
    /// Runs commands as one, unless a watched key has changed.
    Run(Box<OwnedRun>),
    /// Removes some of the keys that have expired. Which ones is noted where somebody asks for it.
    RemoveDue {
        now: i64,
        removed: Option<OnceLock<Vec<Removed>>>,
    },
    /// Removes keys as an earlier process did, whether they have expired or not.
    Remove(Vec<Removed>),
    /// Changes nothing: it fills the log, so that entries before it are forgotten.
    Nothing,
}

/// Commands with their words.
#[derive(Debug)]
pub(crate) struct OwnedRun {
    pub(crate) bytes: Vec<u8>,
    pub(crate) spans: Vec<Span>,
    pub(crate) calls: Vec<Call>,
    pub(crate) now: i64,
    pub(crate) seed: u64,
    /// Keys that a transaction depends on.
    pub(crate) watched: Vec<Watched>,
    /// Whether it is wanted where the reply to each command ends.
    pub(crate) tells_ends: bool,
    /// Whether it was run, if keys are watched: the first replica that applies it says so for all.
    pub(crate) was_run: OnceLock<bool>,
}

impl OwnedRun {
    /// A copy of a run.
    pub(crate) fn of(run: &Run<'_>) -> Self {
        Self {
            bytes: run.bytes.to_vec(),
            spans: run.spans.to_vec(),
            calls: run.calls.to_vec(),
            now: run.now,
            seed: run.seed,
            watched: Vec::new(),
            tells_ends: false,
            was_run: OnceLock::new(),
        }
    }

    pub(crate) fn run(&self) -> Run<'_> {
        Run {
            bytes: &self.bytes,
            spans: &self.spans,
            calls: &self.calls,
            now: self.now,
            seed: self.seed,
        }
    }
}

/// What operations answer.
#[derive(Debug)]
pub(crate) enum Response {
    /// So many commands were run, and their replies written.
    Read {
        calls: usize,
        lookups: Lookups,
    },
    /// The replies to a write, and where each ends if that is wanted.
    Replies {
        bytes: Vec<u8>,
        ends: Vec<usize>,
        lookups: Lookups,
    },
    /// Replies would be too long for a buffer.
    TooLong,
    /// A watched key has changed.
    WatchedChanged,
    Facts(Box<Facts>),
    Nothing,
}

/// How full the databases are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// Keys, and keys that expire.
    pub(crate) keys: [(usize, usize); DATABASES],
    /// Keys that were removed because they had expired.
    pub(crate) expired: u64,
    /// Whether keys are due to be removed.
    pub(crate) due: bool,
}

impl Facts {
    fn encode(&self) -> Vec<u8> {
        let mut to = ByteWriter::default();
        for (keys, expiring) in self.keys {
            to.word(keys as u64);
            to.word(expiring as u64);
        }
        to.word(self.expired);
        to.0
    }

    /// What `INFO` has found amid a transaction. Whether keys are due is not told.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = ByteReader(bytes);
        let mut facts = Self::default();
        for (keys, expiring) in &mut facts.keys {
            *keys = from.word()? as usize;
            *expiring = from.word()? as usize;
        }
        facts.expired = from.word()?;
        Some(facts)
    }
}

/// One replica of the store.
#[derive(Debug, Default)]
pub(crate) struct Keyspace {
    databases: Databases,
}

impl Keyspace {
    pub(crate) fn databases_mut(&mut self) -> &mut Databases {
        &mut self.databases
    }

    fn run_reads(&self, run: &Run<'_>, replies: &mut Vec<u8>, bytes_soft: usize) -> Response {
        let mut reply = Reply::new(replies, false, REPLY_BYTES_MAX);
        let (mut calls, lookups) = (0, Cell::default());
        while calls < run.calls.len() && (calls == 0 || reply.len() < bytes_soft) {
            let call = &run.calls[calls];
            let Kind::Read(read) = call.command.kind else {
                unreachable!("{} is run as a read", call.command.name);
            };
            let context = run.context(calls, call, &lookups);
            reply.speak(call.resp3);
            read(&self.databases, &context, run.args(call), &mut reply);
            calls += 1;
            if reply.overflowed() {
                return Response::TooLong;
            }
        }
        Response::Read {
            calls,
            lookups: lookups.get(),
        }
    }

    fn run_writes(&mut self, owned: &OwnedRun) -> Response {
        let unchanged = |it: &Watched| {
            let database = &self.databases.all()[usize::from(it.database)];
            database.is_unchanged(&it.key, owned.now, it.look)
        };
        if !owned.watched.is_empty() {
            let runs = owned.watched.iter().all(unchanged);
            let first = owned.was_run.get_or_init(|| runs);
            debug_assert_eq!(*first, runs, "replicas are equal");
            if !runs {
                return Response::WatchedChanged;
            }
        }
        let run = owned.run();
        let mut bytes = Vec::with_capacity(8 * owned.calls.len());
        let mut reply = Reply::new(&mut bytes, false, REPLY_BYTES_MAX);
        let (mut ends, lookups) = (Vec::new(), Cell::default());
        for (at, call) in owned.calls.iter().enumerate() {
            let context = run.context(at, call, &lookups);
            let args = run.args(call);
            reply.speak(call.resp3);
            // All are run, whatever becomes of the replies.
            match call.command.kind {
                Kind::Read(read) => read(&self.databases, &context, args, &mut reply),
                Kind::Write { run, .. } => run(&mut self.databases, &context, args, &mut reply),
                // It is `INFO`, which makes its text of them elsewhere.
                Kind::Session => reply.raw(&self.facts(owned.now).encode()),
            }
            if owned.tells_ends {
                ends.push(reply.len());
            }
        }
        match reply.overflowed() {
            true => Response::TooLong,
            false => Response::Replies {
                bytes,
                ends,
                lookups: lookups.get(),
            },
        }
    }

    fn facts(&self, now: i64) -> Facts {
        let mut facts = Facts::default();
        for (fact, database) in facts.keys.iter_mut().zip(self.databases.all()) {
            *fact = (database.len(), database.expiring());
            facts.expired += database.expired();
            facts.due |= database.is_due(now);
        }
        facts
    }
}

impl Dispatch for Keyspace {
    type Read<'a> = Read<'a>;
    type Write = Write;
    type Response = Response;
    type Snapshot = Databases;

    fn read(&self, operation: Read<'_>) -> Response {
        match operation {
            Read::Run {
                run,
                replies,
                bytes_soft,
            } => self.run_reads(&run, replies, bytes_soft),
            Read::Looks {
                keys,
                database,
                now,
                looks,
            } => {
                let database = &self.databases.all()[usize::from(database)];
                looks.extend(keys.from(1).map(|key| database.look(key, now)));
                Response::Nothing
            }
            Read::Facts { now } => Response::Facts(Box::new(self.facts(now))),
        }
    }

    fn write(&mut self, operation: &Write) -> Response {
        /// Keys that are removed at once: others wait meanwhile.
        const DUE_KEYS_MAX: usize = 1000;
        match operation {
            Write::Run(owned) => self.run_writes(owned),
            Write::RemoveDue { now, removed } => {
                // Each replica removes the same, and the first one tells.
                let tells = removed.as_ref().filter(|it| it.get().is_none());
                let (mut left, mut keys) = (DUE_KEYS_MAX, Vec::new());
                for (number, database) in self.databases.all_mut().iter_mut().enumerate() {
                    left -= database.remove_due(*now, left, |entry| {
                        if tells.is_some() {
                            keys.push((number as u8, entry.key[..].into()));
                        }
                    });
                }
                if let Some(removed) = tells {
                    let _ = removed.set(keys);
                }
                Response::Nothing
            }
            Write::Remove(keys) => {
                for (database, key) in keys {
                    self.databases.all_mut()[usize::from(*database)].forget(key);
                }
                Response::Nothing
            }
            Write::Nothing => Response::Nothing,
        }
    }

    fn read_footprint(operation: &Read<'_>) -> Footprint {
        match operation {
            Read::Run { run, .. } => run.footprint(),
            Read::Looks { .. } | Read::Facts { .. } => Footprint::Everything,
        }
    }

    fn write_footprint(operation: &Write) -> Footprint {
        match operation {
            Write::Run(owned) if owned.watched.is_empty() => owned.run().footprint(),
            Write::Run(_) | Write::RemoveDue { .. } | Write::Remove(_) | Write::Nothing => {
                Footprint::Everything
            }
        }
    }

    fn snapshot(&self) -> Databases {
        self.databases.clone()
    }

    fn install(databases: Databases) -> Self {
        Self { databases }
    }
}
