//! A barrier of a dissemination in each package, and a line of each package's first rank for all
//! ranks of the others (CLa §3.3.2).
//!
//! ```text
//! packages 0 1 2 | 3 4      each package by itself; then 3 and 4 read the line of 0, and 0, 1 and 2
//!                          that of 3
//! ```
//!
//! One line crosses from each package, with many readers: there is no congestion, but the line is
//! stolen more often.

use super::packages::rounds;
use crate::packages::members;
use corecast_plan::Rounds;

/// The rounds for ranks with these packages, which are run by [`m_way`](super::m_way).
///
/// # Panics
///
/// If there are no ranks.
///
/// # Source
///
/// CLa §3.3.2, Equation 31.
pub fn package_root_rounds(packages: &[u32]) -> Rounds {
    let members = members(packages);
    let mut last = vec![Vec::new(); packages.len()];
    for mine in &members {
        let root = mine[0];
        last[root] = (0..packages.len())
            .filter(|&rank| packages[rank] != packages[root])
            .collect();
    }
    rounds(packages.len(), &members, last)
}
