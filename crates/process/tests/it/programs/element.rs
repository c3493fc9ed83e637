//! Elements of many sizes, and operators whose results are the same in any order of reduction.

use super::doom;
use corecast_collectives::Pod;
use corecast_collectives::operator::{Max, Min, Operator, Ordered, Product, Sum, Xor, by_slice};
use std::fmt::Debug;
use std::slice::{from_mut, from_ref};

/// How elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    Sum,
    Product,
    Min,
    Max,
    Xor,
    /// A closure that adds bytes.
    Bytes,
    /// A closure that keeps the order of ranks: bytes as affine maps, one after another.
    Then,
}

/// An element type of arrays in programs.
pub(crate) trait Element: Pod + Debug {
    /// The operators of this type.
    const FOLDS: &'static [Fold];

    /// A value that is made from a random word.
    fn any(word: u64) -> Self;

    /// Combines two elements by the reference.
    fn one(fold: Fold, a: Self, b: Self) -> Self;

    /// Returns the library's operator.
    fn operator(fold: Fold) -> &'static dyn Operator<Self>;
}

/// The library's operator, which panics when this thread's rank is to end by a panic.
pub(crate) struct By<T: 'static>(&'static dyn Operator<T>);

impl<T: Element> By<T> {
    pub(crate) fn fold(fold: Fold) -> Self {
        Self(T::operator(fold))
    }
}

impl<T: Pod> Operator<T> for By<T> {
    fn ordered(&self) -> bool {
        self.0.ordered()
    }

    fn combine(&self, into: &mut [T], with: &[T]) {
        doom::panic_in_time();
        self.0.combine(into, with);
    }

    fn combine_left(&self, into: &mut [T], with: &[T]) {
        self.0.combine_left(into, with);
    }

    fn combine_into(&self, out: &mut [T], a: &[T], b: &[T]) {
        self.0.combine_into(out, a, b);
    }

    fn neutral(&self) -> Option<T> {
        self.0.neutral()
    }
}

/// Combines all bytes of two arrays, which are of one length. A plain loop, because tests are not optimised.
pub(crate) fn bytewise<T: Pod>(into: &mut [T], with: &[T], one: fn(u8, u8) -> u8) {
    let (into, with): (&mut [u8], &[u8]) =
        (bytemuck::cast_slice_mut(into), bytemuck::cast_slice(with));
    let mut at = 0;
    while at < into.len() {
        into[at] = one(into[at], with[at]);
        at += 1;
    }
}

/// Combines two elements byte by byte.
fn elementwise<T: Pod>(mut a: T, b: T, one: fn(u8, u8) -> u8) -> T {
    bytewise(from_mut(&mut a), from_ref(&b), one);
    a
}

/// Adds two bytes.
pub(crate) fn add(a: u8, b: u8) -> u8 {
    a.wrapping_add(b)
}

/// Composes maps x ↦ a·x + b modulo 16, with a in the upper half of a byte: first one map, then the
/// other.
pub(crate) fn then(f: u8, g: u8) -> u8 {
    let (f_a, f_b, g_a, g_b) = (f >> 4, f & 15, g >> 4, g & 15);
    (f_a.wrapping_mul(g_a) << 4) | (f_b.wrapping_mul(g_a).wrapping_add(g_b) & 15)
}

fn elements_added<T: Pod>(a: T, b: T) -> T {
    elementwise(a, b, add)
}

fn elements_composed<T: Pod>(a: T, b: T) -> T {
    elementwise(a, b, then)
}

fn arrays_composed<T: Pod>(into: &mut [T], with: &[T]) {
    bytewise(into, with, then);
}

fn closure<T: Element>(fold: Fold) -> &'static dyn Operator<T> {
    match fold {
        Fold::Then => const { &Ordered(by_slice(arrays_composed::<T> as fn(&mut [T], &[T]))) },
        _ => &(elements_added::<T> as fn(T, T) -> T),
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Element for $type {
            const FOLDS: &'static [Fold] = &[
                Fold::Sum, Fold::Product, Fold::Min, Fold::Max, Fold::Xor, Fold::Bytes, Fold::Then,
            ];

            fn any(word: u64) -> Self {
                word as Self
            }

            fn one(fold: Fold, a: Self, b: Self) -> Self {
                match fold {
                    Fold::Sum => a.wrapping_add(b),
                    Fold::Product => a.wrapping_mul(b),
                    Fold::Min => if b < a { b } else { a },
                    Fold::Max => if b > a { b } else { a },
                    Fold::Xor => a ^ b,
                    Fold::Bytes => elements_added(a, b),
                    Fold::Then => elements_composed(a, b),
                }
            }

            fn operator(fold: Fold) -> &'static dyn Operator<Self> {
                match fold {
                    Fold::Sum => &Sum,
                    Fold::Product => &Product,
                    Fold::Min => &Min,
                    Fold::Max => &Max,
                    Fold::Xor => &Xor,
                    closures => closure(closures),
                }
            }
        }
    )*};
}

integers!(u8, u64);

/// Elements that are no number: of an odd length, and longer than any message.
macro_rules! bytes {
    ($($len:literal),*) => {$(
        impl Element for [u8; $len] {
            const FOLDS: &'static [Fold] = &[Fold::Bytes, Fold::Then];

            fn any(word: u64) -> Self {
                let mut element = [word as u8; $len];
                for (at, byte) in element.iter_mut().enumerate() {
                    *byte = byte.wrapping_add((word >> (at % 57)) as u8);
                }
                element
            }

            fn one(fold: Fold, a: Self, b: Self) -> Self {
                match fold {
                    Fold::Then => elements_composed(a, b),
                    _ => elements_added(a, b),
                }
            }

            fn operator(fold: Fold) -> &'static dyn Operator<Self> {
                closure(fold)
            }
        }
    )*};
}

bytes!(3, 1024);
