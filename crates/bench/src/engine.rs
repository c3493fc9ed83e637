//! What can be raced on threads of this process.
//!
//! An [`Engine`] is one operation of one library at one setting; each rank
//! holds a [`Member`] of it. No engine is timed before all its members have
//! passed [`Member::verify`] together: a barrier that does not wait is fast.

use crate::sized::RankTimes;
use corecast_wire::Line;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The role of an entrant in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A hand-written lower limit. Ratios of other entrants refer to the fastest
    /// floor of the race.
    Floor,
    /// An implementation of Corecast.
    Corecast,
    /// An implementation of another library.
    Peer,
}

/// One operation of one library at one setting, run by a team of threads.
pub trait Engine: Sync {
    /// Short name, unique within a race together with the setting.
    fn name(&self) -> &str;

    /// How the engine was set up, as a line that lets others repeat it; empty where nothing can be set.
    fn setting(&self) -> String {
        String::new()
    }

    /// The role of the engine in a comparison.
    fn role(&self) -> Role {
        Role::Peer
    }

    /// Number of ranks that must take part.
    fn ranks(&self) -> usize;

    /// How many reported operations one operation of a member holds: 2 for a
    /// round trip that is reported one way, else 1.
    fn parts(&self) -> u32 {
        1
    }

    /// What a model says that one operation takes, in nanoseconds.
    fn predicted_ns(&self) -> Option<f64> {
        None
    }

    /// The algorithm that its ranks ran in the check, for engines of Corecast that choose among several.
    fn algorithm(&self) -> Option<String> {
        None
    }

    /// Why the engine has stopped working, if it has: times since then mean
    /// nothing. The race asks after each batch.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Times that the ranks saw in the last batch, for engines whose members measure themselves.
    /// For other engines the race takes the times from each rank's start to its end.
    fn rank_times(&self) -> Option<RankTimes> {
        None
    }

    /// Number of teams that take turns, batch by batch. The first batch of each finds memory that nobody has touched, so it does not
    /// count.
    fn teams(&self) -> usize {
        1
    }

    /// The member of `rank`. Called once per rank and race, on the thread that
    /// will run it, so that memory first touched here lies near that thread.
    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a>;
}

/// One rank's part of an engine. Closures `FnMut(u64)` are members with the
/// barrier check.
///
/// A member must not panic while others wait for it.
pub trait Member {
    /// Runs `operations` operations back to back; all ranks are told the same
    /// number. Payloads must change from operation to operation, and an
    /// operation that lets a rank run ahead of the others must end with what
    /// makes its latency that of the slowest rank.
    fn run(&mut self, operations: u64);

    /// Like [`run`](Self::run), for members that know better than the crew how
    /// long their operations took: the longest of such times among the ranks is
    /// the batch's, in place of the time from the first start to the last end.
    fn measure(&mut self, operations: u64) -> Option<Duration> {
        self.run(operations);
        None
    }

    /// Moves to another place in memory, for engines that have several; called
    /// on all ranks before each batch. See [`crate::floor::PLACES`].
    fn turn(&mut self) {}

    /// Checks the result of some operations; called on all ranks together. The
    /// default is [`verify_barrier`].
    ///
    /// # Errors
    ///
    /// The first flaw that was found. A member that finds one still takes part
    /// in all operations of the check, or the others would wait for ever.
    fn verify(&mut self, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        verify_barrier(rank, ledger, &mut |operations| self.run(operations))
    }
}

impl<F: FnMut(u64)> Member for F {
    fn run(&mut self, operations: u64) {
        self(operations);
    }
}

/// Why an engine is not timed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A rank left a barrier that another rank had not entered, or saw it pass
    /// one that it had not entered itself.
    #[error(
        "rank {rank} left barrier {number} while rank {other} had entered {entered} times: \
         the engine does not synchronise and is not timed"
    )]
    Unsynchronised {
        /// Rank that noticed.
        rank: usize,
        /// Rank whose count was wrong.
        other: usize,
        /// Number of the barrier, from 1.
        number: u64,
        /// Times that the other rank had entered.
        entered: u64,
    },
    /// An operation delivered a wrong result.
    #[error("{0}: the engine is not timed")]
    WrongResult(String),
}

/// A counter per rank, each on cache lines of its own, for checks to use.
#[derive(Debug)]
pub struct Ledger {
    counters: Box<[Line<AtomicU64>]>,
    rounds: u64,
}

impl Ledger {
    pub(crate) fn new(ranks: usize, rounds: u64) -> Ledger {
        Ledger {
            counters: (0..ranks).map(|_| Line::default()).collect(),
            rounds,
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.counters.len()
    }

    /// How many operations a check should look at.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The counter of `rank`, zero when the check begins.
    pub fn counter(&self, rank: usize) -> &AtomicU64 {
        &self.counters[rank]
    }
}

/// Checks `barrier`, which runs the given number of barriers back to back. Each
/// rank counts itself in, passes one barrier, and must find all counters equal;
/// further barriers keep the next count from starting early.
///
/// At every eighth barrier one rank comes late, so that a barrier which waits
/// only by luck is caught.
///
/// # Errors
///
/// [`Flaw::Unsynchronised`], after the last barrier of the check.
pub fn verify_barrier(
    rank: usize,
    ledger: &Ledger,
    barrier: &mut dyn FnMut(u64),
) -> Result<(), Flaw> {
    let mut flaw = Ok(());
    for number in 1..=ledger.rounds() {
        if number % 8 == 1 && (number / 8) as usize % ledger.ranks() == rank {
            thread::sleep(Duration::from_micros(200));
        }
        // Relaxed: the barrier under test is what must order these accesses;
        // stronger orderings here could hide that it does not.
        ledger.counter(rank).store(number, Ordering::Relaxed);
        barrier(1);
        for other in 0..ledger.ranks() {
            let entered = ledger.counter(other).load(Ordering::Relaxed);
            if entered != number && flaw.is_ok() {
                flaw = Err(Flaw::Unsynchronised {
                    rank,
                    other,
                    number,
                    entered,
                });
            }
        }
        // The number varies, since loops over many barriers are what is timed.
        barrier(1 + number % 3);
    }
    flaw
}
