//! The comparison from outside: Corecast's entrants, their peers, and the harness that races them.

mod common;
mod contestant;
mod crates;
mod external;
mod forks;
mod mpi;
mod overheads;
mod race;
mod session;
mod sized;
mod streamcluster;
