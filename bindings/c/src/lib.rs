//! Corecast for C: what `corecast.h` declares, which cbindgen writes from this crate.
//!
//! | file | what |
//! | --- | --- |
//! | `status.rs` | statuses, their texts, and the one way in and out of every function |
//! | `memory.rs` | pointers of C as slices, as far as they can be checked |
//! | `names.rs`, `own.rs` | element types and operators by number; operators of the caller's own |
//! | `builder.rs`, `team.rs`, `member.rs` | handles |
//! | `given.rs`, `moves.rs`, `reductions.rs` | what operations are given; those that wait |
//! | `flight/` | operations in flight |
//! | `barrier.rs` | barriers of any threads, without a team |
//!
//! **Architecture invariants:** every function is one `entry` of `status.rs`: a panic never goes on
//! into C. What can be known to be wrong is refused before an operation begins, so a refused call
//! leaves its team as it was. Nothing is allocated on the way of an operation that succeeds, but for
//! those in flight and the first one whose parts have lengths of their own.

pub mod barrier;
pub mod builder;
pub mod flight;
mod given;
pub mod member;
pub mod memory;
pub mod moves;
pub mod names;
pub mod own;
pub mod reductions;
pub mod status;
pub mod team;
