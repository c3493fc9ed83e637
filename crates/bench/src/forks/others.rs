//! Forks and joins of Rust's standard library and of rayon.

use super::pieces::{Forking, Pieces};
use crate::engine::{Engine, Member};
use crate::seat::{self, Seat};
use rayon::{BroadcastContext, ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;
use std::thread;

/// `rayon::broadcast`, on a pool of as many threads as there are ranks.
#[derive(Debug)]
pub struct Rayon {
    seats: Vec<Seat>,
    inside: bool,
    /// Started by the first rank that asks, so that no idle pool disturbs other races.
    pool: OnceLock<Result<ThreadPool, String>>,
    pieces: Pieces,
}

impl Rayon {
    /// Called from a thread of the pool, which takes part: the faster way.
    pub fn inside(seats: &[Seat]) -> Rayon {
        Rayon {
            seats: seats.to_vec(),
            inside: true,
            pool: OnceLock::new(),
            pieces: Pieces::new(seats.len()),
        }
    }

    /// Called from a thread that is not one of the pool's, as most programs do.
    pub fn outside(seats: &[Seat]) -> Rayon {
        Rayon {
            inside: false,
            ..Rayon::inside(seats)
        }
    }

    fn pool(&self) -> Result<&ThreadPool, &String> {
        let start = || {
            let seats = self.seats.clone();
            let builder = ThreadPoolBuilder::new().num_threads(seats.len());
            // A refused pin is told by the race, whose own threads have the same seats.
            let pinned = builder.start_handler(move |at| drop(seat::take(seats[at])));
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
        self.seats.len()
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
    seats: Vec<Seat>,
    pieces: Pieces,
}

impl Scope {
    /// Threads on `seats`.
    pub fn new(seats: &[Seat]) -> Scope {
        Scope {
            seats: seats.to_vec(),
            pieces: Pieces::new(seats.len()),
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
        self.seats.len()
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(Forking::new(rank, &self.pieces, move |operations| {
            if rank > 0 {
                return;
            }
            for _ in 0..operations {
                thread::scope(|scope| {
                    for (other, &seat) in self.seats.iter().enumerate().skip(1) {
                        scope.spawn(move || {
                            // As above; a thread would else stay on the seat of rank 0.
                            drop(seat::take(seat));
                            self.pieces.work(other);
                        });
                    }
                    self.pieces.work(0);
                });
            }
        }))
    }
}
