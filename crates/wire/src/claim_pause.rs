//! How often a thread that waits at a line of two flags pauses before it takes the line.
//!
//! Two threads that meet many times in a row need one transfer of the line each time, if whoever gets the line keeps it until it has
//! written its next flag. Whoever waits asks for the line meanwhile, to write its own next flag there, and may take it away just before.
//! Where cores are far from each other that costs a second transfer (barriers of two threads 155 ns in place of 105), which one pause more
//! prevents. Where they are near, a pause costs its own time (48 ns in place of 38; AMD EPYC, 2-core KVM guest that moves its cores,
//! November 2026, `benches/records/2026-11-30-barrier.md`). Which it is, and whether it has changed, rows of waits tell by their time.

use std::num::Wrapping;

/// The choice of one thread for one line.
///
/// **Invariant:** both threads of a line wait at it equally often, so they try both ways in the same rows, and their rows take the same
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
///     time += [155, 105][pauses as usize];
/// }
/// // Each way is tried now and then.
/// assert!(time < 108 * 100_000);
/// ```
#[derive(Clone, Debug)]
pub struct ClaimPause {
    waits: Wrapping<u32>,
    /// When the row began.
    since: u64,
    /// The least time of a row without and with a pause, of the trial that is under way.
    least: [u64; 2],
    /// How many more pauses the last trial has chosen: 0 or 1.
    chosen: u32,
    /// How many this row makes.
    pauses: u32,
}

/// Waits in one row. Reading the clock takes some 10 ns.
const ROW: u32 = 256;

/// Rows from one trial to the next.
const ROWS: u32 = 128;

/// Rows of a trial, by turns without and with a pause. They cost one in thirty of what the worse way costs more.
const TRIED: u32 = 8;

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
            least: [u64::MAX; 2],
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
            let [without, with] = std::mem::replace(&mut self.least, [u64::MAX; 2]);
            // A pause has to be worth more than rows differ by chance.
            self.chosen = u32::from(with < without - without / 16);
        }
        self.pauses = match next < TRIED {
            true => next % 2,
            false => self.chosen,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of the last tenth of so many waits that pause, where a wait takes this long without and with a pause.
    fn share(choice: &mut ClaimPause, waits: u32, mut takes: impl FnMut(u32, u32) -> u64) -> f64 {
        let (mut time, mut paused) = (1_000_000, 0);
        for wait in 0..waits {
            let pauses = choice.next(|| time);
            time += takes(wait, pauses);
            paused += if wait >= waits - waits / 10 {
                pauses
            } else {
                0
            };
        }
        f64::from(paused) / f64::from(waits / 10)
    }

    #[test]
    fn far_cores_pause_and_near_ones_do_not_and_a_change_is_noticed() {
        let mut choice = ClaimPause::new();
        for _ in 0..3 {
            let far = share(&mut choice, 200_000, |_, pauses| {
                [155, 105][pauses as usize]
            });
            assert!(far > 0.9, "{far}");
            let near = share(&mut choice, 200_000, |_, pauses| [38, 48][pauses as usize]);
            assert!(near < 0.1, "{near}");
        }
    }

    #[test]
    fn what_is_computed_between_the_waits_decides_nothing() {
        let rough = |wait: u32, _| 1_000 + u64::from(wait.wrapping_mul(0x9E37_79B9) >> 22);
        let paused = share(&mut ClaimPause::new(), 400_000, rough);
        assert!(paused < 0.1, "{paused}");
    }

    #[test]
    fn an_interrupted_row_is_no_evidence() {
        // One row in three loses its CPU for a while.
        let far = share(&mut ClaimPause::new(), 400_000, |wait, pauses| {
            let interrupted = wait % (3 * ROW) == 7;
            [155, 105][pauses as usize] + if interrupted { 3_000_000 } else { 0 }
        });
        assert!(far > 0.5, "{far}");
    }
}
