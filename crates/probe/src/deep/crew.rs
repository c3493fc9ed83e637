//! Pinned threads that run one program together, each knowing its rank, as SPMD programs do.
//!
//! The threads meet between the steps of a measurement. Each has a flag: the first rank reads the flags of
//! all, the others read that of the first rank. Its flag also says whether to go on, so that all leave a loop
//! after the same round, although only one of them knows when the time is up.

use std::hint::black_box;
use std::sync::OnceLock;
use std::thread::Builder;
use std::time::{Duration, Instant};

use corecast_machine::pin_current;
use corecast_model::Pu;
use corecast_model::deep::Figure;
use corecast_wire::microbench::LineBuffer;
use corecast_wire::{Flag, LINE_BYTES, LineRef, Segment, arch, ending};

use super::order::AREA_BYTES;
use super::settle::Settle;
use super::timer::Timer;
use crate::ProbeError;
pub(super) use crate::hardware::Stop;
use crate::hardware::{chain, joined, still_pinned};

/// The value of a flag whose thread has left.
const LEFT: u64 = u64::MAX;

/// Polls before the thread yields its CPU.
const POLLS: u32 = 20_000;

/// Multiplications of the longest pause of [`Mate::dither`]: some 20 ns, two steps of the coarsest counter.
const DITHER_LINKS: u32 = 20;

/// Nanoseconds from the order to start until the start: longer than news take to any thread.
const LEAD_NS: f64 = 1500.0;

/// Bytes of lines that every thread has at least: those that are measured, and one to leave numbers in.
pub(super) const BUFFER_BYTES: usize = AREA_BYTES + LINE_BYTES;

/// The memory that all threads of a crew share.
#[derive(Debug)]
struct CrewShared {
    flags: Vec<LineRef<Flag>>,
    /// The time at which all begin at once, in ticks of rank 0.
    start: LineRef<Flag>,
    fields: Vec<OnceLock<LineBuffer>>,
}

/// One thread of a crew.
#[derive(Debug)]
pub(super) struct Mate<'a> {
    /// Its position among the crew's hardware threads.
    pub(super) rank: usize,
    /// The clock of the thread.
    pub(super) timer: Timer,
    shared: &'a CrewShared,
    random: fastrand::Rng,
    round: u64,
    /// The last common start.
    started: u64,
    /// Whether the thread has met the others for the last time.
    done: bool,
}

impl Mate<'_> {
    /// Returns the number of threads of the crew.
    pub(super) fn crew(&self) -> usize {
        self.shared.flags.len()
    }

    /// Returns the lines in the memory of `rank`.
    pub(super) fn lines_of(&self, rank: usize) -> &LineBuffer {
        self.shared.fields[rank]
            .get()
            .expect("made before the first counter barrier")
    }

    /// Reads lines of `rank`.
    pub(super) fn touch(&self, rank: usize, lines: impl Iterator<Item = usize>) {
        let lines_of = self.lines_of(rank);
        for line in lines {
            black_box(lines_of.load(line));
        }
    }

    /// Returns when all threads have called it.
    pub(super) fn meet(&mut self) -> Result<(), Stop> {
        self.agree(true).map(|_| ())
    }

    /// Returns when all threads have called it, with the `go` of rank 0, which also looks whether this process was asked to
    /// end.
    pub(super) fn agree(&mut self, go: bool) -> Result<bool, Stop> {
        self.round += 1;
        let word = 2 * self.round + u64::from(go);
        if self.rank > 0 {
            self.shared.flags[self.rank].raise(word);
            return Ok(self.wait(0)? % 2 == 1);
        }
        for other in 1..self.crew() {
            self.wait(other)?;
        }
        if ending::is_asked() {
            return Err(ProbeError::INTERRUPTED.into());
        }
        self.shared.flags[0].raise(word);
        Ok(go)
    }

    /// Returns at the same time on all threads, as far as their counters agree; else as soon as each has
    /// heard of it.
    pub(super) fn start_together(&mut self) -> Result<(), Stop> {
        self.meet()?;
        let lead = self.timer.ticks(LEAD_NS);
        if self.rank == 0 {
            self.shared.start.raise(self.timer.now() + lead);
        }
        let mut polls = 0_u32;
        let start = loop {
            let start = self.shared.start.seq();
            if start != self.started {
                break start;
            }
            polls = polls.wrapping_add(1);
            if polls.is_multiple_of(POLLS) {
                std::thread::yield_now();
                if self.shared.flags[0].seq() == LEFT {
                    return Err(Stop::OtherGone);
                }
            }
        };
        self.started = start;
        if self.timer.is_common() {
            // A counter that is far behind is not the same counter.
            let now = self.timer.now();
            while (1..2 * lead).contains(&start.saturating_sub(self.timer.now()))
                && self.timer.now().wrapping_sub(now) < 2 * lead
            {}
        }
        Ok(())
    }

    /// Waits for a random time, so that what follows begins at any phase of the counter's steps.
    pub(super) fn dither(&mut self) {
        chain(self.random.u32(..DITHER_LINKS));
    }

    /// Leaves a number where rank 0 can read it once all have met.
    pub(super) fn leave(&self, number: f64) {
        self.lines_of(self.rank).store(AREA_BYTES, number.to_bits());
    }

    /// Returns the number that `rank` has left.
    pub(super) fn left(&self, rank: usize) -> f64 {
        f64::from_bits(self.lines_of(rank).load(AREA_BYTES))
    }

    /// Meets the others. Rank 0 gets the greatest number that one of `ranks` has left, the others get
    /// nothing.
    pub(super) fn most_left(
        &mut self,
        ranks: impl IntoIterator<Item = usize>,
    ) -> Result<Option<f64>, Stop> {
        self.meet()?;
        // The others leave their numbers where they are until the next meeting.
        Ok((self.rank == 0).then(|| {
            let numbers = ranks.into_iter().map(|rank| self.left(rank));
            numbers.fold(0.0, f64::max)
        }))
    }

    /// Repeats `shot` until the values of rank 0 are enough samples, in groups of the given size. Rank 0 gets
    /// the figure. A rank that measures nothing returns no value.
    pub(super) fn until_settled(
        &mut self,
        group: usize,
        limit: Duration,
        mut shot: impl FnMut(&mut Self) -> Result<Option<f64>, Stop>,
    ) -> Result<Option<Figure>, Stop> {
        let mut settle = Settle::new(group, Instant::now() + limit);
        loop {
            if let Some(shot) = shot(self)? {
                settle.take(shot);
            }
            if !self.agree(!settle.is_settled())? {
                return Ok(settle.figure());
            }
        }
    }

    /// Waits for the flag of `rank` to reach this round, and returns its value.
    fn wait(&self, rank: usize) -> Result<u64, Stop> {
        let mut polls = 0;
        loop {
            match self.shared.flags[rank].seq() {
                LEFT => return Err(Stop::OtherGone),
                word if word >= 2 * self.round => return Ok(word),
                _ if polls < POLLS => {
                    polls += 1;
                    // An SMT sibling that is being timed needs the core more than this poll does.
                    arch::relax();
                }
                _ if ending::is_asked() => return Err(ProbeError::INTERRUPTED.into()),
                _ => std::thread::yield_now(),
            }
        }
    }
}

impl Drop for Mate<'_> {
    fn drop(&mut self) {
        // A thread that is done keeps its flag, since another one may not have read it yet at the last
        // meeting.
        if !self.done {
            self.shared.flags[self.rank].raise(LEFT);
        }
    }
}

/// Runs `program` on one thread for each of `pus`, each with `bytes` of lines of its own, and returns the
/// results.
///
/// # Errors
///
/// Pinning refused, lost or ignored; threads or memory refused; errors of the program.
pub(super) fn run<T: Send>(
    pus: &[Pu],
    bytes: usize,
    program: impl Fn(&mut Mate<'_>) -> Result<T, Stop> + Sync,
) -> Result<Vec<T>, ProbeError> {
    let memory = |source| ProbeError::Lines { source };
    let flags = pus.iter().map(|_| Segment::one::<Flag>(None));
    let shared = CrewShared {
        flags: flags.collect::<Result<_, _>>().map_err(memory)?,
        start: Segment::one::<Flag>(None).map_err(memory)?,
        fields: pus.iter().map(|_| OnceLock::new()).collect(),
    };
    let member = |rank: usize, pu: &Pu| -> Result<T, Stop> {
        let mut mate = Mate {
            rank,
            timer: Timer::new(),
            shared: &shared,
            random: fastrand::Rng::with_seed(rank as u64),
            round: 0,
            started: 0,
            done: false,
        };
        // Dropping it leaves the thread confined, as the thread ends with the measurement.
        drop(pin_current(pu.os_index).map_err(ProbeError::from)?);
        still_pinned(pu)?;
        let lines_of = LineBuffer::new(bytes.max(BUFFER_BYTES)).map_err(memory)?;
        mate.shared.fields[rank].get_or_init(|| lines_of);
        mate.meet()?;
        let found = program(&mut mate)?;
        still_pinned(pu)?;
        mate.meet()?;
        mate.done = true;
        Ok(found)
    };
    let results = std::thread::scope(|scope| {
        let started: Vec<_> = (0..pus.len())
            .map(|rank| {
                let member = &member;
                let thread = Builder::new().spawn_scoped(scope, move || member(rank, &pus[rank]));
                // The others must not wait for a thread that could not be started.
                thread.inspect_err(|_| shared.flags[rank].raise(LEFT))
            })
            .collect();
        let results = started.into_iter().map(|thread| match thread {
            Ok(thread) => joined(thread),
            Err(error) => Err(ProbeError::Spawn(error).into()),
        });
        results.collect::<Vec<_>>()
    });
    let mut found = Vec::with_capacity(results.len());
    let mut gone = false;
    for result in results {
        match result {
            Ok(one) => found.push(one),
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::OtherGone) => gone = true,
        }
    }
    match gone {
        true if ending::is_asked() => Err(ProbeError::INTERRUPTED),
        true => Err(ProbeError::CrewBroken),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Vec<Pu> {
        let mut pus = corecast_machine::discover().machine.pus;
        pus.truncate(3);
        pus
    }

    #[test]
    fn all_do_as_many_rounds_as_the_first_says() {
        let pus = here();
        let Ok(rounds) = run(&pus, 1, |mate| {
            let mut rounds = 0;
            while mate.agree(rounds < 100)? {
                rounds += 1;
            }
            Ok(rounds)
        }) else {
            return println!("SKIPPED: pinning is refused");
        };
        assert_eq!(rounds, vec![100; pus.len()]);
    }

    #[test]
    fn one_that_fails_ends_the_others_and_is_heard() {
        let pus = here();
        if pus.len() < 2 {
            return println!("SKIPPED: one PU");
        }
        let failed = run(&pus, 1, |mate| match mate.rank {
            1 => Err(Stop::Error(ProbeError::Empty)),
            _ => mate.meet(),
        });
        assert!(
            matches!(failed, Err(ProbeError::Empty | ProbeError::Pin(_))),
            "{failed:?}"
        );
    }

    #[test]
    fn lines_are_seen_by_all() {
        let pus = here();
        let sums = run(&pus, 4096, |mate| {
            mate.lines_of(mate.rank).store(64, mate.rank as u64 + 1);
            mate.meet()?;
            Ok((0..mate.crew())
                .map(|rank| mate.lines_of(rank).load(64))
                .sum::<u64>())
        });
        let Ok(sums) = sums else {
            return println!("SKIPPED: pinning is refused");
        };
        let n = pus.len() as u64;
        assert_eq!(sums, vec![n * (n + 1) / 2; pus.len()]);
    }
}
