//! Times at which keys expire.

use super::databases::{Context, Databases};
use super::options::{self, TimeFrom, TimeUnit};
use super::texts;
use crate::arguments::Args;
use crate::database::NEVER;
use crate::number::integer;
use crate::resp::Reply;

pub(super) fn ttl(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    show(all, c, args, reply, TimeUnit::Seconds, c.now);
}

pub(super) fn pttl(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    show(all, c, args, reply, TimeUnit::Milliseconds, c.now);
}

pub(super) fn expiretime(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    show(all, c, args, reply, TimeUnit::Seconds, 0);
}

pub(super) fn pexpiretime(all: &Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    show(all, c, args, reply, TimeUnit::Milliseconds, 0);
}

/// When a key expires, after `from`.
fn show(
    all: &Databases,
    c: &Context,
    args: Args<'_>,
    reply: &mut Reply<'_>,
    unit: TimeUnit,
    from: i64,
) {
    let Some(entry) = all.read(c, args.get(1)) else {
        return reply.integer(-2);
    };
    reply.integer(match (entry.expires(), unit) {
        (NEVER, _) => -1,
        (at, TimeUnit::Milliseconds) => at - from,
        // To the nearest second.
        (at, TimeUnit::Seconds) => (at - from) / 1000 + i64::from((at - from) % 1000 >= 500),
    });
}

pub(super) fn expire(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    set(
        all,
        c,
        args,
        reply,
        TimeUnit::Seconds,
        TimeFrom::Now,
        "expire",
    );
}

pub(super) fn pexpire(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    set(
        all,
        c,
        args,
        reply,
        TimeUnit::Milliseconds,
        TimeFrom::Now,
        "pexpire",
    );
}

pub(super) fn expireat(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    set(
        all,
        c,
        args,
        reply,
        TimeUnit::Seconds,
        TimeFrom::Epoch,
        "expireat",
    );
}

pub(super) fn pexpireat(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    set(
        all,
        c,
        args,
        reply,
        TimeUnit::Milliseconds,
        TimeFrom::Epoch,
        "pexpireat",
    );
}

/// Under which conditions a time is set.
#[derive(Default)]
struct Conditions {
    if_none: bool,
    if_any: bool,
    if_later: bool,
    if_sooner: bool,
}

impl Conditions {
    fn read(args: Args<'_>) -> Result<Self, Vec<u8>> {
        let mut found = Self::default();
        for at in 3..args.len() {
            let flag = match () {
                () if args.is(at, "NX") => &mut found.if_none,
                () if args.is(at, "XX") => &mut found.if_any,
                () if args.is(at, "GT") => &mut found.if_later,
                () if args.is(at, "LT") => &mut found.if_sooner,
                () => return Err([b"ERR Unsupported option ", args.get(at)].concat()),
            };
            *flag = true;
        }
        if found.if_none && (found.if_any || found.if_later || found.if_sooner) {
            let text = "ERR NX and XX, GT or LT options at the same time are not compatible";
            return Err(text.into());
        }
        if found.if_later && found.if_sooner {
            let text = "ERR GT and LT options at the same time are not compatible";
            return Err(text.into());
        }
        Ok(found)
    }

    /// A key without a time expires later than any other.
    fn hold(&self, before: i64, after: i64) -> bool {
        let ends = before != NEVER;
        (!self.if_none || !ends)
            && (!self.if_any || ends)
            && (!self.if_later || ends && after > before)
            && (!self.if_sooner || !ends || after < before)
    }
}

fn set(
    all: &mut Databases,
    c: &Context,
    args: Args<'_>,
    reply: &mut Reply<'_>,
    unit: TimeUnit,
    from: TimeFrom,
    name: &str,
) {
    let conditions = match Conditions::read(args) {
        Ok(conditions) => conditions,
        Err(text) => return reply.error(text),
    };
    let Some(value) = integer(args.get(2)) else {
        return reply.error(texts::NO_INTEGER);
    };
    let Some(expires) = options::absolute(value, unit, from, c) else {
        return reply.error(texts::expire_time(name));
    };
    let database = all.at_mut(c);
    let found = database.find(args.get(1), c.now);
    let place = found.filter(|place| conditions.hold(database.expires_at(*place), expires));
    if let Some(place) = place {
        match expires <= c.now {
            true => drop(database.remove_at(place)),
            false => database.expire_at(place, expires),
        }
    }
    reply.integer(place.is_some().into());
}

pub(super) fn persist(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let database = all.at_mut(c);
    let found = database.find(args.get(1), c.now);
    let place = found.filter(|place| database.expires_at(*place) != NEVER);
    if let Some(place) = place {
        database.expire_at(place, NEVER);
    }
    reply.integer(place.is_some().into());
}
