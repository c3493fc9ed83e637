//! Corecast's planner: tree patterns, costs, bounds, validation.
//!
//! ```text
//! CostModel ──► Pattern ──► Tree or Rounds ──► Plan { latency, lower_bound, gap }
//!                 │                              │
//!            patterns/, smelt/             cost, bound, chain
//! ```
//!
//! The entry point is [`plan()`]: a pattern, an operation and a cost model give a validated, costed
//! schedule. Everything below it can be used on its own.
//!
//! **Architecture invariant:** this crate does no I/O, reads no clock, draws no pictures and holds no
//! unsafe code. The same input gives the same plan on every platform: ties are broken by rank, never by
//! address or hash.
//!
//! # Examples
//!
//! ```
//! use corecast_plan::{Operation, Pattern, RootChoice, plan};
//!
//! let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
//! let plan = plan(machine.costs(), Pattern::Smelt, Operation::Broadcast, RootChoice::Auto)?;
//! assert!(plan.latency >= plan.lower_bound);
//! assert_eq!(plan.tree().unwrap().len(), 32);
//! # Ok::<(), corecast_plan::PlanError>(())
//! ```
#![forbid(unsafe_code)]

pub mod best;
pub mod bound;
pub mod chain;
pub mod check;
pub mod compare;
pub mod consensus;
pub mod cost;
pub mod exact;
mod first;
pub mod groups;
pub mod hierarchy;
mod idle;
pub mod members;
pub mod operation;
pub mod order;
mod pace;
pub mod pattern;
pub mod patterns;
pub mod placement;
pub mod plan;
mod progress;
mod random;
pub mod record;
pub mod repair;
pub mod reroot;
pub mod rounds;
pub mod search;
mod shape;
pub mod smelt;
pub mod tree;

pub use best::{Progress, Stage};
pub use cost::{Busy, BusyKind, Timeline};
pub use members::Members;
pub use operation::{Operation, OperationError};
pub use pattern::{Pattern, PatternError};
pub use plan::{Plan, PlanError, RootChoice, Scope, Shape, Space, plan, plan_with};
pub use repair::{Repair, RepairError};
pub use rounds::{Rounds, RoundsError};
pub use search::Effort;
pub use tree::{Tree, TreeError};
