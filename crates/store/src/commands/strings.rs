//! Values as texts.

use super::databases::{Context, Databases};
use super::options::{self, Condition, Expiry, TimeFrom, TimeUnit};
use super::texts;
use crate::arguments::Args;
use crate::database::NEVER;
use crate::number::integer;
use crate::resp::{BULK_BYTES_MAX, Reply};

pub(super) fn get(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let entry = all.read(c, args.get(1));
    reply.bulk_or_null(entry.map(|it| &it.value[..]));
}

pub(super) fn mget(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    reply.array(args.len() - 1);
    for key in args.from(1) {
        let entry = all.read(c, key);
        reply.bulk_or_null(entry.map(|it| &it.value[..]));
        if reply.overflowed() {
            return;
        }
    }
}

pub(super) fn strlen(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let entry = all.read(c, args.get(1));
    reply.count(entry.map_or(0, |it| it.value.len()));
}

pub(super) fn getrange(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let (Some(start), Some(end)) = (integer(args.get(2)), integer(args.get(3))) else {
        return reply.error(texts::NO_INTEGER);
    };
    let entry = all.read(c, args.get(1));
    let value = entry.map_or(&[][..], |it| &it.value[..]);
    // Both ends are part of the range, and count from the end where they are negative.
    let length = value.len() as i64;
    if start < 0 && end < 0 && start > end {
        return reply.bulk(b"");
    }
    let from_front = |it: i64| if it < 0 { (length + it).max(0) } else { it };
    let (start, end) = (from_front(start), from_front(end).min(length - 1));
    match start > end || length == 0 {
        true => reply.bulk(b""),
        false => reply.bulk(&value[start as usize..=end as usize]),
    }
}

/// What a key is set to.
fn store(all: &mut Databases, c: &Context, key: &[u8], value: &[u8], expires: i64) {
    let database = all.at_mut(c);
    let found = database.find(key, c.now);
    let place = database.set(key, found, value);
    if database.expires_at(place) != expires {
        database.expire_at(place, expires);
    }
}

pub(super) fn set(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let (key, value) = (args.get(1), args.get(2));
    if args.len() == 3 {
        store(all, c, key, value, NEVER);
        return reply.ok();
    }
    let options = match options::set_options(args, true) {
        Ok(options) => options,
        Err(text) => return reply.error(text),
    };
    let expires = match options.expiry {
        Expiry::At(unit, from, at) => match options::time(args, at, unit, from, c, "set") {
            Ok(time) => Some(time),
            Err(text) => return reply.error(text),
        },
        Expiry::Keep => None,
        Expiry::Unsaid | Expiry::Persist => Some(NEVER),
    };
    let database = all.at_mut(c);
    let found = database.find(key, c.now);
    if options.get {
        c.count(found.is_some());
        reply.bulk_or_null(found.map(|place| database.value(place)));
    }
    let wanted = match options.condition {
        Condition::Always => true,
        Condition::IfAbsent => found.is_none(),
        Condition::IfPresent => found.is_some(),
    };
    if wanted {
        let place = database.set(key, found, value);
        if let Some(expires) = expires
            && database.expires_at(place) != expires
        {
            database.expire_at(place, expires);
        }
    }
    match (options.get, wanted) {
        (true, _) => {}
        (false, true) => reply.ok(),
        (false, false) => reply.null(),
    }
}

pub(super) fn setnx(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let database = all.at_mut(c);
    let absent = database.find(args.get(1), c.now).is_none();
    if absent {
        database.set(args.get(1), None, args.get(2));
    }
    reply.integer(absent.into());
}

pub(super) fn setex(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    set_with_time(all, c, args, reply, TimeUnit::Seconds, "setex");
}

pub(super) fn psetex(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    set_with_time(all, c, args, reply, TimeUnit::Milliseconds, "psetex");
}

fn set_with_time(
    all: &mut Databases,
    c: &Context,
    args: Args<'_>,
    reply: &mut Reply<'_>,
    unit: TimeUnit,
    name: &str,
) {
    match options::time(args, 2, unit, TimeFrom::Now, c, name) {
        Ok(expires) => {
            store(all, c, args.get(1), args.get(3), expires);
            reply.ok();
        }
        Err(text) => reply.error(text),
    }
}

pub(super) fn getset(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let database = all.at_mut(c);
    let found = database.find(args.get(1), c.now);
    c.count(found.is_some());
    reply.bulk_or_null(found.map(|place| database.value(place)));
    store(all, c, args.get(1), args.get(2), NEVER);
}

pub(super) fn getdel(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let database = all.at_mut(c);
    let found = database.find(args.get(1), c.now);
    c.count(found.is_some());
    reply.bulk_or_null(found.map(|place| database.value(place)));
    if let Some(place) = found {
        database.remove_at(place);
    }
}

pub(super) fn getex(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let options = match options::set_options(args, false) {
        Ok(options) => options,
        Err(text) => return reply.error(text),
    };
    let database = all.at_mut(c);
    let found = database.find(args.get(1), c.now);
    c.count(found.is_some());
    let Some(place) = found else {
        return reply.null();
    };
    let expires = match options.expiry {
        Expiry::At(unit, from, at) => match options::time(args, at, unit, from, c, "getex") {
            Ok(time) => Some(time),
            Err(text) => return reply.error(text),
        },
        Expiry::Persist => Some(NEVER),
        Expiry::Unsaid | Expiry::Keep => None,
    };
    reply.bulk(database.value(place));
    match expires {
        Some(time) if time != NEVER && time <= c.now => {
            database.remove_at(place);
        }
        Some(time) if time != database.expires_at(place) => database.expire_at(place, time),
        _ => {}
    }
}

pub(super) fn mset(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    if args.len().is_multiple_of(2) {
        return reply.error(texts::arity("mset"));
    }
    for (key, value) in args.pairs(1) {
        store(all, c, key, value, NEVER);
    }
    reply.ok();
}

pub(super) fn msetnx(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    if args.len().is_multiple_of(2) {
        return reply.error(texts::arity("msetnx"));
    }
    let database = all.at_mut(c);
    let mut keys = args.pairs(1).map(|(key, _)| key);
    if keys.any(|key| database.find(key, c.now).is_some()) {
        return reply.integer(0);
    }
    for (key, value) in args.pairs(1) {
        store(all, c, key, value, NEVER);
    }
    reply.integer(1);
}

pub(super) fn append(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let (key, more) = (args.get(1), args.get(2));
    let database = all.at_mut(c);
    let found = database.find(key, c.now);
    let length = found.map_or(0, |place| database.value(place).len()) + more.len();
    match found {
        Some(_) if length > BULK_BYTES_MAX => return reply.error(texts::TOO_LONG),
        Some(place) => database.change(place, |value| value.extend_from_slice(more)),
        None => {
            database.set(key, None, more);
        }
    }
    reply.count(length);
}

pub(super) fn setrange(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let (key, part) = (args.get(1), args.get(3));
    let Some(offset) = integer(args.get(2)) else {
        return reply.error(texts::NO_INTEGER);
    };
    let Ok(offset) = usize::try_from(offset) else {
        return reply.error("ERR offset is out of range");
    };
    let database = all.at_mut(c);
    let found = database.find(key, c.now);
    if part.is_empty() {
        return reply.count(found.map_or(0, |place| database.value(place).len()));
    }
    let end = offset.saturating_add(part.len());
    if end > BULK_BYTES_MAX {
        return reply.error(texts::TOO_LONG);
    }
    let place = match found {
        Some(place) => place,
        None => database.set(key, None, b""),
    };
    database.change(place, |value| {
        if value.len() < end {
            value.resize(end, 0);
        }
        value[offset..end].copy_from_slice(part);
    });
    reply.count(database.value(place).len());
}
