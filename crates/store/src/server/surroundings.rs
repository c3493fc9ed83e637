//! What the commands of a session see of the server.

use super::shared::Shared;
use crate::keyspace::Facts;
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
