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

/// What `HELLO` asks for.
struct Hello<'a> {
    resp3: bool,
    name: Option<&'a [u8]>,
    credentials: Option<(&'a [u8], &'a [u8])>,
}

impl<'a> Hello<'a> {
    /// Of a client that has spoken RESP3, or has not.
    fn read(mut resp3: bool, args: Args<'a>) -> Result<Self, Vec<u8>> {
        if args.len() > 1 {
            let Some(version) = integer(args.get(1)) else {
                let text = "ERR Protocol version is not an integer or out of range";
                return Err(text.into());
            };
            if !(2..=3).contains(&version) {
                return Err("NOPROTO unsupported protocol version".into());
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
                        return Err(client::WRONG_NAME.into());
                    }
                    name = Some(args.get(at + 1));
                    at += 2;
                }
                () => {
                    let text = b"ERR Syntax error in HELLO option '".as_slice();
                    return Err([text, args.get(at), b"'"].concat());
                }
            }
        }
        Ok(Self {
            resp3,
            name,
            credentials,
        })
    }
}

/// Whether RESP3 is spoken after a `HELLO` of a client that may do anything.
pub(super) fn speaks_after(resp3: bool, args: Args<'_>, around: &Surroundings<'_>) -> bool {
    let asked = Hello::read(resp3, args).ok();
    let admitted = asked.filter(|it| it.credentials.is_none_or(|it| is_right(it, around)));
    admitted.map_or(resp3, |it| it.resp3)
}

/// `HELLO`.
pub(super) fn hello(
    session: &mut Session,
    args: Args<'_>,
    around: &mut Surroundings<'_>,
    out: &mut Vec<u8>,
) {
    let mut reply = Reply::new(out, session.resp3, REPLY_BYTES_MAX);
    let Hello {
        resp3,
        name,
        credentials,
    } = match Hello::read(session.resp3, args) {
        Ok(asked) => asked,
        Err(text) => return reply.error(text),
    };
    if let Some(credentials) = credentials
        && !admit(session, credentials, around)
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
