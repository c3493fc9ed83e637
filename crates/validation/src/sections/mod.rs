//! The sections of docs/validation.md, a file for each; tests of the same names hold their figures.

pub mod agreement;
pub mod cla;
pub mod clusters;
pub mod curves;
pub mod farm;
pub mod here;
pub mod papers;
pub mod queueing;
pub mod smelt;
pub mod table5;
