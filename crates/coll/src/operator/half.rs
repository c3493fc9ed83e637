//! The rules of `f16` and `bf16`.
//!
//! Sums and products are computed in `f32`; least and greatest compare integers. Conversions are
//! branch-free integer code that the compiler makes vectors of at every width. The CPU's own are
//! left alone on purpose: those of AVX512-BF16 flush subnormal numbers to zero, so results would
//! differ between machines.

use super::builtin::{Max, Min, Product, Rule, Sum};
use ::half::{bf16, f16};
use std::hint::select_unpredictable as select;

const BF16_QUIET: u16 = 0x7FC0;
const F16_QUIET: u16 = 0x7E00;
/// An `f32`'s infinity.
const INFINITY: u32 = 0x7F80_0000;

#[inline(always)]
fn bf16_to_f32(element: bf16) -> f32 {
    f32::from_bits(u32::from(element.to_bits()) << 16)
}

/// Half of the last place that stays is added, less one bit where that place is even; a carry into
/// the exponent is what rounding up to the next power of two, or to infinity, means.
#[inline(always)]
fn bf16_of_f32(wide: f32) -> bf16 {
    let bits = wide.to_bits();
    let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
    bf16::from_bits(select(wide.is_nan(), BF16_QUIET, rounded as u16))
}

/// Moves the exponent from bias 15 to bias 127. Subnormal numbers become normal ones: a leading one
/// is put in front, and its value subtracted again.
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

/// As for `bf16`; results below the smallest normal number are rounded by an addition of 1/2,
/// whose last place is that of the subnormal numbers.
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

/// Bits of a float as an integer with the same order, −0 before +0. Its own inverse.
#[inline(always)]
fn by_order(bits: i16) -> i16 {
    bits ^ (bits >> 15 & 0x7FFF)
}

macro_rules! wide_rule {
    ($type:ident, $widen:ident, $narrow:ident, $operator:ident, $neutral:expr, $apply:expr) => {
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
        }
    };
}

/// NaN is the integer that wins: some NaN has its bits, so no number loses its place.
macro_rules! order_rule {
    ($type:ident, $infinity:literal, $quiet:ident, $operator:ident, $nan:expr, $neutral:expr, $apply:expr) => {
        impl Rule<$type> for $operator {
            type Wide = i16;
            const NEUTRAL: i16 = $neutral;

            #[inline(always)]
            fn widen(element: $type) -> i16 {
                let bits = element.to_bits();
                if bits & 0x7FFF > $infinity {
                    $nan
                } else {
                    by_order(bits as i16)
                }
            }

            #[inline(always)]
            fn narrow(wide: i16) -> $type {
                $type::from_bits(if wide == $nan {
                    $quiet
                } else {
                    by_order(wide) as u16
                })
            }

            #[inline(always)]
            fn apply(a: i16, b: i16) -> i16 {
                $apply(a, b)
            }
        }
    };
}

macro_rules! halves {
    ($($type:ident $infinity:literal $quiet:ident $widen:ident $narrow:ident)*) => {$(
        wide_rule!($type, $widen, $narrow, Sum, -0.0, |a, b| a + b);
        wide_rule!($type, $widen, $narrow, Product, 1.0, |a, b| a * b);
        order_rule!($type, $infinity, $quiet, Min, i16::MIN, $infinity, Ord::min);
        // The bits of −∞, all but the sign turned over.
        order_rule!($type, $infinity, $quiet, Max, i16::MAX, !$infinity, Ord::max);
    )*};
}

halves! {
    f16 0x7C00 F16_QUIET f16_to_f32 f16_of_f32
    bf16 0x7F80 BF16_QUIET bf16_to_f32 bf16_of_f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `check` for every float of 16 bits that is a number.
    fn numbers(check: impl Fn(u16)) {
        (0..=u16::MAX).for_each(check);
    }

    #[test]
    fn widening_is_exact() {
        numbers(|bits| {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            if !a.is_nan() {
                assert_eq!(
                    f16_to_f32(a).to_bits(),
                    a.to_f32().to_bits(),
                    "f16 {bits:#x}"
                );
                assert_eq!(f16_of_f32(f16_to_f32(a)), a, "f16 {bits:#x}");
            } else {
                assert!(f16_to_f32(a).is_nan(), "f16 {bits:#x}");
            }
            if !b.is_nan() {
                assert_eq!(
                    bf16_to_f32(b).to_bits(),
                    b.to_f32().to_bits(),
                    "bf16 {bits:#x}"
                );
                assert_eq!(bf16_of_f32(bf16_to_f32(b)), b, "bf16 {bits:#x}");
            } else {
                assert!(bf16_to_f32(b).is_nan(), "bf16 {bits:#x}");
            }
        });
    }

    /// Every upper half with the lower halves around which rounding changes its mind, for both
    /// formats, against the crate `half`.
    #[test]
    fn narrowing_rounds_to_nearest_even() {
        let lows = [
            0, 1, 0x0FFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x3001, 0x7FFF, 0x8000, 0x8001,
        ];
        numbers(|high| {
            for low in lows.into_iter().chain([0xFFFF, 0xEFFF, 0xF000, 0xF001]) {
                let wide = f32::from_bits(u32::from(high) << 16 | low);
                let (a, b) = (f16_of_f32(wide), bf16_of_f32(wide));
                if wide.is_nan() {
                    assert_eq!((a.to_bits(), b.to_bits()), (F16_QUIET, BF16_QUIET));
                } else {
                    assert_eq!(
                        a.to_bits(),
                        f16::from_f32(wide).to_bits(),
                        "f16 of {wide:e}"
                    );
                    assert_eq!(
                        b.to_bits(),
                        bf16::from_f32(wide).to_bits(),
                        "bf16 of {wide:e}"
                    );
                }
            }
        });
    }
}
