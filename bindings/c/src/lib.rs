//! Corecast for C: the functions that `corecast.h` declares. cbindgen writes that header from this crate.
//!
//! | file | what |
//! | --- | --- |
//! | `status.rs` | statuses, their texts, and `entry`, in which every function runs |
//! | `memory.rs` | pointers of C as slices |
//! | `elements.rs`, `operators.rs`, `own.rs` | element types, operators by handle, functions of C as operators |
//! | `builder.rs`, `settings.rs`, `team.rs`, `member.rs` | the handles of a team, and the settings of a builder |
//! | `symmetric.rs` | memory that all processes of a team see |
//! | `arguments.rs` | the arguments of operations, checked before an operation begins |
//! | `moves.rs`, `reductions.rs`, `synced.rs` | operations that wait, and barriers around them |
//! | `flight/` | operations in flight |
//! | `barrier.rs`, `queue.rs`, `waiting.rs` | barriers and queues of any threads, without a team, and how they wait |
//!
//! The order of the modules below is that of `corecast.h`.
//!
//! **Architecture invariants:** every function is one `entry` of `status.rs`, so no panic goes on into C.
//! Arguments are checked before an operation begins, so a refused call leaves its team as it was. An
//! operation that waits and succeeds allocates nothing, except that the first one with lengths for each part
//! makes room for these.

pub mod status;

pub mod elements;
pub mod operators;
pub mod own;

pub mod builder;
pub mod settings;
pub mod succession;
pub mod team;

pub mod member;
pub mod symmetric;

pub mod moves;
pub mod reductions;
pub mod synced;

pub mod flight;

pub mod barrier;
pub mod queue;

mod arguments;
mod memory;
mod waiting;
