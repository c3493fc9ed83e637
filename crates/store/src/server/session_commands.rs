//! The commands on a session, but those that have files of their own.

use super::session::{REDIS_VERSION, Session};
use super::surroundings::Surroundings;
use super::{client, config, documents, info, saving, transaction};
use crate::arguments::Args;
use crate::commands::{Command, database, texts};
use crate::keyspace::REPLY_BYTES_MAX;
use crate::number::integer;
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
                ..Session::new(session.id, open)
            };
            client::rename(session, around, b"");
            reply.simple("RESET");
        }
        "auth" => auth(session, args, around, &mut reply),
        "hello" => hello(session, args, around, out),
        "client" => client::run(session, args, around, &mut reply),
        "config" => config::run(args, around, &mut reply),
        "command" => documents::run(args, &mut reply),
        "info" => info::run(args, around, &mut reply),
        "bgrewriteaof" | "bgsave" | "lastsave" | "save" => {
            saving::run(command, args, around, &mut reply);
        }
        other => unreachable!("{other} is no command on a session"),
    }
}

fn auth(session: &mut Session, args: Args<'_>, around: &Surroundings<'_>, reply: &mut Reply<'_>) {
    let (user, password) = match args.len() {
        2 => (&b"default"[..], args.get(1)),
        3 => (args.get(1), args.get(2)),
        _ => return reply.error(texts::SYNTAX),
    };
    if args.len() == 2 && around.shared.options.password.is_none() {
        return reply.error(
            "ERR AUTH <password> called without any password configured for the default user. \
                 Are you sure your configuration is correct?",
        );
    }
    match admit(session, user, password, around) {
        true => reply.ok(),
        false => reply.error(WRONG_PASSWORD),
    }
}

/// Whether this user has this password. If so the client may do anything from now on.
fn admit(session: &mut Session, user: &[u8], password: &[u8], around: &Surroundings<'_>) -> bool {
    let wanted = around.shared.options.password.as_deref();
    let right = wanted.is_none_or(|it| same(it.as_bytes(), password));
    let admitted = user == b"default" && right;
    session.known |= admitted;
    admitted
}

fn hello(session: &mut Session, args: Args<'_>, around: &mut Surroundings<'_>, out: &mut Vec<u8>) {
    let mut reply = Reply::new(out, session.resp3, REPLY_BYTES_MAX);
    let mut resp3 = session.resp3;
    if args.len() > 1 {
        let Some(version) = integer(args.get(1)) else {
            return reply.error("ERR Protocol version is not an integer or out of range");
        };
        if !(2..=3).contains(&version) {
            return reply.error("NOPROTO unsupported protocol version");
        }
        resp3 = version == 3;
    }
    let (mut name, mut credentials, mut at) = (None, None, 2);
    while at < args.len() {
        let more = args.len() - at - 1;
        match () {
            () if args.is(at, "AUTH") && more >= 2 => {
                credentials = Some((args.get(at + 1), args.get(at + 2)));
                at += 3;
            }
            () if args.is(at, "SETNAME") && more >= 1 => {
                if !client::is_name(args.get(at + 1)) {
                    return reply.error(client::WRONG_NAME);
                }
                name = Some(args.get(at + 1));
                at += 2;
            }
            () => {
                let text = b"ERR Syntax error in HELLO option '".as_slice();
                return reply.error([text, args.get(at), b"'"].concat());
            }
        }
    }
    if let Some((user, password)) = credentials
        && !admit(session, user, password, around)
    {
        return reply.error(WRONG_PASSWORD);
    }
    if !session.known {
        return reply.error(
                "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH \
                 <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the \
                 same time",
            );
    }
    if let Some(name) = name {
        client::rename(session, around, name);
    }
    session.resp3 = resp3;
    let mut reply = Reply::new(out, resp3, REPLY_BYTES_MAX);
    reply.map(7);
    reply.bulk(b"server");
    reply.bulk(b"redis");
    reply.bulk(b"version");
    reply.bulk(REDIS_VERSION.as_bytes());
    reply.bulk(b"proto");
    reply.integer(if resp3 { 3 } else { 2 });
    reply.bulk(b"id");
    reply.integer(i64::try_from(session.id).unwrap_or(i64::MAX));
    reply.bulk(b"mode");
    reply.bulk(b"standalone");
    reply.bulk(b"role");
    reply.bulk(b"master");
    reply.bulk(b"modules");
    reply.array(0);
}

const WRONG_PASSWORD: &str = "WRONGPASS invalid username-password pair or user is disabled.";

/// Whether two texts are the same, in a time that tells nothing but their lengths.
fn same(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).fold(0, |all, (l, r)| all | (l ^ r));
    left.len() == right.len() && std::hint::black_box(differences) == 0
}
