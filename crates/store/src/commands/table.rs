//! All commands, and how they are found.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::command::Kind::{Read, Session};
use super::command::{ALL, Command, NONE, ONE, PAIRS, TWO, command, set, swap, write};
use super::{counters, expiry, keys, strings, subcommands};

/// All commands, by name.
#[rustfmt::skip]
pub(crate) static TABLE: &[Command] = &[
    command("append", 3, ONE, write(strings::append), "string", "key value", "Append to a value").is("denyoom fast").uses(&["RW insert"]),
    command("auth", -2, NONE, Session, "connection", "[username] password", "Give the password").is("noscript loading stale fast no_auth allow_busy"),
    command("bgrewriteaof", 1, NONE, Session, "server", "", "Take a snapshot, and shorten the log").is("admin noscript no_async_loading"),
    command("bgsave", -1, NONE, Session, "server", "[SCHEDULE]", "Take a snapshot").is("admin noscript no_async_loading"),
    command("client", -2, NONE, Session, "connection", "", "Ask and tell about this connection and others").has(subcommands::CLIENT).among(""),
    command("command", -1, NONE, Session, "server", "", "Ask about commands").has(subcommands::COMMAND).is("loading stale").among("connection").hints("nondeterministic_output_order"),
    command("config", -2, NONE, Session, "server", "", "Ask for settings, and change some").has(subcommands::CONFIG),
    command("copy", -3, TWO, write(keys::copy), "generic", "source destination [DB destination-db] [REPLACE]", "Copy a value to another key").is("denyoom").uses(&["RO access", "OW update"]),
    command("dbsize", 1, NONE, Read(keys::dbsize), "server", "", "Count the keys of the database").is("fast").among("keyspace").hints("request_policy:all_shards response_policy:agg_sum"),
    command("decr", 2, ONE, write(counters::decr), "string", "key", "Subtract 1 from a number").is("denyoom fast").uses(&["RW access update"]),
    command("decrby", 3, ONE, write(counters::decrby), "string", "key decrement", "Subtract from a number").is("denyoom fast").uses(&["RW access update"]),
    command("del", -2, ALL, write(keys::del), "generic", "key [key ...]", "Remove keys").uses(&["RM delete"]).hints("request_policy:multi_shard response_policy:agg_sum"),
    command("discard", 1, NONE, Session, "transactions", "", "Drop the commands since MULTI").is("noscript loading stale fast allow_busy"),
    command("echo", 2, NONE, Session, "connection", "message", "Answer with the text").is("loading stale fast"),
    command("exec", 1, NONE, Session, "transactions", "", "Run the commands since MULTI as one").is("noscript loading stale skip_slowlog"),
    command("exists", -2, ALL, Read(keys::exists), "generic", "key [key ...]", "Count the keys that are there").is("fast").uses(&["RO"]).hints("request_policy:multi_shard response_policy:agg_sum"),
    command("expire", -3, ONE, write(expiry::expire), "generic", "key seconds [NX | XX | GT | LT]", "Have a key expire after seconds").is("fast").uses(&["RW update"]),
    command("expireat", -3, ONE, write(expiry::expireat), "generic", "key unix-time-seconds [NX | XX | GT | LT]", "Have a key expire at a time in seconds").is("fast").uses(&["RW update"]),
    command("expiretime", 2, ONE, Read(expiry::expiretime), "generic", "key", "Tell when a key expires, in seconds").is("fast").uses(&["RO access"]),
    command("flushall", -1, NONE, write(keys::flushall), "server", "[ASYNC | SYNC]", "Remove all keys of all databases").among("keyspace dangerous").hints("request_policy:all_shards response_policy:all_succeeded"),
    command("flushdb", -1, NONE, write(keys::flushdb), "server", "[ASYNC | SYNC]", "Remove all keys of the database").among("keyspace dangerous").hints("request_policy:all_shards response_policy:all_succeeded"),
    command("get", 2, ONE, Read(strings::get), "string", "key", "Get a value").is("fast").uses(&["RO access"]),
    command("getdel", 2, ONE, swap(strings::getdel), "string", "key", "Get a value, and remove its key").is("fast").uses(&["RW access delete"]),
    command("getex", -2, ONE, swap(strings::getex), "string", "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]", "Get a value, and set when its key expires").is("fast").uses(&["RW access update"]),
    command("getrange", 4, ONE, Read(strings::getrange), "string", "key start end", "Get a part of a value").uses(&["RO access"]),
    command("getset", 3, ONE, swap(strings::getset), "string", "key value", "Set a value, and get the one before").is("denyoom fast").uses(&["RW access update"]),
    command("hello", -1, NONE, Session, "connection", "[protover [AUTH username password] [SETNAME clientname]]", "Choose the version of the protocol").is("noscript loading stale fast no_auth allow_busy"),
    command("incr", 2, ONE, write(counters::incr), "string", "key", "Add 1 to a number").is("denyoom fast").uses(&["RW access update"]),
    command("incrby", 3, ONE, write(counters::incrby), "string", "key increment", "Add to a number").is("denyoom fast").uses(&["RW access update"]),
    command("incrbyfloat", 3, ONE, write(counters::incrbyfloat), "string", "key increment", "Add to a number with a point").is("denyoom fast").uses(&["RW access update"]),
    command("info", -1, NONE, Session, "server", "[section [section ...]]", "Tell about the server").is("loading stale").among("dangerous").hints("nondeterministic_output request_policy:all_shards response_policy:special"),
    command("keys", 2, NONE, Read(keys::keys), "generic", "pattern", "List the keys that match a pattern").among("keyspace dangerous").hints("request_policy:all_shards nondeterministic_output_order"),
    command("lastsave", 1, NONE, Session, "server", "", "Tell when the last snapshot was taken").is("loading stale fast").among("admin dangerous").hints("nondeterministic_output"),
    command("latency", -2, NONE, Session, "server", "", "Ask about delays, of which none are kept").has(subcommands::LATENCY),
    command("memory", -2, NONE, Read(keys::memory), "server", "", "Ask about memory").has(subcommands::MEMORY),
    command("mget", -2, ALL, Read(strings::mget), "string", "key [key ...]", "Get several values").is("fast").uses(&["RO access"]).hints("request_policy:multi_shard"),
    command("mset", -3, PAIRS, write(strings::mset), "string", "key value [key value ...]", "Set several values").is("denyoom").uses(&["OW update"]).hints("request_policy:multi_shard response_policy:all_succeeded"),
    command("msetnx", -3, PAIRS, write(strings::msetnx), "string", "key value [key value ...]", "Set several values if none of the keys is there").is("denyoom").uses(&["OW insert"]).hints("request_policy:multi_shard response_policy:agg_min"),
    command("multi", 1, NONE, Session, "transactions", "", "Collect commands until EXEC").is("noscript loading stale fast allow_busy"),
    command("persist", 2, ONE, write(expiry::persist), "generic", "key", "Have a key expire no more").is("fast").uses(&["RW update"]),
    command("pexpire", -3, ONE, write(expiry::pexpire), "generic", "key milliseconds [NX | XX | GT | LT]", "Have a key expire after milliseconds").is("fast").uses(&["RW update"]),
    command("pexpireat", -3, ONE, write(expiry::pexpireat), "generic", "key unix-time-milliseconds [NX | XX | GT | LT]", "Have a key expire at a time in milliseconds").is("fast").uses(&["RW update"]),
    command("pexpiretime", 2, ONE, Read(expiry::pexpiretime), "generic", "key", "Tell when a key expires, in milliseconds").is("fast").uses(&["RO access"]),
    command("ping", -1, NONE, Session, "connection", "[message]", "Answer").is("fast").hints("request_policy:all_shards response_policy:all_succeeded"),
    command("psetex", 4, ONE, write(strings::psetex), "string", "key milliseconds value", "Set a value that expires after milliseconds").is("denyoom").uses(&["OW update"]),
    command("pttl", 2, ONE, Read(expiry::pttl), "generic", "key", "Tell in how many milliseconds a key expires").is("fast").uses(&["RO access"]).hints("nondeterministic_output"),
    command("quit", -1, NONE, Session, "connection", "", "End the connection").is("noscript loading stale fast no_auth allow_busy"),
    command("randomkey", 1, NONE, Read(keys::randomkey), "generic", "", "Get any key").hints("request_policy:all_shards nondeterministic_output"),
    command("rename", 3, TWO, write(keys::rename), "generic", "key newkey", "Rename a key").uses(&["RW access delete", "OW update"]),
    command("renamenx", 3, TWO, write(keys::renamenx), "generic", "key newkey", "Rename a key unless the new one is there").is("fast").uses(&["RW access delete", "OW insert"]),
    command("reset", 1, NONE, Session, "connection", "", "Make the connection as new").is("noscript loading stale fast no_auth allow_busy"),
    command("role", 1, NONE, Session, "server", "", "Tell that this is no copy of another server").is("noscript loading stale fast").among("admin dangerous"),
    command("save", 1, NONE, Session, "server", "", "Take a snapshot, and wait for it").is("admin noscript no_async_loading no_multi"),
    command("scan", -2, NONE, Read(keys::scan), "generic", "cursor [MATCH pattern] [COUNT count] [TYPE type]", "List keys piece by piece").hints("nondeterministic_output request_policy:special"),
    command("select", 2, NONE, Session, "connection", "index", "Choose one of 16 databases").is("loading stale fast"),
    command("set", -3, ONE, set(strings::set), "string", "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]", "Set a value").is("denyoom").uses(&["RW access update variable_flags"]),
    command("setex", 4, ONE, write(strings::setex), "string", "key seconds value", "Set a value that expires after seconds").is("denyoom").uses(&["OW update"]),
    command("setnx", 3, ONE, write(strings::setnx), "string", "key value", "Set a value if its key is not there").is("denyoom fast").uses(&["OW insert"]),
    command("setrange", 4, ONE, write(strings::setrange), "string", "key offset value", "Overwrite a part of a value").is("denyoom").uses(&["RW update"]),
    command("slowlog", -2, NONE, Session, "server", "", "Ask about slow commands, of which none are kept").has(subcommands::SLOWLOG),
    command("strlen", 2, ONE, Read(strings::strlen), "string", "key", "Tell how long a value is").is("fast").uses(&["RO"]),
    command("substr", 4, ONE, Read(strings::getrange), "string", "key start end", "Get a part of a value").uses(&["RO access"]),
    command("time", 1, NONE, Session, "server", "", "Tell the time").is("loading stale fast").hints("nondeterministic_output"),
    command("touch", -2, ALL, Read(keys::exists), "generic", "key [key ...]", "Count the keys that are there").is("fast").uses(&["RO"]).hints("request_policy:multi_shard response_policy:agg_sum"),
    command("ttl", 2, ONE, Read(expiry::ttl), "generic", "key", "Tell in how many seconds a key expires").is("fast").uses(&["RO access"]).hints("nondeterministic_output"),
    command("type", 2, ONE, Read(keys::kind), "generic", "key", "Tell the type of a value").is("fast").uses(&["RO"]),
    command("unlink", -2, ALL, write(keys::del), "generic", "key [key ...]", "Remove keys").is("fast").uses(&["RM delete"]).hints("request_policy:multi_shard response_policy:agg_sum"),
    command("unwatch", 1, NONE, Session, "transactions", "", "Forget the watched keys").is("noscript loading stale fast allow_busy"),
    command("watch", -2, ALL, Session, "transactions", "key [key ...]", "Cancel the transaction if these keys change").is("noscript loading stale fast allow_busy").uses(&["RO"]),
];

/// A name in two words, by which it is found whatever its case: its first and last letters, which are all of them.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    letters: [u64; 2],
    length: usize,
}

impl Key {
    /// `None` where no name is so long.
    #[inline]
    fn of(name: &[u8]) -> Option<Self> {
        let four = |part: &[u8; 4]| u64::from(u32::from_le_bytes(*part));
        let eight = |part: &[u8; 8]| u64::from_le_bytes(*part);
        let length = name.len();
        let letters = match length {
            8..=16 => [eight(name.first_chunk()?), eight(name.last_chunk()?)],
            4..8 => [four(name.first_chunk()?), four(name.last_chunk()?)],
            1..4 => [
                u64::from(name[0]),
                u64::from(name[length / 2]) << 8 | u64::from(name[length - 1]),
            ],
            _ => return None,
        };
        // Names have nothing but letters, and no other byte becomes one.
        let letters = letters.map(|it| it | 0x2020_2020_2020_2020);
        Some(Self { letters, length })
    }
}

/// The command of this name, whatever its case.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    static BY_NAME: LazyLock<FxHashMap<Key, &Command>> = LazyLock::new(|| {
        let key = |command: &Command| Key::of(command.name.as_bytes()).expect("names are short");
        TABLE.iter().map(|it| (key(it), it)).collect()
    });
    BY_NAME.get(&Key::of(name)?).copied()
}

/// The command, or the subcommand, of this name: `client|list` for instance, whatever its case.
pub(crate) fn find_any(name: &[u8]) -> Option<&'static Command> {
    let mut parts = name.splitn(2, |byte| *byte == b'|');
    let command = find(parts.next()?)?;
    match parts.next() {
        None => Some(command),
        Some(part) => command
            .subcommands
            .iter()
            .find(|it| it.last_name().as_bytes().eq_ignore_ascii_case(part)),
    }
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
            assert!(command.name.bytes().all(|it| it.is_ascii_lowercase()));
        }
        assert!(find(b"").is_none() && find(b"nothing").is_none());
        for near in [
            "ge",
            "gett",
            "get\0",
            "get ",
            "g\0t",
            "sett",
            "renamenxx",
            "expiretiem",
        ] {
            assert!(find(near.as_bytes()).is_none(), "{near}");
        }
        assert!(find(&[b'a'; 1000]).is_none());
    }
}
