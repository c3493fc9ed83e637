//! Sums and products of `f16` with the CPU's own conversions (F16C, AVX-512).
//!
//! The compiler makes vectors of conversions in integer code as well, but those take some fifteen
//! instructions where the CPU has one, and are then slower than memory. Both give the same bits:
//! the CPU's round to nearest even whatever the thread's rounding mode, and neither take nor make
//! zeros of subnormal numbers. Those of AVX512-BF16 do, which is why `bf16` has nothing here.

use super::Level;

/// The operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// a + b
    Add,
    /// a · b
    Multiply,
}

/// Combines the first numbers in place, `into[i]` with `with[i]`, and returns how many it has
/// combined. The caller combines the rest, which is everything where [`level`](super::level) has no
/// conversions.
///
/// Numbers are the bits of `f16`. Each result is computed in `f32` and rounded to nearest, ties to
/// even; one that is not a number is `0x7E00`.
///
/// # Panics
///
/// When the slices differ in length.
///
/// # Examples
///
/// ```
/// use corecast_wire::simd::half::{Arithmetic, f16_combine};
///
/// let (one, two) = (0x3C00, 0x4000);
/// let mut sums = [one; 100];
/// let done = f16_combine(Arithmetic::Add, &mut sums, &[one; 100]);
/// assert!(sums[..done].iter().all(|sum| *sum == two));
/// ```
pub fn f16_combine(what: Arithmetic, into: &mut [u16], with: &[u16]) -> usize {
    assert_eq!(into.len(), with.len(), "one operand is longer");
    let (at, len) = (into.as_mut_ptr(), into.len());
    // SAFETY: `at` and `with` are valid for `len` numbers, the first for writes as well; no other
    // reference to `into` is used while the loop runs.
    unsafe { vectors(super::level(), what, at, at, with.as_ptr(), len) }
}

/// Combines like [`f16_combine`], but writes the results to a third slice.
///
/// # Panics
///
/// When the slices differ in length.
///
/// # Examples
///
/// ```
/// use corecast_wire::simd::half::{Arithmetic, f16_combine_into};
///
/// let (one, two) = (0x3C00, 0x4000);
/// let mut products = [0; 100];
/// let done = f16_combine_into(Arithmetic::Multiply, &mut products, &[one; 100], &[two; 100]);
/// assert!(products[..done].iter().all(|product| *product == two));
/// ```
pub fn f16_combine_into(what: Arithmetic, out: &mut [u16], a: &[u16], b: &[u16]) -> usize {
    assert_eq!(a.len(), b.len(), "one operand is longer");
    assert_eq!(out.len(), a.len(), "operands and results differ in length");
    let len = out.len();
    // SAFETY: all three are valid for `len` numbers, and `out` for writes; the borrows last.
    unsafe {
        vectors(
            super::level(),
            what,
            out.as_mut_ptr(),
            a.as_ptr(),
            b.as_ptr(),
            len,
        )
    }
}

/// # Safety
///
/// - The CPU has `level`.
/// - `a` and `b` are valid for reads of `len` numbers, `out` for writes.
/// - `out` overlaps with an operand only if it is the same pointer.
unsafe fn vectors(
    level: Level,
    what: Arithmetic,
    out: *mut u16,
    a: *const u16,
    b: *const u16,
    len: usize,
) -> usize {
    debug_assert!(level.is_here());
    #[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
    // SAFETY: the caller vouches for pointers, and for the level with all that it includes.
    unsafe {
        match (level, what) {
            (Level::Baseline, _) => 0,
            (Level::Avx2, Arithmetic::Add) => x86::by_8::<false>(out, a, b, len),
            (Level::Avx2, Arithmetic::Multiply) => x86::by_8::<true>(out, a, b, len),
            (Level::Avx512, Arithmetic::Add) => x86::by_16::<false>(out, a, b, len),
            (Level::Avx512, Arithmetic::Multiply) => x86::by_16::<true>(out, a, b, len),
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(corecast_generic_arch))))]
    {
        let _ = (what, out, a, b, len);
        0
    }
}

#[cfg(all(target_arch = "x86_64", not(corecast_generic_arch)))]
mod x86 {
    use std::arch::x86_64::*;

    /// The NaN that is rounded to `0x7E00`.
    const QUIET: f32 = f32::from_bits(0x7FC0_0000);

    /// # Safety
    ///
    /// - The CPU has AVX and F16C.
    /// - `a` and `b` are valid for reads of `len` numbers, `out` for writes.
    /// - `out` overlaps with an operand only if it is the same pointer.
    #[target_feature(enable = "avx,f16c")]
    pub(super) unsafe fn by_8<const MULTIPLY: bool>(
        out: *mut u16,
        a: *const u16,
        b: *const u16,
        len: usize,
    ) -> usize {
        let whole = len - len % 8;
        for at in (0..whole).step_by(8) {
            // SAFETY: numbers `at` to `at + 8` are within `len`; loads and stores need no
            // alignment. Both operands are read before the result is written over one.
            unsafe {
                let a = _mm256_cvtph_ps(_mm_loadu_si128(a.add(at).cast()));
                let b = _mm256_cvtph_ps(_mm_loadu_si128(b.add(at).cast()));
                let wide = if MULTIPLY {
                    _mm256_mul_ps(a, b)
                } else {
                    _mm256_add_ps(a, b)
                };
                let nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(wide, wide);
                let wide = _mm256_blendv_ps(wide, _mm256_set1_ps(QUIET), nan);
                _mm_storeu_si128(
                    out.add(at).cast(),
                    _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(wide),
                );
            }
        }
        whole
    }

    /// # Safety
    ///
    /// The contract of [`by_8`], with AVX-512 F instead of AVX and F16C.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn by_16<const MULTIPLY: bool>(
        out: *mut u16,
        a: *const u16,
        b: *const u16,
        len: usize,
    ) -> usize {
        let whole = len - len % 16;
        for at in (0..whole).step_by(16) {
            // SAFETY: numbers `at` to `at + 16` are within `len`; loads and stores need no
            // alignment. Both operands are read before the result is written over one.
            unsafe {
                let a = _mm512_cvtph_ps(_mm256_loadu_si256(a.add(at).cast()));
                let b = _mm512_cvtph_ps(_mm256_loadu_si256(b.add(at).cast()));
                let wide = if MULTIPLY {
                    _mm512_mul_ps(a, b)
                } else {
                    _mm512_add_ps(a, b)
                };
                let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(wide, wide);
                let wide = _mm512_mask_blend_ps(nan, wide, _mm512_set1_ps(QUIET));
                _mm256_storeu_si256(
                    out.add(at).cast(),
                    _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(wide),
                );
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums with zero and products with one give every number back; what is not a number gives
    /// the one quiet NaN; levels agree.
    #[test]
    fn every_number_comes_back_and_levels_agree() {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        let is_nan = |bits: u16| bits & 0x7FFF > 0x7C00;
        // 0x8000 is −0, which changes no number, +0 included.
        for (what, neutral) in [(Arithmetic::Add, 0x8000), (Arithmetic::Multiply, 0x3C00)] {
            for level in Level::ALL.into_iter().filter(|level| level.is_here()) {
                for start in [0, 1, 3] {
                    let a = &all[start..];
                    let mut out = vec![0; a.len()];
                    let b = vec![neutral; a.len()];
                    // SAFETY: all three are of one length, and the level is here.
                    let done = unsafe {
                        vectors(
                            level,
                            what,
                            out.as_mut_ptr(),
                            a.as_ptr(),
                            b.as_ptr(),
                            a.len(),
                        )
                    };
                    let step = if level == Level::Avx512 { 16 } else { 8 };
                    let vectors_here =
                        cfg!(all(target_arch = "x86_64", not(corecast_generic_arch)));
                    let whole = match level != Level::Baseline && vectors_here {
                        true => a.len() - a.len() % step,
                        false => 0,
                    };
                    assert_eq!(done, whole, "{level}");
                    for (found, given) in out[..done].iter().zip(a) {
                        let wanted = if is_nan(*given) { 0x7E00 } else { *given };
                        assert_eq!(*found, wanted, "{what:?} of {given:#x} at {level}");
                    }
                    assert!(out[done..].iter().all(|rest| *rest == 0));
                }
            }
        }
    }
}
