//! Corecast's barrier under unmodified OpenMP programs: a library to be loaded before theirs, by
//! `corecast run -- PROGRAM` or `LD_PRELOAD`. What is reached and what is not: `docs/openmp.md`.
//!
//! | where | what |
//! | --- | --- |
//! | `preload/` | the library; how it works is said there |
//! | [`record`] | what it writes where somebody wants to know how long threads waited |

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod preload;
pub mod record;
