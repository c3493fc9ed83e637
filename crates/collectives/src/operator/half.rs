//! The rules of `f16` and `bf16`.
//!
//! Sums and products are computed in `f32`; least and greatest compare integers. Conversions are
//! branch-free integer code that the compiler makes vectors of at every width. Arrays of `f16` are
//! combined by the CPU's own conversions where it has them, to the same bits. Conversions of the
//! CPU for `bf16` are not used: AVX512-BF16 flushes subnormal numbers to zero, so results would
//! differ between machines.

use super::builtin::{Max, Min, Product, Rule, Sum};
use super::kernel;
use ::half::{bf16, f16};
use bytemuck::{cast_slice, cast_slice_mut, try_cast_slice, try_cast_slice_mut};
use corecast_wire::simd::half::{Arithmetic, f16_combine, f16_combine_into};
use std::hint::select_unpredictable as select;

const BF16_QUIET: u16 = 0x7FC0;
const F16_QUIET: u16 = 0x7E00;
/// An `f32`'s infinity.
const INFINITY: u32 = 0x7F80_0000;

#[inline(always)]
fn bf16_to_f32(element: bf16) -> f32 {
    f32::from_bits(u32::from(element.to_bits()) << 16)
}

/// Rounds to nearest, ties to even: half of the last place that stays is added, less one bit where
/// that place is even; a carry into the exponent is what rounding up to the next power of two, or
/// to infinity, means.
#[inline(always)]
fn bf16_of_f32(wide: f32) -> bf16 {
    let bits = wide.to_bits();
    let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
    bf16::from_bits(select(wide.is_nan(), BF16_QUIET, rounded as u16))
}

/// Two `bf16` in a word, each combined where it lies: nothing has to be spread over wider lanes and
/// packed again. The word's halves are elements in some order, which does not matter.
#[inline(always)]
fn bf16_pair(a: u32, b: u32, apply: impl Fn(f32, f32) -> f32) -> u32 {
    const UPPER: u32 = 0xFFFF_0000;
    let apply = |a: u32, b: u32| {
        let wide = apply(f32::from_bits(a), f32::from_bits(b));
        let bits = wide.to_bits();
        let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1));
        select(wide.is_nan(), u32::from(BF16_QUIET) << 16, rounded)
    };
    apply(a & UPPER, b & UPPER) & UPPER | apply(a << 16, b << 16) >> 16
}

/// Combines whole pairs from the start, and returns the number of their elements; 0 where an array
/// does not start at a whole word.
fn bf16_pairs(into: &mut [bf16], with: &[bf16], apply: impl Fn(f32, f32) -> f32) -> usize {
    let even = into.len() & !1;
    match (
        try_cast_slice_mut(&mut into[..even]),
        try_cast_slice(&with[..even]),
    ) {
        (Ok(into), Ok(with)) => {
            kernel::zip(into, with, |a, b| bf16_pair(a, b, &apply));
            even
        }
        _ => 0,
    }
}

/// Does what `bf16_pairs` does, but for three operands: `out` is `a` combined with `b`.
fn bf16_pairs_into(
    out: &mut [bf16],
    a: &[bf16],
    b: &[bf16],
    apply: impl Fn(f32, f32) -> f32,
) -> usize {
    let even = out.len() & !1;
    let (a, b) = (try_cast_slice(&a[..even]), try_cast_slice(&b[..even]));
    match (try_cast_slice_mut(&mut out[..even]), a, b) {
        (Ok(out), Ok(a), Ok(b)) => {
            kernel::zip_into(out, a, b, |a, b| bf16_pair(a, b, &apply));
            even
        }
        _ => 0,
    }
}

/// Moves the exponent from bias 15 to bias 127. Subnormal numbers become normal ones: a leading one
/// is put in front, and its value is subtracted again.
#[inline(always)]
fn f16_to_f32(element: f16) -> f32 {
    const EXPONENT: u32 = 0x7C00 << 13;
    const REBIAS: u32 = (127 - 15) << 23;
    const SMALLEST_NORMAL: u32 = (127 - 14) << 23;
    let bits = u32::from(element.to_bits());
    let magnitude = (bits & 0x7FFF) << 13;
    let subnormal = f32::from_bits(magnitude + SMALLEST_NORMAL) - f32::from_bits(SMALLEST_NORMAL);
    let normal = select(
        magnitude >= EXPONENT,
        magnitude | INFINITY,
        magnitude + REBIAS,
    );
    let wide = select(magnitude < 1 << 23, subnormal.to_bits(), normal);
    f32::from_bits(wide | (bits & 0x8000) << 16)
}

/// Rounds as `bf16_of_f32` does; results below the smallest normal number are rounded by an
/// addition of 1/2, whose last place is that of the subnormal numbers.
#[inline(always)]
fn f16_of_f32(wide: f32) -> f16 {
    const REBIAS: u32 = (127 - 15) << 23;
    const OVERFLOW: u32 = (127 + 16) << 23;
    const SMALLEST_NORMAL: u32 = (127 - 14) << 23;
    let magnitude = wide.to_bits() & 0x7FFF_FFFF;
    let normal = magnitude
        .wrapping_sub(REBIAS)
        .wrapping_add(0xFFF + (magnitude >> 13 & 1))
        >> 13;
    let subnormal = (f32::from_bits(magnitude) + 0.5)
        .to_bits()
        .wrapping_sub(0.5f32.to_bits());
    let rounded = select(magnitude < SMALLEST_NORMAL, subnormal, normal);
    let rounded = select(magnitude >= OVERFLOW, 0x7C00, rounded);
    let signed = rounded | wide.to_bits() >> 16 & 0x8000;
    f16::from_bits(select(wide.is_nan(), F16_QUIET, signed as u16))
}

/// The bits of a float as an integer with the same order, −0 before +0. The function is its own
/// inverse.
#[inline(always)]
fn by_order(bits: i16) -> i16 {
    bits ^ (bits >> 15 & 0x7FFF)
}

macro_rules! wide_rule {
    (
        $type:ident, $widen:ident, $narrow:ident, $operator:ident, $neutral:expr, $apply:expr,
        $head:expr, $head_into:expr
    ) => {
        impl Rule<$type> for $operator {
            type Wide = f32;
            const NEUTRAL: f32 = $neutral;

            #[inline(always)]
            fn widen(element: $type) -> f32 {
                $widen(element)
            }

            #[inline(always)]
            fn narrow(wide: f32) -> $type {
                $narrow(wide)
            }

            #[inline(always)]
            fn apply(a: f32, b: f32) -> f32 {
                $apply(a, b)
            }

            fn head(into: &mut [$type], with: &[$type]) -> usize {
                $head(into, with)
            }

            fn head_into(out: &mut [$type], a: &[$type], b: &[$type]) -> usize {
                $head_into(out, a, b)
            }
        }
    };
}

/// Compares numbers as integers in the same order. They are moved so that NaNs of both signs lie at
/// one end, where they win, and the range from −∞ to +∞ touches the other end.
macro_rules! order_rule {
    (
        $type:ident, $infinity:literal, $quiet:ident, $operator:ident,
        $moved:expr, $neutral:expr, $is_nan:expr, $apply:expr
    ) => {
        impl Rule<$type> for $operator {
            type Wide = i16;
            const NEUTRAL: i16 = $neutral;

            #[inline(always)]
            fn widen(element: $type) -> i16 {
                by_order(element.to_bits() as i16).wrapping_add($moved)
            }

            #[inline(always)]
            fn narrow(wide: i16) -> $type {
                let bits = by_order(wide.wrapping_sub($moved)) as u16;
                $type::from_bits(select($is_nan(wide), $quiet, bits))
            }

            #[inline(always)]
            fn apply(a: i16, b: i16) -> i16 {
                $apply(a, b)
            }
        }
    };
}

macro_rules! order_rules {
    ($($type:ident $infinity:literal $quiet:ident;)*) => {$(
        order_rule!(
            $type, $infinity, $quiet, Min,
            0x7FFF - $infinity, i16::MAX, |wide| wide < !$infinity + (0x7FFF - $infinity), Ord::min
        );
        order_rule!(
            $type, $infinity, $quiet, Max,
            $infinity - 0x7FFF, i16::MIN, |wide| wide > $infinity - (0x7FFF - $infinity), Ord::max
        );
    )*};
}

order_rules! {
    f16 0x7C00 F16_QUIET;
    bf16 0x7F80 BF16_QUIET;
}

macro_rules! wide_rules {
    ($($operator:ident $neutral:literal $arithmetic:ident $apply:expr;)*) => {$(
        wide_rule!(
            bf16, bf16_to_f32, bf16_of_f32, $operator, $neutral, $apply,
            |into, with| bf16_pairs(into, with, $apply),
            |out, a, b| bf16_pairs_into(out, a, b, $apply)
        );
        wide_rule!(
            f16, f16_to_f32, f16_of_f32, $operator, $neutral, $apply,
            |into, with| {
                f16_combine(Arithmetic::$arithmetic, cast_slice_mut(into), cast_slice(with))
            },
            |out, a, b| {
                let (a, b) = (cast_slice(a), cast_slice(b));
                f16_combine_into(Arithmetic::$arithmetic, cast_slice_mut(out), a, b)
            }
        );
    )*};
}

wide_rules! {
    Sum -0.0 Add |a: f32, b: f32| a + b;
    Product 1.0 Multiply |a: f32, b: f32| a * b;
}

#[cfg(test)]
mod tests;
