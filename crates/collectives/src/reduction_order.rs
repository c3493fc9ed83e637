//! Combines all ranks' parts one after another, in rank order, with a stack of partial results. The
//! order of reduction is that of [`crate::reduce::ordered_tree`].
//!
//! ```text
//! 0 │ (0 1) │ (0 1) 2 │ ((0 1) (2 3)) │ … │ ((0 1) (2 3)) (4 5) 6 ─► (((0 1) (2 3)) ((4 5) 6))
//! ```
//!
//! As in a binary counter, the two topmost partial results are combined when they cover equally
//! many ranks.

use crate::combine::Combine;
use corecast_wire::copy;

/// A reduction of parts of `len` bytes, one part per rank.
#[derive(Debug)]
pub struct ReductionOrder<'a, C> {
    stack: &'a mut [u8],
    len: usize,
    /// Number of parts that are complete.
    count: usize,
    /// Number of partial results on the stack.
    depth: usize,
    combine: &'a C,
}

impl<'a> ReductionOrder<'a, ()> {
    /// Bytes of the stack for parts of `len` bytes of `n` ranks.
    pub fn bytes(len: usize, n: usize) -> usize {
        len * (usize::BITS - n.leading_zeros()) as usize
    }
}

impl<'a, C: Combine> ReductionOrder<'a, C> {
    /// An empty reduction. `stack` has [`ReductionOrder::bytes`].
    pub fn new(stack: &'a mut [u8], len: usize, combine: &'a C) -> Self {
        Self {
            stack,
            len,
            count: 0,
            depth: 0,
            combine,
        }
    }

    /// Begins the next rank's part.
    #[inline]
    pub fn open(&mut self) {
        if self.count.is_multiple_of(2) {
            self.depth += 1;
        }
    }

    /// Combines a piece of the current part, which begins at byte `start` of the part.
    #[inline]
    pub fn take(&mut self, start: usize, piece: &[u8]) {
        let start = (self.depth - 1) * self.len + start;
        let top = &mut self.stack[start..start + piece.len()];
        if self.count.is_multiple_of(2) {
            copy::slice(top, piece);
        } else {
            self.combine.combine(top, piece);
        }
    }

    /// Ends the current part.
    #[inline]
    pub fn close(&mut self) {
        let merges = self.count.trailing_ones().saturating_sub(1);
        self.count += 1;
        (0..merges).for_each(|_| self.merge());
    }

    /// Returns all parts so far, combined.
    ///
    /// # Panics
    ///
    /// If there are no parts.
    #[inline]
    pub fn result(&mut self) -> &[u8] {
        assert!(self.depth > 0, "no parts, no result");
        while self.depth > 1 {
            self.merge();
        }
        &self.stack[..self.len]
    }

    fn merge(&mut self) {
        self.depth -= 1;
        let (below, top) = self.stack.split_at_mut(self.depth * self.len);
        let into = &mut below[(self.depth - 1) * self.len..];
        self.combine.combine(into, &top[..self.len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combine::On;
    use crate::operator::Ordered;
    use crate::reduce::ordered_tree;
    use corecast_plan::Tree;

    /// Distinguishes orders of reduction, because it is neither associative nor commutative.
    fn twist(a: u64, b: u64) -> u64 {
        a.wrapping_mul(31).rotate_left(9) ^ b.wrapping_mul(1_000_003)
    }

    fn of_tree(tree: &Tree, rank: usize) -> u64 {
        let children = tree.children(rank).iter();
        children.fold(rank as u64 + 7, |sum, &child| {
            twist(sum, of_tree(tree, child))
        })
    }

    #[test]
    fn the_order_is_that_of_the_ordered_tree() {
        let operator = Ordered(twist);
        let combine = On::<u64, _>::new(&operator);
        for n in 1..70 {
            let mut stack = vec![0u64; ReductionOrder::bytes(8, n) / 8];
            let mut sum = ReductionOrder::new(bytemuck::cast_slice_mut(&mut stack), 8, &combine);
            for rank in 0..n {
                sum.open();
                sum.take(0, bytemuck::bytes_of(&(rank as u64 + 7)));
                sum.close();
            }
            let expected = of_tree(&ordered_tree(n), 0);
            assert_eq!(sum.result(), bytemuck::bytes_of(&expected), "{n} ranks");
        }
    }
}
