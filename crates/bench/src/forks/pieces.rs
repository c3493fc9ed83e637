//! The work of a fork, and its check.

use crate::engine::{Flaw, Ledger, Member};
use corecast_wire::Line;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many pieces each rank has done, each count on a cache line of its own.
///
/// Relaxed everywhere: the fork and the join under test must order the pieces.
#[derive(Debug)]
pub struct Pieces(Box<[Line<AtomicU64>]>);

impl Pieces {
    /// Creates the counts of `ranks` ranks, which are zero.
    pub fn new(ranks: usize) -> Pieces {
        Pieces((0..ranks).map(|_| Line::default()).collect())
    }

    /// The work of `rank` in one fork.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[inline(always)]
    pub fn work(&self, rank: usize) {
        let own = &self.0[rank];
        own.store(own.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Checks that every rank has done `expected` pieces.
    pub(super) fn check(&self, expected: u64) -> Result<(), Flaw> {
        for (rank, line) in self.0.iter().enumerate() {
            let found = line.load(Ordering::Relaxed);
            if found != expected {
                return Err(Flaw::WrongResult(format!(
                    "after join {expected} rank {rank} had done {found} pieces"
                )));
            }
        }
        Ok(())
    }
}

/// A rank whose operations are forks; those of rank 0 end with the join.
#[derive(Debug)]
pub struct Forking<'a, F> {
    rank: usize,
    pieces: &'a Pieces,
    /// Number of forks so far.
    forks: u64,
    /// Runs the given number of forks.
    run: F,
}

impl<'a, F: FnMut(u64)> Forking<'a, F> {
    /// Creates a rank whose `run` does the given number of forks, in each of which every rank works
    /// on its piece once.
    pub fn new(rank: usize, pieces: &'a Pieces, run: F) -> Self {
        Forking {
            rank,
            pieces,
            forks: 0,
            run,
        }
    }
}

impl<F: FnMut(u64)> Member for Forking<'_, F> {
    fn run(&mut self, operations: u64) {
        self.forks += operations;
        (self.run)(operations);
        black_box(&self.pieces);
    }

    fn verify(&mut self, _rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let mut flaw = Ok(());
        for number in 1..=ledger.rounds() {
            // The number varies, since loops over many forks are what is timed.
            for _ in 0..2 {
                self.run(if number % 2 == 0 { number % 5 } else { 1 });
                if self.rank == 0 && flaw.is_ok() {
                    flaw = self.pieces.check(self.forks);
                }
            }
        }
        flaw
    }
}
