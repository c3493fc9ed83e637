//! What commands work on, and when.

use crate::database::Database;

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
pub(crate) struct Context {
    /// The database that the client has selected.
    pub(crate) database: u8,
    /// Milliseconds since 1970.
    pub(crate) now: i64,
    /// For what is drawn at random.
    pub(crate) seed: u64,
}

impl Databases {
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
