//! A barrier of a dissemination in each package, and a last exchange with a peer in each other
//! package (CLa §3.3.2).
//!
//! ```text
//! packages 0 1 2 | 3 4      each package by itself; then 0 reads the line of 3, 1 of 4, 2 of 3,
//!                          3 of 0 and 4 of 1
//! ```
//!
//! Many lines cross at the same time, each with few readers: there is congestion, but lines are
//! rarely stolen.

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
/// CLa §3.3.2, Equation 30; with more than two packages, one peer in each.
pub fn pair_wise_rounds(packages: &[u32]) -> Rounds {
    let members = members(packages);
    let mut last = vec![Vec::new(); packages.len()];
    for (index, mine) in members.iter().enumerate() {
        for (other, theirs) in members.iter().enumerate() {
            if other != index {
                for (place, &rank) in mine.iter().enumerate() {
                    last[theirs[place % theirs.len()]].push(rank);
                }
            }
        }
    }
    rounds(packages.len(), &members, last)
}
