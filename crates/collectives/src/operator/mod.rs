//! Operators: how reductions combine two elements into one.
//!
//! ```text
//!                 Operator<T>                       a trait over slices
//!   ┌────────────┬────┴───────┬──────────────┐
//! Sum, Min, …  |a, b| a + b  by_slice(f)  Ordered(…), with_neutral(…, x)
//! built in     one element   many          wrappers of any other
//! ```
//!
//! Every operator must be *associative*: a reduction combines in an order that its plan chooses. Most are
//! commutative too. One that is not is wrapped in [`Ordered`], and reductions then keep the order of ranks.
//!
//! # The same bits everywhere
//!
//! Rounding makes sums of floats depend on the order of reduction, so results depend on the plan; deterministic
//! reductions fix the order of reduction. Apart from that, the built-in operators give the same bits on every
//! machine:
//!
//! - a result that is not a number is always the one quiet NaN with a clear sign and an empty
//!   payload, whichever NaN came in;
//! - [`Min`] and [`Max`] give NaN when either side is, and take −0 for less than +0, so they are
//!   commutative and associative to the last bit;
//! - sums and products of `f16` and `bf16` are computed in `f32` and rounded to nearest, ties to
//!   even;
//! - integers wrap around;
//! - [`Operator::fold`] has fixed lanes;
//! - every width of vectors gives the same bits, see [`corecast_wire::simd`].
//!
//! # Examples
//!
//! ```
//! use corecast_collectives::operator::{Max, Operator, Ordered, Sum};
//!
//! let mut sum = [1.5, 2.5];
//! Sum.combine(&mut sum, &[1.0, 1.0]);
//! assert_eq!(sum, [2.5, 3.5]);
//!
//! let mut most = [3u8, 9];
//! Max.combine(&mut most, &[7, 2]);
//! assert_eq!(most, [7, 9]);
//!
//! // "Left then right" of two affine maps x ↦ a·x + b: associative, not commutative.
//! let then = Ordered(|f: [i64; 2], g: [i64; 2]| [f[0] * g[0], f[1] * g[0] + g[1]]);
//! let mut maps = [[2, 1]];
//! then.combine(&mut maps, &[[3, 5]]);
//! assert_eq!(maps, [[6, 8]]);
//! ```
//!
//! C functions are called by closures, those over arrays in [`by_slice`]:
//!
//! ```
//! use corecast_collectives::operator::{Operator, by_slice};
//!
//! // SAFETY: the C library's, of two numbers, and of nothing else.
//! unsafe extern "C" {
//!     safe fn fmax(a: f64, b: f64) -> f64;
//! }
//! let larger = |a: f64, b: f64| fmax(a, b);
//! let mut most = [5.0, 1.0];
//! larger.combine(&mut most, &[3.0, 2.0]);
//! assert_eq!(most, [5.0, 2.0]);
//!
//! // void add(double *into, const double *with, size_t count)
//! unsafe extern "C" fn add(into: *mut f64, with: *const f64, count: usize) {
//!     for i in 0..count {
//!         // SAFETY: the caller gives `count` elements of each.
//!         unsafe { *into.add(i) += *with.add(i) };
//!     }
//! }
//! // SAFETY: slices of one length.
//! let adding = by_slice(|into: &mut [f64], with: &[f64]| unsafe {
//!     add(into.as_mut_ptr(), with.as_ptr(), with.len());
//! });
//! adding.combine(&mut most, &[1.0, 1.0]);
//! assert_eq!(most, [6.0, 3.0]);
//! ```

mod builtin;
mod closure;
mod erased;
mod float;
mod half;
mod integer;
mod kernel;
mod lanes;
mod named;
mod slices;
mod wrap;

pub use ::half::{bf16, f16};
pub use builtin::{And, Max, Min, Or, Product, Rule, Sum, Xor};
pub use erased::erased;
pub use lanes::{LANE_BYTES_MAX, LANES};
pub use named::{BytesError, Element, Named, UnknownName, combine_bytes, neutral_bytes};
pub use slices::{BySlice, by_slice};
pub use wrap::{Ordered, WithNeutral, with_neutral};

use bytemuck::Pod;

/// An associative function ∘ that combines two members' elements, applied to each pair of elements of two slices.
///
/// Any closure `Fn(T, T) -> T` is an operator that counts as commutative; wrap others in [`Ordered`].
///
/// # Panics
///
/// All methods panic when their slices differ in length.
///
/// # Examples
///
/// ```
/// use corecast_collectives::operator::{Operator, Ordered, Sum};
///
/// fn over_all_ranks(operator: &impl Operator<u32>, data: [[u32; 2]; 3]) -> [u32; 2] {
///     let [mut result, b, c] = data;
///     operator.combine(&mut result, &b);
///     operator.combine(&mut result, &c);
///     result
/// }
///
/// assert_eq!(over_all_ranks(&Sum, [[1, 2], [3, 4], [5, 6]]), [9, 12]);
/// let digits = Ordered(|a: u32, b: u32| a * 10u32.pow(b.max(1).ilog10() + 1) + b);
/// assert_eq!(over_all_ranks(&digits, [[1, 2], [3, 4], [5, 6]]), [135, 246]);
/// ```
pub trait Operator<T: Pod> {
    /// Whether the order of ranks must be kept, because the operator is associative but not commutative.
    fn ordered(&self) -> bool {
        false
    }

    /// `into[i] = into[i] ∘ with[i]`: `with` comes from higher ranks.
    fn combine(&self, into: &mut [T], with: &[T]);

    /// `into[i] = with[i] ∘ into[i]`: `with` comes from lower ranks.
    fn combine_left(&self, into: &mut [T], with: &[T]);

    /// `out[i] = a[i] ∘ b[i]`: saves the copy of a long array that is to be kept.
    fn combine_into(&self, out: &mut [T], a: &[T], b: &[T]);

    /// The element with `neutral ∘ x == x == x ∘ neutral` (but for the payload of a NaN), where there is one.
    /// Members without data of their own contribute it.
    fn neutral(&self) -> Option<T> {
        None
    }

    /// Combines all elements of a local array; returns the neutral element, if there is one, for an empty array.
    ///
    /// An [`ordered`](Self::ordered) operator goes from left to right, and so does any other one over
    /// elements longer than [`LANE_BYTES_MAX`]. Else there are [`LANES`] lanes: element `i` is combined
    /// into lane `i % LANES`, in order of `i`; then the upper half of the lanes into the lower half,
    /// lane `j + 128` into lane `j`, and so on with 64, 32, 16, 8, 4, 2 and 1. Lanes without elements
    /// are left out. So the result is the same on every machine.
    ///
    /// # Cost
    ///
    /// One pass over `data`.
    fn fold(&self, data: &[T]) -> Option<T> {
        let one = |into: &mut T, with: &T| {
            self.combine(std::slice::from_mut(into), std::slice::from_ref(with));
        };
        if self.ordered() || size_of::<T>() > LANE_BYTES_MAX {
            let (first, rest) = match data.split_first() {
                None => return self.neutral(),
                Some(split) => split,
            };
            let mut sum = *first;
            rest.iter().for_each(|element| one(&mut sum, element));
            return Some(sum);
        }
        if data.is_empty() {
            return self.neutral();
        }
        let mut lanes = [T::zeroed(); LANES];
        let used = data.len().min(LANES);
        let (first, rest) = data.split_at(used);
        lanes[..used].copy_from_slice(first);
        for chunk in rest.chunks(LANES) {
            self.combine(&mut lanes[..chunk.len()], chunk);
        }
        lanes::halve(&mut lanes[..used], |low, high| self.combine(low, high));
        Some(lanes[0])
    }
}
