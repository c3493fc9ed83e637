//! Which lines a cache has room for: least recently used ones leave first.
//!
//! Uses are queued, and stamps say which of a line's entries is its last one; older entries are skipped. So
//! a use costs a push, and nothing is moved about.

use std::collections::VecDeque;

/// The lines of one cache, by last use.
#[derive(Clone, Debug)]
pub(crate) struct Lru {
    room: usize,
    held: usize,
    clock: u32,
    uses: VecDeque<(u32, u32)>,
}

impl Lru {
    pub(crate) fn new(room: usize) -> Self {
        Self {
            room,
            held: 0,
            clock: 0,
            uses: VecDeque::new(),
        }
    }

    /// Notes a use of `line`, whose last one was `stamp`, 0 if it was not in; its new stamp.
    pub(crate) fn touch(&mut self, line: u32, stamp: u32) -> u32 {
        if stamp == 0 {
            self.held += 1;
        } else if self.uses.back() == Some(&(line, stamp)) {
            return stamp;
        }
        self.clock += 1;
        self.uses.push_back((line, self.clock));
        self.clock
    }

    /// A line has gone.
    pub(crate) fn remove(&mut self) {
        self.held -= 1;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.held > self.room
    }

    /// Whether most uses are not the last ones of their lines.
    pub(crate) fn is_cluttered(&self) -> bool {
        self.uses.len() > 2 * self.held + 64
    }

    /// Takes out the oldest use.
    pub(crate) fn oldest(&mut self) -> Option<(u32, u32)> {
        self.uses.pop_front()
    }

    /// Keeps the uses that are still the last ones.
    pub(crate) fn tidy(&mut self, is_last: impl Fn(u32, u32) -> bool) {
        self.uses.retain(|&(line, stamp)| is_last(line, stamp));
    }
}
