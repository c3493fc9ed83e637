//! `fork_union`: a pool whose threads poll for the next fork.

use corecast_bench::cpu_placement::{self, CpuPlacement};
use corecast_bench::engine::Ledger;
use corecast_bench::forks::{Forking, Pieces};
use corecast_bench::{Engine, Flaw, Member};
use fork_union::ThreadPool;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A pool of as many threads as there are ranks, the caller among them.
///
/// Its threads poll as long as the pool lives, so each batch has a pool of its own, whose start is not
/// timed.
pub(crate) struct Union {
    placements: Vec<CpuPlacement>,
    pieces: Pieces,
    failure: OnceLock<String>,
}

/// Forks that are not timed: in the first one the pool's threads take their placements.
const WARM: u64 = 20;

impl Union {
    pub(crate) fn new(placements: &[CpuPlacement]) -> Self {
        Self {
            placements: placements.to_vec(),
            pieces: Pieces::new(placements.len()),
            failure: OnceLock::new(),
        }
    }

    /// Runs `operations` forks in a pool of their own and returns the time that they took.
    fn forks(&self, operations: u64) -> Result<Duration, String> {
        let pool = ThreadPool::try_spawn(self.placements.len());
        let mut pool = pool.map_err(|error| format!("{error:?}"))?;
        for _ in 0..WARM {
            // The race reports a refused placement, since its own threads have the same placements.
            pool.for_threads(|at, _| drop(cpu_placement::take(self.placements[at])))
                .join();
        }
        let start = Instant::now();
        for _ in 0..operations {
            pool.for_threads(|at, _| self.pieces.work(at)).join();
        }
        Ok(start.elapsed())
    }
}

impl Engine for Union {
    fn name(&self) -> &str {
        "fork_union"
    }

    fn setting(&self) -> String {
        "the caller takes part".to_owned()
    }

    fn ranks(&self) -> usize {
        self.placements.len()
    }

    fn failure(&self) -> Option<String> {
        self.failure.get().cloned()
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        let took = Rc::new(Cell::new(Duration::ZERO));
        let told = Rc::clone(&took);
        let run = move |operations| {
            // The other ranks are the pool's threads; those of the race sleep.
            if rank == 0 {
                match self.forks(operations) {
                    Ok(time) => told.set(time),
                    Err(why) => drop(self.failure.set(why)),
                }
            }
        };
        let forking = Forking::new(rank, &self.pieces, run);
        Box::new(Timed { forking, took })
    }
}

/// A rank that reports the time of its forks itself.
struct Timed<M> {
    forking: M,
    took: Rc<Cell<Duration>>,
}

impl<M: Member> Member for Timed<M> {
    fn run(&mut self, operations: u64) {
        self.forking.run(operations);
    }

    fn measure(&mut self, operations: u64) -> Option<Duration> {
        self.run(operations);
        Some(self.took.get())
    }

    fn verify(&mut self, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        self.forking.verify(rank, ledger)
    }
}
