//! The five clusters of Mallon and others (*Scalable PGAS Collective Operations in NUMA Clusters*) as machines of several
//! hosts, and the collectives that the paper compares on them.

pub mod machines;
pub mod orders;
pub mod published;
pub mod runs;
