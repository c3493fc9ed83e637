//! CLa's Equations 2 to 35: compares the formulas, which are written only here, with the bounds of graphs.
//!
//! Algorithms are the paper's pseudo-code in its own primitives (Figures 4, 8, 10, 12 and 16), or the collectives
//! themselves. docs/symbolic.md has a table of the equations that hold, and of the rules by which they do.

mod collectives;
mod disseminations;
mod synchronisation;
mod trees;

use corecast_sim::symbolic::{Analysis, Bounds, CostRules, Graph, Placement};
use corecast_validation::tables;

/// Sandy Bridge, Table 1.
const R_L: f64 = 2.3;
const R_R: f64 = 35.0;
const R_Q: f64 = 94.0;
const R_I: f64 = 70.0;

/// Xeon Phi KNC, Tables 1 and 2.
mod phi {
    pub(crate) const R_L: f64 = 8.6;
    pub(crate) const R_R: f64 = 235.8;
    pub(crate) const R_I: f64 = 277.7;

    /// Equation 2.
    pub(crate) fn t_c(n: usize) -> f64 {
        320.5 + 56.2 * n as f64
    }

    /// Equation 5.
    pub(crate) fn t_m(lines: usize) -> f64 {
        1521.0 + 76.0 * lines as f64 - 1096.0 / lines as f64
    }
}

/// Equation 4 with Table 3, in one package.
fn t_m_near(lines: usize) -> f64 {
    63.4 + 11.1 * lines as f64
}

/// Equation 4 with Table 3, between packages.
fn t_m_far(threads: usize, lines: usize) -> f64 {
    180.65 + 7.5 * lines as f64 + 3.0 * (threads * lines) as f64
}

/// Both bounds of a graph.
fn bounds(graph: &Graph, placement: &Placement, rules: &CostRules) -> Bounds {
    Analysis::new(graph, placement, rules).bounds()
}

#[track_caller]
fn equal(found: f64, formula: f64, what: &str) {
    let error = (found - formula).abs();
    assert!(
        error <= 1e-9 * formula.max(1.0),
        "{what}: the graph says {found}, the formula {formula}"
    );
}

/// One package of Sandy Bridge with as many cores as there are ranks.
fn one_package(n: usize) -> Placement {
    Placement::of_packages(tables::SANDY_BRIDGE, &vec![0; n])
}

/// Rank 0, `near` more ranks in its package, and `far` ranks in another one.
fn two_packages(near: usize, far: usize) -> Placement {
    let packages: Vec<u32> = (0..=near + far).map(|r| u32::from(r > near)).collect();
    Placement::of_packages(tables::SANDY_BRIDGE, &packages)
}

/// The greatest number of ranks of all tests.
const RANKS_MAX: usize = 64;
