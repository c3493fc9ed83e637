//! What the commands of a session see of the server.

use super::shared::Shared;
use crate::keyspace::{Facts, Read, Response};
use crate::store::StoreHandle;

/// What the commands of a session see of the server.
pub(super) struct Surroundings<'a> {
    pub(super) store: &'a mut StoreHandle,
    pub(super) shared: &'a Shared,
    pub(super) random: &'a mut fastrand::Rng,
    /// Milliseconds since 1970.
    pub(super) now: i64,
    /// How full the databases were at its place in a transaction, for `INFO` there.
    pub(super) facts: Option<Facts>,
}

impl Surroundings<'_> {
    /// How full the databases are, at this place of a transaction or now.
    pub(super) fn facts(&mut self) -> Facts {
        let now = || match self.store.read(Read::Facts { now: self.now }) {
            Response::Facts(facts) => *facts,
            _ => Facts::default(),
        };
        self.facts.unwrap_or_else(now)
    }
}
