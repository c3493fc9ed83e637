//! The choice and the order of lines: random, and the same for all threads of a crew. Pure.
//!
//! A line's address decides which slice of the last cache and which directory serves it, and its successor
//! in memory may be fetched with it. So lines are drawn at random, from one pair of lines each, and come in
//! random order (CLa §2.2.4: without this up to five times as much variation). They are drawn from a window
//! that the core's table of translations covers, and the first pair of each page is left for
//! [`Picker::pages`]: a walk through the page tables would take longer than most lines do. Huge pages alone
//! are not enough, as a virtual machine's may lie in small pages of its host, and are translated as such.

use corecast_wire::{LINE_BYTES, PAIR_BYTES};

/// The smallest page.
const PAGE_BYTES: usize = 4096;

/// Bytes of a window: half of the pages that a first-level table of translations holds.
const WINDOW_BYTES: usize = 32 * PAGE_BYTES;

/// Bytes from which lines are drawn.
pub(super) const AREA_BYTES: usize = 4 << 20;

/// The most lines of a draw: half of those in a window, so that drawing ends soon.
pub(super) const LINES_MAX: usize = WINDOW_BYTES / PAIR_BYTES / 2;

/// The seed with which all threads of a crew draw.
pub(super) const SEED: u64 = 41;

/// A generator of random lines.
#[derive(Clone, Debug)]
pub(super) struct Picker {
    random: fastrand::Rng,
    begin: usize,
}

impl Picker {
    /// Makes a generator; equal seeds draw equal lines.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: fastrand::Rng::with_seed(seed),
            begin: 0,
        }
    }

    /// Returns the offsets of `count` different lines, at most [`LINES_MAX`].
    pub(super) fn lines(&mut self, count: usize) -> Vec<usize> {
        assert!(count <= LINES_MAX, "{count} lines of {LINES_MAX}");
        let windows = AREA_BYTES / WINDOW_BYTES;
        self.begin = self.random.usize(..windows) * WINDOW_BYTES;
        let pairs = WINDOW_BYTES / PAIR_BYTES;
        let mut taken = vec![false; pairs];
        let mut lines = Vec::with_capacity(count);
        while lines.len() < count {
            let pair = self.random.usize(..pairs);
            let first_of_page = (pair * PAIR_BYTES).is_multiple_of(PAGE_BYTES);
            if !first_of_page && !std::mem::replace(&mut taken[pair], true) {
                let second = usize::from(self.random.bool()) * LINE_BYTES;
                lines.push(self.begin + pair * PAIR_BYTES + second);
            }
        }
        lines
    }

    /// Returns `count` adjacent lines, from a random one on.
    pub(super) fn run(&mut self, count: usize) -> Vec<usize> {
        let windows = AREA_BYTES / WINDOW_BYTES;
        self.begin = self.random.usize(..windows) * WINDOW_BYTES;
        // The first pair of the window is left out, as in a draw.
        let lines = (WINDOW_BYTES - PAIR_BYTES) / LINE_BYTES;
        assert!(count <= lines, "{count} lines of {lines}");
        let first = self.begin + PAIR_BYTES + self.random.usize(..=lines - count) * LINE_BYTES;
        (0..count).map(|line| first + line * LINE_BYTES).collect()
    }

    /// Returns a line in each page of the last window. No draw takes these lines, a run may.
    pub(super) fn pages(&self) -> impl Iterator<Item = usize> + use<> {
        (self.begin..self.begin + WINDOW_BYTES).step_by(PAGE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn lines_are_different_apart_and_the_same_for_all() {
        let (mut a, mut b) = (Picker::new(7), Picker::new(7));
        for round in 0..50 {
            let lines = a.lines(LINES_MAX);
            assert_eq!(lines, b.lines(LINES_MAX));
            let pairs: BTreeSet<_> = lines.iter().map(|line| line / PAIR_BYTES).collect();
            assert_eq!(pairs.len(), lines.len(), "round {round}");
            assert!(
                lines
                    .iter()
                    .all(|line| line % LINE_BYTES == 0 && *line < AREA_BYTES)
            );
            let touched: BTreeSet<_> = a.pages().map(|page| page / PAIR_BYTES).collect();
            assert!(pairs.is_disjoint(&touched));
            assert!(!lines.is_sorted());
        }
    }

    #[test]
    fn runs_lie_inside() {
        let mut picker = Picker::new(3);
        let runs: Vec<_> = (0..100).map(|_| picker.run(128)).collect();
        let starts: BTreeSet<_> = runs.iter().map(|run| run[0]).collect();
        assert!(starts.len() > 90, "{starts:?}");
        for run in runs {
            assert!(run[127] < AREA_BYTES && run[127] - run[0] == 127 * LINE_BYTES);
            assert!(run[0] / WINDOW_BYTES == run[127] / WINDOW_BYTES);
        }
    }
}
