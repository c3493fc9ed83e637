//! Pictures of machines, matrices and plans: text for terminals, SVG and CSV for files.
//!
//! **Architecture invariant:** nothing here reads files, asks the machine or prints; every function
//! turns data into a string. What the terminal can show arrives as a [`palette::Screen`].

pub(crate) mod boxes;
pub(crate) mod depth_text;
pub(crate) mod grid;
pub(crate) mod heat_csv;
pub(crate) mod heat_svg;
pub(crate) mod heat_text;
pub(crate) mod palette;
mod pen;
pub(crate) mod plan_text;
pub(crate) mod timeline_text;
pub(crate) mod topo_svg;
pub(crate) mod topo_text;

use corecast_bench::table::digits;

/// A time with the unit that keeps it short.
pub(crate) fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{} ns", digits(ns)),
        ns if ns < 1e6 => format!("{} µs", digits(ns / 1e3)),
        ns if ns < 1e9 => format!("{} ms", digits(ns / 1e6)),
        ns => format!("{} s", digits(ns / 1e9)),
    }
}
