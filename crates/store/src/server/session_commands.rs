//! The commands on a session, but those that have files of their own.

use super::session::{Replies, Session};
use super::surroundings::Surroundings;
use super::{client, config, documents, hello, info, observing, saving, transaction};
use crate::arguments::Args;
use crate::commands::{Command, database, texts};
use crate::keyspace::REPLY_BYTES_MAX;
use crate::resp::Reply;

/// Runs a command on the session, and writes its reply.
pub(super) fn run(
    session: &mut Session,
    command: &'static Command,
    args: Args<'_>,
    around: &mut Surroundings<'_>,
    out: &mut Vec<u8>,
) {
    let mut reply = Reply::new(out, session.resp3, REPLY_BYTES_MAX);
    match command.name {
        "ping" if args.len() > 2 => reply.error(texts::arity("ping")),
        "ping" if args.len() == 2 => reply.bulk(args.get(1)),
        "ping" => reply.simple("PONG"),
        "echo" => reply.bulk(args.get(1)),
        "select" => match database(args.get(1)) {
            Ok(number) => {
                session.database = number;
                reply.ok();
            }
            Err(text) => reply.error(text),
        },
        "multi" if session.transaction.is_some() => {
            reply.error("ERR MULTI calls can not be nested");
        }
        "multi" => {
            session.transaction = Some(Box::default());
            reply.ok();
        }
        "exec" => {
            if !transaction::exec(session, around, out, run) {
                session.ends = true;
            }
        }
        "discard" if session.transaction.is_none() => reply.error("ERR DISCARD without MULTI"),
        "discard" => {
            session.transaction = None;
            session.watches.clear();
            reply.ok();
        }
        "watch" if session.transaction.is_some() => {
            reply.error("ERR WATCH inside MULTI is not allowed");
        }
        "watch" => {
            transaction::watch(session, args, around);
            reply.ok();
        }
        "unwatch" => {
            session.watches.clear();
            reply.ok();
        }
        "quit" => {
            session.ends = true;
            reply.ok();
        }
        "reset" => {
            let open = around.shared.options.password.is_none();
            *session = Session {
                last: session.last,
                no_evict: session.no_evict,
                replies: Replies {
                    skips: session.replies.skips,
                    ..Replies::default()
                },
                ..Session::new(session.id, open)
            };
            client::rename(session, around, b"");
            reply.simple("RESET");
        }
        "auth" => hello::auth(session, args, around, &mut reply),
        "hello" => hello::hello(session, args, around, out),
        "client" => client::run(session, command, args, around, &mut reply),
        "config" => config::run(command, args, around, &mut reply),
        "command" => {
            documents::run(command, args, &mut reply);
            session.ends |= reply.overflowed();
        }
        "info" => info::run(args, around, &mut reply),
        "latency" | "role" | "slowlog" | "time" => {
            observing::run(command, args, around, &mut reply)
        }
        "bgrewriteaof" | "bgsave" | "lastsave" | "save" => {
            saving::run(command, args, around, &mut reply);
        }
        other => unreachable!("{other} is no command on a session"),
    }
}
