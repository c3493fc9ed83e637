//! What commands work on, and when.

use std::cell::Cell;

use crate::database::{Database, Entry};

/// How many databases there are, as in Redis.
pub(crate) const DATABASES: usize = 16;

/// All databases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Databases {
    all: [Database; DATABASES],
}

/// What a command does not find in the databases. It is chosen once, where the command is submitted, so that all replicas do
/// the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// The database that the client has selected.
    pub(crate) database: u8,
    /// Milliseconds since 1970.
    pub(crate) now: i64,
    /// For what is drawn at random.
    pub(crate) seed: u64,
    /// Where it is counted whether keys were found.
    pub(crate) lookups: &'a Cell<Lookups>,
}

/// How often a command that answers what a key has has found it, and how often not, as Redis counts that: what only changes a key
/// does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lookups {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

impl Context<'_> {
    /// Counts a key that was looked for.
    pub(crate) fn count(&self, found: bool) {
        let mut lookups = self.lookups.get();
        lookups.hits += u64::from(found);
        lookups.misses += u64::from(!found);
        self.lookups.set(lookups);
    }
}

impl Databases {
    /// What a key has, which is counted.
    pub(crate) fn read(&self, context: &Context, key: &[u8]) -> Option<&Entry> {
        let found = self.at(context).get(key, context.now);
        context.count(found.is_some());
        found
    }

    pub(crate) fn at(&self, context: &Context) -> &Database {
        &self.all[usize::from(context.database)]
    }

    pub(crate) fn at_mut(&mut self, context: &Context) -> &mut Database {
        &mut self.all[usize::from(context.database)]
    }

    pub(crate) fn all(&self) -> &[Database] {
        &self.all
    }

    pub(crate) fn all_mut(&mut self) -> &mut [Database] {
        &mut self.all
    }
}
