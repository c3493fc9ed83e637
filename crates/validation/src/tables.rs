//! The tables of Ramos and Hoefler (*Cache Line Aware Algorithm Design for Cache-Coherent Architectures*, TPDS 2016):
//! the costs of accesses to lines on their two machines, in nanoseconds.
//!
//! | field | in the paper | Sandy Bridge | Xeon Phi KNC | source |
//! | --- | --- | --- | --- | --- |
//! | [`AccessCosts::own`], [`AccessCosts::transfer`] same core | `R_L` | 2.3 | 8.6 | Table 1 |
//! | [`AccessCosts::transfer`] same package | `R_R` | 35 | 235.8 | Table 1 |
//! | [`AccessCosts::transfer`] other package | `R_Q` | 94 | – | Table 1 |
//! | [`AccessCosts::memory`] | `R_I` | 70 | 277.7 | Table 1 |
//! | [`AccessCosts::contention`] | b, c, a | none | 320.5, 56.2, 0 | Equations 2 and 3, Table 2 |
//! | [`AccessCosts::lines`] | q, o, c, p | two rows | 1521, 76, –, 1096 | Equations 4 and 5, Tables 3 and 4 |
//!
//! The paper always charges `R_I` for a line from memory (§2.5), so its `R_QI` (107 on Sandy Bridge) is not here.

use corecast_sim::symbolic::{AccessCosts, Contention, ManyLines, Placement};

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

/// Intel Xeon E5-2660 (Sandy Bridge), 2.2 GHz: CLa Tables 1 and 3.
pub const SANDY_BRIDGE: AccessCosts = {
    let near = many(63.4, 11.1, 0.0, 0.0);
    AccessCosts {
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
pub const XEON_PHI: AccessCosts = {
    let near = XEON_PHI_LINES[0].2;
    AccessCosts {
        memory: 277.7,
        own: 8.6,
        transfer: [8.6, 235.8, 235.8, 235.8],
        contention: Some(XEON_PHI_CONTENTION[0].2),
        lines: [many(0.0, 8.6, 0.0, 0.0), near, near, near],
    }
};

/// The paper's Sandy Bridge, filled as in the paper: eight ranks on the first package, then the second one (CLa §2.5,
/// "packing"). Its packages have eight cores each; more than 16 ranks are an extrapolation, with half of them on each
/// package.
///
/// # Examples
///
/// ```
/// use corecast_validation::tables;
///
/// assert_eq!(tables::sandy_bridge(10).packages(), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
/// ```
#[must_use]
pub fn sandy_bridge(n: usize) -> Placement {
    let first = n.div_ceil(2).max(8);
    let packages: Vec<u32> = (0..n).map(|rank| u32::from(rank >= first)).collect();
    Placement::of_packages(SANDY_BRIDGE, &packages)
}

/// The paper's Xeon Phi: one package, one rank on each core. It has 60 cores.
#[must_use]
pub fn xeon_phi(n: usize) -> Placement {
    Placement::of_packages(XEON_PHI, &vec![0; n])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The built-in machines of the model, which planners use, have the costs of these tables.
    #[test]
    fn built_in_machines_have_the_same_costs() {
        for (name, costs) in [
            ("sandybridge-2x8", SANDY_BRIDGE),
            ("xeonphi-knc-60x4", XEON_PHI),
        ] {
            let file = corecast_model::builtin(name).unwrap();
            let model = AccessCosts::of_lines(file.costs().lines().unwrap().costs());
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
        let costs = XEON_PHI;
        let fit = costs.contention.unwrap();
        let expected = costs.transfer[0] + costs.transfer[1] - fit.slope;
        assert!((expected - 188.2).abs() < 1e-9 && fit.base == 320.5);
    }
}
