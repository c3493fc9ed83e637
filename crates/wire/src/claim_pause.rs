//! How often a thread that waits at a line of two flags pauses before it takes the line.
//!
//! Two threads that meet many times in a row need one transfer of the line each time, if whoever gets the line keeps it until it has
//! written its next flag. Whoever waits asks for the line meanwhile, to write its own next flag there, and may take it away just before.
//! That costs a second transfer, which some pauses more prevent: barriers of two threads on far cores took 155 ns in place of 105,
//! allreductions of 8 bytes on near ones take 83 in place of 72. Where it does not happen, a pause costs its own time (48 ns in place of
//! 38; AMD EPYC, 2-core KVM guest that moves its cores, November 2026, `benches/records/2026-11-30-barrier.md` and
//! `2026-11-30-two-ranks.md`). Which it is, and whether it has changed, rows of waits tell by their time.

use std::num::Wrapping;

/// The choice of one thread for one line.
///
/// **Invariant:** both threads of a line wait at it equally often, so they try the same in the same rows, and their rows take the same
/// time. Nothing but time depends on that.
///
/// # Examples
///
/// ```
/// use corecast_wire::claim_pause::ClaimPause;
///
/// let (mut choice, mut time) = (ClaimPause::new(), 0);
/// for _ in 0..100_000 {
///     let pauses = choice.next(|| time);
///     time += [155, 105, 117][pauses as usize];
/// }
/// // Each way is tried now and then.
/// assert!(time < 108 * 100_000);
/// ```
#[derive(Clone, Debug)]
pub struct ClaimPause {
    waits: Wrapping<u32>,
    /// When the row began.
    since: u64,
    /// The least time of a row with 0, 1 and 2 pauses, of the trial that is under way.
    least: [u64; WAYS],
    /// How many more pauses the last trial has chosen.
    chosen: u32,
    /// How many this row makes.
    pauses: u32,
}

/// How many pauses are tried: 0 to 2. A third one takes as long as the transfer that it could save.
const WAYS: usize = 3;

/// Waits in one row. Reading the clock takes some 10 ns.
const ROW: u32 = 256;

/// Rows from one trial to the next.
const ROWS: u32 = 128;

/// Rows of a trial, with each number of pauses by turns. They cost one in twenty of what the worse ways cost more.
const TRIED: u32 = 3 * WAYS as u32;

impl Default for ClaimPause {
    fn default() -> Self {
        Self::new()
    }
}

impl ClaimPause {
    /// Begins with a trial.
    pub const fn new() -> Self {
        Self {
            waits: Wrapping(0),
            since: 0,
            least: [u64::MAX; WAYS],
            chosen: 0,
            pauses: 0,
        }
    }

    /// How many more pauses the wait makes that begins now. `now` is the time in any unit.
    ///
    /// # Cost
    ///
    /// A counter, and every 256th time a look at the clock.
    #[inline(always)]
    pub fn next(&mut self, now: impl FnOnce() -> u64) -> u32 {
        self.waits += 1;
        if self.waits.0.is_multiple_of(ROW) {
            self.end_row(now());
        }
        self.pauses
    }

    /// [`next`](Self::next), unless it would look at the clock: then nothing is done.
    #[inline(always)]
    pub fn next_amid_row(&mut self) -> Option<u32> {
        let waits = self.waits + Wrapping(1);
        if waits.0.is_multiple_of(ROW) {
            return None;
        }
        self.waits = waits;
        Some(self.pauses)
    }

    #[cold]
    #[inline(never)]
    fn end_row(&mut self, now: u64) {
        let took = now.wrapping_sub(self.since);
        self.since = now;
        let next = self.waits.0 / ROW % ROWS;
        // The row that has ended is the one before; the first one of all began before time.
        if (1..=TRIED).contains(&next) && self.waits.0 > ROW {
            let least = &mut self.least[self.pauses as usize];
            *least = took.min(*least);
        }
        if next == TRIED {
            let least = std::mem::replace(&mut self.least, [u64::MAX; WAYS]);
            // A pause more has to be worth more than rows differ by chance.
            let better = |chosen: usize, more: usize| match least[more]
                < least[chosen] - least[chosen] / 16
            {
                true => more,
                false => chosen,
            };
            self.chosen = (1..WAYS).fold(0, better) as u32;
        }
        self.pauses = match next < TRIED {
            true => next % WAYS as u32,
            false => self.chosen,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares of the last tenth of so many waits with 0, 1 and 2 pauses, where a wait takes this long with so many.
    fn shares(
        choice: &mut ClaimPause,
        waits: u32,
        mut takes: impl FnMut(u32, usize) -> u64,
    ) -> [f64; WAYS] {
        let (mut time, mut shares) = (1_000_000, [0.0; WAYS]);
        for wait in 0..waits {
            let pauses = choice.next(|| time) as usize;
            time += takes(wait, pauses);
            if wait >= waits - waits / 10 {
                shares[pauses] += 10.0 / f64::from(waits);
            }
        }
        shares
    }

    #[test]
    fn each_number_of_pauses_is_chosen_where_it_is_fastest_and_a_change_is_noticed() {
        let mut choice = ClaimPause::new();
        for takes in [
            [155, 105, 117],
            [38, 48, 60],
            [90, 86, 66],
            [155, 105, 101],
            [80, 77, 75],
        ] {
            let shares = shares(&mut choice, 200_000, |_, pauses| takes[pauses]);
            // A pause more for little is not worth it.
            let best = match takes {
                [155, ..] => 1,
                [90, ..] => 2,
                _ => 0,
            };
            assert!(shares[best] > 0.9, "{takes:?}: {shares:?}");
        }
    }

    #[test]
    fn amid_a_row_it_is_the_same_without_a_clock() {
        let (mut all, mut amid) = (ClaimPause::new(), ClaimPause::new());
        let mut ends = 0;
        for time in 0..20 * u64::from(ROW * ROWS) {
            let ended = amid.next_amid_row();
            ends += u32::from(ended.is_none());
            let pauses = ended.unwrap_or_else(|| amid.next(|| time));
            assert_eq!(pauses, all.next(|| time));
        }
        assert_eq!(ends, 20 * ROWS);
    }

    #[test]
    fn what_is_computed_between_the_waits_decides_nothing() {
        let rough = |wait: u32, _| 1_000 + u64::from(wait.wrapping_mul(0x9E37_79B9) >> 22);
        let shares = shares(&mut ClaimPause::new(), 400_000, rough);
        assert!(shares[0] > 0.9, "{shares:?}");
    }

    #[test]
    fn an_interrupted_row_is_no_evidence() {
        // One row in four loses its CPU for a while.
        let shares = shares(&mut ClaimPause::new(), 400_000, |wait, pauses| {
            let interrupted = wait % (4 * ROW) == 7;
            [155, 105, 117][pauses] + if interrupted { 3_000_000 } else { 0 }
        });
        assert!(shares[1] > 0.5, "{shares:?}");
    }
}
