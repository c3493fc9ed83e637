//! Corecast's discovery: topology, cpuset, CPU quota, affinity.
//!
//! [`discover()`] turns what the Linux kernel tells under `/sys` and `/proc` into a
//! [`Machine`](corecast_model::Machine). It works on any machine: what the kernel does not tell is
//! assumed, and every assumption is one sentence in the result. [`pin_current`] and its relatives
//! put threads on PUs and check that they stay there.
//!
//! ```text
//! /sys/devices/system/cpu  ─► topology, cache ─┐
//! /sys/devices/system/node ─► numa ────────────┤
//! /proc/cpuinfo, firmware  ─► processor ───────┼─► discover ─► Discovery
//! /proc/self/{cgroup,…}    ─► cgroup ─► quota ─┤       │
//! sched_getaffinity        ─► affinity ────────┘       └─► Machine::assumptions
//! ```
//!
//! [`KernelTexts`] are the files that stay as they are until the machine is booted again, for programs that start later.
//!
//! **Architecture invariants:** no function of this crate fails or panics on an odd machine; there
//! is no unsafe code; only [`pin_current`], [`confine_current`] and the functions that undo them
//! change anything.
//!
//! The crate is for Linux only: other systems neither show their topology in files nor pin threads
//! by number.
//!
//! The crate reads sysfs itself, because hwloc is a system library that users would have to
//! install.
#![forbid(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("corecast-machine reads Linux's sysfs and cgroups: build it for a Linux target");

mod affinity;
mod cache;
mod cards;
mod cgroup;
mod cpulist;
mod discover;
mod files;
mod kernel_texts;
mod numa;
mod processor;
mod quota;
mod steal;
mod topology;

pub use affinity::{
    PIN_LIMIT, PinError, PinGuard, PinState, Pinning, ThreadId, confine_current, current_mask,
    current_pu, pin_current, pin_state, pin_state_of, process_mask, still_pinned,
};
pub use cards::network_card_nodes;
pub use cpulist::{CpuList, CpuListError};
pub use discover::{Discovery, Options, Scope, discover, discover_at, discover_within};
pub use kernel_texts::KernelTexts;
pub use numa::NumaNode;
pub use processor::CoreKind;
pub use quota::Quota;
pub use steal::{CpuTime, cpu_time};
