//! Any closure from two elements to one is an operator.

use super::lanes::LANE_BYTES_MAX;
use super::{Operator, kernel};
use bytemuck::Pod;

/// A closure counts as commutative, and has no neutral element; [`Ordered`](super::Ordered) and
/// [`with_neutral`](super::with_neutral) change that.
impl<T: Pod, F: Fn(T, T) -> T> Operator<T> for F {
    #[inline]
    fn combine(&self, into: &mut [T], with: &[T]) {
        kernel::zip(into, with, self);
    }

    #[inline]
    fn combine_left(&self, into: &mut [T], with: &[T]) {
        kernel::zip(into, with, |into, with| self(with, into));
    }

    #[inline]
    fn combine_into(&self, out: &mut [T], a: &[T], b: &[T]) {
        kernel::zip_into(out, a, b, self);
    }

    fn fold(&self, data: &[T]) -> Option<T> {
        if size_of::<T>() > LANE_BYTES_MAX {
            return data.iter().copied().reduce(self);
        }
        kernel::fold(data, |element| element, self)
    }
}
