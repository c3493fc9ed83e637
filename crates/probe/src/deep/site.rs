//! The hardware threads that are measured: their proximity, and the sizes of their caches. Pure.

use std::collections::BTreeSet;

use corecast_model::deep::{Level, Near};
use corecast_model::{CacheKind, Machine, Pu};

use super::latency::Drive;
use crate::class::Caches;

/// Bytes of private caches where the system does not tell.
const UNKNOWN_BYTES: usize = 1 << 20;

/// Most bytes that are read to drive lines out of a cache.
const DRIVE_BYTES: usize = 8 << 20;

/// The hardware threads that take part, by their positions.
#[derive(Debug)]
pub(super) struct Site<'a> {
    pub(super) machine: &'a Machine,
    pub(super) pus: Vec<Pu>,
    caches: Caches,
}

impl<'a> Site<'a> {
    pub(super) fn new(machine: &'a Machine, pus: Vec<Pu>) -> Self {
        let caches = Caches::new(machine);
        Self {
            machine,
            pus,
            caches,
        }
    }

    /// Returns the proximity of two positions.
    pub(super) fn near(&self, a: usize, b: usize) -> Near {
        if a == b {
            return Near::Own;
        }
        self.caches.class(&self.pus[a], &self.pus[b]).near
    }

    /// All positions but those of `without`, nearest to `to` first, and cores of their own before SMT
    /// siblings.
    pub(super) fn neighbours(&self, to: usize, without: &[usize]) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.pus.len())
            .filter(|other| *other != to && !without.contains(other))
            .collect();
        let shares_core = |other: usize| {
            let with = |&taken: &usize| self.near(other, taken) == Near::SameCore;
            without.iter().chain([&to]).any(with)
        };
        all.sort_by_key(|&other| (shares_core(other), self.near(to, other)));
        all
    }

    /// Returns the proximities of different positions, nearest first.
    pub(super) fn nears(&self) -> Vec<Near> {
        let n = self.pus.len();
        let pairs = (0..n).flat_map(|a| (0..a).map(move |b| (a, b)));
        let nears: BTreeSet<Near> = pairs.map(|(a, b)| self.near(a, b)).collect();
        nears.into_iter().collect()
    }

    /// All positions, the first of each core before SMT siblings.
    pub(super) fn by_cores(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.pus.len()).collect();
        let has_sibling_before =
            |at: usize| (0..at).any(|before| self.near(at, before) == Near::SameCore);
        all.sort_by_cached_key(|&at| has_sibling_before(at));
        all
    }

    /// Returns the positions that read lines of the first position, no farther than `near`, nearest first; the
    /// owner comes last.
    pub(super) fn readers(&self, near: Near, most: usize) -> Vec<usize> {
        let owner = 0;
        let mut crew = self.neighbours(owner, &[]);
        crew.retain(|&reader| self.near(owner, reader) <= near);
        crew.truncate(most);
        crew.push(owner);
        crew
    }

    /// Pairs of a reader and an owner that are so near, each position at most once on either side, of the first
    /// `most` positions.
    pub(super) fn pairs(&self, near: Near, most: usize) -> Vec<(usize, usize)> {
        let mut readers = self.by_cores();
        readers.truncate(most);
        let mut free = readers.clone();
        let mut pairs = Vec::new();
        for reader in readers {
            let owner = free
                .iter()
                .position(|&owner| self.near(reader, owner) == near);
            if let Some(at) = owner {
                pairs.push((reader, free.remove(at)));
            }
        }
        pairs
    }

    /// Data caches of a position with known sizes, by level: the largest of each.
    fn sizes(&self, of: usize) -> Vec<(u8, usize)> {
        let os_index = self.pus[of].os_index;
        let mut sizes: Vec<(u8, usize)> = self
            .machine
            .caches
            .iter()
            .filter(|cache| cache.kind != CacheKind::Instruction)
            .filter(|cache| cache.shared_by.contains(&os_index))
            .filter_map(|cache| Some((cache.level, usize::try_from(cache.size_bytes?).ok()?)))
            .collect();
        sizes.sort_unstable();
        sizes.dedup_by_key(|&mut (level, _)| level);
        sizes
    }

    /// The levels to which lines of a position can be driven: the first cache, those behind one of known
    /// size that is not too large to be read through, and memory.
    pub(super) fn levels(&self, of: usize) -> Vec<Level> {
        let sizes = self.sizes(of);
        let mut levels = vec![Level::Cache(1)];
        for pair in sizes.windows(2) {
            if pair[0].1 <= DRIVE_BYTES {
                levels.push(Level::Cache(pair[1].0));
            }
        }
        levels.push(Level::Memory);
        levels
    }

    /// Returns the bytes that have to be read to drive lines of a position to a level.
    pub(super) fn drive(&self, of: usize, level: Level) -> Drive {
        let sizes = self.sizes(of);
        let before = |level: u8| {
            let below = sizes.iter().filter(|&&(other, _)| other < level);
            below.map(|&(_, bytes)| bytes).max()
        };
        let private = sizes.iter().filter(|&&(level, _)| level <= 2);
        let out = private.map(|&(_, bytes)| bytes).max();
        let most = |bytes: Option<usize>| bytes.unwrap_or(UNKNOWN_BYTES).min(DRIVE_BYTES);
        Drive {
            to_level: match level {
                Level::Cache(1) | Level::Memory => 0,
                Level::Cache(level) => most(before(level)),
            },
            out: most(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::{Cache, synthetic};

    fn cache(level: u8, bytes: Option<u64>, shared_by: Vec<u32>) -> Cache {
        Cache {
            level,
            kind: CacheKind::Unified,
            size_bytes: bytes,
            line_bytes: None,
            shared_by,
        }
    }

    #[test]
    fn levels_are_those_that_can_be_reached() {
        let file = synthetic("package:2 core:2 pu:2").unwrap();
        let mut machine = file.machine().clone();
        machine.caches = vec![
            cache(1, Some(32 << 10), vec![0, 1]),
            cache(2, Some(1 << 20), vec![0, 1]),
            cache(3, Some(32 << 20), vec![0, 1, 2, 3]),
            cache(4, Some(128 << 20), vec![0, 1, 2, 3]),
            cache(1, None, vec![4, 5]),
        ];
        let site = Site::new(&machine, machine.pus.clone());
        let caches = |levels: &[u8]| {
            let caches = levels.iter().map(|&level| Level::Cache(level));
            caches.chain([Level::Memory]).collect::<Vec<_>>()
        };
        // The fourth level is behind 32 MiB.
        assert_eq!(site.levels(0), caches(&[1, 2, 3]));
        assert_eq!(site.levels(4), caches(&[1]));
        let drive = |level| site.drive(0, Level::Cache(level)).to_level;
        assert_eq!([1, 2, 3].map(drive), [0, 32 << 10, 1 << 20]);
        assert_eq!(site.drive(0, Level::Memory).out, 1 << 20);
        assert_eq!(site.drive(4, Level::Cache(2)).to_level, UNKNOWN_BYTES);
    }

    #[test]
    fn pairs_and_readers_are_as_near_as_asked() {
        let file = synthetic("package:2 core:2 pu:2").unwrap();
        let site = Site::new(file.machine(), file.machine().pus.clone());
        let all = [Near::SameCore, Near::SameNumaNode, Near::OtherPackage];
        assert_eq!(site.nears(), all);
        assert_eq!(site.by_cores(), [0, 2, 4, 6, 1, 3, 5, 7]);
        for near in all {
            let pairs = site.pairs(near, 64);
            assert_eq!(pairs.len(), 8, "{near}: {pairs:?}");
            assert!(
                pairs
                    .iter()
                    .all(|&(reader, owner)| site.near(reader, owner) == near)
            );
            let owners: BTreeSet<_> = pairs.iter().map(|&(_, owner)| owner).collect();
            assert_eq!(owners.len(), 8);
        }
        assert_eq!(
            site.pairs(Near::OtherPackage, 4),
            [(0, 4), (2, 6), (4, 0), (6, 2)]
        );
        assert_eq!(site.pairs(Near::SameCore, 4), []);
        assert_eq!(site.readers(Near::SameNumaNode, 64), [2, 3, 1, 0]);
        assert_eq!(site.readers(Near::OtherPackage, 64).len(), 8);
        assert_eq!(site.readers(Near::OtherPackage, 2), [2, 3, 0]);
    }

    #[test]
    fn neighbours_come_by_distance_and_siblings_last() {
        let file = synthetic("package:2 core:2 pu:2").unwrap();
        let site = Site::new(file.machine(), file.machine().pus.clone());
        assert_eq!(site.near(0, 0), Near::Own);
        assert_eq!(site.near(0, 1), Near::SameCore);
        assert_eq!(site.near(0, 7), Near::OtherPackage);
        let near = site.neighbours(0, &[]);
        assert_eq!((near[0], near.last()), (2, Some(&1)));
        assert_eq!(site.neighbours(0, &[2])[0], 4);
        assert_eq!(site.neighbours(0, &[2]).len(), 6);
    }
}
