//! Finds the parameters and trees with the least T_min by the symbolic model, as the paper does
//! ("we minimise T_min because T_max is usually too pessimistic", §2.3).
//!
//! The search uses no formulas. The cost of a level or a round is the bound of the graph of that level or round alone.
//! The chosen algorithm is recorded as a whole, and its bounds are those of that graph. Among candidates with equal
//! T_min the search takes the one with the least T_max, then the one with fewer readers.
//!
//! | what | candidates | source |
//! | --- | --- | --- |
//! | [`dissemination`] | for each number of rounds the least m that reaches all; in two packages every m | Equations 27 and 29 |
//! | [`several_m`] | all lists of factors, by dynamic programming | §3.3.1 |
//! | [`notification`] | number of children of the root, the others evenly below them | §3.1, §3.2, Equation 26 |
//! | [`broadcast`], [`reduction`] | number of children of the root, the others evenly below them | §4.1, §5.1, Equations 32 and 34 |
//! | [`broadcasts_in_groups`] | size of the root's first group, the others evenly among all ranks that have the data | §4.1.2 |
//! | trees in two packages | children of the root in each package, each package's others below its own | §4.1.1 |

mod candidates;
mod levels;
mod packages;
mod report;
mod rounds;
mod trees;

pub use packages::ChosenTree;
pub use report::report;
pub use rounds::{Rounded, dissemination, several_m};
pub use trees::{
    ChosenGroups, InGroups, Notified, broadcast, broadcasts_in_groups, notification, reduction,
};
