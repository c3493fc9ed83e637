//! What an access costs: the parameters of the model, and those of the paper's two machines.
//!
//! | field | in the paper | Sandy Bridge | Xeon Phi KNC | source |
//! | --- | --- | --- | --- | --- |
//! | [`Costs::own`], [`Costs::transfer`] same core | `R_L` | 2.3 | 8.6 | Table 1 |
//! | [`Costs::transfer`] same package | `R_R` | 35 | 235.8 | Table 1 |
//! | [`Costs::transfer`] other package | `R_Q` | 94 | – | Table 1 |
//! | [`Costs::memory`] | `R_I` | 70 | 277.7 | Table 1 |
//! | [`Costs::contention`] | b, c, a | none | 320.5, 56.2, 0 | Equations 2 and 3, Table 2 |
//! | [`Costs::lines`] | q, o, c, p | two rows | 1521, 76, –, 1096 | Equations 4 and 5, Tables 3 and 4 |
//!
//! All in nanoseconds. The paper always charges `R_I` for a line from memory, as whoever reads it first
//! has it in its own NUMA node (§2.5), so `R_QI` (107 on Sandy Bridge) has no place here.

use corecast_model::LineCosts;

/// How long each of n threads takes that fetch one line at once: b + c·n − a/n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contention {
    /// What it takes however many they are.
    pub base: f64,
    /// What each of them adds.
    pub slope: f64,
    /// What many of them save where the line comes from memory.
    pub saved: f64,
}

impl Contention {
    /// `T_C(n)`.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::symbolic::Costs;
    ///
    /// let phi = Costs::XEON_PHI.contention.unwrap();
    /// assert_eq!(phi.time(2), 320.5 + 2.0 * 56.2);
    /// ```
    #[must_use]
    pub fn time(&self, threads: usize) -> f64 {
        let n = threads as f64;
        self.base + self.slope * n - self.saved / n
    }
}

/// How long N lines take: q + o·N + c·n·N − p/N, where n threads copy at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ManyLines {
    /// What it takes however many they are.
    pub base: f64,
    /// What each line adds.
    pub per_line: f64,
    /// What each line and each thread that copies over the same link add.
    pub per_line_and_thread: f64,
    /// What many lines save of the start.
    pub saved: f64,
}

impl ManyLines {
    /// `T_m(n, N)` of Equation 4, `T_N(N)` of Equation 5.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::symbolic::Costs;
    ///
    /// let between_packages = Costs::SANDY_BRIDGE.lines[3];
    /// assert_eq!(between_packages.time(2, 64), 180.65 + 7.5 * 64.0 + 3.0 * 2.0 * 64.0);
    /// ```
    #[must_use]
    pub fn time(&self, threads: usize, lines: usize) -> f64 {
        let (n, lines) = (threads as f64, lines as f64);
        self.base + self.per_line * lines + self.per_line_and_thread * n * lines
            - self.saved / lines
    }
}

/// What accesses cost on one machine, in nanoseconds, by class of
/// [`Proximity`](corecast_model::Proximity), nearest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Whoever is the first to touch a line.
    pub memory: f64,
    /// One line from a thread's own cache.
    pub own: f64,
    /// One line from the cache of another thread of this class.
    pub transfer: [f64; 4],
    /// Fetching one line at once, where that costs more than doing so alone.
    pub contention: Option<Contention>,
    /// Several lines from the cache of a thread of this class.
    pub lines: [ManyLines; 4],
}

/// Where the lines of a copy lie when it begins (Tables 2 and 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    /// E: in the cache of its owner, exclusive.
    Exclusive,
    /// I: in no cache.
    Invalid,
}

const fn many(base: f64, per_line: f64, per_line_and_thread: f64, saved: f64) -> ManyLines {
    ManyLines {
        base,
        per_line,
        per_line_and_thread,
        saved,
    }
}

const fn contention(base: f64, slope: f64, saved: f64) -> Contention {
    Contention { base, slope, saved }
}

/// Table 2: contention on Xeon Phi KNC, by where the buffers of sender and receiver lie.
pub const XEON_PHI_CONTENTION: [(Lies, Lies, Contention); 4] = [
    (
        Lies::Exclusive,
        Lies::Exclusive,
        contention(320.5, 56.2, 0.0),
    ),
    (Lies::Exclusive, Lies::Invalid, contention(604.4, 57.6, 0.0)),
    (
        Lies::Invalid,
        Lies::Exclusive,
        contention(863.6, 23.9, 667.4),
    ),
    (
        Lies::Invalid,
        Lies::Invalid,
        contention(1202.0, 23.4, 695.8),
    ),
];

/// Table 4: several lines on Xeon Phi KNC, by where the buffers of sender and receiver lie.
pub const XEON_PHI_LINES: [(Lies, Lies, ManyLines); 4] = [
    (
        Lies::Exclusive,
        Lies::Exclusive,
        many(1521.0, 76.0, 0.0, 1096.0),
    ),
    (
        Lies::Exclusive,
        Lies::Invalid,
        many(1778.4, 73.2, 0.0, 1276.9),
    ),
    (
        Lies::Invalid,
        Lies::Exclusive,
        many(2698.5, 94.4, 0.0, 1868.5),
    ),
    (
        Lies::Invalid,
        Lies::Invalid,
        many(2750.0, 94.9, 0.0, 2017.5),
    ),
];

impl Costs {
    /// Intel Xeon E5-2660 (Sandy Bridge), 2.2 GHz: CLa Tables 1 and 3.
    pub const SANDY_BRIDGE: Self = {
        let near = many(63.4, 11.1, 0.0, 0.0);
        Self {
            memory: 70.0,
            own: 2.3,
            transfer: [2.3, 35.0, 35.0, 94.0],
            contention: None,
            // Table 3 knows two classes; in its own cache a thread takes R_L for each line.
            lines: [
                many(0.0, 2.3, 0.0, 0.0),
                near,
                near,
                many(180.65, 7.5, 3.0, 0.0),
            ],
        }
    };

    /// Intel Xeon Phi 5110P (Knights Corner), 1.05 GHz: CLa Tables 1, 2 and 4, buffers in state E.
    pub const XEON_PHI: Self = {
        let near = XEON_PHI_LINES[0].2;
        Self {
            memory: 277.7,
            own: 8.6,
            transfer: [8.6, 235.8, 235.8, 235.8],
            contention: Some(XEON_PHI_CONTENTION[0].2),
            lines: [many(0.0, 8.6, 0.0, 0.0), near, near, near],
        }
    };

    /// Those of a cost model that knows shared lines. It does not know what several lines take, so they
    /// take as long as one after another, which no prefetcher would let happen.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_sim::symbolic::Costs;
    ///
    /// let file = corecast_model::builtin("xeonphi-knc-60x4").unwrap();
    /// let costs = Costs::of_lines(file.costs().lines().unwrap().costs());
    /// assert_eq!(costs.contention, Costs::XEON_PHI.contention);
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
            contention: (slope > 0.0).then_some(contention(base, slope, 0.0)),
            lines: lines.transfer.map(|one| many(0.0, one, 0.0, 0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same numbers stand in the model's built-in machines, which planners use.
    #[test]
    fn built_in_machines_have_the_same_costs() {
        for (name, costs) in [
            ("sandybridge-2x8", Costs::SANDY_BRIDGE),
            ("xeonphi-knc-60x4", Costs::XEON_PHI),
        ] {
            let file = corecast_model::builtin(name).unwrap();
            let model = Costs::of_lines(file.costs().lines().unwrap().costs());
            assert_eq!(model.memory, costs.memory, "{name}");
            assert_eq!(
                (model.own, model.transfer),
                (costs.own, costs.transfer),
                "{name}"
            );
            assert_eq!(model.contention, costs.contention, "{name}");
        }
    }

    /// Equation 2 says b + c·n = R_L + R_R + c·(n − 1); Table 2's b is more than that.
    #[test]
    fn the_intercept_of_table_2_is_not_that_of_equation_2() {
        let costs = Costs::XEON_PHI;
        let fit = costs.contention.unwrap();
        let expected = costs.transfer[0] + costs.transfer[1] - fit.slope;
        assert!((expected - 188.2).abs() < 1e-9 && fit.base == 320.5);
    }
}
