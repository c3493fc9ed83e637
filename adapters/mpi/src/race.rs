//! Layer 3: whether a collective is faster on the team or by the library, found out while the program runs.
//!
//! The first calls of an operation at a length are a [race](crate::racing): they go to the one and the other in turn, block by block.
//! Then all take the times of the slowest rank, so they decide alike; and the choice stays. What a program computes never depends on
//! it: operations that would give other bits are not raced, and run on the team.

use crate::process;
use crate::racing::{Racing, Step, Times, in_the_programs_manner, library_wins};
use corecast::debug::{Level, say};
use std::time::Instant;

/// Operations that are raced by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Kind {
    Barrier,
    Broadcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Gatherv,
    Scatterv,
    Allgatherv,
    Alltoallv,
    Reduce,
    Allreduce,
    Scan,
    Exscan,
    ReduceScatter,
}

pub(crate) const KINDS: [Kind; 15] = [
    Kind::Barrier,
    Kind::Broadcast,
    Kind::Gather,
    Kind::Scatter,
    Kind::Allgather,
    Kind::Alltoall,
    Kind::Gatherv,
    Kind::Scatterv,
    Kind::Allgatherv,
    Kind::Alltoallv,
    Kind::Reduce,
    Kind::Allreduce,
    Kind::Scan,
    Kind::Exscan,
    Kind::ReduceScatter,
];
/// One for each power of two.
const CLASSES: usize = 48;

/// Bytes that pass through the team's bounce buffers before a race begins, in at most so many calls: new memory costs time when
/// it is touched first, several times as much as a copy.
const WARM_BYTES: usize = 2 << 20;
const WARM_CALLS: usize = 64;
/// Shorter data need no bounce buffers.
const WARM_FROM: usize = 4 << 10;

/// Who runs an operation at a length.
#[derive(Debug, Default)]
enum Choice {
    #[default]
    Open,
    Team,
    Library,
    /// Calls that are still to come before its race begins.
    Warming(usize),
    Racing(Box<Racing>),
}

/// All races of a team.
#[derive(Debug)]
pub(crate) struct Races {
    choices: Vec<Choice>,
    /// Whether this rank says what was found.
    tells: bool,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It runs on the team.
    Team,
    /// It is the library's.
    Library,
    /// It is part of a race.
    Raced(Step),
}

/// A place in the table: an operation at a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(usize);

impl Entry {
    /// `bytes` is the same on all ranks.
    #[inline]
    pub(crate) fn of(kind: Kind, bytes: usize) -> Self {
        let class = (usize::BITS - bytes.leading_zeros()) as usize;
        Self(kind as usize * CLASSES + class.min(CLASSES - 1))
    }

    fn told(self, times: Times, seen: [f64; 2]) -> String {
        let (kind, class) = (KINDS[self.0 / CLASSES], self.0 % CLASSES);
        let upto = (1_usize << class) - 1;
        let [team, library] = seen.map(|seconds| seconds * 1e6);
        let manner = match seen == times[..2] {
            true => "apart",
            false => "close to each other",
        };
        format!(
            "MPI: {kind:?} of up to {upto} B, calls {manner}: {team:.2} µs on the team, {library:.2} µs by the library"
        )
    }
}

impl Races {
    pub(crate) fn new(tells: bool) -> Self {
        let choices = (0..KINDS.len() * CLASSES)
            .map(|_| Choice::default())
            .collect();
        Self { choices, tells }
    }

    /// Who runs the next call; `greatest` finds the greatest of each number of all ranks.
    #[inline]
    pub(crate) fn turn(
        &mut self,
        entry: Entry,
        bytes: usize,
        greatest: impl FnOnce(Times) -> Option<Times>,
    ) -> Turn {
        match &mut self.choices[entry.0] {
            Choice::Team => return Turn::Team,
            Choice::Library => return Turn::Library,
            Choice::Racing(racing) => {
                if let Some(step) = racing.step_between() {
                    return Turn::Raced(step);
                }
            }
            _ => {}
        }
        self.race(entry, bytes, greatest)
    }

    #[cold]
    fn race(
        &mut self,
        entry: Entry,
        bytes: usize,
        greatest: impl FnOnce(Times) -> Option<Times>,
    ) -> Turn {
        let choice = &mut self.choices[entry.0];
        if matches!(choice, Choice::Open) {
            if !process::races() {
                *choice = Choice::Team;
                return Turn::Team;
            }
            *choice = Choice::Warming(match bytes {
                _ if bytes < WARM_FROM => 0,
                _ => (WARM_BYTES / bytes).min(WARM_CALLS),
            });
        }
        match choice {
            Choice::Warming(0) => *choice = Choice::Racing(Box::new(Racing::new(bytes))),
            Choice::Warming(calls) => {
                *calls -= 1;
                return Turn::Team;
            }
            _ => {}
        }
        let Choice::Racing(racing) = choice else {
            return Turn::Team;
        };
        if let Some(limit) = racing.look() {
            // A failure of the team is told by the operation itself.
            let Some(times) = greatest(racing.medians()) else {
                return Turn::Team;
            };
            let seen = in_the_programs_manner(times);
            if let Some(library_wins) = library_wins(seen, limit) {
                if self.tells {
                    say(Level::Trace, || entry.told(times, seen));
                }
                let (next, turn) = match library_wins {
                    true => (Choice::Library, Turn::Library),
                    false => (Choice::Team, Turn::Team),
                };
                *choice = next;
                return turn;
            }
        }
        Turn::Raced(racing.step())
    }

    /// Leaves out the calls that only run between others, and returns how many: the caller sees to it that they do.
    pub(crate) fn skip_between(&mut self, entry: Entry) -> u32 {
        match &mut self.choices[entry.0] {
            Choice::Racing(racing) => racing.skip_between(),
            _ => 0,
        }
    }

    /// Notes the time since `began`, when a call has ended that is to be timed.
    #[cold]
    pub(crate) fn note(&mut self, entry: Entry, began: Instant) {
        if let Choice::Racing(racing) = &mut self.choices[entry.0] {
            racing.note(began.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::racing::{LONG, Timed};
    use std::time::Duration;

    /// Runs a race between contestants that take so many seconds, of which every rank sees the same; who wins, and after how many
    /// calls.
    fn race(times: Times, bytes: usize) -> (Turn, u32) {
        let mut races = Races::new(false);
        let entry = Entry::of(Kind::Reduce, bytes);
        // Of a block of close calls.
        let timed_close = if bytes < 4096 { 48.0 } else { 12.0 };
        races.choices[entry.0] = Choice::Racing(Box::new(Racing::new(bytes)));
        for call in 0..1000 {
            let turn = races.turn(entry, bytes, |own| Some(own.map(|time| 3.0 * time)));
            let Turn::Raced(step) = turn else {
                return (turn, call);
            };
            let Choice::Racing(racing) = &mut races.choices[entry.0] else {
                panic!("it is raced");
            };
            let [apart, close] = [0, 2].map(|block| times[block + usize::from(!step.on_team)]);
            match step.timed {
                Timed::No => {}
                Timed::Call => racing.note(Duration::from_secs_f64(apart)),
                Timed::Since(_) => racing.note(Duration::from_secs_f64(timed_close * close)),
            }
        }
        panic!("it is decided in the end");
    }

    #[test]
    fn the_faster_one_stays_and_clear_cases_end_early() {
        let (team, library) = (Turn::Team, Turn::Library);
        assert_eq!(race([1e-6, 9e-6, 1e-6, 9e-6], 8), (team, 20));
        assert_eq!(race([9e-6, 1e-6, 9e-6, 1e-6], 8), (library, 20));
        assert_eq!(race([3e-6, 1e-6, 3e-6, 1e-6], 8), (library, 296));
        assert_eq!(race([1.5e-6, 1e-6, 1.5e-6, 1e-6], 8), (library, 434));
        assert_eq!(race([1.1e-6, 1e-6, 1.1e-6, 1e-6], 8), (library, 710));
        assert_eq!(race([1e-6, 0.99e-6, 1e-6, 0.99e-6], 8), (team, 710));
        assert_eq!(race([1e-5, 0.99e-5, 1e-5, 0.99e-5], 8192), (team, 230));
        assert_eq!(race([1e-3; 4], LONG), (team, 42));
        assert_eq!(race([1e-3, 3e-3, 0.0, 0.0], LONG), (team, 12));
        // Close to each other the other one is faster, or the program computes in between.
        assert_eq!(race([1e-6, 2e-6, 1e-6, 0.4e-6], 8), (library, 296));
        assert_eq!(race([1e-6, 3e-6, 90e-6, 50e-6], 8), (team, 296));
    }

    #[test]
    fn new_memory_is_touched_before_a_race() {
        let (mut races, entry) = (Races::new(false), Entry::of(Kind::Gather, 1 << 20));
        let mut next = || races.turn(entry, 1 << 20, |_| None);
        assert_eq!([next(), next()], [Turn::Team; 2]);
        assert!(matches!(next(), Turn::Raced(step) if step.meets && step.on_team));
    }

    #[test]
    fn lengths_of_one_power_of_two_share_a_race() {
        let of = |bytes| Entry::of(Kind::Gather, bytes);
        assert_eq!(of(1024), of(2047));
        assert_ne!(of(1023), of(1024));
        assert_ne!(of(0), of(1));
        assert_eq!(of(usize::MAX), Entry::of(Kind::Gather, 1 << 60));
        assert_ne!(of(8), Entry::of(Kind::Gatherv, 8));
        assert!(Entry::of(Kind::ReduceScatter, usize::MAX).0 < KINDS.len() * CLASSES);
        for (number, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
    }
}
