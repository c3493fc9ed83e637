//! The standard library's means for two constructs: threads for a region, a lock for a critical
//! section.

use super::Delay;
use crate::cpu_placement::{self, CpuPlacement};
use crate::engine::{Engine, Flaw, Ledger, Member};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// A region whose threads are started for it and joined at its end.
#[derive(Debug)]
pub struct Spawning {
    delay: Delay,
    placements: Vec<CpuPlacement>,
}

impl Spawning {
    /// Creates a region of a thread for each placement; all but the first start anew each time.
    pub fn new(delay: Delay, placements: &[CpuPlacement]) -> Spawning {
        Spawning {
            delay,
            placements: placements.to_vec(),
        }
    }

    fn region(&self, work: impl Fn(usize) + Sync) {
        thread::scope(|scope| {
            for (rank, &placement) in self.placements.iter().enumerate().skip(1) {
                let work = &work;
                scope.spawn(move || {
                    // The race reports a refused pin, since its own threads have the same
                    // placements.
                    let _ = cpu_placement::take(placement);
                    work(rank);
                });
            }
            work(0);
        });
    }
}

impl Engine for Spawning {
    fn name(&self) -> &str {
        "std::thread::scope"
    }

    fn setting(&self) -> String {
        "new threads for each region".to_owned()
    }

    fn ranks(&self) -> usize {
        self.placements.len()
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(Starter {
            engine: self,
            idle: rank > 0,
        })
    }
}

struct Starter<'a> {
    engine: &'a Spawning,
    idle: bool,
}

impl Member for Starter<'_> {
    fn run(&mut self, operations: u64) {
        let operations = if self.idle { 0 } else { operations };
        for _ in 0..operations {
            self.engine.region(|_| self.engine.delay.wait());
        }
    }

    fn verify(&mut self, _rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        if self.idle {
            return Ok(());
        }
        self.engine
            .region(|rank| ledger.counter(rank).store(1, Ordering::Relaxed));
        let ranks = 0..ledger.ranks();
        let came = ranks.filter(|&rank| ledger.counter(rank).load(Ordering::Relaxed) == 1);
        match came.count() == ledger.ranks() {
            true => Ok(()),
            false => Err(Flaw::WrongResult("a thread did not work".to_owned())),
        }
    }
}

/// [`Mutex`], with the operations shared out among the ranks as EPCC does.
#[derive(Debug)]
pub struct Critical {
    delay: Delay,
    ranks: usize,
    lock: Mutex<u64>,
    done: AtomicU64,
}

impl Critical {
    /// A lock for `ranks` ranks.
    pub fn new(delay: Delay, ranks: usize) -> Critical {
        Critical {
            delay,
            ranks,
            lock: Mutex::new(0),
            done: AtomicU64::new(0),
        }
    }
}

impl Engine for Critical {
    fn name(&self) -> &str {
        "std::sync::Mutex"
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(Locking { engine: self, rank })
    }
}

struct Locking<'a> {
    engine: &'a Critical,
    rank: usize,
}

impl Locking<'_> {
    fn critical(&self, work: impl FnOnce()) {
        // No rank panics while it holds the lock.
        if let Ok(mut count) = self.engine.lock.lock() {
            *count += 1;
            work();
        }
    }
}

impl Member for Locking<'_> {
    fn run(&mut self, operations: u64) {
        let ranks = self.engine.ranks as u64;
        let own = operations / ranks + u64::from((self.rank as u64) < operations % ranks);
        for _ in 0..own {
            self.critical(|| self.engine.delay.wait());
        }
    }

    fn verify(&mut self, _rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let inside = ledger.counter(0);
        for _ in 0..ledger.rounds() {
            // Load and store are two steps, so that a count is lost if two ranks are inside.
            self.critical(|| {
                let before = inside.load(Ordering::Relaxed);
                self.engine.delay.wait();
                inside.store(before + 1, Ordering::Relaxed);
            });
        }
        // Release and Acquire: a rank that sees all ranks done sees their counts.
        let all = self.engine.ranks as u64;
        self.engine.done.fetch_add(1, Ordering::AcqRel);
        while self.engine.done.load(Ordering::Acquire) < all {
            thread::yield_now();
        }
        let (counted, expected) = (inside.load(Ordering::Relaxed), all * ledger.rounds());
        match counted == expected {
            true => Ok(()),
            false => Err(Flaw::WrongResult(format!(
                "{counted} of {expected} were in the lock alone"
            ))),
        }
    }
}
