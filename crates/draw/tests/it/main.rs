//! Pictures of plans and of graphs of the symbolic model: what they must contain.

mod graphs;
mod plans;
