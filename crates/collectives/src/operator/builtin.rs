//! The built-in operators, over one rule for each element type.

use super::Operator;
use super::kernel::{self, same_length};
use bytemuck::Pod;

/// The rule by which a built-in operator combines two elements of type `T`. It is implemented for
/// each pair that exists, and nowhere else: use a closure for operators of your own.
pub trait Rule<T>: closed::Closed {
    /// The type in which elements are combined, also in the lanes of a fold: `f32` for sums of the
    /// 16-bit floats, and mostly `T` itself.
    type Wide: Copy;

    /// The neutral element: it changes nothing that it is combined with.
    const NEUTRAL: Self::Wide;

    /// Converts an element to the wide type, without rounding.
    fn widen(element: T) -> Self::Wide;

    /// Converts back to an element: rounds to nearest, ties to even, and makes every NaN the one
    /// quiet NaN.
    fn narrow(wide: Self::Wide) -> T;

    /// Returns a ∘ b.
    fn apply(a: Self::Wide, b: Self::Wide) -> Self::Wide;

    /// Combines leading elements by instructions that the compiler does not choose by itself, to
    /// the same bits, and returns their number. The slices have one length.
    #[inline(always)]
    fn head(_into: &mut [T], _with: &[T]) -> usize {
        0
    }

    /// Does what `head` does, but for three operands: `out` is `a` combined with `b`.
    #[inline(always)]
    fn head_into(_out: &mut [T], _a: &[T], _b: &[T]) -> usize {
        0
    }
}

mod closed {
    pub trait Closed {}
}

/// Combines two elements in the wide type, and converts the result back.
#[inline(always)]
fn both<T, R: Rule<T>>(a: T, b: T) -> T {
    R::narrow(R::apply(R::widen(a), R::widen(b)))
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name;

        impl closed::Closed for $name {}

        impl<T: Pod> Operator<T> for $name
        where
            $name: Rule<T>,
        {
            #[inline]
            fn combine(&self, into: &mut [T], with: &[T]) {
                same_length(into.len(), with.len());
                let done = <$name as Rule<T>>::head(into, with);
                kernel::zip(&mut into[done..], &with[done..], both::<T, $name>);
            }

            #[inline]
            fn combine_left(&self, into: &mut [T], with: &[T]) {
                self.combine(into, with);
            }

            #[inline]
            fn combine_into(&self, out: &mut [T], a: &[T], b: &[T]) {
                same_length(a.len(), b.len());
                same_length(out.len(), a.len());
                let done = <$name as Rule<T>>::head_into(out, a, b);
                kernel::zip_into(&mut out[done..], &a[done..], &b[done..], both::<T, $name>);
            }

            #[inline]
            fn neutral(&self) -> Option<T> {
                Some(<$name as Rule<T>>::narrow(<$name as Rule<T>>::NEUTRAL))
            }

            fn fold(&self, data: &[T]) -> Option<T> {
                let wide = kernel::fold(data, <$name as Rule<T>>::widen, <$name as Rule<T>>::apply);
                wide.map(<$name as Rule<T>>::narrow).or_else(|| self.neutral())
            }
        }
    )*};
}

operators! {
    /// The sum. Integers wrap around; the neutral element of floats is −0, not +0, because −0 + 0
    /// is +0. A fold of `f16` or `bf16` has lanes of `f32` and rounds once, at the end.
    Sum
    /// The product. Integers wrap around. A fold of `f16` or `bf16` has lanes of `f32` and rounds
    /// once, at the end.
    Product
    /// The least. NaN when either is NaN, as `minimum` of IEEE 754-2019; −0 is less than +0.
    Min
    /// The greatest. NaN when either is NaN, as `maximum` of IEEE 754-2019; −0 is less than +0.
    Max
    /// Bitwise and, of integers.
    And
    /// Bitwise or, of integers.
    Or
    /// Bitwise exclusive or, of integers.
    Xor
}
