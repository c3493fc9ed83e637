//! From names on the command line to plans, for the commands that plan.

mod report;
mod search;
mod table;
mod team;

pub(crate) use report::PlanReport;
pub(crate) use search::{Found, Limits, compare, find};
pub(crate) use table::{gap, table, with_forecasts};
pub(crate) use team::{Team, Timed, root, search};
