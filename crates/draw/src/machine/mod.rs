//! Pictures of a machine: packages, NUMA nodes, caches, cores and hardware threads as nested boxes.
//!
//! [`nest`] turns a machine into [`Part`]s, from which both drawings are made.

mod boxes;
mod svg;
mod text;

pub use boxes::{Kind, Part, nest};
pub use svg::svg;
pub use text::text;
