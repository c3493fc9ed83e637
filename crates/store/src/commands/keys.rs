//! Keys by themselves.

use super::databases::{Context, Databases};
use super::options::database;
use super::texts;
use crate::arguments::Args;
use crate::database::{Database, NEVER};
use crate::glob;
use crate::number::integer;
use crate::resp::Reply;

pub(super) fn del(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let database = all.at_mut(c);
    let removed = args.from(1).filter(|key| database.remove(key, c.now));
    reply.count(removed.count());
}

pub(super) fn exists(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let found = args.from(1).filter(|key| all.read(c, key).is_some());
    reply.count(found.count());
}

pub(super) fn kind(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let found = all.read(c, args.get(1));
    reply.simple(found.map_or("none", |_| "string"));
}

/// `MEMORY`. What a value takes does not depend on how many parts of it are looked at, so that is read and not used.
pub(super) fn memory(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    // Whoever calls it has looked at the subcommand.
    if !args.is(1, "USAGE") || args.len() < 3 {
        reply.array(3);
        reply.simple("MEMORY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
        reply.simple("HELP");
        return reply.simple("USAGE");
    }
    for at in (3..args.len()).step_by(2) {
        if !args.is(at, "SAMPLES") || at + 1 == args.len() {
            return reply.error(texts::SYNTAX);
        }
        match integer(args.get(at + 1)) {
            None => return reply.error(texts::NO_INTEGER),
            Some(..0) => return reply.error(texts::SYNTAX),
            Some(_) => {}
        }
    }
    match all.at(c).get(args.get(2), c.now) {
        Some(entry) => reply.count(entry.bytes()),
        None => reply.null(),
    }
}

pub(super) fn dbsize(all: &Databases, c: &Context, _: Args<'_>, reply: &mut Reply<'_>) {
    reply.count(all.at(c).len());
}

pub(super) fn keys(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let (database, pattern) = (all.at(c), args.get(1));
    let places = 0..database.len();
    let found = places.filter_map(|place| database.at(place, c.now));
    let found = found.filter(|entry| glob::matches(pattern, &entry.key));
    let found: Vec<&[u8]> = found.map(|entry| &entry.key[..]).collect();
    bulks(&found, reply);
}

fn bulks(texts: &[&[u8]], reply: &mut Reply<'_>) {
    reply.array(texts.len());
    for text in texts {
        reply.bulk(text);
    }
}

pub(super) fn randomkey(all: &Databases, c: &Context, _: Args<'_>, reply: &mut Reply<'_>) {
    /// Where nearly all keys have expired, one that has not is not looked for until it is found.
    const TRIES_MAX: usize = 100;
    let database = all.at(c);
    if database.len() == 0 {
        return reply.null();
    }
    let mut random = fastrand::Rng::with_seed(c.seed);
    let mut places = (0..TRIES_MAX).map(|_| random.usize(..database.len()));
    let found = places.find_map(|place| database.at(place, c.now));
    reply.bulk_or_null(found.map(|entry| &entry.key[..]));
}

/// Options of `SCAN`.
struct Scan<'a> {
    pattern: Option<&'a [u8]>,
    count: usize,
    /// Whether a type was asked for, and values of it can be there.
    typed: bool,
    strings: bool,
}

impl<'a> Scan<'a> {
    fn read(args: Args<'a>) -> Result<Self, &'static str> {
        let mut options = Self {
            pattern: None,
            count: 10,
            typed: false,
            strings: true,
        };
        for at in (2..args.len()).step_by(2) {
            let last = at + 1 == args.len();
            match () {
                () if last => return Err(texts::SYNTAX),
                () if args.is(at, "COUNT") => {
                    let count = integer(args.get(at + 1)).ok_or(texts::NO_INTEGER)?;
                    let count = usize::try_from(count).ok().filter(|it| *it > 0);
                    options.count = count.ok_or(texts::SYNTAX)?;
                }
                () if args.is(at, "MATCH") => options.pattern = Some(args.get(at + 1)),
                () if args.is(at, "TYPE") => {
                    options.typed = true;
                    options.strings = args.is(at + 1, "string");
                }
                () => return Err(texts::SYNTAX),
            }
        }
        Ok(options)
    }
}

/// Reads a cursor as Redis does, which has C's `strtoul` do it: a text ends at a zero, the empty one is 0, and what has a minus counts
/// down from 2^64.
fn cursor(text: &[u8]) -> Option<u64> {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let (negative, digits) = match text {
        [] => return Some(0),
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    // Another sign would be one of the number's.
    let digits = Some(digits).filter(|it| it.first().is_some_and(u8::is_ascii_digit))?;
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(if negative {
        number.wrapping_neg()
    } else {
        number
    })
}

/// Goes down the entries. A cursor is the place below which no entry has been looked at; 0 begins at the end.
pub(super) fn scan(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let Some(cursor) = cursor(args.get(1)) else {
        return reply.error("ERR invalid cursor");
    };
    let options = match Scan::read(args) {
        Ok(options) => options,
        Err(text) => return reply.error(text),
    };
    let database = all.at(c);
    let end = match usize::try_from(cursor) {
        Ok(0) | Err(_) => database.len(),
        Ok(cursor) => cursor.min(database.len()),
    };
    let start = end.saturating_sub(options.count);
    let places = (start..end).rev();
    let found = places.filter_map(|place| database.at(place, c.now));
    let wanted = |key: &[u8]| options.pattern.is_none_or(|it| glob::matches(it, key));
    let found = found.filter(|entry| wanted(&entry.key));
    let mut found: Vec<&[u8]> = found.map(|entry| &entry.key[..]).collect();
    if options.typed {
        // Each is looked at for its type.
        found.iter().for_each(|_| c.count(true));
        found.retain(|_| options.strings);
    }
    reply.array(2);
    reply.bulk(start.to_string().as_bytes());
    bulks(&found, reply);
}

pub(super) fn rename(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let database = all.at_mut(c);
    let (from, to) = (args.get(1), args.get(2));
    match database.find(from, c.now) {
        None => return reply.error(texts::NO_KEY),
        Some(place) if from != to => database.rename(place, to, c.now),
        Some(_) => {}
    }
    reply.ok();
}

pub(super) fn renamenx(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let database = all.at_mut(c);
    let (from, to) = (args.get(1), args.get(2));
    let Some(place) = database.find(from, c.now) else {
        return reply.error(texts::NO_KEY);
    };
    // Looking for the other key may remove it, and then this one may be at its place.
    let free = database.get(to, c.now).is_none();
    if free {
        database.rename(place, to, c.now);
    }
    reply.integer(free.into());
}

pub(super) fn flushdb(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    if flush_options_hold(args, reply) {
        all.at_mut(c).clear();
        reply.ok();
    }
}

pub(super) fn flushall(all: &mut Databases, _: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    if flush_options_hold(args, reply) {
        all.all_mut().iter_mut().for_each(Database::clear);
        reply.ok();
    }
}

fn flush_options_hold(args: Args<'_>, reply: &mut Reply<'_>) -> bool {
    let hold = match args.len() {
        1 => true,
        2 => args.is(1, "ASYNC") || args.is(1, "SYNC"),
        _ => false,
    };
    if !hold {
        reply.error(texts::SYNTAX);
    }
    hold
}

pub(super) fn copy(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let (mut target, mut replace, mut at) = (*c, false, 3);
    while at < args.len() {
        match () {
            () if args.is(at, "REPLACE") => replace = true,
            () if args.is(at, "DB") && at + 1 < args.len() => {
                match database(args.get(at + 1)) {
                    Ok(number) => target.database = number,
                    Err(text) => return reply.error(text),
                }
                at += 1;
            }
            () => return reply.error(texts::SYNTAX),
        }
        at += 1;
    }
    let (from, to) = (args.get(1), args.get(2));
    if from == to && target.database == c.database {
        return reply.error("ERR source and destination objects are the same");
    }
    let entry = all.read(c, from).cloned();
    let database = all.at_mut(&target);
    let found = database.find(to, c.now);
    let Some(entry) = entry.filter(|_| found.is_none() || replace) else {
        return reply.integer(0);
    };
    let place = database.set(to, found, &entry.value);
    if database.expires_at(place) != entry.expires() {
        database.expire_at(place, entry.expires());
    }
    debug_assert!(entry.expires() == NEVER || entry.expires() > c.now);
    reply.integer(1);
}
