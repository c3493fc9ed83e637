//! Draws Corecast's pictures: machines, costs, plans, timelines and plots, as text, SVG, DOT and CSV.
//!
//! | module | what it draws | as |
//! | --- | --- | --- |
//! | [`machine`] | packages, NUMA nodes, caches, cores | text, SVG |
//! | [`matrix`] | costs of messages between each two threads | text, SVG, CSV |
//! | [`deep`] | the tables of a measurement in depth | text |
//! | [`plan`] | trees, rounds, operations over time | text, SVG, DOT |
//! | [`simulated`] | runs on a simulated machine, graphs of the symbolic model | SVG, DOT |
//! | [`plot`] | curves, bars and points over axes | SVG |
//! | [`table()`] | rows under a header | text |
//!
//! Texts take a [`Screen`], which says how many columns and colours the terminal has.
//!
//! **Architecture invariant:** nothing here reads files, examines the machine or prints. Every function turns
//! data into a string, and the same data give the same string. Crates that compute do not depend on this
//! one.
//!
//! # One SVG crate
//!
//! All SVG is written by the crate `svg`. Pictures here need features that chart libraries lack:
//! hints on every mark (`<title>`), arrowheads, classes with a style sheet, groups that nest. `plotters`,
//! the alternative, draws only rectangles, paths and text. Axes with round ticks, which `svg` lacks, are in
//! `plot/axes.rs`.
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
mod table;

pub use palette::{Depth, OTHERS, OURS, REFERENCE, Rgb, Screen, category, heat};
pub use table::table;
