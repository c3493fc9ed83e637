//! Random commands, to Redis and to us: the same replies, byte for byte.
//!
//! Left out is what cannot be the same: where a clock is read between two calls, times are compared by seconds; orders of keys
//! are not compared.

use fastrand::Rng;

use crate::client::{Client, request};
use crate::observing::counted;
use crate::replies::elements;
use crate::servers::{Ours, Redis};

/// Commands that are sent at once.
const PIPELINE: usize = 25;
/// A time that no test lives to see, in seconds since 1970.
const FAR: u64 = 4_000_000_000;

/// How replies are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compare {
    Bytes,
    /// As sets of elements.
    Elements,
    /// Times that are left, in units of which so many may be between two looks.
    Near(i64),
}

fn key(random: &mut Rng) -> Vec<u8> {
    match random.u8(..20) {
        0 => Vec::new(),
        1 => vec![b'k'; 100],
        2 => b"\0\r\n\xff".to_vec(),
        number => format!("k{}", number % 8).into_bytes(),
    }
}

fn value(random: &mut Rng) -> Vec<u8> {
    let text = match random.u8(..15) {
        0 => "0".to_owned(),
        1 => random.i64(..).to_string(),
        2 => i64::MAX.to_string(),
        3 => format!("{}", f64::from(random.i32(..)) / 1024.0),
        4 => format!("{}.{}", random.u8(..), random.u64(..)),
        5 => format!("{}e{}", random.i8(..), random.i8(-30..30)),
        6 => " 1".to_owned(),
        7 => "0x1F".to_owned(),
        8 => "abc".to_owned(),
        9 => String::new(),
        10 => return (0..random.usize(..300)).map(|_| random.u8(..)).collect(),
        11 => "x".repeat(random.usize(..20_000)),
        12 => ["inf", "+Infinity", "-INF", "infinit", "nan"][random.usize(..5)].to_owned(),
        _ => random.i16(..).to_string(),
    };
    text.into_bytes()
}

/// An integer, mostly.
fn number(random: &mut Rng) -> Vec<u8> {
    match random.u8(..16) {
        0 => value(random),
        1 => i64::MIN.to_string().into_bytes(),
        2 => b"-1".to_vec(),
        3 => b"007".to_vec(),
        4 => b"+3".to_vec(),
        _ => random.i32(-20..40).to_string().into_bytes(),
    }
}

/// An end of a range. Far out, `SETRANGE` would take half a gigabyte.
fn place(random: &mut Rng) -> Vec<u8> {
    match random.u8(..8) {
        0 => b"x".to_vec(),
        1 => b"536870912".to_vec(),
        _ => random.i32(-40..40).to_string().into_bytes(),
    }
}

/// A time as a word for `EX` and its like. Between two relative ones lie minutes.
fn time(random: &mut Rng, word: &str) -> Vec<u8> {
    let (scale, absolute) = match word {
        "EX" | "EXPIRE" => (1, false),
        "PX" | "PEXPIRE" => (1000, false),
        "EXAT" | "EXPIREAT" => (1, true),
        _ => (1000, true),
    };
    match random.u8(..12) {
        // What would expire meanwhile is left out: Redis counts such keys for as long as it has not found them.
        0 => [&b"-1"[..], b"007", b"abc", b"", b"-9223372036854775808"][random.usize(..5)].to_vec(),
        1 => b"9223372036854775807".to_vec(),
        2 => b"0".to_vec(),
        3 if word.starts_with("EXPIRE") || word.starts_with("PEXPIRE") => b"-1000".to_vec(),
        _ if absolute => ((FAR + random.u64(..5)) * scale).to_string().into_bytes(),
        _ => (random.u64(1..5) * 1000 * scale).to_string().into_bytes(),
    }
}

fn cased(random: &mut Rng, word: &str) -> Vec<u8> {
    match random.bool() {
        true => word.to_lowercase().into_bytes(),
        false => word.as_bytes().to_vec(),
    }
}

/// An option. Redis compares them up to a zero, but names of commands may be found so or not.
fn option(random: &mut Rng, word: &str) -> Vec<u8> {
    let mut word = cased(random, word);
    if random.u8(..60) == 0 {
        word.extend_from_slice(b"\0odd");
    }
    word
}

/// Options of `SET` or `GETEX`.
fn options(random: &mut Rng, words: &mut Vec<Vec<u8>>) {
    for _ in 0..random.u8(..4) {
        let all = [
            "EX", "PX", "EXAT", "PXAT", "NX", "XX", "GET", "KEEPTTL", "PERSIST", "ODD",
        ];
        let word = all[random.usize(..all.len())];
        words.push(option(random, word));
        if word.contains('X') && word.len() != 2 || word == "EX" || word == "PX" {
            let time = time(random, word);
            words.push(time);
        }
    }
}

fn pattern(random: &mut Rng) -> Vec<u8> {
    let all = [
        "*", "k*", "k?", "k[1-3]", "k[^2]", "\\k1", "*k*k*", "", "[", "k[",
    ];
    all[random.usize(..all.len())].as_bytes().to_vec()
}

/// Any command, and how its replies are compared.
fn command(random: &mut Rng) -> (Vec<Vec<u8>>, Compare) {
    let names = [
        "GET",
        "SET",
        "SET",
        "SET",
        "DEL",
        "UNLINK",
        "EXISTS",
        "INCR",
        "DECR",
        "INCRBY",
        "DECRBY",
        "INCRBYFLOAT",
        "INCRBYFLOAT",
        "APPEND",
        "STRLEN",
        "GETRANGE",
        "SUBSTR",
        "SETRANGE",
        "MGET",
        "MSET",
        "MSETNX",
        "SETNX",
        "GETSET",
        "GETDEL",
        "GETEX",
        "SETEX",
        "PSETEX",
        "TTL",
        "PTTL",
        "EXPIRE",
        "PEXPIRE",
        "EXPIREAT",
        "PEXPIREAT",
        "EXPIRETIME",
        "PEXPIRETIME",
        "PERSIST",
        "TYPE",
        "KEYS",
        "SCAN",
        "RENAME",
        "RENAMENX",
        "TOUCH",
        "DBSIZE",
        "FLUSHDB",
        "FLUSHALL",
        "MULTI",
        "EXEC",
        "EXEC",
        "DISCARD",
        "WATCH",
        "UNWATCH",
        "PING",
        "ECHO",
        "SELECT",
        "COPY",
        "NOTHING",
        "CLIENT",
        "CONFIG",
        "RESET",
        "AUTH",
    ];
    let name = names[random.usize(..names.len())];
    let mut words = vec![cased(random, name)];
    let mut compare = Compare::Bytes;
    match name {
        "GET" | "INCR" | "DECR" | "STRLEN" | "GETDEL" | "PERSIST" | "TYPE" => {
            words.push(key(random))
        }
        "EXPIRETIME" | "PEXPIRETIME" | "TTL" | "PTTL" => {
            compare = Compare::Near(if name.starts_with('P') { 60_000 } else { 60 });
            words.push(key(random));
        }
        "SET" => {
            words.extend([key(random), value(random)]);
            options(random, &mut words);
        }
        "GETEX" => {
            words.push(key(random));
            options(random, &mut words);
        }
        "DEL" | "UNLINK" | "EXISTS" | "MGET" | "TOUCH" | "WATCH" => {
            words.extend((0..random.usize(1..4)).map(|_| key(random)));
        }
        "INCRBY" | "DECRBY" => words.extend([key(random), number(random)]),
        "INCRBYFLOAT" | "APPEND" | "SETNX" | "GETSET" => words.extend([key(random), value(random)]),
        "GETRANGE" | "SUBSTR" => words.extend([key(random), place(random), place(random)]),
        "SETRANGE" => {
            words.extend([key(random), place(random)]);
            words.push(if random.u8(..8) == 0 {
                Vec::new()
            } else {
                b"part".to_vec()
            });
        }
        "MSET" | "MSETNX" => {
            for _ in 0..random.u8(1..4) {
                words.extend([key(random), value(random)]);
            }
        }
        "SETEX" | "PSETEX" => {
            let time = time(random, if name == "SETEX" { "EX" } else { "PX" });
            words.extend([key(random), time, value(random)]);
        }
        "EXPIRE" | "PEXPIRE" | "EXPIREAT" | "PEXPIREAT" => {
            words.extend([key(random), time(random, name)]);
            // Whether a relative time is later than another one may depend on a millisecond.
            let all = match name.ends_with("AT") {
                true => &["NX", "XX", "GT", "LT", "ODD"][..],
                false => &["NX", "XX"],
            };
            for _ in 0..random.u8(..3) {
                let word = all[random.usize(..all.len())];
                words.push(option(random, word));
            }
        }
        "KEYS" => {
            compare = Compare::Elements;
            words.push(pattern(random));
        }
        "SCAN" => {
            compare = Compare::Elements;
            words.push(if random.u8(..20) == 0 {
                b"x".to_vec()
            } else {
                b"0".to_vec()
            });
            // All in one piece.
            words.extend([b"COUNT".to_vec(), b"1000".to_vec()]);
            match random.u8(..5) {
                0 => words.extend([b"MATCH".to_vec(), pattern(random)]),
                1 => words.extend([b"TYPE".to_vec(), b"string".to_vec()]),
                2 => words.extend([b"TYPE".to_vec(), b"list".to_vec()]),
                3 => words.extend([b"COUNT".to_vec(), number(random)]),
                _ => {}
            }
            // A piece of the keys depends on their order.
            if words.iter().filter(|it| *it == b"COUNT").count() > 1 {
                words = vec![
                    b"SCAN".to_vec(),
                    b"0".to_vec(),
                    b"COUNT".to_vec(),
                    b"0".to_vec(),
                ];
            }
        }
        "RENAME" | "RENAMENX" => words.extend([key(random), key(random)]),
        "COPY" => {
            words.extend([key(random), key(random)]);
            match random.u8(..4) {
                0 => words.extend([b"DB".to_vec(), random.u8(..18).to_string().into_bytes()]),
                1 => words.push(b"REPLACE".to_vec()),
                _ => {}
            }
        }
        "FLUSHDB" | "FLUSHALL" if random.bool() => words.push(b"ASYNC".to_vec()),
        "FLUSHDB" | "FLUSHALL" => words.push(b"ODD".to_vec()),
        "ECHO" => words.push(value(random)),
        "PING" if random.bool() => words.push(value(random)),
        "SELECT" => match random.u8(..8) {
            0 => words.push(b"16".to_vec()),
            1 => words.push(number(random)),
            _ => words.push(random.u8(..2).to_string().into_bytes()),
        },
        "NOTHING" => words.extend((0..random.u8(..5)).map(|_| value(random))),
        "CLIENT" => match random.u8(..5) {
            0 => words.extend([b"SETNAME".to_vec(), key(random)]),
            1 => words.push(b"GETNAME".to_vec()),
            2 => words.push(b"ODD".to_vec()),
            3 => words.push(b"ID".to_vec().repeat(2)),
            _ => words.extend([b"NO-EVICT".to_vec(), b"ON".to_vec()]),
        },
        "CONFIG" => match random.u8(..4) {
            0 => words.extend([b"GET".to_vec(), b"databases".to_vec()]),
            1 => words.extend([
                b"GET".to_vec(),
                b"Proto-max*".to_vec(),
                b"port-of-nothing".to_vec(),
            ]),
            2 => words.push(b"GET".to_vec()),
            _ => words.extend([b"SET".to_vec(), b"nothing".to_vec(), b"1".to_vec()]),
        },
        "AUTH" => words.push(value(random)),
        _ => {}
    }
    // Now and then a word too many or too few.
    match random.u8(..40) {
        0 if words.len() > 1 => drop(words.pop()),
        1 => words.push(value(random)),
        _ => return (words, compare),
    }
    if compare == Compare::Bytes {
        return (words, compare);
    }
    (vec![b"TTL".to_vec()], Compare::Bytes)
}

/// An integer reply that tells a time which is left.
fn left(reply: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(reply.strip_prefix(b":")?).ok()?;
    text.trim().parse().ok().filter(|it| *it > 0)
}

/// Whether replies are the same, in the way that goes with their command.
fn same(ours: &[u8], theirs: &[u8], compare: Compare) -> bool {
    if ours == theirs {
        return true;
    }
    match compare {
        Compare::Bytes => false,
        Compare::Near(most) => match (left(ours), left(theirs)) {
            (Some(ours), Some(theirs)) => ours.abs_diff(theirs) <= most.unsigned_abs(),
            _ => false,
        },
        Compare::Elements => {
            let flat = |reply: &[u8]| -> Option<Vec<Vec<u8>>> {
                let found = elements(reply)?;
                let parts = found
                    .into_iter()
                    .map(|it| elements(&it).unwrap_or(vec![it]));
                let mut all: Vec<Vec<u8>> = parts.flatten().collect();
                all.sort();
                Some(all)
            };
            let (ours, theirs) = (flat(ours), flat(theirs));
            ours.is_some() && ours == theirs
        }
    }
}

fn shown(bytes: &[u8]) -> String {
    let end = bytes.len().min(300);
    bytes[..end].escape_ascii().to_string()
}

/// Two clients of each server, so that watched keys change.
fn compare(ours: &mut [Client; 2], theirs: &mut [Client; 2], seed: u64, rounds: usize) {
    let mut random = Rng::with_seed(seed);
    let mut history: [Vec<Vec<u8>>; 2] = Default::default();
    // What is queued is compared when it runs, and then not word by word.
    let mut queues = [false; 2];
    for round in 0..rounds {
        let which = usize::from(round > 0 && random.u8(..4) == 0);
        let mut calls: Vec<_> = (0..random.usize(1..PIPELINE))
            .map(|_| command(&mut random))
            .collect();
        for (words, how) in &mut calls {
            let name = words[0].to_ascii_uppercase();
            match &name[..] {
                b"MULTI" if words.len() == 1 => queues[which] = true,
                b"EXEC" | b"DISCARD" | b"RESET" if words.len() == 1 => queues[which] = false,
                _ if queues[which] && *how != Compare::Bytes => {
                    *words = vec![b"GET".to_vec(), b"k1".to_vec()];
                    *how = Compare::Bytes;
                }
                _ => {}
            }
        }
        let bytes: Vec<u8> = calls.iter().flat_map(|(words, _)| request(words)).collect();
        ours[which].send(&bytes);
        theirs[which].send(&bytes);
        for (words, how) in &calls {
            let (our, their) = (ours[which].reply(), theirs[which].reply());
            history[which].push(words.join(&b' '));
            if !same(&our, &their, *how) {
                let last = history.map(|it| {
                    let from = it.len().saturating_sub(8);
                    it[from..]
                        .iter()
                        .map(|it| shown(it))
                        .collect::<Vec<_>>()
                        .join("\n  ")
                });
                panic!(
                    "seed {seed}, round {round}, client {which}:\n{}\nwe answer    {}\nRedis answers {}\nbefore:\n  {}\nother client:\n  {}",
                    shown(&words.join(&b' ')),
                    shown(&our),
                    shown(&their),
                    last[which],
                    last[1 - which],
                );
            }
        }
    }
}

/// How many cases run.
fn cases() -> u64 {
    let factor = std::env::var("CORECAST_TEST_CASES").ok();
    4 * factor.map_or(1, |it| {
        it.parse::<u64>().expect("CORECAST_TEST_CASES is a number")
    })
}

#[test]
fn random_commands_are_answered_as_redis_answers_them() {
    let (ours, Some(theirs)) = (Ours::start(), Redis::start()) else {
        return;
    };
    for seed in 0..cases() {
        let mut our = [0; 2].map(|_| Client::new(ours.address));
        let mut their = [0; 2].map(|_| Client::new(theirs.address));
        for client in our.iter_mut().chain(&mut their) {
            client.say("FLUSHALL");
            if seed % 2 == 1 {
                client.say("HELLO 3");
            }
        }
        let lookups = |address| ["keyspace_hits", "keyspace_misses"].map(|it| counted(address, it));
        let before = [ours.address, theirs.address].map(lookups);
        compare(&mut our, &mut their, seed, 300);
        let after = [ours.address, theirs.address].map(lookups);
        let [our, their] = [0, 1].map(|it| [0, 1].map(|at| after[it][at] - before[it][at]));
        assert_eq!(our, their, "seed {seed}: keys found and not found");
    }
}
