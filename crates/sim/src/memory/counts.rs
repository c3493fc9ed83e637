//! Counters: transfers by source and distance, invalidations, write-backs.

use super::line::CopyState;
use std::collections::BTreeMap;

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LineSource {
    /// Another core's modified copy.
    Modified,
    /// Another core's owned copy.
    Owned,
    /// Another core's exclusive copy.
    Exclusive,
    /// Another core's copy that answers for all sharers.
    Forward,
    /// A shared cache.
    SharedCache,
    /// The cache of the line's home core.
    HomeCache,
    /// Memory.
    Memory,
    /// No transfer: a sharer got the only copy.
    Upgrade,
    /// Pushed to its home by a store.
    Pushed,
    /// No transfer: a whole line was written without reading it.
    NotRead,
}

impl LineSource {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Modified => "modified",
            Self::Owned => "owned",
            Self::Exclusive => "exclusive",
            Self::Forward => "forward",
            Self::SharedCache => "shared_cache",
            Self::HomeCache => "home_cache",
            Self::Memory => "memory",
            Self::Upgrade => "upgrade",
            Self::Pushed => "pushed",
            Self::NotRead => "not_read",
        }
    }

    /// Whether the line came from a core's cache.
    pub const fn is_core(self) -> bool {
        matches!(
            self,
            Self::Modified | Self::Owned | Self::Exclusive | Self::Forward | Self::HomeCache
        )
    }

    pub(crate) fn of(state: CopyState) -> Self {
        match state {
            CopyState::Modified => Self::Modified,
            CopyState::Owned => Self::Owned,
            CopyState::Exclusive => Self::Exclusive,
            CopyState::Forward | CopyState::Shared => Self::Forward,
        }
    }
}

/// How far a line came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Distance {
    /// Within a core or a group that shares a cache.
    Group,
    /// Within a package, from another group or core.
    Package,
    /// From another package.
    Machine,
}

/// The counters of one core's caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreCounts {
    /// Loads, stores and additions that needed no request.
    pub hits: u64,
    /// Loads, stores and additions that needed a request.
    pub misses: u64,
    /// Lines that other cores took from these caches.
    pub given: u64,
    /// Copies in these caches that were invalidated.
    pub invalidated: u64,
    /// Lines that were evicted.
    pub evicted: u64,
}

/// The counters of the whole machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines that came to a core, by source and distance.
    pub transfers: BTreeMap<(LineSource, Distance), u64>,
    /// Copies that were invalidated, in cores and in shared caches.
    pub invalidations: u64,
    /// Lines that were written back to memory.
    pub write_backs: u64,
    /// Requests to caches on a machine that broadcasts them.
    pub probes: u64,
    /// Core-to-core notifications.
    pub notifications: u64,
    /// Stores and additions that went to another core's cache, which is their line's home, beside those that were
    /// [`LineSource::Pushed`].
    pub stores_home: u64,
    /// The counters of each core.
    pub cores: Vec<CoreCounts>,
}

impl Counts {
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            cores: vec![CoreCounts::default(); cores],
            ..Self::default()
        }
    }

    /// Transfers from one kind of source, over any distance.
    pub fn from(&self, source: LineSource) -> u64 {
        let of = |((from, _), count): (&(LineSource, Distance), &u64)| {
            (*from == source).then_some(*count)
        };
        self.transfers.iter().filter_map(of).sum()
    }

    /// Requests that one core's caches had to answer or obey for another: transfers between cores and
    /// invalidations.
    pub fn between_caches(&self) -> u64 {
        let given: u64 = self.cores.iter().map(|core| core.given).sum();
        given + self.invalidations
    }

    /// All requests from one core's caches to another's: [`between_caches`](Self::between_caches), and stores that
    /// went to their lines' homes.
    pub fn to_other_caches(&self) -> u64 {
        self.between_caches() + self.from(LineSource::Pushed) + self.stores_home
    }

    /// Loads, stores and additions.
    pub fn operations(&self) -> u64 {
        self.cores.iter().map(|core| core.hits + core.misses).sum()
    }
}
