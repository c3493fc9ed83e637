//! Plots over axes: curves, bars, points, and rows of small plots.
//!
//! All plots share the axes of `axes.rs`, which have linear and logarithmic scales and round ticks.

mod against;
mod axes;
mod bars;
mod curves;
mod panels;

pub use against::against;
pub(crate) use axes::ticks;
pub use bars::{Bar, bars};
pub use curves::{Across, Point, Series, curves};
pub use panels::{Curve, Labels, Panel, Pen, panels};

#[cfg(test)]
mod tests;
