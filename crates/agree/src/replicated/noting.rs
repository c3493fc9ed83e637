//! Where a writer notes entries before it writes them.

use super::pending::Pending;
use crate::{Dispatch, Footprint};
use corecast_wire::sync::mutated;
use std::ops::Range;
use std::sync::Arc;

/// Which replicas' entries are noted at, and under which number of the configuration that was so.
pub(super) type Noted = (u64, Vec<Arc<Pending>>);

/// What a combiner knows of those that must be told of its entries. It belongs to its replica's lock.
#[derive(Clone)]
pub(super) struct Noting {
    /// The other replicas, if entries are noted.
    noted: Noted,
    /// What the entries touch that are to be appended, as far as they were to be noted when that was asked for.
    footprints: Vec<Footprint>,
}

impl Noting {
    pub(super) fn new() -> Self {
        Self {
            noted: (0, Vec::new()),
            footprints: Vec::new(),
        }
    }

    /// What will be appended.
    #[inline]
    pub(super) fn prepare<T: Dispatch>(&mut self, writes: &[T::Write]) {
        self.footprints.clear();
        if !self.noted.1.is_empty() {
            let footprints = writes.iter().map(T::write_footprint);
            self.footprints.extend(footprints);
        }
    }

    /// Learns where entries must be noted that are reserved now. `configuration` was read since then, and `ask` asks again.
    #[inline]
    pub(super) fn look(&mut self, configuration: u64, ask: impl FnOnce() -> Noted) {
        if configuration != self.noted.0 && !mutated!(JoinerUnknown) && !seeded!(JoinerUnknown) {
            self.noted = ask();
        }
    }

    /// The replicas at which entries must be noted before they are written: all others. Nobody reads at the own one before they are
    /// applied there, since whoever appends them has its lock.
    #[inline]
    pub(super) fn places(&self) -> usize {
        self.noted.1.len()
    }

    /// Notes entries at one of them.
    #[inline]
    pub(super) fn note_at(&self, place: usize, entries: Range<u64>) {
        let pending = &self.noted.1[place];
        for (number, index) in entries.enumerate() {
            // Those that nobody has asked for when they were prepared touch everything, to be sure.
            let footprint = self.footprints.get(number).copied();
            pending.note(footprint.unwrap_or(Footprint::Everything), index);
        }
    }

    /// Notes entries that are reserved, and not written, wherever they must be noted.
    #[inline]
    pub(super) fn note(
        &mut self,
        configuration: u64,
        ask: impl FnOnce() -> Noted,
        entries: &Range<u64>,
    ) {
        self.look(configuration, ask);
        for place in 0..self.places() {
            self.note_at(place, entries.clone());
        }
    }
}

/// For models, whose states are values.
#[cfg(test)]
impl Noting {
    pub(super) fn of(noted: Noted, footprints: Vec<Footprint>) -> Self {
        Self { noted, footprints }
    }

    pub(super) fn configuration(&self) -> u64 {
        self.noted.0
    }

    pub(super) fn pending(&self, place: usize) -> &Pending {
        &self.noted.1[place]
    }
}
