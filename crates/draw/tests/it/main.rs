//! Pictures of plans and of graphs of the symbolic model contain all their parts.

mod graphs;
mod plans;
