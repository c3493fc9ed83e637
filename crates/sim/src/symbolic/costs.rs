//! The costs of accesses to lines: the parameters of the symbolic model.
//!
//! | field | in the paper | equation |
//! | --- | --- | --- |
//! | [`AccessCosts::own`], [`AccessCosts::transfer`] same core | `R_L` | – |
//! | [`AccessCosts::transfer`] same package | `R_R` | – |
//! | [`AccessCosts::transfer`] other package | `R_Q` | – |
//! | [`AccessCosts::memory`] | `R_I` | – |
//! | [`AccessCosts::contention`] | b, c, a | 2 and 3 |
//! | [`AccessCosts::lines`] | q, o, c, p | 4 and 5 |
//!
//! The paper is Ramos and Hoefler, *Cache Line Aware Algorithm Design for Cache-Coherent Architectures* (TPDS 2016).
//! It always charges `R_I` for a line from memory, because the line is in the NUMA node of the rank that reads it
//! first (§2.5). Its `R_QI`, a line from another node's memory, therefore has no field.

use corecast_model::LineCosts;

/// The time of each of n threads that fetch one line at once: b + c·n − a/n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contention {
    /// The part that does not depend on their number.
    pub base: f64,
    /// The part that each of them adds.
    pub slope: f64,
    /// The part that many of them save where the line comes from memory.
    pub saved: f64,
}

impl Contention {
    /// `T_C(n)`.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::symbolic::Contention;
    ///
    /// let phi = Contention { base: 320.5, slope: 56.2, saved: 0.0 };
    /// assert_eq!(phi.time(2), 320.5 + 2.0 * 56.2);
    /// ```
    #[must_use]
    pub fn time(&self, threads: usize) -> f64 {
        let n = threads as f64;
        self.base + self.slope * n - self.saved / n
    }
}

/// The time of N lines: q + o·N + c·n·N − p/N, where n threads copy at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManyLines {
    /// The part that does not depend on their number.
    pub base: f64,
    /// The part that each line adds.
    pub per_line: f64,
    /// The part that each line adds for each thread that copies over the same link.
    pub per_line_and_thread: f64,
    /// The part of `base` that many lines save.
    pub saved: f64,
}

impl ManyLines {
    /// `T_m(n, N)` of Equation 4, `T_N(N)` of Equation 5.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::symbolic::ManyLines;
    ///
    /// let between_packages =
    ///     ManyLines { base: 180.65, per_line: 7.5, per_line_and_thread: 3.0, saved: 0.0 };
    /// assert_eq!(between_packages.time(2, 64), 180.65 + 7.5 * 64.0 + 3.0 * 2.0 * 64.0);
    /// ```
    #[must_use]
    pub fn time(&self, threads: usize, lines: usize) -> f64 {
        let (n, lines) = (threads as f64, lines as f64);
        self.base + self.per_line * lines + self.per_line_and_thread * n * lines
            - self.saved / lines
    }
}

/// The costs of accesses on one machine, in nanoseconds, by class of [`Proximity`](corecast_model::Proximity),
/// nearest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessCosts {
    /// The first access of any rank to a line.
    pub memory: f64,
    /// One line from a thread's own cache.
    pub own: f64,
    /// One line from the cache of another thread of this class.
    pub transfer: [f64; 4],
    /// The time of threads that fetch one line at once, where that costs more than fetching it alone.
    pub contention: Option<Contention>,
    /// Several lines from the cache of a thread of this class.
    pub lines: [ManyLines; 4],
}

impl AccessCosts {
    /// The costs of a cost model that knows shared lines. It does not know the time of several lines, so they take as
    /// long as one after another; on hardware, a prefetcher makes them faster.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::symbolic::AccessCosts;
    ///
    /// let file = corecast_model::builtin("xeonphi-knc-60x4").unwrap();
    /// let costs = AccessCosts::of_lines(file.costs().lines().unwrap().costs());
    /// assert_eq!(costs.contention.unwrap().time(2), 320.5 + 2.0 * 56.2);
    /// assert_eq!(costs.lines[1].time(1, 4), 4.0 * 235.8);
    /// ```
    #[must_use]
    pub fn of_lines(lines: &LineCosts) -> Self {
        let slope = lines.slope.into_iter().fold(0.0, f64::max);
        let base = lines.base.into_iter().fold(0.0, f64::max);
        Self {
            memory: lines.write,
            own: lines.transfer[0],
            transfer: lines.transfer,
            contention: (slope > 0.0).then_some(Contention {
                base,
                slope,
                saved: 0.0,
            }),
            lines: lines.transfer.map(|per_line| ManyLines {
                base: 0.0,
                per_line,
                per_line_and_thread: 0.0,
                saved: 0.0,
            }),
        }
    }
}
