//! Elements that begin where a page does.

use std::ops::{Deref, DerefMut, Range};

const PAGE_BYTES: usize = 4096;

/// Elements of a process, from the begin of a page on if they fill one.
///
/// MPI's contestants have their data so, as the OSU benchmarks do. What `malloc` gives begins 16 bytes behind a page, and copies
/// from pages to such places take other times ([`corecast_wire::copy`]).
pub(crate) struct PageElements {
    memory: Vec<f64>,
    elements: Range<usize>,
}

impl PageElements {
    /// Elements that are no numbers yet. All pages are there, since programs use their data more than once.
    pub(crate) fn new(count: usize) -> Self {
        let page = PAGE_BYTES / size_of::<f64>();
        let spare = if count < page { 0 } else { page - 1 };
        let memory = vec![f64::NAN; count + spare];
        let first = match spare {
            0 => 0,
            _ => memory.as_ptr().align_offset(PAGE_BYTES),
        };
        // An address that cannot be aligned is no error: times are those of an ordinary array then.
        let first = if first > spare { 0 } else { first };
        Self {
            memory,
            elements: first..first + count,
        }
    }
}

impl Deref for PageElements {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.memory[self.elements.clone()]
    }
}

impl DerefMut for PageElements {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.memory[self.elements.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_fill_a_page_begin_at_one() {
        for count in [0, 1, 511, 512, 513, 100_000] {
            let mut elements = PageElements::new(count);
            assert_eq!(elements.len(), count);
            assert!(count < 512 || elements.as_ptr().addr().is_multiple_of(PAGE_BYTES));
            elements.fill(1.0);
            assert_eq!(elements.iter().sum::<f64>(), count as f64);
        }
    }
}
