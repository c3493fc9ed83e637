//! Barriers of crates that count arrivals.

use crate::engine::{Engine, Member};
use spin::RelaxStrategy;
use std::any::TypeId;
use std::fmt;

/// [`hurdles::Barrier`].
pub struct Hurdles {
    barrier: hurdles::Barrier,
    ranks: usize,
}

impl Hurdles {
    /// A barrier of `ranks` ranks.
    pub fn new(ranks: usize) -> Hurdles {
        Hurdles {
            barrier: hurdles::Barrier::new(ranks),
            ranks,
        }
    }
}

impl fmt::Debug for Hurdles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hurdles({})", self.ranks)
    }
}

impl Engine for Hurdles {
    fn name(&self) -> &str {
        "hurdles"
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn member<'a>(&'a self, _rank: usize) -> Box<dyn Member + 'a> {
        // Each rank has a handle of its own, with the sense it waits for.
        let mut barrier = self.barrier.clone();
        Box::new(move |operations| {
            for _ in 0..operations {
                barrier.wait();
            }
        })
    }
}

/// [`spin::barrier::Barrier`], waiting as `R` does.
pub struct SpinBarrier<R> {
    barrier: spin::barrier::Barrier<R>,
    ranks: usize,
}

impl<R> SpinBarrier<R> {
    /// A barrier of `ranks` ranks.
    pub fn new(ranks: usize) -> SpinBarrier<R> {
        SpinBarrier {
            barrier: spin::barrier::Barrier::new(ranks),
            ranks,
        }
    }
}

impl<R> fmt::Debug for SpinBarrier<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpinBarrier({})", self.ranks)
    }
}

impl<R: RelaxStrategy + Send + Sync + 'static> Engine for SpinBarrier<R> {
    fn name(&self) -> &str {
        "spin::Barrier"
    }

    fn setting(&self) -> String {
        match TypeId::of::<R>() == TypeId::of::<spin::Yield>() {
            true => "yields".to_owned(),
            false => "spins".to_owned(),
        }
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
