//! Constructs by whatever lets ranks meet.

use super::{Construct, Delay};
use crate::apps::{Lost, Meeting, Provider};
use crate::engine::{Engine, Flaw, Ledger, Member, Role};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// One construct by one provider.
pub struct Constructing<'p> {
    construct: Construct,
    delay: Delay,
    provider: Box<dyn Provider + 'p>,
    /// How many `single` have been taken.
    taken: Line,
    lost: OnceLock<String>,
}

/// On lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

impl<'p> Constructing<'p> {
    /// An engine for `construct` around `delay`.
    ///
    /// # Panics
    ///
    /// For [`Construct::Critical`]: who only lets ranks meet has no lock.
    pub fn new(construct: Construct, delay: Delay, provider: Box<dyn Provider + 'p>) -> Self {
        assert_ne!(construct, Construct::Critical, "meetings are no locks");
        Constructing {
            construct,
            delay,
            provider,
            taken: Line::default(),
            lost: OnceLock::new(),
        }
    }
}

impl Engine for Constructing<'_> {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn setting(&self) -> String {
        self.provider.setting()
    }

    fn role(&self) -> Role {
        self.provider.role()
    }

    fn ranks(&self) -> usize {
        self.provider.ranks()
    }

    fn failure(&self) -> Option<String> {
        let lost = self.lost.get().cloned();
        lost.or_else(|| self.provider.failure())
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(Rank {
            engine: self,
            rank,
            meeting: self.provider.meeting(rank),
            singles: 0,
        })
    }
}

struct Rank<'a> {
    engine: &'a Constructing<'a>,
    rank: usize,
    meeting: Box<dyn Meeting + 'a>,
    /// How many `single` this rank has come to.
    singles: u64,
}

impl Rank<'_> {
    /// The construct around `work`, once. Rank 0 gets the sum of a reduction over ones.
    fn once(&mut self, work: impl FnOnce()) -> Result<i64, Lost> {
        match self.engine.construct {
            Construct::Parallel => {
                self.meeting.fork()?;
                work();
                self.meeting.join()?;
            }
            // As many iterations as ranks: one for each.
            Construct::For | Construct::Barrier => {
                work();
                self.meeting.barrier()?;
            }
            Construct::ParallelFor => {
                self.meeting.fork()?;
                work();
                self.meeting.join()?;
            }
            Construct::Single => {
                let number = self.singles;
                self.singles += 1;
                // Relaxed: who takes it decides by this word alone, and the barrier orders the work.
                let taken = &self.engine.taken.0;
                let order = Ordering::Relaxed;
                let first = taken.load(order) == number
                    && taken
                        .compare_exchange(number, number + 1, order, order)
                        .is_ok();
                if first {
                    work();
                }
                self.meeting.barrier()?;
            }
            Construct::Reduction => {
                self.meeting.fork()?;
                work();
                return self.meeting.join_sum(1);
            }
            Construct::Critical => unreachable!("refused when the engine was made"),
        }
        Ok(0)
    }

    /// Checks one construct, the `number`-th: that ranks are in it at the right time.
    fn checked(&mut self, number: u64, ledger: &Ledger) -> Result<Result<(), String>, Lost> {
        let (rank, ranks, construct) = (self.rank, ledger.ranks(), self.engine.construct);
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
        // Others may be in the next construct already.
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

    fn note(&self, lost: &Lost) {
        self.engine.lost.get_or_init(|| lost.0.clone());
    }
}

impl Member for Rank<'_> {
    fn run(&mut self, operations: u64) {
        let delay = self.engine.delay;
        for _ in 0..operations {
            if let Err(lost) = self.once(|| delay.wait()) {
                self.note(&lost);
                return;
            }
        }
    }

    fn turn(&mut self) {
        self.meeting.turn();
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
