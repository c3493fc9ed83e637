//! Corecast's predictions: what a collective costs on a machine that need not be there.
//!
//! The algorithms are those of [`corecast_coll`], the same source that runs on hardware. This crate has
//! further fabrics for them.
#![forbid(unsafe_code)]

pub mod drive;
