//! Up to which lengths rounds of messages are the faster way, by a model of messages.
//!
//! A message of `s` bytes takes `L + s·G` (Hockney's model; Thakur, Rabenseifner and Gropp 2005 choose by it too). Only the
//! length `n½ = L / G` counts, at which a message takes twice as long as a short one: whether all costs of a machine are
//! great or small does not matter. With `log` = ⌈log2 n⌉:
//!
//! | what | time of one way | of the other | the first is faster below |
//! | --- | --- | --- | --- |
//! | allreduce by doubling, or in blocks of 2^k ranks | `log·(L + s·G)` | `2·log·L + 2·(n−1)/n·s·G` | `n½·log / (log − 2·(n−1)/n)` |
//! | allreduce by doubling, or in blocks of owners | `log·(L + s·G)` | `2·(n−1)` loans of `s/n` | `n½·n` |
//! | blocks together with those of others, or each by itself | `log·L + n·s·G` | `L + (n−2)·L/2 + n·s·G/2`, since what is sent overlaps with what comes in | `2·n½·(1 − 2·(log−1)/(n−2))` |
//!
//! Sizes of loans and overlaps are estimates. On simulated machines the second row leaves out a factor of up to 2, and the
//! third one is within a factor of 2 of where the two ways meet; docs/defaults.md has what that costs.

/// The length `n½` in bytes where it was not measured.
///
/// The simulated Xeon E5-2660 and Xeon Phi, which are fitted to published costs of many lines, have 553 and 926. By the
/// probe it is 1.1 to 2.1 KiB on guests of Intel and AMD machines of 2026, however far apart the host puts their cores.
pub const HALF_BYTES: usize = 1024;

/// Lengths in bytes below which rounds of messages are the faster way. All are 0 for one or two ranks, and where ranks
/// share hardware threads: such a team takes turns of the scheduler, and rounds need more of them.
///
/// # Examples
///
/// ```
/// use corecast_collectives::registry::RoundLimits;
///
/// let limits = RoundLimits::new(8, 1024);
/// assert_eq!((limits.whole, limits.together), (2458, 683));
/// assert_eq!(RoundLimits::new(2, 1024), RoundLimits::NONE);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundLimits {
    /// Whether there are more than two ranks, all of which run at the same time.
    pub concurrent: bool,
    /// Of an allreduction: data that all ranks exchange whole in every round.
    pub whole: usize,
    /// Of a block that travels together with blocks of other ranks.
    pub together: usize,
}

impl RoundLimits {
    /// Rounds are never the faster way.
    pub const NONE: Self = Self {
        concurrent: false,
        whole: 0,
        together: 0,
    };

    /// The limits of a team of `n` ranks with a hardware thread each, on a machine with this `n½`.
    pub fn new(n: usize, half_bytes: usize) -> Self {
        if n <= 2 {
            return Self::NONE;
        }
        let (ranks, half) = (n as f64, half_bytes as f64);
        let log = f64::from(n.next_power_of_two().ilog2());
        let whole = match n.is_power_of_two() {
            true => log / (log - 2.0 * (ranks - 1.0) / ranks),
            false => ranks,
        };
        let together = 2.0 * (1.0 - 2.0 * (log - 1.0) / (ranks - 2.0));
        Self {
            concurrent: true,
            whole: (half * whole).round() as usize,
            // It is below 0 where log2 n rounds are more than a message to each.
            together: (half * together).round().max(0.0) as usize,
        }
    }
}
