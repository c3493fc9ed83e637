//! All commands: how many words they take, where their keys are, and what they are for.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::databases::{Context, Databases};
use super::{counters, expiry, keys, strings};
use crate::arguments::Args;
use crate::resp::Reply;

type Reads = fn(&Databases, &Context, Args<'_>, &mut Reply<'_>);
type Writes = fn(&mut Databases, &Context, Args<'_>, &mut Reply<'_>);

/// Who runs a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// It changes nothing.
    Read(Reads),
    /// It may change something. If `answers_values`, its reply may be as long as a value.
    Write { run: Writes, answers_values: bool },
    /// It is about the connection or the server.
    Session,
}

/// A command.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// Words with the name; if negative, at least so many.
    pub(crate) arity: i8,
    /// First key, last key from the front or the end, and the step between two, as Redis tells them; zeros where it has none.
    pub(crate) keys: (i8, i8, i8),
    pub(crate) kind: Kind,
    /// `string`, `generic`, `connection`, `server` or `transactions`.
    pub(crate) group: &'static str,
    pub(crate) summary: &'static str,
}

impl Command {
    /// Whether it takes so many words.
    pub(crate) fn takes(&self, words: usize) -> bool {
        let least = usize::from(self.arity.unsigned_abs());
        words == least || self.arity < 0 && words > least
    }

    /// Whether it is run on the databases: `INFO` is not one of theirs, but tells what it finds there.
    pub(crate) fn runs_on_databases(&self) -> bool {
        self.name == "info" || !matches!(self.kind, Kind::Session)
    }

    /// Whether it may change something.
    pub(crate) fn writes(&self) -> bool {
        matches!(self.kind, Kind::Write { .. })
    }

    /// Whether it looks at exactly one key, which is its second word.
    pub(crate) fn has_one_key(&self) -> bool {
        self.keys == ONE
    }
}

const NONE: (i8, i8, i8) = (0, 0, 0);
const ONE: (i8, i8, i8) = (1, 1, 1);
const TWO: (i8, i8, i8) = (1, 2, 1);
const ALL: (i8, i8, i8) = (1, -1, 1);
const PAIRS: (i8, i8, i8) = (1, -1, 2);

const fn command(
    name: &'static str,
    arity: i8,
    keys: (i8, i8, i8),
    kind: Kind,
    group: &'static str,
    summary: &'static str,
) -> Command {
    Command {
        name,
        arity,
        keys,
        kind,
        group,
        summary,
    }
}

const fn write(run: Writes) -> Kind {
    Kind::Write {
        run,
        answers_values: false,
    }
}

const fn swap(run: Writes) -> Kind {
    Kind::Write {
        run,
        answers_values: true,
    }
}

use Kind::{Read, Session};

/// All commands, by name.
#[rustfmt::skip]
pub(crate) static TABLE: &[Command] = &[
    command("append", 3, ONE, write(strings::append), "string", "Append to a value"),
    command("auth", -2, NONE, Session, "connection", "Give the password"),
    command("bgrewriteaof", 1, NONE, Session, "server", "Take a snapshot, and shorten the log"),
    command("bgsave", -1, NONE, Session, "server", "Take a snapshot"),
    command("client", -2, NONE, Session, "connection", "Ask and tell about this connection and others"),
    command("command", -1, NONE, Session, "server", "Ask about commands"),
    command("config", -2, NONE, Session, "server", "Ask for settings, and change some"),
    command("copy", -3, TWO, write(keys::copy), "generic", "Copy a value to another key"),
    command("dbsize", 1, NONE, Read(keys::dbsize), "server", "Count the keys of the database"),
    command("decr", 2, ONE, write(counters::decr), "string", "Subtract 1 from a number"),
    command("decrby", 3, ONE, write(counters::decrby), "string", "Subtract from a number"),
    command("del", -2, ALL, write(keys::del), "generic", "Remove keys"),
    command("discard", 1, NONE, Session, "transactions", "Drop the commands since MULTI"),
    command("echo", 2, NONE, Session, "connection", "Answer with the text"),
    command("exec", 1, NONE, Session, "transactions", "Run the commands since MULTI as one"),
    command("exists", -2, ALL, Read(keys::exists), "generic", "Count the keys that are there"),
    command("expire", -3, ONE, write(expiry::expire), "generic", "Have a key expire after seconds"),
    command("expireat", -3, ONE, write(expiry::expireat), "generic", "Have a key expire at a time in seconds"),
    command("expiretime", 2, ONE, Read(expiry::expiretime), "generic", "Tell when a key expires, in seconds"),
    command("flushall", -1, NONE, write(keys::flushall), "server", "Remove all keys of all databases"),
    command("flushdb", -1, NONE, write(keys::flushdb), "server", "Remove all keys of the database"),
    command("get", 2, ONE, Read(strings::get), "string", "Get a value"),
    command("getdel", 2, ONE, swap(strings::getdel), "string", "Get a value, and remove its key"),
    command("getex", -2, ONE, swap(strings::getex), "string", "Get a value, and set when its key expires"),
    command("getrange", 4, ONE, Read(strings::getrange), "string", "Get a part of a value"),
    command("getset", 3, ONE, swap(strings::getset), "string", "Set a value, and get the one before"),
    command("hello", -1, NONE, Session, "connection", "Choose the version of the protocol"),
    command("incr", 2, ONE, write(counters::incr), "string", "Add 1 to a number"),
    command("incrby", 3, ONE, write(counters::incrby), "string", "Add to a number"),
    command("incrbyfloat", 3, ONE, write(counters::incrbyfloat), "string", "Add to a number with a point"),
    command("info", -1, NONE, Session, "server", "Tell about the server"),
    command("keys", 2, NONE, Read(keys::keys), "generic", "List the keys that match a pattern"),
    command("lastsave", 1, NONE, Session, "server", "Tell when the last snapshot was taken"),
    command("mget", -2, ALL, Read(strings::mget), "string", "Get several values"),
    command("mset", -3, PAIRS, write(strings::mset), "string", "Set several values"),
    command("msetnx", -3, PAIRS, write(strings::msetnx), "string", "Set several values if none of the keys is there"),
    command("multi", 1, NONE, Session, "transactions", "Collect commands until EXEC"),
    command("persist", 2, ONE, write(expiry::persist), "generic", "Have a key expire no more"),
    command("pexpire", -3, ONE, write(expiry::pexpire), "generic", "Have a key expire after milliseconds"),
    command("pexpireat", -3, ONE, write(expiry::pexpireat), "generic", "Have a key expire at a time in milliseconds"),
    command("pexpiretime", 2, ONE, Read(expiry::pexpiretime), "generic", "Tell when a key expires, in milliseconds"),
    command("ping", -1, NONE, Session, "connection", "Answer"),
    command("psetex", 4, ONE, write(strings::psetex), "string", "Set a value that expires after milliseconds"),
    command("pttl", 2, ONE, Read(expiry::pttl), "generic", "Tell in how many milliseconds a key expires"),
    command("quit", -1, NONE, Session, "connection", "End the connection"),
    command("randomkey", 1, NONE, Read(keys::randomkey), "generic", "Get any key"),
    command("rename", 3, TWO, write(keys::rename), "generic", "Rename a key"),
    command("renamenx", 3, TWO, write(keys::renamenx), "generic", "Rename a key unless the new one is there"),
    command("reset", 1, NONE, Session, "connection", "Make the connection as new"),
    command("save", 1, NONE, Session, "server", "Take a snapshot, and wait for it"),
    command("scan", -2, NONE, Read(keys::scan), "generic", "List keys piece by piece"),
    command("select", 2, NONE, Session, "connection", "Choose one of 16 databases"),
    command("set", -3, ONE, swap(strings::set), "string", "Set a value"),
    command("setex", 4, ONE, write(strings::setex), "string", "Set a value that expires after seconds"),
    command("setnx", 3, ONE, write(strings::setnx), "string", "Set a value if its key is not there"),
    command("setrange", 4, ONE, write(strings::setrange), "string", "Overwrite a part of a value"),
    command("strlen", 2, ONE, Read(strings::strlen), "string", "Tell how long a value is"),
    command("substr", 4, ONE, Read(strings::getrange), "string", "Get a part of a value"),
    command("touch", -2, ALL, Read(keys::exists), "generic", "Count the keys that are there"),
    command("ttl", 2, ONE, Read(expiry::ttl), "generic", "Tell in how many seconds a key expires"),
    command("type", 2, ONE, Read(keys::kind), "generic", "Tell the type of a value"),
    command("unlink", -2, ALL, write(keys::del), "generic", "Remove keys"),
    command("unwatch", 1, NONE, Session, "transactions", "Forget the watched keys"),
    command("watch", -2, ALL, Session, "transactions", "Cancel the transaction if these keys change"),
];

/// The command of this name, whatever its case.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    static BY_NAME: LazyLock<FxHashMap<&[u8], &Command>> =
        LazyLock::new(|| TABLE.iter().map(|it| (it.name.as_bytes(), it)).collect());
    let mut small = [0; 16];
    let small = small.get_mut(..name.len())?;
    small.copy_from_slice(name);
    small.make_ascii_lowercase();
    BY_NAME.get(&*small).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_found_in_any_case() {
        assert!(TABLE.is_sorted_by_key(|it| it.name));
        for command in TABLE {
            let found = find(command.name.to_uppercase().as_bytes()).unwrap();
            assert_eq!(found.name, command.name);
        }
        assert!(find(b"").is_none() && find(b"nothing").is_none());
        assert!(find(&[b'a'; 1000]).is_none());
    }
}
