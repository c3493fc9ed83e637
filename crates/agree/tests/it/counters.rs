//! A structure for tests: named counters, whose writes answer what was there before.

use corecast_agree::{Dispatch, Footprint};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Counters by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters(pub(crate) BTreeMap<u64, u64>);

/// Sets a counter.
pub(crate) struct Set(
    pub(crate) u64,
    pub(crate) u64,
    #[allow(dead_code, reason = "it is dropped with the operation")] pub(crate) Option<Arc<()>>,
);

impl Dispatch for Counters {
    type Read<'a> = &'a u64;
    type Write = Set;
    type Response = u64;
    type Snapshot = Self;

    fn read(&self, key: &u64) -> u64 {
        self.0.get(key).copied().unwrap_or(0)
    }

    fn write(&mut self, Set(key, value, _): &Set) -> u64 {
        self.0.insert(*key, *value).unwrap_or(0)
    }

    fn read_footprint(key: &&u64) -> Footprint {
        Footprint::Key(**key)
    }

    fn write_footprint(set: &Set) -> Footprint {
        Footprint::Key(set.0)
    }

    fn snapshot(&self) -> Self {
        self.clone()
    }

    fn install(snapshot: Self) -> Self {
        snapshot
    }
}
