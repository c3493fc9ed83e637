//! The configuration log.

use super::{Configuration, first_configuration};

/// The configuration log in memory that all members share.
///
/// Only its end is ever asked for, so it keeps nothing else. An append compares positions: of several members that append
/// after the same entry one succeeds. It must be called under a lock, or by one thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConfigurationLog<C> {
    position: u64,
    last: Configuration<C>,
}

impl<C> ConfigurationLog<C> {
    /// The log of a group of `size` members, with its first entry.
    pub fn new(size: usize) -> Self {
        Self {
            position: 0,
            last: first_configuration(size),
        }
    }

    /// The last entry and its position.
    pub fn last(&self) -> (u64, &Configuration<C>) {
        (self.position, &self.last)
    }

    /// Appends an entry if its position will be this one, and returns whether it did.
    pub fn append(&mut self, position: u64, configuration: Configuration<C>) -> bool {
        if position != self.position + 1 && !seeded!(AppendUncompared) {
            return false;
        }
        self.position += 1;
        self.last = configuration;
        true
    }
}
