//! The operator of simulated reductions: sums of bytes modulo 256, which do not depend on the order of combining.

use corecast_collectives::Combine;

/// Adds bytes modulo 256. It calls `cost` with the number of bytes of each combination, so that a fabric can let time
/// pass.
pub struct Bytes<C: Fn(usize)> {
    cost: C,
}

impl<C: Fn(usize)> Bytes<C> {
    /// An operator that calls `cost` with the number of bytes of each combination.
    pub fn new(cost: C) -> Self {
        Self { cost }
    }
}

impl<C: Fn(usize)> Combine for Bytes<C> {
    fn element_size(&self) -> usize {
        1
    }

    fn ordered(&self) -> bool {
        false
    }

    fn combine(&self, into: &mut [u8], with: &[u8]) {
        for (a, b) in into.iter_mut().zip(with) {
            *a = a.wrapping_add(*b);
        }
        (self.cost)(with.len());
    }

    fn combine_left(&self, into: &mut [u8], with: &[u8]) {
        self.combine(into, with);
    }

    fn combine_into(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        out.copy_from_slice(a);
        self.combine(out, b);
    }
}
