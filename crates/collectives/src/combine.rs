//! A reduction's operator as an algorithm sees it: it combines bytes.

use crate::operator::Operator;
use bytemuck::Pod;
use std::marker::PhantomData;

/// An [`Operator`] without its type of elements. All slices hold whole elements, aligned for them.
///
/// The shortest data are combined by code that is compiled for their operator, within a call's own; all else by code that
/// is compiled once, to which the operator is a `&dyn Combine`: a call for each message or piece is nothing beside it, and a
/// program with many operators would be built for as long as it has algorithms for each.
pub trait Combine {
    /// Bytes of an element, at least 1.
    fn element_size(&self) -> usize;

    /// Whether rank order must be kept, because the operator is not commutative.
    fn ordered(&self) -> bool;

    /// `into = into ∘ with`: `with` comes from higher ranks.
    fn combine(&self, into: &mut [u8], with: &[u8]);

    /// `into = with ∘ into`: `with` comes from lower ranks.
    fn combine_left(&self, into: &mut [u8], with: &[u8]);

    /// `out = a ∘ b`.
    fn combine_into(&self, out: &mut [u8], a: &[u8], b: &[u8]);
}

/// A reference to an operator is an operator, also one whose type is unknown, see
/// [`erased`](crate::operator::erased).
impl<C: Combine + ?Sized> Combine for &C {
    #[inline(always)]
    fn element_size(&self) -> usize {
        (**self).element_size()
    }

    #[inline(always)]
    fn ordered(&self) -> bool {
        (**self).ordered()
    }

    #[inline(always)]
    fn combine(&self, into: &mut [u8], with: &[u8]) {
        (**self).combine(into, with);
    }

    #[inline(always)]
    fn combine_left(&self, into: &mut [u8], with: &[u8]) {
        (**self).combine_left(into, with);
    }

    #[inline(always)]
    fn combine_into(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        (**self).combine_into(out, a, b);
    }
}

/// An operator on elements of one type.
pub struct On<'a, T, O>(&'a O, PhantomData<fn(T)>);

impl<'a, T: Pod, O: Operator<T>> On<'a, T, O> {
    #[inline(always)]
    /// Returns the operator for elements of type `T`.
    pub const fn new(operator: &'a O) -> Self {
        Self(operator, PhantomData)
    }
}

impl<T: Pod, O: Operator<T>> Combine for On<'_, T, O> {
    #[inline(always)]
    fn element_size(&self) -> usize {
        size_of::<T>().max(1)
    }

    #[inline(always)]
    fn ordered(&self) -> bool {
        self.0.ordered()
    }

    #[inline(always)]
    fn combine(&self, into: &mut [u8], with: &[u8]) {
        let into = bytemuck::cast_slice_mut(into);
        self.0.combine(into, bytemuck::cast_slice(with));
    }

    #[inline(always)]
    fn combine_left(&self, into: &mut [u8], with: &[u8]) {
        let into = bytemuck::cast_slice_mut(into);
        self.0.combine_left(into, bytemuck::cast_slice(with));
    }

    #[inline(always)]
    fn combine_into(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        let out = bytemuck::cast_slice_mut(out);
        let (a, b) = (bytemuck::cast_slice(a), bytemuck::cast_slice(b));
        self.0.combine_into(out, a, b);
    }
}
