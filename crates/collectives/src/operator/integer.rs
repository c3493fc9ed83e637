//! The rules of integers.

use super::builtin::{And, Max, Min, Or, Product, Rule, Sum, Xor};

/// A rule whose wide type is that of its elements.
macro_rules! rule {
    ($operator:ident, $type:ty, $neutral:expr, $apply:expr) => {
        impl Rule<$type> for $operator {
            type Wide = $type;
            const NEUTRAL: $type = $neutral;

            #[inline(always)]
            fn widen(element: $type) -> $type {
                element
            }

            #[inline(always)]
            fn narrow(wide: $type) -> $type {
                wide
            }

            #[inline(always)]
            fn apply(a: $type, b: $type) -> $type {
                $apply(a, b)
            }
        }
    };
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        rule!(Sum, $type, 0, $type::wrapping_add);
        rule!(Product, $type, 1, $type::wrapping_mul);
        rule!(Min, $type, $type::MAX, Ord::min);
        rule!(Max, $type, $type::MIN, Ord::max);
        rule!(And, $type, !0, |a, b| a & b);
        rule!(Or, $type, 0, |a, b| a | b);
        rule!(Xor, $type, 0, |a, b| a ^ b);
    )*};
}

integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }
