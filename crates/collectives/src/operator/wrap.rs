//! Wrappers that give an operator a property: that the order of ranks counts, or a neutral element.

use super::Operator;
use bytemuck::Pod;

/// An operator that is associative but not commutative: reductions keep the order of ranks.
///
/// # Examples
///
/// ```
/// use corecast_collectives::operator::{Operator, Ordered};
///
/// // The last one that is not zero.
/// let last = Ordered(|a: u8, b: u8| if b == 0 { a } else { b });
/// assert!(last.ordered());
///
/// let mut values = [1, 2];
/// last.combine(&mut values, &[3, 0]);
/// assert_eq!(values, [3, 2]);
/// last.combine_left(&mut values, &[9, 9]);
/// assert_eq!(values, [3, 2]);
/// assert_eq!(last.fold(&[4, 5, 0]), Some(5));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Ordered<O>(pub O);

impl<T: Pod, O: Operator<T>> Operator<T> for Ordered<O> {
    fn ordered(&self) -> bool {
        true
    }

    #[inline]
    fn combine(&self, into: &mut [T], with: &[T]) {
        self.0.combine(into, with);
    }

    #[inline]
    fn combine_left(&self, into: &mut [T], with: &[T]) {
        self.0.combine_left(into, with);
    }

    #[inline]
    fn combine_into(&self, out: &mut [T], a: &[T], b: &[T]) {
        self.0.combine_into(out, a, b);
    }

    fn neutral(&self) -> Option<T> {
        self.0.neutral()
    }
}

/// Returns `operator` with a neutral element, which it does not know itself.
///
/// # Examples
///
/// ```
/// use corecast_collectives::operator::{Operator, with_neutral};
///
/// let gcd = |mut a: u64, mut b: u64| {
///     while b != 0 {
///         (a, b) = (b, a % b);
///     }
///     a
/// };
/// assert_eq!(gcd.fold(&[]), None);
/// assert_eq!(with_neutral(gcd, 0).fold(&[]), Some(0));
/// ```
#[inline]
pub fn with_neutral<T: Pod, O: Operator<T>>(operator: O, neutral: T) -> WithNeutral<O, T> {
    WithNeutral { operator, neutral }
}

/// The operator that [`with_neutral`] returns.
#[derive(Clone, Copy, Debug)]
pub struct WithNeutral<O, T> {
    operator: O,
    neutral: T,
}

impl<T: Pod, O: Operator<T>> Operator<T> for WithNeutral<O, T> {
    fn ordered(&self) -> bool {
        self.operator.ordered()
    }

    #[inline]
    fn combine(&self, into: &mut [T], with: &[T]) {
        self.operator.combine(into, with);
    }

    #[inline]
    fn combine_left(&self, into: &mut [T], with: &[T]) {
        self.operator.combine_left(into, with);
    }

    #[inline]
    fn combine_into(&self, out: &mut [T], a: &[T], b: &[T]) {
        self.operator.combine_into(out, a, b);
    }

    fn neutral(&self) -> Option<T> {
        Some(self.neutral)
    }

    fn fold(&self, data: &[T]) -> Option<T> {
        self.operator.fold(data).or(Some(self.neutral))
    }
}
