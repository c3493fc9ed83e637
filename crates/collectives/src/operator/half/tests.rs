//! Half precision is widened and rounded exactly.

use super::*;

#[test]
fn widening_is_exact() {
    (0..=u16::MAX).for_each(|bits| {
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

/// Every upper half with the lower halves around which rounding changes its result, for both
/// formats, against the crate `half`.
#[test]
fn narrowing_rounds_to_nearest_even() {
    let lows = [
        0, 1, 0x0FFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x3001, 0x7FFF, 0x8000, 0x8001,
    ];
    (0..=u16::MAX).for_each(|high| {
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
