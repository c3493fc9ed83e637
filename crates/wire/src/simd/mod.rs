//! The widest vectors that this CPU has, for loops that the compiler vectorises itself.
//!
//! Programs are built for a baseline that every CPU of the family has; on x86-64 that means vectors
//! of 16 bytes. A [`Kernel`] is compiled once for each [`Level`], and [`widest`] runs the copy for
//! the best level of the CPU at hand. The kernel is ordinary safe code: nothing in it names an
//! instruction, and as Rust never fuses or reorders floating-point operations by itself, each copy
//! gives the same bits.
//!
//! Other processors have one level: on AArch64 the baseline's vectors are what there is to gain
//! without SVE.
//!
//! **Why not a crate:** `multiversion` and `pulp` would do, but neither lets a test choose the
//! level, and each brings more code than this file.

pub mod half;

use std::fmt;
use std::sync::OnceLock;

/// Code that [`widest`] compiles once for each level.
///
/// Mark `run` with `#[inline(always)]`, and keep calls of functions that are not inlined out of
/// it: only what is inlined is compiled for the level.
pub trait Kernel {
    /// The result of the kernel.
    type Output;

    /// Runs the kernel.
    fn run(self) -> Self::Output;
}

/// A set of instructions that a kernel is compiled for, from narrow to wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// The instructions that every CPU of the family has.
    Baseline,
    /// x86-64 with AVX2 and F16C: vectors of 32 bytes.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ and VL: vectors of 64 bytes.
    Avx512,
}

impl Level {
    /// All levels, from narrow to wide.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// The level's name in the environment variable `CORECAST_SIMD`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Whether this CPU and its operating system have the level.
    pub fn is_here(self) -> bool {
        #[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
        {
            use std::arch::is_x86_feature_detected as has;
            match self {
                Self::Baseline => true,
                Self::Avx2 => has!("avx2") && has!("f16c"),
                Self::Avx512 => {
                    Self::Avx2.is_here()
                        && has!("avx512f")
                        && has!("avx512bw")
                        && has!("avx512dq")
                        && has!("avx512vl")
                }
            }
        }
        #[cfg(not(all(target_arch = "x86_64", not(corecast_generic_arch))))]
        {
            self == Self::Baseline
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The level that [`widest`] uses: the best of this CPU, or the best up to the one that the
/// environment variable `CORECAST_SIMD` names (`baseline`, `avx2`, `avx512`; other words are
/// ignored). It is decided at the first call.
///
/// # Examples
///
/// ```
/// assert!(corecast_wire::simd::level().is_here());
/// ```
#[inline]
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let requested = std::env::var("CORECAST_SIMD").ok();
        best_up_to(requested.as_deref())
    })
}

/// The best level here, not above the one with the name `requested`.
fn best_up_to(requested: Option<&str>) -> Level {
    let limit = Level::ALL
        .into_iter()
        .find(|level| Some(level.name()) == requested);
    Level::ALL
        .into_iter()
        .filter(|level| limit.is_none_or(|limit| *level <= limit) && level.is_here())
        .max()
        .unwrap_or(Level::Baseline)
}

/// Runs a kernel with the widest vectors of this CPU.
///
/// # Cost
///
/// A load and two predictable branches above a plain call; not worth it for a few elements.
///
/// # Examples
///
/// ```
/// use corecast_wire::simd::{Kernel, widest};
///
/// struct Add<'a>(&'a mut [f32], &'a [f32]);
///
/// impl Kernel for Add<'_> {
///     type Output = ();
///
///     #[inline(always)]
///     fn run(self) {
///         for (into, with) in self.0.iter_mut().zip(self.1) {
///             *into += *with;
///         }
///     }
/// }
///
/// let mut sum = [1.0; 100];
/// widest(Add(&mut sum, &[2.0; 100]));
/// assert_eq!(sum, [3.0; 100]);
/// ```
pub fn widest<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
    match level() {
        Level::Baseline => kernel.run(),
        // SAFETY: `level` gives levels that are here, so the CPU has AVX2.
        Level::Avx2 => unsafe { avx2(kernel) },
        // SAFETY: as above, the CPU has AVX2 and the four parts of AVX-512.
        Level::Avx512 => unsafe { avx512(kernel) },
    }
    #[cfg(not(all(target_arch = "x86_64", not(corecast_generic_arch))))]
    kernel.run()
}

#[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
#[target_feature(enable = "avx2")]
fn avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_limits_and_never_exceeds_what_is_here() {
        assert_eq!(best_up_to(Some("baseline")), Level::Baseline);
        assert!(best_up_to(Some("avx2")) <= Level::Avx2);
        for requested in [None, Some("avx2"), Some("avx512"), Some("nonsense")] {
            let level = best_up_to(requested);
            assert!(level.is_here(), "{requested:?} gave {level}");
            let better = |other: &Level| *other > level && other.is_here();
            assert!(requested == Some("avx2") || !Level::ALL.iter().any(better));
        }
    }

    #[test]
    fn kernels_run_once_and_give_their_output_back() {
        struct Count<'a>(&'a mut u32);
        impl Kernel for Count<'_> {
            type Output = u32;
            #[inline(always)]
            fn run(self) -> u32 {
                *self.0 += 1;
                *self.0
            }
        }
        let mut count = 41;
        assert_eq!(widest(Count(&mut count)), 42);
        assert_eq!(count, 42);
    }
}
