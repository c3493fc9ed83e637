//! What a client has chosen, and the commands on it.

use super::surroundings::Surroundings;
use super::transaction::{self, Transaction, Watches};
use super::{client, config, documents, info};
use crate::arguments::Args;
use crate::commands::{Command, database, texts};
use crate::keyspace::REPLY_BYTES_MAX;
use crate::number::integer;
use crate::resp::Reply;

/// The version of Redis whose commands, replies and errors these are.
pub(super) const REDIS_VERSION: &str = "7.0.15";

/// Whether a client wants replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Replies {
    #[default]
    On,
    Off,
    /// Not to the next command.
    SkipNext,
    /// Not to this one.
    Skip,
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
            ends: false,
        }
    }

    /// Runs a command on the session, and writes its reply.
    pub(super) fn run(
        &mut self,
        command: &'static Command,
        args: Args<'_>,
        around: &mut Surroundings<'_>,
        out: &mut Vec<u8>,
    ) {
        let mut reply = Reply::new(out, self.resp3, REPLY_BYTES_MAX);
        match command.name {
            "ping" if args.len() > 2 => reply.error(texts::arity("ping")),
            "ping" if args.len() == 2 => reply.bulk(args.get(1)),
            "ping" => reply.simple("PONG"),
            "echo" => reply.bulk(args.get(1)),
            "select" => match database(args.get(1)) {
                Ok(number) => {
                    self.database = number;
                    reply.ok();
                }
                Err(text) => reply.error(text),
            },
            "multi" if self.transaction.is_some() => {
                reply.error("ERR MULTI calls can not be nested");
            }
            "multi" => {
                self.transaction = Some(Box::default());
                reply.ok();
            }
            "exec" => {
                if !transaction::exec(self, around, out, REPLY_BYTES_MAX) {
                    self.ends = true;
                }
            }
            "discard" if self.transaction.is_none() => reply.error("ERR DISCARD without MULTI"),
            "discard" => {
                self.transaction = None;
                self.watches.clear();
                reply.ok();
            }
            "watch" if self.transaction.is_some() => {
                reply.error("ERR WATCH inside MULTI is not allowed");
            }
            "watch" => {
                transaction::watch(self, args, around);
                reply.ok();
            }
            "unwatch" => {
                self.watches.clear();
                reply.ok();
            }
            "quit" => {
                self.ends = true;
                reply.ok();
            }
            "reset" => {
                let open = around.shared.options.password.is_none();
                *self = Self::new(self.id, open);
                client::rename(self, around, b"");
                reply.simple("RESET");
            }
            "auth" => self.auth(args, around, &mut reply),
            "hello" => self.hello(args, around, out),
            "client" => client::run(self, args, around, &mut reply),
            "config" => config::run(args, around, &mut reply),
            "command" => documents::run(args, &mut reply),
            "info" => info::run(args, around, &mut reply),
            other => unreachable!("{other} is no command on a session"),
        }
    }

    fn auth(&mut self, args: Args<'_>, around: &Surroundings<'_>, reply: &mut Reply<'_>) {
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
        match self.admit(user, password, around) {
            true => reply.ok(),
            false => reply.error(WRONG_PASSWORD),
        }
    }

    /// Whether this user has this password. If so the client may do anything from now on.
    fn admit(&mut self, user: &[u8], password: &[u8], around: &Surroundings<'_>) -> bool {
        let wanted = around.shared.options.password.as_deref();
        let right = wanted.is_none_or(|it| same(it.as_bytes(), password));
        let admitted = user == b"default" && right;
        self.known |= admitted;
        admitted
    }

    fn hello(&mut self, args: Args<'_>, around: &mut Surroundings<'_>, out: &mut Vec<u8>) {
        let mut reply = Reply::new(out, self.resp3, REPLY_BYTES_MAX);
        let mut resp3 = self.resp3;
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
            && !self.admit(user, password, around)
        {
            return reply.error(WRONG_PASSWORD);
        }
        if !self.known {
            return reply.error(
                "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH \
                 <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the \
                 same time",
            );
        }
        if let Some(name) = name {
            if !client::is_name(name) {
                return reply.error(client::WRONG_NAME);
            }
            client::rename(self, around, name);
        }
        self.resp3 = resp3;
        let mut reply = Reply::new(out, resp3, REPLY_BYTES_MAX);
        reply.map(7);
        reply.bulk(b"server");
        reply.bulk(b"redis");
        reply.bulk(b"version");
        reply.bulk(REDIS_VERSION.as_bytes());
        reply.bulk(b"proto");
        reply.integer(if resp3 { 3 } else { 2 });
        reply.bulk(b"id");
        reply.integer(i64::try_from(self.id).unwrap_or(i64::MAX));
        reply.bulk(b"mode");
        reply.bulk(b"standalone");
        reply.bulk(b"role");
        reply.bulk(b"master");
        reply.bulk(b"modules");
        reply.array(0);
    }
}

const WRONG_PASSWORD: &str = "WRONGPASS invalid username-password pair or user is disabled.";

/// Whether two texts are the same, in a time that tells nothing but their lengths.
fn same(left: &[u8], right: &[u8]) -> bool {
    let differences = left.iter().zip(right).fold(0, |all, (l, r)| all | (l ^ r));
    left.len() == right.len() && std::hint::black_box(differences) == 0
}
