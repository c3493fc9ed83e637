//! The options that several commands take.

use super::databases::{Context, DATABASES};
use super::texts;
use crate::arguments::Args;
use crate::number::integer;

/// When a value is to be set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Condition {
    #[default]
    Always,
    IfAbsent,
    IfPresent,
}

/// In what a time is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Seconds,
    Milliseconds,
}

/// From when a time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeFrom {
    Now,
    Epoch,
}

/// What becomes of the time at which a key expires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Expiry {
    /// `SET` clears it, `GETEX` leaves it.
    #[default]
    Unsaid,
    Keep,
    Persist,
    /// The word that says when.
    At(TimeUnit, TimeFrom, usize),
}

/// Options of `SET` and `GETEX`.
#[derive(Debug, Default)]
pub(super) struct SetOptions {
    pub(super) condition: Condition,
    /// Answer with the value before.
    pub(super) get: bool,
    pub(super) expiry: Expiry,
}

/// Reads the options of `SET` from its third word on, or of `GETEX` from its second.
pub(super) fn set_options(args: Args<'_>, is_set: bool) -> Result<SetOptions, &'static str> {
    let mut options = SetOptions::default();
    let mut at = if is_set { 3 } else { 2 };
    while at < args.len() {
        let more = at + 1 < args.len();
        let time = match () {
            () if args.is(at, "EX") => Some((TimeUnit::Seconds, TimeFrom::Now)),
            () if args.is(at, "PX") => Some((TimeUnit::Milliseconds, TimeFrom::Now)),
            () if args.is(at, "EXAT") => Some((TimeUnit::Seconds, TimeFrom::Epoch)),
            () if args.is(at, "PXAT") => Some((TimeUnit::Milliseconds, TimeFrom::Epoch)),
            () => None,
        };
        match time {
            Some((unit, from)) if more && allows(options.expiry, unit, from) => {
                options.expiry = Expiry::At(unit, from, at + 1);
                at += 1;
            }
            None if is_set && args.is(at, "NX") && options.condition != Condition::IfPresent => {
                options.condition = Condition::IfAbsent;
            }
            None if is_set && args.is(at, "XX") && options.condition != Condition::IfAbsent => {
                options.condition = Condition::IfPresent;
            }
            None if is_set && args.is(at, "GET") => options.get = true,
            None if is_set
                && args.is(at, "KEEPTTL")
                && matches!(options.expiry, Expiry::Unsaid | Expiry::Keep) =>
            {
                options.expiry = Expiry::Keep;
            }
            None if !is_set
                && args.is(at, "PERSIST")
                && matches!(options.expiry, Expiry::Unsaid | Expiry::Persist) =>
            {
                options.expiry = Expiry::Persist;
            }
            _ => return Err(texts::SYNTAX),
        }
        at += 1;
    }
    Ok(options)
}

/// A time may be given again in the same form, and then the last one holds.
fn allows(before: Expiry, unit: TimeUnit, from: TimeFrom) -> bool {
    match before {
        Expiry::Unsaid => true,
        Expiry::At(u, f, _) => (u, f) == (unit, from),
        Expiry::Keep | Expiry::Persist => false,
    }
}

/// Reads the time in word `at`, which lies after 1970, as milliseconds.
pub(super) fn time(
    args: Args<'_>,
    at: usize,
    unit: TimeUnit,
    from: TimeFrom,
    context: &Context,
    name: &str,
) -> Result<i64, String> {
    let value = integer(args.get(at)).ok_or(texts::NO_INTEGER)?;
    let wrong = || texts::expire_time(name);
    let value = Some(value).filter(|it| *it > 0).ok_or_else(wrong)?;
    absolute(value, unit, from, context).ok_or_else(wrong)
}

/// A time as milliseconds since 1970, or `None` where that is too many.
pub(super) fn absolute(
    value: i64,
    unit: TimeUnit,
    from: TimeFrom,
    context: &Context,
) -> Option<i64> {
    let value = match unit {
        TimeUnit::Seconds => value.checked_mul(1000)?,
        TimeUnit::Milliseconds => value,
    };
    match from {
        TimeFrom::Now => value.checked_add(context.now),
        TimeFrom::Epoch => Some(value),
    }
}

/// Reads the number of a database.
pub(crate) fn database(word: &[u8]) -> Result<u8, &'static str> {
    let number = integer(word).ok_or(texts::NO_INTEGER)?;
    i32::try_from(number).map_err(|_| texts::NO_INT)?;
    let number = u8::try_from(number).ok();
    let number = number.filter(|it| usize::from(*it) < DATABASES);
    number.ok_or("ERR DB index is out of range")
}
