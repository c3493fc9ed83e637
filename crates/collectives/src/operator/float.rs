//! The rules of `f32` and `f64`.

use super::builtin::{Max, Min, Product, Rule, Sum};

macro_rules! floats {
    ($($type:ident $quiet:literal)*) => {$(
        floats!(rule Sum $type $quiet -0.0, |a, b| a + b);
        floats!(rule Product $type $quiet 1.0, |a, b| a * b);
        // Each `if` is one instruction, which gives the second operand where both are equal or one
        // is NaN. Without NaN the two turns differ for −0 and +0 alone: OR of their bits gives −0,
        // AND gives +0.
        floats!(rule Min $type $quiet $type::INFINITY, |a: $type, b: $type| {
            let turns = (if a < b { a } else { b }, if b < a { b } else { a });
            let least = $type::from_bits(turns.0.to_bits() | turns.1.to_bits());
            if a.is_nan() | b.is_nan() { $type::from_bits($quiet) } else { least }
        });
        floats!(rule Max $type $quiet $type::NEG_INFINITY, |a: $type, b: $type| {
            let turns = (if a > b { a } else { b }, if b > a { b } else { a });
            let greatest = $type::from_bits(turns.0.to_bits() & turns.1.to_bits());
            if a.is_nan() | b.is_nan() { $type::from_bits($quiet) } else { greatest }
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

            // CPUs differ in the operand whose payload they keep, and in the sign of a NaN that
            // they make.
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
