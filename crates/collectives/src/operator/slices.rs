//! Functions that combine many elements at a call, such as those of other languages.

use super::Operator;
use super::kernel::same_length;
use super::lanes::LANE_BYTES_MAX;
use bytemuck::Pod;

/// Longest piece of a combination with three operands (bytes): a copied piece is still in the first
/// cache when it is combined.
const PIECE_BYTES: usize = 4096;

/// An operator from a function over slices: `f(into, with)` sets `into[i]` to `into[i] ∘ with[i]`.
///
/// The function gets pieces of any length (both slices have the same), and must treat each pair of
/// elements alike. It counts as commutative; wrap it in [`Ordered`](super::Ordered) when it is not.
///
/// # Examples
///
/// ```
/// use corecast_collectives::operator::{Operator, Ordered, by_slice};
///
/// let sum = by_slice(|into: &mut [u16], with: &[u16]| {
///     for (into, with) in into.iter_mut().zip(with) {
///         *into = into.wrapping_add(*with);
///     }
/// });
/// let mut data = [1, 2];
/// sum.combine(&mut data, &[10, 20]);
/// assert_eq!(data, [11, 22]);
///
/// let second = Ordered(by_slice(|into: &mut [u16], with: &[u16]| into.copy_from_slice(with)));
/// second.combine_left(&mut data, &[5, 5]);
/// assert_eq!(data, [11, 22]);
/// ```
#[inline]
pub const fn by_slice<T: Pod, F: Fn(&mut [T], &[T])>(f: F) -> BySlice<F> {
    BySlice(f)
}

/// The operator that [`by_slice`] returns.
#[derive(Clone, Copy, Debug)]
pub struct BySlice<F>(F);

impl<T: Pod, F: Fn(&mut [T], &[T])> Operator<T> for BySlice<F> {
    #[inline]
    fn combine(&self, into: &mut [T], with: &[T]) {
        same_length(into.len(), with.len());
        (self.0)(into, with);
    }

    /// The function writes to its left operand, so the left one is copied, a piece at a time.
    fn combine_left(&self, into: &mut [T], with: &[T]) {
        fn pieces<T: Pod, const N: usize>(f: impl Fn(&mut [T], &[T]), into: &mut [T], with: &[T]) {
            let mut left = [T::zeroed(); N];
            for (into, with) in into.chunks_mut(N).zip(with.chunks(N)) {
                let left = &mut left[..with.len()];
                left.copy_from_slice(with);
                f(left, into);
                into.copy_from_slice(left);
            }
        }
        same_length(into.len(), with.len());
        if size_of::<T>() > LANE_BYTES_MAX {
            pieces::<T, 1>(&self.0, into, with);
        } else {
            pieces::<T, 64>(&self.0, into, with);
        }
    }

    fn combine_into(&self, out: &mut [T], a: &[T], b: &[T]) {
        same_length(a.len(), b.len());
        same_length(out.len(), a.len());
        let piece = (PIECE_BYTES / size_of::<T>().max(1)).max(1);
        for ((out, a), b) in out
            .chunks_mut(piece)
            .zip(a.chunks(piece))
            .zip(b.chunks(piece))
        {
            out.copy_from_slice(a);
            (self.0)(out, b);
        }
    }
}
