//! Forks and joins of Rust's standard library and of rayon.

use super::pieces::{Forking, Pieces};
use crate::cpu_placement::{self, CpuPlacement};
use crate::engine::{Engine, Member};
use rayon::{BroadcastContext, ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;
use std::thread;

/// `rayon::broadcast`, on a pool of as many threads as there are ranks.
#[derive(Debug)]
pub struct Rayon {
    placements: Vec<CpuPlacement>,
    inside: bool,
    /// Started by the first rank that asks, so that no idle pool disturbs other races.
    pool: OnceLock<Result<ThreadPool, String>>,
    pieces: Pieces,
}

impl Rayon {
    /// Creates an engine that forks from a thread of the pool, which takes part: the faster way.
    pub fn inside(placements: &[CpuPlacement]) -> Rayon {
        Rayon {
            placements: placements.to_vec(),
            inside: true,
            pool: OnceLock::new(),
            pieces: Pieces::new(placements.len()),
        }
    }

    /// Creates an engine that forks from a thread outside of the pool, as most programs do.
    pub fn outside(placements: &[CpuPlacement]) -> Rayon {
        Rayon {
            inside: false,
            ..Rayon::inside(placements)
        }
    }

    fn pool(&self) -> Result<&ThreadPool, &String> {
        let start = || {
            let placements = self.placements.clone();
            let builder = ThreadPoolBuilder::new().num_threads(placements.len());
            // The race reports a refused pin, since its own threads have the same placements.
            let pinned = builder.start_handler(move |at| drop(cpu_placement::take(placements[at])));
            pinned.build().map_err(|error| error.to_string())
        };
        self.pool.get_or_init(start).as_ref()
    }
}

impl Engine for Rayon {
    fn name(&self) -> &str {
        "rayon::broadcast"
    }

    fn setting(&self) -> String {
        match self.inside {
            true => "from the pool".to_owned(),
            false => "from outside of the pool".to_owned(),
        }
    }

    fn ranks(&self) -> usize {
        self.placements.len()
    }

    fn failure(&self) -> Option<String> {
        self.pool().err().cloned()
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        let pieces = &self.pieces;
        let work = |context: BroadcastContext<'_>| pieces.work(context.index());
        Box::new(Forking::new(rank, pieces, move |operations| {
            // The other ranks are the pool's threads; those of the race sleep.
            let (0, Ok(pool)) = (rank, self.pool()) else {
                return;
            };
            match self.inside {
                true => pool.install(|| {
                    for _ in 0..operations {
                        rayon::broadcast(work);
                    }
                }),
                false => {
                    for _ in 0..operations {
                        pool.broadcast(work);
                    }
                }
            }
        }))
    }
}

/// [`thread::scope`], which starts a thread for each rank but the first.
#[derive(Debug)]
pub struct Scope {
    placements: Vec<CpuPlacement>,
    pieces: Pieces,
}

impl Scope {
    /// Creates an engine with a thread on each of `placements`.
    pub fn new(placements: &[CpuPlacement]) -> Scope {
        Scope {
            placements: placements.to_vec(),
            pieces: Pieces::new(placements.len()),
        }
    }
}

impl Engine for Scope {
    fn name(&self) -> &str {
        "std::thread::scope"
    }

    fn setting(&self) -> String {
        "a new thread for each rank".to_owned()
    }

    fn ranks(&self) -> usize {
        self.placements.len()
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(Forking::new(rank, &self.pieces, move |operations| {
            if rank > 0 {
                return;
            }
            for _ in 0..operations {
                thread::scope(|scope| {
                    for (other, &placement) in self.placements.iter().enumerate().skip(1) {
                        scope.spawn(move || {
                            // A new thread would otherwise stay on the placement of rank 0.
                            drop(cpu_placement::take(placement));
                            self.pieces.work(other);
                        });
                    }
                    self.pieces.work(0);
                });
            }
        }))
    }
}
