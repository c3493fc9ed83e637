//! Rust's own barrier: a mutex and a condition variable.

use crate::engine::{Engine, Member};
use std::sync::Barrier;

/// [`std::sync::Barrier`].
#[derive(Debug)]
pub struct StdBarrier {
    barrier: Barrier,
    ranks: usize,
}

impl StdBarrier {
    /// A barrier of `ranks` ranks.
    pub fn new(ranks: usize) -> StdBarrier {
        StdBarrier {
            barrier: Barrier::new(ranks),
            ranks,
        }
    }
}

impl Engine for StdBarrier {
    fn name(&self) -> &str {
        "std::sync::Barrier"
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn member<'a>(&'a self, _rank: usize) -> Box<dyn Member + 'a> {
        Box::new(|operations| {
            for _ in 0..operations {
                self.barrier.wait();
            }
        })
    }
}
