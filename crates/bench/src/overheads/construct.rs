//! Constructs of parallel programs over any provider.

use super::{Construct, Delay};
use crate::apps::{Lost, Over, Provider, RankPosition, RankProgram};
use crate::engine::{Engine, Flaw, Ledger, Member};
use corecast_wire::Line;
use std::sync::atomic::{AtomicU64, Ordering};

/// A construct around a delay, as a program of ranks.
struct Constructing {
    construct: Construct,
    delay: Delay,
    /// Number of `single` constructs whose work a rank has taken.
    taken: Line<AtomicU64>,
}

/// An engine for `construct` around `delay`, whose ranks synchronise through `provider`.
///
/// # Panics
///
/// For [`Construct::Critical`], since a provider has no lock.
pub fn constructing<'p>(
    construct: Construct,
    delay: Delay,
    provider: Box<dyn Provider + 'p>,
) -> impl Engine + 'p {
    assert_ne!(construct, Construct::Critical, "meetings are no locks");
    let program = Constructing {
        construct,
        delay,
        taken: Line::default(),
    };
    Over::new(program, provider)
}

impl RankProgram for Constructing {
    fn part<'a>(&'a self, place: RankPosition<'a>) -> Box<dyn Member + 'a> {
        Box::new(ConstructRank {
            program: self,
            place,
            singles: 0,
        })
    }
}

struct ConstructRank<'a> {
    program: &'a Constructing,
    place: RankPosition<'a>,
    /// Number of `single` constructs that this rank has reached.
    singles: u64,
}

impl ConstructRank<'_> {
    /// Runs the construct around `work` once. For a reduction, rank 0 gets the sum of a one from
    /// each rank.
    fn once(&mut self, work: impl FnOnce()) -> Result<i64, Lost> {
        let backend = &mut self.place.backend;
        match self.program.construct {
            // A loop has as many iterations as there are ranks: one for each.
            Construct::Parallel | Construct::ParallelFor => {
                backend.fork()?;
                work();
                backend.join()?;
            }
            Construct::For | Construct::Barrier => {
                work();
                backend.barrier()?;
            }
            Construct::Single => {
                let number = self.singles;
                self.singles += 1;
                // Relaxed: this word alone decides who works, and the barrier orders the work.
                let taken = &self.program.taken;
                let order = Ordering::Relaxed;
                let first = taken.load(order) == number
                    && taken
                        .compare_exchange(number, number + 1, order, order)
                        .is_ok();
                if first {
                    work();
                }
                backend.barrier()?;
            }
            Construct::Reduction => {
                backend.fork()?;
                work();
                return backend.join_sum(1);
            }
            Construct::Critical => unreachable!("refused when the engine was made"),
        }
        Ok(0)
    }

    /// Runs the `number`-th construct and checks that no rank begins or leaves it too early.
    fn checked(&mut self, number: u64, ledger: &Ledger) -> Result<Result<(), String>, Lost> {
        let (rank, ranks, construct) = (self.place.rank, ledger.ranks(), self.program.construct);
        let count = |other: usize| ledger.counter(other).load(Ordering::Relaxed);
        let region = matches!(
            construct,
            Construct::Parallel | Construct::ParallelFor | Construct::Reduction
        );
        if region && rank == 0 {
            ledger.counter(0).store(number, Ordering::Relaxed);
        }
        let mut begun = true;
        let sum = self.once(|| match construct {
            Construct::Single => {
                ledger.counter(0).fetch_add(1, Ordering::Relaxed);
            }
            _ => {
                begun = !region || count(0) >= number;
                ledger.counter(rank).store(number, Ordering::Relaxed);
            }
        })?;
        let expected = if rank == 0 { ranks as i64 } else { sum };
        if construct == Construct::Reduction && sum != expected {
            return Ok(Err(format!("{sum} is the sum of {ranks} ones")));
        }
        // Other ranks may be in the next construct already.
        let passed = |other: usize| (number..=number + 1).contains(&count(other));
        let ended = match construct {
            Construct::Single => passed(0),
            _ if region && rank > 0 => true,
            _ => (0..ranks).all(passed),
        };
        Ok(match begun && ended {
            true => Ok(()),
            false => Err(format!("{construct} {number} let rank {rank} pass early")),
        })
    }
}

impl Member for ConstructRank<'_> {
    fn run(&mut self, operations: u64) {
        let delay = self.program.delay;
        for _ in 0..operations {
            let outcome = self.once(|| delay.wait());
            if self.place.note(outcome).is_none() {
                return;
            }
        }
    }

    fn turn(&mut self) {
        self.place.backend.turn();
    }

    fn verify(&mut self, _rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let mut flaw = Ok(());
        for number in 1..=ledger.rounds() {
            let found = self.checked(number, ledger);
            let found = found.map_err(|lost| Flaw::WrongResult(lost.0))?;
            flaw = flaw.and(found.map_err(Flaw::WrongResult));
        }
        flaw
    }
}
