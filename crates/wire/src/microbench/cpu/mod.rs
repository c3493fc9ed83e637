//! The parts that differ between processor families, as in [`crate::arch`]: each family is one file
//! with the same items.

#[cfg(all(target_arch = "aarch64", not(corecast_generic_arch)))]
#[path = "aarch64.rs"]
mod imp;
#[cfg(any(
    corecast_generic_arch,
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
#[path = "generic.rs"]
mod imp;
#[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
#[path = "x86_64.rs"]
mod imp;

pub use imp::{FLUSHES, counter_is_steady, finish_flushes, stamp};
#[cfg(any(corecast_generic_arch, not(target_arch = "x86_64")))]
mod plain;

pub(super) use imp::{clear_lines, flush};
