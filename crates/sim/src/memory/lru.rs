//! The lines in a cache: the least recently used ones leave first.
//!
//! The lines of a cache are a list, by use, that runs through an array of *places*. A copy knows its place, so a use
//! moves it to the end of the list, and no other line is looked at. Where a small cache is within a large one, the
//! lines of the small one are marked.

/// A place in a cache; a copy that is not in it has [`NOWHERE`].
pub(crate) type LruPlace = u32;

/// The place of a copy that is not in the cache. The entry there joins the ends of the list: the oldest line comes
/// after it, the newest before it.
pub(crate) const NOWHERE: LruPlace = 0;

/// A line in a cache, between the lines used before and after it.
#[derive(Clone, Copy, Debug)]
struct LruEntry {
    line: u32,
    older: LruPlace,
    newer: LruPlace,
    /// Whether it is in the small cache too.
    small: bool,
}

impl LruEntry {
    fn of(line: u32) -> Self {
        Self {
            line,
            older: NOWHERE,
            newer: NOWHERE,
            small: false,
        }
    }
}

/// The lines of one cache, by last use.
#[derive(Clone, Debug)]
pub(crate) struct Lru {
    room: usize,
    held: usize,
    places: Vec<LruEntry>,
    /// The first free place; each free place has the next one in `newer`.
    free: LruPlace,
    small_room: usize,
    small_held: usize,
    /// The place of the least recently used line in the small cache, or `NOWHERE`.
    small_oldest: LruPlace,
}

impl Lru {
    /// A cache for `room` lines; up to `small_room` of those used last are in a small cache too.
    pub(crate) fn new(room: usize, small_room: usize) -> Self {
        Self {
            room,
            held: 0,
            places: vec![LruEntry::of(0)],
            free: NOWHERE,
            small_room,
            small_held: 0,
            small_oldest: NOWHERE,
        }
    }

    /// Notes a use of `line`, which is at `place`, and returns its new place.
    pub(crate) fn touch(&mut self, line: u32, mut place: LruPlace) -> LruPlace {
        if place == NOWHERE {
            self.held += 1;
            place = self.free_place(line);
        } else if self.places[NOWHERE as usize].older == place && self.is_small(place) {
            return place;
        } else {
            self.leave_small(place);
            self.take_out(place);
        }
        self.append(place);
        self.enter_small(place);
        place
    }

    /// Removes the line at `place`.
    pub(crate) fn remove(&mut self, place: LruPlace) {
        self.leave_small(place);
        self.held -= 1;
        self.take_out(place);
        self.places[place as usize].newer = self.free;
        self.free = place;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.held > self.room
    }

    /// The line that was used least recently.
    pub(crate) fn oldest(&self) -> u32 {
        let oldest = self.places[NOWHERE as usize].newer;
        self.places[oldest as usize].line
    }

    /// Whether the line at `place` is in the small cache.
    pub(crate) fn is_small(&self, place: LruPlace) -> bool {
        self.places[place as usize].small
    }

    /// Removes the line at `place` from the small cache.
    pub(crate) fn leave_small(&mut self, place: LruPlace) {
        if !std::mem::take(&mut self.places[place as usize].small) {
            return;
        }
        self.small_held -= 1;
        if self.small_oldest == place {
            let mut next = self.places[place as usize].newer;
            while next != NOWHERE && !self.is_small(next) {
                next = self.places[next as usize].newer;
            }
            self.small_oldest = next;
        }
    }

    /// Adds the newest line to the small cache, and removes the oldest one from it if there is no room.
    fn enter_small(&mut self, place: LruPlace) {
        self.places[place as usize].small = true;
        self.small_held += 1;
        if self.small_oldest == NOWHERE {
            self.small_oldest = place;
        }
        if self.small_held > self.small_room {
            self.leave_small(self.small_oldest);
        }
    }

    fn free_place(&mut self, line: u32) -> LruPlace {
        let place = self.free;
        if place != NOWHERE {
            let held = &mut self.places[place as usize];
            held.line = line;
            self.free = held.newer;
            return place;
        }
        self.places.push(LruEntry::of(line));
        (self.places.len() - 1) as LruPlace
    }

    /// Makes the line at `place` the newest one.
    fn append(&mut self, place: LruPlace) {
        let newest = std::mem::replace(&mut self.places[NOWHERE as usize].older, place);
        self.places[newest as usize].newer = place;
        let held = &mut self.places[place as usize];
        (held.older, held.newer) = (newest, NOWHERE);
    }

    fn take_out(&mut self, place: LruPlace) {
        let LruEntry { older, newer, .. } = self.places[place as usize];
        self.places[older as usize].newer = newer;
        self.places[newer as usize].older = older;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the cache with two lists that are searched from the front.
    #[test]
    fn the_line_used_least_recently_leaves_first() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut lru = Lru::new(8, 3);
        let (mut large, mut small, mut places) = (Vec::new(), Vec::new(), [NOWHERE; 12]);
        for _ in 0..20_000 {
            let line = random.u32(0..12);
            let place = &mut places[line as usize];
            assert_eq!(large.contains(&line), *place != NOWHERE);
            match random.u32(0..8) {
                0 if *place != NOWHERE => {
                    lru.remove(std::mem::replace(place, NOWHERE));
                    large.retain(|&other| other != line);
                    small.retain(|&other| other != line);
                }
                1 if *place != NOWHERE => {
                    lru.leave_small(*place);
                    small.retain(|&other| other != line);
                }
                _ => {
                    for (list, room) in [(&mut large, 9), (&mut small, 3)] {
                        list.retain(|&other| other != line);
                        list.push(line);
                        (list.len() > room).then(|| list.remove(0));
                    }
                    *place = lru.touch(line, *place);
                }
            }
            if lru.is_over() {
                assert_eq!(lru.oldest(), large.remove(0));
                let oldest = &mut places[lru.oldest() as usize];
                lru.remove(std::mem::replace(oldest, NOWHERE));
            }
            assert!(large.len() <= 8);
            for &line in &large {
                assert_eq!(lru.is_small(places[line as usize]), small.contains(&line));
            }
        }
    }
}
