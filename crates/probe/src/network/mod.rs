//! The costs of messages between hosts, in the LogGP model: what `corecast probe` measures under `mpirun`.
//!
//! A *round* is n messages of s bytes to another host, which answers the last of them by one of s bytes; d is the time that
//! its sender lets pass after each message but the last. With o for what a message takes of its sender and its receiver, g for
//! what it takes of a card, L for its way, and G for each byte (Alexandrov and others, SPAA 1995), the time of a round is
//!
//! ```text
//! R(1, 0, s) = 2 (o_s + L + (s − 1) G + o_r)
//! R(n, d, s) = R(1, 0, s) + (n − 1) max(o_s + d, g + (s − 1) G)
//! ```
//!
//! from which all terms follow (Hoefler, Lichei and Rehm, *Low-Overhead LogGP Parameter Assessment for Modern Interconnection
//! Networks*, 2007): o_s by a d that is longer than a message takes, g and G by a line through the times of messages in a row, of
//! all sizes. o_r is the time to receive what is there already (Kielmann, Bal and Verstoep, *Fast Measurement of LogP Parameters
//! for Message Passing Platforms*, 2000), and L is what is left.
//!
//! | file | what |
//! | --- | --- |
//! | `fit.rs` | from times to terms; pure |
//! | `measuring.rs` | which times, how often; over a [`Link`], which may be a simulated one |
//! | `mpi.rs` | the link between two ranks of a job of MPI, and what the other ranks do |

mod fit;
mod measuring;
mod mpi;
#[cfg(test)]
mod tests;

pub use measuring::{Link, NetworkTimes, Round, measure};
pub use mpi::{NetworkHost, Session, serve};
