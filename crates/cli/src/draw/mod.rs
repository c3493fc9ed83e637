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
