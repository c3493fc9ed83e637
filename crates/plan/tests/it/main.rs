//! Tests of the planner's public interface: every clever part against a naive reference.

mod adversarial;
mod bounds;
mod certificates;
mod check;
mod common;
mod consensus;
mod costs;
mod exact;
mod grouped;
mod groups;
mod large;
mod patterns;
#[path = "../../../../tests/references.rs"]
mod references;
mod repair;
mod search;
mod smelt;
