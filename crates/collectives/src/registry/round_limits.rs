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
//! | allreduce whole, of two ranks or of ranks that share hardware threads, or in blocks of owners | `2·(n−1)·(L + s·G)` of all ranks together | `2·n·(n−1)` loans of `s/n`, which are copied once and not twice | `2·n½·(n−1)` |
//! | allreduce from each to all, or along trees, where `k` ranks share each hardware thread | `(n−1)·(n−2)` messages more on `n/k` threads, a tenth of a turn and `s·G` each | each rank waits once more for the others on its thread: a turn | `n½·(10·n / (k·(n−1)·(n−2)) − 1)` |
//! | reduce whole, along a tree, or in blocks of owners, where `k` ranks share each hardware thread | `(n−1)·s·G` of the root's thread | `(n−1)·s·G` of `n/k` threads, and `n·(n−1)` loans, which wait for six tenths of a turn each | `6·n½·n² / (n − k)` |
//! | one way in a message, or lent in place, with a hardware thread for each rank | `L + s·G` | `L + L/2 + s·G/2`: the data are copied once, but their first line comes behind the descriptor | `n½` |
//! | gather of lent parts that the root copies, or that their ranks write | `(n−1)·s·G/2` | `s·G/2`, and `3·L/2` more, as the root first says where | `3·n½ / (n−1)` |
//! | blocks together with those of others, or each by itself | `log·L + n·s·G` | `L + (n−2)·L/2 + n·s·G/2`, since what is sent overlaps with what comes in | `2·n½·(1 − 2·(log−1)/(n−2))` |
//! | allgather by a gather and a broadcast from one line, or from each to all, where `k` ranks share each hardware thread | of the root's, `(n−1)·(L + s·G)/2 + n·s·G/2`, of the `k−1` others on its thread `L + (n+1)·s·G/2`, and `2·k·L` as all wait for two turns more | `k·(n−1)·(L + s·G/2)` of a thread, in loans | `n½·((2·k−1)·(n−1) − 6·k + 2) / (n + 2·k − 2)` |
//!
//! Where ranks share hardware threads a message also waits until its receiver has a turn of the scheduler, so `L` has a turn more,
//! and `n½` is greater ([`SHARED_HALF_BYTES`]).
//!
//! Sizes of loans and overlaps are estimates. On simulated machines the second row leaves out a factor of up to 2, and the
//! last one is within a factor of 2 of where the two ways meet. By the third row, 3, 4 and 8 threads on two cores should change at 14, 21
//! and 50 KiB, and they do at some 12, 40 and 64 (KVM guest, AMD EPYC, November 2026). By the last row, 4, 8 and 16 threads there
//! should change at 0, 6 and 17 KiB, and they do at 0, 4 to 16 and 16 (28 November). By the row of allreductions from each to all, 3, 4, 6
//! and 8 processes there should change at 18, 8, 0 and 0 KiB, and they do beyond 8, at 8, at 0.1 and at 0 (29 November). By the row of
//! reductions, 3, 4 and 8 threads on two cores should change at 190, 170 and 340 KiB, and they do at some 100, 180 and 400 (1 December).
//! docs/defaults.md has what all that costs.

/// The length `n½` in bytes where it was not measured.
///
/// The simulated Xeon E5-2660 and Xeon Phi, which are fitted to published costs of many lines, have 553 and 926. By the
/// probe it is 1.1 to 2.1 KiB on guests of Intel and AMD machines of 2026, however far apart the host puts their cores.
pub const HALF_BYTES: usize = 1024;

/// The same where ranks share hardware threads: a turn of the scheduler takes as long as several messages of a line, by the probe
/// 0.4 to 0.8 µs on these guests.
pub const SHARED_HALF_BYTES: usize = 2 * HALF_BYTES;

/// Short messages that take as long as a turn of the scheduler, apart from their own turns.
const TURN_MESSAGES: usize = 10;

/// Short messages that take as long as a rank waits for a turn of its peer, for each loan of a reduction in blocks.
const LOAN_MESSAGES: usize = 6;

/// What stands in for `n½` where it was not measured, in a team of which up to `sharing` ranks share a hardware thread.
pub const fn assumed_half_bytes(sharing: usize) -> usize {
    match sharing {
        0 | 1 => HALF_BYTES,
        _ => SHARED_HALF_BYTES,
    }
}

/// Lengths in bytes below which rounds of messages, or messages with all data, are the faster way.
///
/// # Examples
///
/// ```
/// use corecast_collectives::registry::RoundLimits;
///
/// let limits = RoundLimits::new(8, 1024);
/// assert_eq!((limits.whole, limits.together), (2458, 683));
/// let two = RoundLimits::new(2, 1024);
/// assert_eq!((two.whole, two.message, two.put), (2048, 1024, 3072));
/// let shared = RoundLimits::shared(8, 4, 2048);
/// assert_eq!((shared.concurrent, shared.whole, shared.together), (false, 28672, 0));
/// assert_eq!((shared.gathered, shared.direct, shared.reduced), (3949, 0, 196608));
/// assert_eq!(RoundLimits::shared(4, 2, 2048).direct, 4778);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundLimits {
    /// Whether there are more than two ranks, all of which run at the same time.
    pub concurrent: bool,
    /// Of an allreduction: data that go whole. All ranks exchange them in every round if they are concurrent.
    pub whole: usize,
    /// Of an allreduction: data that each rank gives to all others. 0 where all ranks run at the same time.
    pub direct: usize,
    /// Of what one rank gives another, where lending copies nothing: data that go in a message. All where ranks share hardware threads,
    /// as who lends waits for a turn of whoever reads.
    pub message: usize,
    /// Of a block of a gather that the root copies.
    pub put: usize,
    /// Of a block that travels together with blocks of other ranks. 0 for two ranks, and where ranks share hardware threads, as rounds
    /// need more turns of the scheduler there.
    pub together: usize,
    /// Of a reduction: data that go whole along a tree, and not in blocks of owners. 0 where all ranks run at the same time.
    pub reduced: usize,
    /// Of a block of an allgather that one rank gathers and broadcasts. 0 where all ranks run at the same time.
    pub gathered: usize,
}

impl RoundLimits {
    /// The limits of a team of `n` ranks with a hardware thread each, on a machine with this `n½`.
    pub fn new(n: usize, half_bytes: usize) -> Self {
        if n <= 2 {
            return Self::shared(n, 1, half_bytes);
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
            direct: 0,
            reduced: 0,
            message: half_bytes,
            put: 3 * half_bytes / (n - 1),
            // It is below 0 where log2 n rounds are more than a message to each.
            together: (half * together).round().max(0.0) as usize,
            gathered: 0,
        }
    }

    /// The limits of a team of `n` ranks, up to `sharing` of which share a hardware thread, where a message takes twice as long as a
    /// short one, turn included, from this length on.
    pub fn shared(n: usize, sharing: usize, half_bytes: usize) -> Self {
        let (others, sharing) = (n.saturating_sub(1), sharing.max(1));
        let saved = ((2 * sharing - 1) * others + 2).saturating_sub(6 * sharing);
        // Of two ranks there are no others whose messages are more.
        let more = sharing * others * others.saturating_sub(1);
        let turn = TURN_MESSAGES * n;
        let direct = match more {
            0 => 0,
            _ => half_bytes.saturating_mul(turn.saturating_sub(more)) / more,
        };
        let reduced = match sharing {
            1 => 0,
            // Nothing is done at the same time.
            _ if sharing >= n => usize::MAX,
            _ => half_bytes.saturating_mul(LOAN_MESSAGES * n * n) / (n - sharing),
        };
        Self {
            concurrent: false,
            whole: half_bytes.saturating_mul(2 * others),
            direct,
            reduced,
            message: if sharing == 1 { half_bytes } else { usize::MAX },
            put: half_bytes.saturating_mul(3) / others.max(1),
            together: 0,
            gathered: half_bytes.saturating_mul(saved) / (others + 2 * sharing - 1),
        }
    }
}
