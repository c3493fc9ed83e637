//! Whether a wait of a thread that shares its hardware thread spins for a moment before it gives the CPU away.
//!
//! A short spin pays where whoever is waited for runs at this moment, on another CPU, and loses as much where it waits for this very
//! CPU. Which of both holds depends on who it is, and on whose turn it is: the first rank on a CPU to come to an operation needs those
//! that share the CPU with it, the last one needs none of them. So what happened decides, as processors predict branches: by what is
//! waited for, and by whether the wait before was such a spin that ended well, each has a score.

use std::cell::Cell;

/// The scores of one thread's waits.
#[derive(Clone, Debug)]
pub(super) struct ShortSpins {
    /// By the hash of a wait's token and how the wait before ended: below 0 where spins were in vain lately.
    scores: [Cell<i8>; 2 << TOKEN_BITS],
    /// Whether the wait before ended in a short spin.
    ended: Cell<bool>,
    /// Waits that did not spin.
    declined: Cell<u32>,
}

/// Bits of a token's hash. A rank of eight waits for seven others; tokens that share scores are predicted worse, and no more.
const TOKEN_BITS: u32 = 5;

/// A spin in vain costs the time of two switches, and one that ends the wait saves one.
const IN_VAIN: i8 = -2;
const ENDED: i8 = 1;

const LEAST: i8 = -4;
const MOST: i8 = 3;

/// One of so many waits that would not spin does, as ranks come to other operations and the system moves threads.
const TRY_EVERY: u32 = 64;

impl ShortSpins {
    pub(super) const fn new() -> Self {
        Self {
            scores: [const { Cell::new(0) }; 2 << TOKEN_BITS],
            ended: Cell::new(false),
            declined: Cell::new(0),
        }
    }

    /// Spins by `spin` for what has this token, if that is likely to end the wait.
    #[inline]
    pub(super) fn run<T>(&self, token: u32, spin: impl FnOnce() -> Option<T>) -> Option<T> {
        let score = &self.scores[self.place(token)];
        let found = if score.get() >= 0 || self.is_tried() {
            let found = spin();
            score.set(match found {
                Some(_) => (score.get() + ENDED).min(MOST),
                None => (score.get() + IN_VAIN).max(LEAST),
            });
            found
        } else {
            None
        };
        self.ended.set(found.is_some());
        found
    }

    fn place(&self, token: u32) -> usize {
        // Knuth's multiplicative hash: tokens of neighbouring links differ in few bits.
        let hash = token.wrapping_mul(0x9E37_79B1) >> (u32::BITS - TOKEN_BITS);
        (hash as usize) << 1 | usize::from(self.ended.get())
    }

    fn is_tried(&self) -> bool {
        let declined = self.declined.get().wrapping_add(1);
        self.declined.set(declined);
        declined.is_multiple_of(TRY_EVERY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The spins, and those of them in vain, of `waits` waits; `would_end` tells of a wait and of the one before whether a spin ends it.
    fn run(
        spins: &ShortSpins,
        waits: u32,
        mut would_end: impl FnMut(u32, bool) -> (u32, bool),
    ) -> (u32, u32) {
        let (mut tried, mut vain, mut before) = (0, 0, false);
        for wait in 0..waits {
            let (token, ends) = would_end(wait, before);
            let found = spins.run(token, || {
                tried += 1;
                vain += u32::from(!ends);
                ends.then_some(())
            });
            before = found.is_some();
        }
        (tried, vain)
    }

    #[test]
    fn each_link_is_judged_by_itself() {
        // Ranks 1, 3 and 5 run on other CPUs, ranks 2, 4 and 6 wait for this one.
        let (tried, vain) = run(&ShortSpins::new(), 6_000, |wait, _| {
            let peer = wait % 6 + 1;
            (peer, peer % 2 == 1)
        });
        assert!((3_000..3_000 + 60).contains(&tried), "{tried}");
        assert!(vain < 60, "{vain}");
    }

    #[test]
    fn ranks_in_turn_are_first_and_last_at_one_link() {
        // Whoever has just been let run ends its next wait by a spin, and the one after it by giving way.
        let (tried, vain) = run(&ShortSpins::new(), 2_000, |_, before| (7, !before));
        assert!((900..1_100).contains(&tried), "{tried}");
        assert!(vain < 30, "{vain}");
    }

    #[test]
    fn waits_that_no_spin_ends_seldom_spin_and_notice_a_change() {
        let spins = ShortSpins::new();
        let (tried, _) = run(&spins, 6_400, |_, _| (1, false));
        assert!(tried <= 6_400 / TRY_EVERY + 1, "{tried}");
        let (tried, vain) = run(&spins, 6_400, |_, _| (1, true));
        assert!(vain == 0 && tried > 6_400 - 5 * TRY_EVERY, "{tried}");
    }
}
