//! Clients as `CLIENT LIST` and `CLIENT INFO` show them: in the words of Redis, and the list with the replica that serves each.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::session::{LastCommand, Session};
use crate::arguments::Args;

/// A client.
#[derive(Clone, Debug)]
pub(super) struct ClientEntry {
    pub(super) peer: SocketAddr,
    /// The address that it has connected to, where the kernel tells that.
    pub(super) local: Option<SocketAddr>,
    /// The number of its socket.
    pub(super) descriptor: i32,
    pub(super) since: Instant,
    pub(super) name: Vec<u8>,
    pub(super) event_loop: usize,
    pub(super) killed: bool,
    pub(super) activity: SharedActivity,
}

/// What a client has done, which its event loop notes after each of its turns.
#[derive(Clone, Debug)]
pub(super) struct SharedActivity(Arc<Mutex<Activity>>);

impl SharedActivity {
    pub(super) fn new(now: Instant) -> Self {
        Self(Arc::new(Mutex::new(Activity {
            active: now,
            chosen: Chosen::default(),
            buffers: Buffers::default(),
        })))
    }

    pub(super) fn note(&self, activity: Activity) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = activity;
    }

    fn noted(&self) -> Activity {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client has done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    /// When it last asked for something.
    pub(super) active: Instant,
    pub(super) chosen: Chosen,
    pub(super) buffers: Buffers,
}

/// What a client has chosen, as far as others see it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chosen {
    database: u8,
    resp3: bool,
    /// Commands that wait for `EXEC`, and their bytes.
    queued: Option<(usize, usize)>,
    last: LastCommand,
    no_evict: bool,
    ends: bool,
    /// A command of it waits for the end of a pause.
    waits: bool,
}

/// Bytes that are held for a client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Buffers {
    /// What was read and not run, and the room for more of it.
    pub(super) input: (usize, usize),
    /// The words of the request that runs.
    pub(super) words: usize,
    /// Replies that are not written, and the room for replies.
    pub(super) output: (usize, usize),
    pub(super) all: usize,
}

impl Chosen {
    pub(super) fn of(session: &Session) -> Self {
        let transaction = session.transaction.as_ref();
        Self {
            database: session.database,
            resp3: session.resp3,
            queued: transaction
                .map(|it| (it.calls.len(), it.bytes()))
                .or(session.runs),
            last: session.last,
            no_evict: session.no_evict,
            ends: session.ends,
            waits: false,
        }
    }

    pub(super) fn waiting(self, waits: bool) -> Self {
        Self { waits, ..self }
    }
}

/// What `CLIENT INFO` says of the client that asks, amid its request. It has the fields of Redis and no other, as go-redis refuses what
/// it does not know.
pub(super) fn own_info(session: &Session, entry: &ClientEntry, args: Args<'_>) -> String {
    let before = entry.activity.noted().buffers;
    let words = args.from(0).map(<[u8]>::len);
    let activity = Activity {
        active: Instant::now(),
        chosen: Chosen::of(session),
        buffers: Buffers {
            input: (request_bytes(args), before.input.1),
            words: words.sum(),
            ..before
        },
    };
    info(session.id, entry, &activity)
}

/// The line of `CLIENT LIST` of the client that asks.
pub(super) fn own_line(session: &Session, entry: &ClientEntry, args: Args<'_>) -> String {
    with_replica(&own_info(session, entry, args), entry)
}

/// That of another client.
pub(super) fn line(id: u64, entry: &ClientEntry) -> String {
    with_replica(&info(id, entry, &entry.activity.noted()), entry)
}

fn with_replica(info: &str, entry: &ClientEntry) -> String {
    format!("{info} replica={}\n", entry.event_loop)
}

/// Bytes of a request as clients send it.
fn request_bytes(args: Args<'_>) -> usize {
    let framed = |length: usize, rest: usize| 1 + length.to_string().len() + 2 + rest;
    let words = args.from(0).map(|it| framed(it.len(), it.len() + 2));
    framed(args.len(), 0) + words.sum::<usize>()
}

fn info(id: u64, entry: &ClientEntry, activity: &Activity) -> String {
    let Activity {
        active,
        chosen,
        buffers,
    } = activity;
    let LastCommand { name, subcommand } = chosen.last;
    let command = match (name, subcommand) {
        ("", _) => "NULL".to_owned(),
        (name, "") => name.to_owned(),
        (name, subcommand) => format!("{name}|{subcommand}"),
    };
    let all = [
        (chosen.queued.is_some(), 'x'),
        (chosen.waits, 'b'),
        (chosen.ends, 'c'),
        (chosen.no_evict, 'e'),
    ];
    let flags = all.iter().filter(|it| it.0).map(|it| it.1);
    let flags = match flags.collect::<String>() {
        none if none.is_empty() => "N".to_owned(),
        flags => flags,
    };
    let (queued, queued_bytes) = match chosen.queued {
        Some((count, bytes)) => (count.to_string(), bytes),
        None => ("-1".to_owned(), 0),
    };
    let local = entry.local.map_or_else(String::new, |it| it.to_string());
    let fields: [(&str, &dyn std::fmt::Display); 28] = [
        ("id", &id),
        ("addr", &entry.peer),
        ("laddr", &local),
        ("fd", &entry.descriptor),
        ("name", &String::from_utf8_lossy(&entry.name)),
        ("age", &entry.since.elapsed().as_secs()),
        ("idle", &active.elapsed().as_secs()),
        ("flags", &flags),
        ("db", &chosen.database),
        ("sub", &0),
        ("psub", &0),
        ("ssub", &0),
        ("multi", &queued),
        ("qbuf", &buffers.input.0),
        ("qbuf-free", &buffers.input.1),
        ("argv-mem", &buffers.words),
        ("multi-mem", &queued_bytes),
        ("rbs", &buffers.output.1),
        ("rbp", &buffers.output.1),
        ("obl", &buffers.output.0),
        ("oll", &0),
        ("omem", &0),
        ("tot-mem", &buffers.all),
        ("events", &if buffers.output.0 > 0 { "rw" } else { "r" }),
        ("cmd", &command),
        ("user", &"default"),
        ("redir", &-1),
        ("resp", &if chosen.resp3 { 3 } else { 2 }),
    ];
    let words = fields.map(|(name, value)| format!("{name}={value}"));
    words.join(" ")
}
