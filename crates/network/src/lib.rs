//! The MPI library that a process has loaded, as Corecast calls it: nothing of MPI is needed to build.
//!
//! Three binary interfaces are spoken: those of Open MPI and of MPICH (and its descendants), and the one of the MPI-5
//! standard. They differ in what a handle is and in some constants, which [`Dialect`] knows; everything else is asked of the
//! library itself, so that little can be wrong with a version that nobody has tried.
//!
//! | file | what |
//! | --- | --- |
//! | `loaded.rs` | finds the library among what the process has loaded |
//! | `dialect.rs` | what differs between the binary interfaces |
//! | `functions.rs` | the library's own functions, by their profiling names |
//! | `library.rs` | all of it together, and what is asked of the library once |
//! | `network.rs` | what a network between hosts must offer beside a fabric's operations |
//! | `fabric.rs` | it, over MPI's point-to-point communication |
//! | `job.rs` | an MPI job that a program takes part in which is not linked with MPI |

mod dialect;
mod fabric;
mod functions;
mod job;
mod library;
mod loaded;
mod network;

pub use dialect::{Dialect, Operation};
pub use fabric::{MpiFabric, MpiWindow, NetworkError};
pub use functions::{Counts, Functions, Ints, Receive, Send, Status};
pub use job::{Job, JobError, Launched};
pub use library::{FindError, Library};
pub use loaded::{Loaded, next_definition};
pub use network::Network;

/// A handle of MPI: a pointer in Open MPI and by the standard's binary interface, a number of 32 bits in MPICH, whose
/// upper half is undefined where a register carries it. [`Library::handle`] makes it comparable.
pub type Handle = usize;
