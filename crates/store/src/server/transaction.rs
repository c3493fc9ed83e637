//! `MULTI`, `EXEC` and `WATCH`.
//!
//! A transaction is one write of the store: it looks whether watched keys have changed, and runs all commands or none.
//! Commands on the session run behind it, and their replies are put between the others. What they choose for those that follow, the
//! database and the protocol, is known before.

use std::sync::OnceLock;

use super::hello;
use super::session::Session;
use super::surroundings::Surroundings;
use super::transaction_queue::Transaction;
use crate::arguments::Args;
use crate::commands::{Command, Kind};
use crate::keyspace::{Call, Facts, OwnedRun, REPLY_BYTES_MAX, Read, Response, Watched};
use crate::resp::Reply;

/// `WATCH`: looks at keys.
pub(super) fn watch(session: &mut Session, args: Args<'_>, around: &mut Surroundings<'_>) {
    let mut looks = Vec::with_capacity(args.len() - 1);
    around.store.read(Read::Looks {
        keys: args,
        database: session.database,
        now: around.now,
        looks: &mut looks,
    });
    for (key, look) in args.from(1).zip(looks) {
        let key = (session.database, key.into());
        // What was seen first counts.
        session.watches.entry(key).or_insert(look);
    }
}

/// Runs a command on the session.
type RunCommand = fn(&mut Session, &'static Command, Args<'_>, &mut Surroundings<'_>, &mut Vec<u8>);

/// `EXEC`: runs what was queued, commands on the session by `run`. Returns whether the replies fit. Once there is a transaction, it
/// leaves out itself what the client wants no reply to.
pub(super) fn exec(
    session: &mut Session,
    around: &mut Surroundings<'_>,
    out: &mut Vec<u8>,
    run: RunCommand,
) -> bool {
    let mut reply = Reply::new(out, session.resp3, REPLY_BYTES_MAX);
    let watches = std::mem::take(&mut session.watches);
    let Some(queued) = session.transaction.take() else {
        session.watches = watches;
        reply.error("ERR EXEC without MULTI");
        return true;
    };
    let dropped = session.replies.are_dropped();
    if queued.failed && dropped {
        return true;
    }
    if queued.failed {
        reply.error("EXECABORT Transaction discarded because of previous errors.");
        return true;
    }
    let size = (queued.calls.len(), queued.bytes());
    let Transaction {
        bytes,
        spans,
        calls: all,
        ..
    } = *queued;
    // What commands on the session choose holds for those that come after them.
    let (mut database, mut resp3) = (session.database, session.resp3);
    let mut calls = Vec::with_capacity(all.len());
    for it in &all {
        let args = Args::new(&bytes, &spans[it.first..it.end]);
        match it.command.kind {
            Kind::Session if it.command.name == "select" => {
                database = crate::commands::database(args.get(1)).unwrap_or(database);
            }
            Kind::Session if it.command.name == "hello" => {
                resp3 = hello::speaks_after(resp3, args, around);
            }
            _ if it.command.runs_on_databases() => calls.push(Call {
                command: it.command,
                // The bytes of a transaction, and so its words, are fewer than 2^32.
                first: it.first as u32,
                end: it.end as u32,
                database,
                resp3,
            }),
            _ => {}
        }
    }
    let watched = watches.into_iter().map(|((database, key), look)| Watched {
        database,
        key,
        look,
    });
    let own_commands = all
        .iter()
        .any(|it| matches!(it.command.kind, Kind::Session));
    // The words of commands on the session are needed once more.
    let kept = own_commands.then(|| (bytes.clone(), spans.clone()));
    let response = around.store.run(OwnedRun {
        bytes,
        spans,
        calls,
        now: around.now,
        seed: around.random.u64(..),
        watched: watched.collect(),
        tells_ends: true,
        was_run: OnceLock::new(),
    });
    let (replies, ends) = match response {
        Response::Replies { bytes, ends, .. } => (bytes, ends),
        Response::WatchedChanged => {
            if !dropped {
                reply.null_array();
            }
            return true;
        }
        _ => return false,
    };
    if !dropped {
        reply.array(all.len());
    }
    let Some((bytes, spans)) = kept else {
        if dropped {
            return true;
        }
        reply.raw(&replies);
        return !reply.overflowed();
    };
    session.runs = Some(size);
    let mut start = 0;
    let mut ends = ends.into_iter();
    for it in &all {
        let (mut found, before) = (&b""[..], out.len());
        if it.command.runs_on_databases() {
            let end = ends.next().expect("every call has a reply");
            found = &replies[start..end];
            start = end;
        }
        match it.command.kind {
            Kind::Session => {
                around.facts = Facts::decode(found);
                let args = Args::new(&bytes, &spans[it.first..it.end]);
                run(session, it.command, args, around, out);
            }
            Kind::Read(_) | Kind::Write { .. } => out.extend_from_slice(found),
        }
        if session.replies.are_dropped() {
            out.truncate(before);
        }
    }
    session.runs = None;
    true
}
