//! A message by compare-and-swap on one cache line.

use super::PLACES;
use crate::engine::{Engine, Flaw, Ledger, Member, Role};
use corecast_wire::Line;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number on one cache line that two ranks count up in turn, each by compare-and-swaps that fail
/// until the other rank has done so. Half of the round trip is reported.
///
/// A rank that waits by loads has a shared copy of the line, which the other rank must invalidate
/// before it writes. A rank that waits by swaps takes the line for writing at once, which saves a
/// transfer. This pays for two ranks only, since all waiting ranks take the line from each other.
///
/// # Cost
///
/// Two line transfers per round trip.
#[derive(Debug)]
pub struct Swap {
    places: Box<[Line<AtomicU64>]>,
}

impl Swap {
    /// Creates the floor with all lines at zero.
    pub fn new() -> Swap {
        Swap::default()
    }
}

impl Default for Swap {
    fn default() -> Swap {
        Swap {
            places: (0..PLACES).map(|_| Line::default()).collect(),
        }
    }
}

impl Engine for Swap {
    fn name(&self) -> &str {
        "floor: one line, swapped"
    }

    fn setting(&self) -> String {
        "compare-and-swap".to_owned()
    }

    fn role(&self) -> Role {
        Role::Floor
    }

    fn ranks(&self) -> usize {
        2
    }

    fn parts(&self) -> u32 {
        2
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(SwapRank {
            places: &self.places,
            rank: rank as u64,
            numbers: [0; PLACES],
            place: 0,
        })
    }
}

struct SwapRank<'a> {
    places: &'a [Line<AtomicU64>],
    rank: u64,
    /// Number of round trips so far at each place.
    numbers: [u64; PLACES],
    place: usize,
}

impl Member for SwapRank<'_> {
    fn run(&mut self, operations: u64) {
        let (line, number) = (&self.places[self.place], &mut self.numbers[self.place]);
        for trip in *number..*number + operations {
            let due = 2 * trip + self.rank;
            // AcqRel pairs with the other rank's: the number publishes what was written before it.
            // Relaxed on failure, since nothing is read after a failed swap.
            while line
                .compare_exchange(due, due + 1, Ordering::AcqRel, Ordering::Relaxed)
                .is_err()
            {}
        }
        *number += operations;
    }

    fn turn(&mut self) {
        self.place = (self.place + 1) % PLACES;
    }

    fn verify(&mut self, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        let rounds = ledger.rounds();
        let mut flaw = Ok(());
        for _ in 0..rounds {
            self.run(1);
            let due = 2 * self.numbers[self.place];
            let found = self.places[self.place].load(Ordering::Acquire);
            // The first rank may look before the second has answered.
            if found + 1 < due && flaw.is_ok() {
                flaw = Err(Flaw::WrongResult(format!(
                    "rank {rank} found {found} after {due} messages"
                )));
            }
        }
        flaw
    }
}
