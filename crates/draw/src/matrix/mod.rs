//! Pictures of the costs of messages between each two threads: heat maps in the terminal and as SVG, and the
//! numbers as CSV.

mod csv;
mod grid;
mod svg;
mod text;

pub use csv::{HEADER as CSV_HEADER, csv};
pub use grid::{Grid, Summary};
pub use svg::svg;
pub use text::text;
