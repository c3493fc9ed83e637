//! Pictures of plans, of graphs of the symbolic model and of several hosts contain all their parts.

mod graphs;
mod levels;
mod plans;
