//! What `WATCH` goes by, against a count of each key's changes; and when keys expire.

use super::{Database, NEVER, STRIPES, hash, low, stripe};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a key without the database.
#[derive(Clone, Copy, Default)]
struct Known {
    /// When it expires, if it is held.
    expires: Option<i64>,
    /// How often a command has made, set or removed it, or given it a time, while it was there for clients.
    changes: u64,
}

impl Known {
    fn lives(&self, now: i64) -> bool {
        self.expires.is_some_and(|it| it == NEVER || it > now)
    }
}

/// Keys that have parts of the hashes of their own.
fn keys(count: usize) -> Vec<Vec<u8>> {
    assert!(count < STRIPES / 16);
    let mut taken = BTreeSet::new();
    let keys = (0..u32::MAX).map(|key| key.to_string().into_bytes());
    keys.filter(|key| taken.insert(stripe(hash(key))))
        .take(count)
        .collect()
}

#[test]
fn looks_tell_what_has_changed() {
    let keys = keys(6);
    let mut random = Rng::with_seed(1);
    let mut outcomes = [0; 2];
    for _ in 0..2000 {
        let mut database = Database::default();
        let mut known = vec![Known::default(); keys.len()];
        let mut looks: Vec<(usize, u64, Known, i64)> = Vec::new();
        let mut now = 100;
        for _ in 0..random.usize(1..40) {
            let at = random.usize(..keys.len());
            let key = &keys[at];
            match random.u8(..10) {
                0 => now += random.i64(0..30),
                1 => {
                    database.remove_due(now, 10, |_| ());
                    let due = |it: &&mut Known| it.expires.is_some() && !it.lives(now);
                    known
                        .iter_mut()
                        .filter(due)
                        .for_each(|it| it.expires = None);
                }
                2 | 3 => {
                    let lived = known[at].lives(now);
                    assert_eq!(database.remove(key, now), lived);
                    known[at].changes += u64::from(lived);
                    known[at].expires = None;
                }
                4 if random.u8(..4) == 0 => {
                    database.clear();
                    for it in &mut known {
                        it.changes += u64::from(it.lives(now));
                        it.expires = None;
                    }
                }
                4 | 5 => {
                    if let Some(place) = database.find(key, now) {
                        let expires = now + random.i64(1..30);
                        database.expire_at(place, expires);
                        known[at].changes += 1;
                        known[at].expires = Some(expires);
                    } else {
                        known[at].expires = None;
                    }
                }
                6 => {
                    let to = random.usize(..keys.len());
                    let found = database.find(key, now);
                    if let Some(place) = found.filter(|_| to != at) {
                        database.rename(place, &keys[to], now);
                        known[to].expires = known[at].expires.take();
                        known[to].changes += 1;
                        known[at].changes += 1;
                    } else if found.is_none() {
                        known[at].expires = None;
                    }
                }
                7 | 8 => {
                    let found = database.find(key, now);
                    assert_eq!(found.is_some(), known[at].lives(now));
                    database.set(key, found, b"value");
                    known[at].changes += 1;
                    let kept = found.and(known[at].expires);
                    known[at].expires = Some(kept.unwrap_or(NEVER));
                }
                _ => looks.push((at, database.look(key, now), known[at], now)),
            }
            for (at, look, then, at_time) in &looks {
                let is = known[*at];
                let is_as_then =
                    is.changes == then.changes && is.lives(now) == then.lives(*at_time);
                let says = database.is_unchanged(&keys[*at], now, *look);
                assert_eq!(says, is_as_then, "key {at}");
                outcomes[usize::from(says)] += 1;
            }
        }
    }
    assert!(outcomes.iter().all(|it| *it > 1000), "{outcomes:?}");
}

/// Sets a key that is there or not to expire.
fn expire(database: &mut Database, key: &[u8], at: i64) {
    let found = database.find(key, 0);
    let place = database.set(key, found, b"value");
    database.expire_at(place, at);
}

/// Two keys by whose hashes the table does not tell them apart.
fn alike() -> [Vec<u8>; 2] {
    let mut seen = BTreeMap::new();
    for number in 0..u32::MAX {
        let key = number.to_string().into_bytes();
        if let Some(other) = seen.insert(low(hash(&key)), key.clone()) {
            return [other, key];
        }
    }
    unreachable!("there are 2^32 hashes")
}

#[test]
fn times_that_no_longer_hold_do_not_pile_up_and_the_others_stay() {
    let mut database = Database::default();
    let alike = alike();
    alike
        .iter()
        .for_each(|key| expire(&mut database, key, 5_000));
    for number in 0..10_000 {
        expire(&mut database, b"to and fro", [6_000, 7_000][number % 2]);
        expire(&mut database, b"on and on", 8_000 + number as i64);
        assert!(database.due.len() <= 2 * database.expiring() + 64);
    }
    assert_eq!(database.remove_due(4_999, 100, |_| ()), 0);
    let mut removed = BTreeSet::new();
    let tell = |it: &super::Entry| assert!(removed.insert(it.key.to_vec()));
    assert_eq!(database.remove_due(5_000, 100, tell), 2);
    assert_eq!(removed, BTreeSet::from(alike));
    assert_eq!(database.remove_due(7_000, 100, |_| ()), 1);
    assert_eq!(database.remove_due(17_998, 100, |_| ()), 0);
    assert_eq!(database.remove_due(17_999, 100, |_| ()), 1);
    assert_eq!((database.len(), database.expiring()), (0, 0));
}

#[test]
fn times_take_no_memory_once_they_have_come() {
    let mut database = Database::default();
    for number in 0..100_000 {
        expire(&mut database, number.to_string().as_bytes(), number);
    }
    assert_eq!(database.remove_due(100_000, usize::MAX, |_| ()), 100_000);
    assert!(database.due.capacity() <= 1024);
    assert!(database.entries.capacity() <= 1024);
}
