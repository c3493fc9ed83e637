//! The timed loop, and the check before it.

use super::ELEMENT_BYTES;
use super::conditions::{Conditions, Start};
use super::latencies::{RankTimes, Stamp, sum_of_maxima};
use super::library::{Library, Player};
use super::task::Task;
use super::threads::SizedRank;
use super::values::{expected, value};
use crate::engine::{Engine, Flaw, Ledger, Member, Role, verify_barrier};
use corecast_model::Collective;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time after which a rank stops waiting for the root to name a start.
const START_LIMIT: Duration = Duration::from_secs(10);

/// Distance of the doubles that change between operations: one per cache line.
const STRIDE: usize = 64 / ELEMENT_BYTES;

/// Bytes of blocks that a check goes through: fewer long operations are checked, each at every
/// position.
const CHECKED_BYTES: usize = 32 << 20;

/// A task on a library, as an engine of a race.
#[derive(Debug)]
pub struct Trial<L> {
    library: L,
    task: Task,
    /// Stamps of the last batch, by rank.
    logs: Box<[Mutex<Vec<Stamp>>]>,
    /// Times that the ranks saw in the last batch.
    times: Mutex<Option<RankTimes>>,
    failure: Mutex<Option<String>>,
    /// The algorithm that rank 0 ran in the check.
    ran: OnceLock<&'static str>,
    start: StartingLine,
}

/// The start of each operation, on which the ranks agree.
#[derive(Debug)]
struct StartingLine {
    conditions: Conditions,
    base: Instant,
    /// The start in nanoseconds after `base`, written by the root.
    at: corecast_wire::Line<AtomicU64>,
}

impl StartingLine {
    fn now(&self) -> u64 {
        self.base.elapsed().as_nanos() as u64
    }

    /// Brings the caches into the state asked for and returns when the operation is to start. `last`
    /// is the previous start, `barrier` the library's barrier.
    fn meet(
        &self,
        rank: usize,
        last: &mut u64,
        barrier: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        match self.conditions.start {
            Start::Barrier => {
                self.conditions.walk();
                barrier()
            }
            Start::BackToBack => Ok(()),
            Start::Window => {
                barrier()?;
                self.line_up(rank, last)
            }
        }
    }

    /// Returns at an instant after `last` that is the same for all ranks.
    fn line_up(&self, rank: usize, last: &mut u64) -> Result<(), String> {
        let wait = || {
            if self.conditions.oversubscribed {
                thread::yield_now();
            }
        };
        let begin = self.now();
        if rank == Task::ROOT {
            // Release pairs with the Acquire below; times only grow.
            let at = begin + self.conditions.lead_ns();
            self.at.store(at, Ordering::Release);
        }
        let mut at = self.at.load(Ordering::Acquire);
        while at == *last {
            if self.now() - begin > START_LIMIT.as_nanos() as u64 {
                return Err(format!("rank {} did not start", Task::ROOT));
            }
            wait();
            at = self.at.load(Ordering::Acquire);
        }
        *last = at;
        self.conditions.walk();
        while self.now() < at {
            wait();
        }
        Ok(())
    }
}

impl<L: Library> Trial<L> {
    /// Creates an engine that runs `task` on `library`, which must have been made for it.
    /// `conditions` may be a `bool`: whether ranks share hardware threads.
    pub fn new(library: L, task: Task, conditions: impl Into<Conditions>) -> Trial<L> {
        Trial {
            library,
            task,
            start: StartingLine {
                conditions: conditions.into(),
                base: Instant::now(),
                at: Default::default(),
            },
            logs: (0..task.ranks).map(|_| Mutex::default()).collect(),
            times: Mutex::default(),
            failure: Mutex::default(),
            ran: OnceLock::new(),
        }
    }
}

/// Locks `mutex`. No rank panics while it holds one of these locks, and the data would be whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<L: Library> Engine for Trial<L> {
    fn name(&self) -> &str {
        self.library.name()
    }

    fn setting(&self) -> String {
        self.library.setting()
    }

    fn role(&self) -> Role {
        self.library.role()
    }

    fn ranks(&self) -> usize {
        self.task.ranks
    }

    fn teams(&self) -> usize {
        self.library.teams()
    }

    fn algorithm(&self) -> Option<String> {
        self.ran.get().map(ToString::to_string)
    }

    fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }

    fn rank_times(&self) -> Option<RankTimes> {
        *lock(&self.times)
    }

    fn member<'a>(&'a self, rank: usize) -> Box<dyn Member + 'a> {
        Box::new(TrialRank {
            player: self.library.player(rank),
            task: self.task,
            logs: &self.logs,
            times: &self.times,
            failure: &self.failure,
            ran: &self.ran,
            start: &self.start,
            last: 0,
            rank,
            number: 0,
        })
    }
}

/// One rank of a [`Trial`].
struct TrialRank<'a> {
    player: Box<dyn Player + 'a>,
    task: Task,
    logs: &'a [Mutex<Vec<Stamp>>],
    times: &'a Mutex<Option<RankTimes>>,
    failure: &'a Mutex<Option<String>>,
    ran: &'a OnceLock<&'static str>,
    start: &'a StartingLine,
    /// The last start that this rank has seen.
    last: u64,
    rank: usize,
    /// Number of operations so far, from which the place follows.
    number: u64,
}

impl<'a> TrialRank<'a> {
    /// Runs and times `operations` operations. Returns the sum of the latencies at rank 0, zero at
    /// other ranks.
    fn series(&mut self, operations: u64) -> Result<Duration, String> {
        let mut log = std::mem::take(&mut *lock(&self.logs[self.rank]));
        let (start, rank, last) = (self.start, self.rank, &mut self.last);
        let meet = |player: &mut (dyn Player + 'a)| start.meet(rank, last, || player.barrier());
        series(
            &mut *self.player,
            (self.task, rank),
            (operations, &mut self.number),
            || start.now(),
            (!start.conditions.is_loose()).then_some(meet),
            &mut log,
        )?;
        *lock(&self.logs[rank]) = log;
        self.player.barrier()?;
        Ok(match rank {
            0 => Duration::from_nanos(self.latencies(operations)),
            _ => Duration::ZERO,
        })
    }

    /// The sum over all operations of the longest time that a rank took. Keeps the times that the
    /// ranks saw.
    fn latencies(&self, operations: u64) -> u64 {
        let logs: Vec<_> = self.logs.iter().map(lock).collect();
        let slices: Vec<&[Stamp]> = logs.iter().map(|log| &log[..]).collect();
        let back_to_back =
            self.start.conditions.is_loose() || self.task.operation == Collective::Barrier;
        *lock(self.times) = RankTimes::of(&slices, operations, back_to_back);
        sum_of_maxima(&slices)
    }

    /// Notes the algorithm that rank 0 has run; all others ran the same, or results would be wrong.
    fn note_algorithm(&self) {
        if let (0, Some(ran)) = (self.rank, self.player.algorithm()) {
            self.ran.get_or_init(|| ran);
        }
    }
}

/// Runs and times `operations` operations on one rank, after a barrier. Fills `log` with when each began and how long it took by
/// the clock `now`, which all ranks share; with one stamp for barriers, and for operations without a `meet` before each. `number`
/// counts the operations so far.
pub(crate) fn series<P: Player + ?Sized>(
    player: &mut P,
    (task, rank): (Task, usize),
    (operations, number): (u64, &mut u64),
    now: impl Fn() -> u64,
    meet: Option<impl FnMut(&mut P) -> Result<(), String>>,
    log: &mut Vec<Stamp>,
) -> Result<(), String> {
    let clock = clock_ns();
    log.clear();
    log.reserve(operations as usize);
    // Neither is asked for in each operation: it would count as part of it.
    let (places, gives) = (task.places(), task.gives(rank) > 0);
    let mut prepare = |player: &mut P| {
        *number += 1;
        let place = *number as usize % places;
        if gives {
            player.prepare(place, &mut |data| touch(data, *number));
        }
        place
    };
    player.barrier()?;
    let barrier = task.operation == Collective::Barrier;
    if let (Some(mut meet), false) = (meet, barrier) {
        for _ in 0..operations {
            let place = prepare(player);
            meet(player)?;
            let begin = now();
            player.perform(place)?;
            let took = (now() - begin).saturating_sub(clock).max(1);
            log.push(Stamp { begin, took });
        }
        return Ok(());
    }
    let begin = now();
    for _ in 0..operations {
        match barrier {
            true => player.barrier()?,
            false => {
                let place = prepare(player);
                player.perform(place)?;
            }
        }
    }
    let took = now() - begin;
    log.push(Stamp { begin, took });
    Ok(())
}

/// Checks the results of up to `rounds` operations; `number` counts the operations so far.
fn contents(
    player: &mut dyn Player,
    task: Task,
    rank: usize,
    rounds: u64,
    number: &mut u64,
) -> Result<(), Flaw> {
    let most = (CHECKED_BYTES / task.bytes.max(1)).max(2) as u64;
    let mut flaw = Ok(());
    for round in 1..=rounds.min(most) {
        *number += 1;
        let (number, place) = (*number, *number as usize % task.places());
        // Before every eighth operation one rank comes late.
        if round % 8 == 1 && (round / 8) as usize % task.ranks == rank {
            thread::sleep(Duration::from_micros(200));
        }
        if task.gives(rank) > 0 {
            player.prepare(place, &mut |data| {
                for (at, element) in data.iter_mut().enumerate() {
                    *element = value(rank, number, at);
                }
            });
        }
        // A failed call is reported in the player's own words.
        player.perform(place).map_err(Flaw::WrongResult)?;
        if task.gets(rank) > 0 {
            player.result(place, &mut |data| {
                let found = compare(&task, rank, number, data);
                if flaw.is_ok() {
                    flaw = found;
                }
            });
        }
        // Places are reused: no rank may still read a buffer that is written next.
        player.barrier().map_err(Flaw::WrongResult)?;
    }
    flaw
}

/// Checks up to `rounds` operations of `task` on a rank of a session, with numbers from 1. Returns the algorithm that
/// ran.
pub(crate) fn check(
    seated: &mut SizedRank,
    task: Task,
    rank: usize,
    rounds: u64,
) -> Result<Option<&'static str>, String> {
    let begun = seated.begin(task, rank);
    begun.map_err(|error| error.to_string())?;
    let checked = contents(seated, task, rank, rounds, &mut 0);
    checked.map_err(|flaw| flaw.to_string())?;
    Ok(seated.algorithm())
}

/// Checks `data` against the naive reference.
fn compare(task: &Task, rank: usize, number: u64, data: &[f64]) -> Result<(), Flaw> {
    let operation = task.operation;
    let wanted = task.gets(rank);
    if data.len() != wanted {
        return Err(Flaw::WrongResult(format!(
            "{operation} {number} gave rank {rank} {} elements, expected {wanted}",
            data.len()
        )));
    }
    let right = expected(task, rank, number);
    match data.iter().enumerate().find(|&(at, v)| *v != right(at)) {
        Some((at, found)) => Err(Flaw::WrongResult(format!(
            "{operation} {number} gave rank {rank} {found} at position {at}, expected {}",
            right(at)
        ))),
        None => Ok(()),
    }
}

/// Changes one double of every cache line, so that other ranks must fetch the data anew.
fn touch(data: &mut [f64], number: u64) {
    for element in data.iter_mut().step_by(STRIDE) {
        *element = (number & 1023) as f64;
    }
    black_box(data);
}

/// The least time between two readings of the clock, in nanoseconds.
fn clock_ns() -> u64 {
    static CLOCK: OnceLock<u64> = OnceLock::new();
    *CLOCK.get_or_init(|| {
        let pair = |_| Instant::now().elapsed().as_nanos() as u64;
        (0..1000).map(pair).min().unwrap_or(0)
    })
}

impl Member for TrialRank<'_> {
    fn run(&mut self, operations: u64) {
        if operations > 0 {
            self.measure(operations);
        }
    }

    fn measure(&mut self, operations: u64) -> Option<Duration> {
        match self.series(operations) {
            Ok(sum) => Some(sum),
            Err(reason) => {
                lock(self.failure).get_or_insert(reason);
                None
            }
        }
    }

    fn turn(&mut self) {
        self.player.turn();
    }

    fn verify(&mut self, rank: usize, ledger: &Ledger) -> Result<(), Flaw> {
        if self.task.operation != Collective::Barrier {
            let (player, number) = (&mut *self.player, &mut self.number);
            contents(player, self.task, rank, ledger.rounds(), number)?;
            self.note_algorithm();
            return Ok(());
        }
        let mut failed = Ok(());
        verify_barrier(rank, ledger, &mut |operations| {
            for _ in 0..operations {
                if failed.is_ok() {
                    failed = self.player.barrier();
                }
            }
        })?;
        failed.map_err(Flaw::WrongResult)?;
        self.note_algorithm();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_wrong_element_is_found_wherever_it_lies() {
        for operation in Collective::ALL.into_iter().skip(1) {
            let task = Task {
                operation,
                ranks: 3,
                bytes: 40,
            };
            for rank in (0..3).filter(|&rank| task.gets(rank) > 0) {
                let length = task.gets(rank);
                let right: Vec<f64> = (0..length).map(expected(&task, rank, 7)).collect();
                assert_eq!(compare(&task, rank, 7, &right), Ok(()));
                for at in 0..length {
                    let mut wrong = right.clone();
                    wrong[at] += 1.0;
                    let flaw = compare(&task, rank, 7, &wrong).unwrap_err().to_string();
                    assert!(flaw.contains(&format!("position {at},")), "{flaw}");
                }
                assert!(compare(&task, rank, 7, &right[1..]).is_err());
            }
        }
    }
}
