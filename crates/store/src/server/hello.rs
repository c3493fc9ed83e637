//! `HELLO` and `AUTH`: the protocol, the password and the name.

use super::client;
use super::session::{REDIS_VERSION, Session};
use super::surroundings::Surroundings;
use crate::arguments::Args;
use crate::commands::texts;
use crate::keyspace::REPLY_BYTES_MAX;
use crate::number::integer;
use crate::resp::Reply;

/// `AUTH`.
pub(super) fn auth(
    session: &mut Session,
    args: Args<'_>,
    around: &Surroundings<'_>,
    reply: &mut Reply<'_>,
) {
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
    match admit(session, (user, password), around) {
        true => reply.ok(),
        false => reply.error(WRONG_PASSWORD),
    }
}

/// Whether this user has this password. If so the client may do anything from now on.
fn admit(session: &mut Session, credentials: (&[u8], &[u8]), around: &Surroundings<'_>) -> bool {
    let admitted = is_right(credentials, around);
    session.known |= admitted;
    admitted
}

/// Whether this user has this password.
fn is_right((user, password): (&[u8], &[u8]), around: &Surroundings<'_>) -> bool {
    let wanted = around.shared.options.password.as_deref();
    let right = wanted.is_none_or(|it| same(it.as_bytes(), password));
    user == b"default" && right
}

/// An option of `HELLO`.
enum Choice<'a> {
    Credentials(&'a [u8], &'a [u8]),
    Name(&'a [u8]),
}

/// Whether `HELLO` asks for RESP3, of a client that has spoken it or has not.
fn version(resp3: bool, args: Args<'_>) -> Result<bool, &'static str> {
    if args.len() == 1 {
        return Ok(resp3);
    }
    match integer(args.get(1)) {
        None => Err("ERR Protocol version is not an integer or out of range"),
        Some(number @ (2 | 3)) => Ok(number == 3),
        Some(_) => Err("NOPROTO unsupported protocol version"),
    }
}

/// The options behind the version, up to one that is none.
fn choices(args: Args<'_>) -> impl Iterator<Item = Result<Choice<'_>, Vec<u8>>> {
    let mut at = 2;
    std::iter::from_fn(move || {
        let more = args.len().checked_sub(at + 1)?;
        let (choice, words) = match () {
            () if args.is(at, "AUTH") && more >= 2 => {
                let choice = Choice::Credentials(args.get(at + 1), args.get(at + 2));
                (Ok(choice), 3)
            }
            () if args.is(at, "SETNAME") && more >= 1 => match args.get(at + 1) {
                name if client::is_name(name) => (Ok(Choice::Name(name)), 2),
                _ => (Err(client::WRONG_NAME.into()), args.len()),
            },
            () => {
                let text = b"ERR Syntax error in HELLO option '".as_slice();
                let text = [text, texts::shown(args.get(at)), b"'"].concat();
                (Err(text), args.len())
            }
        };
        at += words;
        Some(choice)
    })
}

/// Whether RESP3 is spoken after a `HELLO` of a client that may do anything.
pub(super) fn speaks_after(resp3: bool, args: Args<'_>, around: &Surroundings<'_>) -> bool {
    let holds = |choice| match choice {
        Ok(Choice::Credentials(user, password)) => is_right((user, password), around),
        Ok(Choice::Name(_)) => true,
        Err(_) => false,
    };
    let asked = version(resp3, args).ok();
    let asked = asked.filter(|_| choices(args).all(holds));
    asked.unwrap_or(resp3)
}

/// `HELLO`. As in Redis, what stands before an option that is refused holds.
pub(super) fn hello(
    session: &mut Session,
    args: Args<'_>,
    around: &mut Surroundings<'_>,
    out: &mut Vec<u8>,
) {
    let mut reply = Reply::new(out, session.resp3, REPLY_BYTES_MAX);
    let resp3 = match version(session.resp3, args) {
        Ok(resp3) => resp3,
        Err(text) => return reply.error(text),
    };
    for choice in choices(args) {
        match choice {
            Ok(Choice::Credentials(user, password)) => {
                if !admit(session, (user, password), around) {
                    return reply.error(WRONG_PASSWORD);
                }
            }
            Ok(Choice::Name(name)) => client::rename(session, around, name),
            Err(text) => return reply.error(text),
        }
    }
    if !session.known {
        return reply.error(
                "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH \
                 <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the \
                 same time",
            );
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
