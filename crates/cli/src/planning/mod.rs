//! Makes plans from names on the command line, for the commands that plan.

mod report;
mod search;
mod table;

pub(crate) use report::PlanReport;
pub(crate) use search::{Found, Limits, compare, find, gap, root};
pub(crate) use table::{scopes, table};
