//! Corecast's pictures: the one place that draws.
//!
//! | module | what it draws | as |
//! | --- | --- | --- |
//! | [`machine`] | packages, NUMA nodes, caches, cores | text, SVG |
//! | [`matrix`] | what messages cost between each two threads | text, SVG, CSV |
//! | [`deep`] | what a measurement in depth found | text |
//! | [`plan`] | trees, rounds, operations over time | text, SVG, DOT |
//! | [`simulated`] | runs on a simulated machine, graphs of the symbolic model | SVG, DOT |
//! | [`plot`] | curves, bars and points over axes | SVG |
//!
//! Texts take a [`Screen`], which says how many columns and colours the terminal has.
//!
//! **Architecture invariant:** nothing here reads files, asks the machine or prints. Every function turns
//! data into a string, and the same data give the same string. Crates that compute do not depend on this
//! one.
//!
//! # One SVG crate
//!
//! All SVG is written by the crate `svg`. Pictures here need what a chart library has no notion of:
//! hints on every mark (`<title>`), arrowheads, classes with a style sheet, groups that nest. `plotters`,
//! the alternative, draws rectangles, paths and text alone and would have brought none of these; what it
//! has and `svg` has not, axes with round ticks, is `plot/axes.rs`.
#![forbid(unsafe_code)]

mod canvas;
pub mod deep;
mod dot;
pub mod machine;
pub mod matrix;
mod palette;
pub mod plan;
pub mod plot;
pub mod simulated;

pub use palette::{Depth, OTHERS, OURS, REFERENCE, Rgb, Screen, category, heat};
