//! The loops of all operators that go element by element, compiled for each width of vectors.

use super::lanes::{LANES, halve};
use bytemuck::Pod;
use corecast_wire::simd::{Kernel, widest};

/// Up to this many bytes a plain loop ends before a width of vectors could be chosen.
const SHORT_BYTES: usize = 256;

fn is_short<T>(data: &[T]) -> bool {
    size_of_val(data) <= SHORT_BYTES
}

/// Asserts that the slices of an operator have one length.
#[track_caller]
#[inline(always)]
pub(super) fn same_length(into: usize, with: usize) {
    assert!(
        into == with,
        "{into} elements are to be combined with {with}: give slices of one length"
    );
}

/// `into[i] = rule(into[i], with[i])`
#[track_caller]
#[inline(always)]
pub(super) fn zip<T: Pod>(into: &mut [T], with: &[T], rule: impl Fn(T, T) -> T) {
    // The operator of a single value takes less time than the call of a loop.
    if let ([into], [with]) = (&mut *into, with) {
        *into = rule(*into, *with);
        return;
    }
    zip_slices(into, with, rule);
}

#[track_caller]
#[inline(never)]
fn zip_slices<T: Pod>(into: &mut [T], with: &[T], rule: impl Fn(T, T) -> T) {
    same_length(into.len(), with.len());
    let short = is_short(into);
    let zip = Zip { into, with, rule };
    if short { zip.run() } else { widest(zip) }
}

struct Zip<'a, T, F> {
    into: &'a mut [T],
    with: &'a [T],
    rule: F,
}

impl<T: Pod, F: Fn(T, T) -> T> Kernel for Zip<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (into, with) in self.into.iter_mut().zip(self.with) {
            *into = (self.rule)(*into, *with);
        }
    }
}

/// `out[i] = rule(a[i], b[i])`
#[track_caller]
pub(super) fn zip_into<T: Pod>(out: &mut [T], a: &[T], b: &[T], rule: impl Fn(T, T) -> T) {
    same_length(a.len(), b.len());
    same_length(out.len(), a.len());
    let short = is_short(out);
    let zip = ZipInto { out, a, b, rule };
    if short { zip.run() } else { widest(zip) }
}

struct ZipInto<'a, T, F> {
    out: &'a mut [T],
    a: &'a [T],
    b: &'a [T],
    rule: F,
}

impl<T: Pod, F: Fn(T, T) -> T> Kernel for ZipInto<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((out, a), b) in self.out.iter_mut().zip(self.a).zip(self.b) {
            *out = (self.rule)(*a, *b);
        }
    }
}

/// Does the fold by lanes of `Operator::fold`, with lanes that may be wider than elements.
pub(super) fn fold<T: Pod, W: Copy>(
    data: &[T],
    widen: impl Fn(T) -> W,
    join: impl Fn(W, W) -> W,
) -> Option<W> {
    let fold = Fold { data, widen, join };
    // For a few elements, all lanes would cost more than the fold.
    if data.len() <= FEW {
        fold.over::<FEW>()
    } else if is_short(data) {
        fold.over::<LANES>()
    } else {
        widest(fold)
    }
}

const FEW: usize = 16;

struct Fold<'a, T, A, J> {
    data: &'a [T],
    widen: A,
    join: J,
}

impl<T: Pod, W: Copy, A: Fn(T) -> W, J: Fn(W, W) -> W> Fold<'_, T, A, J> {
    /// Folds with `N` lanes; `N` must be at least the number of elements, or `LANES`.
    #[inline(always)]
    fn over<const N: usize>(self) -> Option<W> {
        debug_assert!(N == LANES || self.data.len() <= N);
        let mut lanes = [(self.widen)(*self.data.first()?); N];
        let used = self.data.len().min(N);
        let (first, rest) = self.data.split_at(used);
        for (lane, element) in lanes.iter_mut().zip(first) {
            *lane = (self.widen)(*element);
        }
        let (chunks, rest) = rest.as_chunks::<N>();
        for chunk in chunks {
            for (lane, element) in lanes.iter_mut().zip(chunk) {
                *lane = (self.join)(*lane, (self.widen)(*element));
            }
        }
        for (lane, element) in lanes.iter_mut().zip(rest) {
            *lane = (self.join)(*lane, (self.widen)(*element));
        }
        halve(&mut lanes[..used], |low, high| {
            for (low, high) in low.iter_mut().zip(high) {
                *low = (self.join)(*low, *high);
            }
        });
        Some(lanes[0])
    }
}

impl<T: Pod, W: Copy, A: Fn(T) -> W, J: Fn(W, W) -> W> Kernel for Fold<'_, T, A, J> {
    type Output = Option<W>;

    #[inline(always)]
    fn run(self) -> Option<W> {
        self.over::<LANES>()
    }
}
