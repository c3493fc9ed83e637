//! Values as numbers.

use super::databases::{Context, Databases};
use super::texts;
use crate::arguments::Args;
use crate::extended::{Extended, is_infinity};
use crate::number::{DIGITS_MAX, integer, show_integer};
use crate::resp::Reply;

const NO_SUM: &str = "ERR increment would produce NaN or Infinity";

pub(super) fn incr(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    add(all, c, args.get(1), 1, reply);
}

pub(super) fn decr(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    add(all, c, args.get(1), -1, reply);
}

pub(super) fn incrby(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    match integer(args.get(2)) {
        Some(by) => add(all, c, args.get(1), by, reply),
        None => reply.error(texts::NO_INTEGER),
    }
}

pub(super) fn decrby(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    match integer(args.get(2)) {
        Some(i64::MIN) => reply.error("ERR decrement would overflow"),
        Some(by) => add(all, c, args.get(1), -by, reply),
        None => reply.error(texts::NO_INTEGER),
    }
}

fn add(all: &mut Databases, c: &Context, key: &[u8], by: i64, reply: &mut Reply<'_>) {
    let database = all.at_mut(c);
    let found = database.find(key, c.now);
    let Some(before) = found.map_or(Some(0), |place| integer(database.value(place))) else {
        return reply.error(texts::NO_INTEGER);
    };
    let Some(sum) = before.checked_add(by) else {
        return reply.error("ERR increment or decrement would overflow");
    };
    let mut digits = [0; DIGITS_MAX];
    database.set(key, found, show_integer(&mut digits, sum));
    reply.integer(sum);
}

pub(super) fn incrbyfloat(all: &mut Databases, c: &Context, args: Args<'_>, reply: &mut Reply<'_>) {
    let key = args.get(1);
    let database = all.at_mut(c);
    let found = database.find(key, c.now);
    let before = found.map_or(b"0".as_slice(), |place| database.value(place));
    let numbers = [before, args.get(2)];
    let [Some(before), Some(by)] = numbers.map(Extended::read) else {
        let are_numbers = |it: &&[u8]| Extended::read(it).is_some() || is_infinity(it);
        return reply.error(match numbers.iter().all(are_numbers) {
            true => NO_SUM,
            false => texts::NO_FLOAT,
        });
    };
    let Some(sum) = before.add(by) else {
        return reply.error(NO_SUM);
    };
    let text = sum.show();
    database.set(key, found, text.as_bytes());
    reply.bulk(text.as_bytes());
}
