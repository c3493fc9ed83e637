//! The rules of `f32` and `f64`.

use super::builtin::{Max, Min, Product, Rule, Sum};

macro_rules! floats {
    ($($type:ident $quiet:literal)*) => {$(
        floats!(rule Sum $type $quiet -0.0, |a, b| a + b);
        floats!(rule Product $type $quiet 1.0, |a, b| a * b);
        // Equal numbers have equal bits but for the two zeros: their signs or give the lesser
        // zero, their signs and the greater one. Neither less, greater nor equal: one is NaN.
        floats!(rule Min $type $quiet $type::INFINITY, |a: $type, b: $type| {
            if a < b {
                a
            } else if b < a {
                b
            } else if a == b {
                $type::from_bits(a.to_bits() | b.to_bits())
            } else {
                $type::from_bits($quiet)
            }
        });
        floats!(rule Max $type $quiet $type::NEG_INFINITY, |a: $type, b: $type| {
            if a > b {
                a
            } else if b > a {
                b
            } else if a == b {
                $type::from_bits(a.to_bits() & b.to_bits())
            } else {
                $type::from_bits($quiet)
            }
        });
    )*};
    (rule $operator:ident $type:ident $quiet:literal $neutral:expr, $apply:expr) => {
        impl Rule<$type> for $operator {
            type Wide = $type;
            const NEUTRAL: $type = $neutral;

            #[inline(always)]
            fn widen(element: $type) -> $type {
                element
            }

            // Which operand's payload a CPU keeps, and the sign of a NaN that it makes, differ.
            #[inline(always)]
            fn narrow(wide: $type) -> $type {
                if wide.is_nan() { $type::from_bits($quiet) } else { wide }
            }

            #[inline(always)]
            fn apply(a: $type, b: $type) -> $type {
                $apply(a, b)
            }
        }
    };
}

floats! {
    f32 0x7FC0_0000
    f64 0x7FF8_0000_0000_0000
}
