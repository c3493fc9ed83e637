//! Whether the waits of a thread offer the CPU to others, or sleep at once.
//!
//! Where ranks share a hardware thread, a yield gives the CPU to a rank that is waited for, and returns when that waits as well.
//! Beside a thread that computes it returns after that one's time slice, of 1 to 4 ms. Then sleeping is better, as the kernel runs a
//! woken thread before one that computes. But each sleeper has to be woken by a system call, so among ranks alone sleeping is worse:
//! broadcasts of eight processes on two CPUs take 3 to 4 times as long (8 KiB to 1 MiB; 2-core KVM guest, AMD EPYC, 28 November
//! 2026).
//!
//! A late return alone tells nothing, since ranks may have copied for long, or the host had another guest run. So it is the *share*
//! that decides: waits sleep once turns that returned late are more than half of the time spent in turns. Among eight ranks that
//! copy 1 MiB they are 8 %, beside two threads that compute nearly all.

use std::cell::Cell;

/// The decision of one thread, which it makes anew wherever a turn was late.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    /// The number of coming waits that sleep at once.
    sleeps: Cell<u32>,
    /// The number of them after the next decision to sleep.
    next_sleeps: Cell<u32>,
    /// Ticks that recent waits spent in turns.
    waited: Cell<u64>,
    /// The part of them in late turns.
    late: Cell<u64>,
}

/// The waits that sleep before turns are tried again. It is few at first, as one late turn among few others proves little, and
/// doubles while each try ends the same.
const SLEEPS_FIRST: u32 = 16;
const SLEEPS_MAX: u32 = 256;

/// What is recent, in late turns of the shortest kind: some 20 ms. What was before counts half, and so on.
const RECENT_LATE_TURNS: u64 = 40;

impl Turns {
    pub(crate) const fn new() -> Self {
        Self {
            sleeps: Cell::new(0),
            next_sleeps: Cell::new(SLEEPS_FIRST),
            waited: Cell::new(0),
            late: Cell::new(0),
        }
    }

    /// Whether the wait that begins should sleep at once.
    pub(crate) fn sleep_at_once(&self) -> bool {
        let left = self.sleeps.get();
        self.sleeps.set(left.saturating_sub(1));
        left > 0
    }

    /// Notes a wait that spent `waited` ticks in turns, `late` of them in turns that returned later than after `turn_max`.
    pub(crate) fn note(&self, waited: u64, late: u64, turn_max: u64) {
        if self.waited.get() > RECENT_LATE_TURNS * turn_max {
            self.waited.set(self.waited.get() / 2);
            self.late.set(self.late.get() / 2);
        }
        self.waited.set(self.waited.get().saturating_add(waited));
        self.late.set(self.late.get().saturating_add(late));
        if late > 0 {
            self.decide();
        }
    }

    #[cold]
    fn decide(&self) {
        if self.late.get() <= self.waited.get() / 2 {
            return self.next_sleeps.set(SLEEPS_FIRST);
        }
        let sleeps = self.next_sleeps.get();
        self.sleeps.set(sleeps);
        self.next_sleeps.set((2 * sleeps).min(SLEEPS_MAX));
        // What comes after these sleeps is judged by itself.
        self.waited.set(0);
        self.late.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN_MAX: u64 = 500;

    /// The numbers of waits that slept and that had a late turn, of `waits` waits of `turn` ticks each, of which one in `rarely`
    /// has a turn of `slice`.
    fn run(turns: &Turns, waits: u32, turn: u64, (rarely, slice): (u32, u64)) -> (u32, u32) {
        let (mut slept, mut late) = (0, 0);
        for wait in 1..=waits {
            match (turns.sleep_at_once(), wait % rarely) {
                (true, _) => slept += 1,
                (false, 0) => {
                    late += 1;
                    turns.note(turn + slice, slice, TURN_MAX);
                }
                (false, _) => turns.note(turn, 0, TURN_MAX),
            }
        }
        (slept, late)
    }

    #[test]
    fn beside_a_thread_that_computes_few_waits_lose_a_time_slice() {
        for rarely in [1, 2, 5] {
            let (slept, late) = run(&Turns::new(), 100_000, 20, (rarely, 3_000));
            assert!(slept > 95_000 && late < 500, "{slept} {late}");
        }
    }

    #[test]
    fn ranks_that_are_late_now_and_then_go_on_taking_turns() {
        // Ranks that copy 1 MiB each, and short messages with a pause of the whole machine now and then.
        for (turn, rarely, slice) in [(230, 30, 600), (20, 100, 600), (5, 1_000, 3_000)] {
            let (slept, _) = run(&Turns::new(), 100_000, turn, (rarely, slice));
            assert!(slept < 4_000, "{turn} {rarely} {slice}: {slept}");
        }
    }

    #[test]
    fn one_late_turn_at_the_start_is_soon_forgotten() {
        let turns = Turns::new();
        turns.note(620, 600, TURN_MAX);
        assert_eq!(run(&turns, 1_000, 20, (u32::MAX, 0)), (SLEEPS_FIRST, 0));
    }

    #[test]
    fn when_the_others_have_gone_turns_come_back() {
        let turns = Turns::new();
        run(&turns, 10_000, 20, (1, 3_000));
        let (slept, _) = run(&turns, 10_000, 20, (200, 600));
        assert!(slept <= SLEEPS_MAX + SLEEPS_FIRST, "{slept}");
        // And so do sleeps when they are here again.
        let (slept, late) = run(&turns, 10_000, 20, (1, 3_000));
        assert!(slept > 9_000 && late < 100, "{slept} {late}");
    }
}
