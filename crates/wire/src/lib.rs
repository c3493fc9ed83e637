//! Corecast's wires: flags, queues and shared lines of a group, each in cache lines; parking; and the wait
//! strategies.
//!
//! This crate holds most of the project's unsafe code. Its protocols, with the dangerous interleavings and
//! proof sketches, are in `crates/wire/README.md`; `tests/loom.rs` checks them in every
//! interleaving that the memory model allows, at small sizes.
//!
//! **Architecture invariants:** atomics come from one façade that loom can replace; a line has
//! one writer at a time; a publisher pays nothing for sleepers beyond one load of a line, which
//! stays in its cache while nobody sleeps.
//!
//! Linux only: parking is a futex, placement is `mbind`, the asymmetric fence is `membarrier`.

#[cfg(not(target_os = "linux"))]
compile_error!("corecast-wire runs on Linux only: it parks on futexes and fences with membarrier");

pub mod arch;
pub mod broadcast_ring;
pub mod cache_lines;
pub mod claim_pause;
pub mod copy;
mod counter_barrier;
pub mod ending;
pub mod exclusive;
pub mod fabric;
pub mod fence;
pub mod fiber;
mod flag;
pub mod fork;
mod futex;
pub mod hardware_wait;
mod line;
#[cfg(not(loom))]
pub mod microbench;
mod no_shared_lines;
pub mod objects;
pub mod op_history;
pub mod park;
pub mod phase_barrier;
mod poll_clock;
pub mod queue;
pub mod reader_lock;
#[cfg(not(loom))]
pub mod robust_list;
mod segment;
pub mod shared_log;
pub mod simd;
#[cfg(corecast_simulated)]
pub mod simulated;
mod stop;
pub mod stream;
pub mod sync;
pub mod wait;
mod wait_config;
mod windows_lent_as_copies;
mod words;

pub use counter_barrier::{ArrivalCounter, CounterBarrier};
pub use fabric::Fabric;
pub use fence::{FenceKind, drain_stores, fence_kind, shared_fence_kind};
pub use flag::{Exchange, Flag, Signal, Swaps, VALUE_BYTES_MAX};
pub use hardware_wait::{HardwareWait, Monitored};
pub use line::{LINE_BYTES, Line, PAIR_BYTES};
pub use park::Parker;
pub use phase_barrier::PhaseBarrier;
pub use reader_lock::ReaderLock;
pub use segment::{LineRef, LineSlice, Lines, Placement, Segment, SegmentError};
pub use shared_log::SharedLog;
pub use stop::{Stop, StopWord, Stopped};
pub use wait::WaitStrategy;
pub use wait_config::{WaitConfig, WaitCosts};
pub use words::{WORDS, Words};

/// Version of the protocols and of the layout of shared segments. Processes of different versions form no
/// team.
pub const PROTOCOL_VERSION: u32 = 21;

#[cfg(any(loom, corecast_simulated))]
pub use sync::mutant;
