//! Layer 3: whether a collective is faster on the team or by the library, found out while the program runs.
//!
//! The first calls of an operation at a length go to the one and the other in turn, block by block. Ranks meet in a barrier of
//! the team before each of them, so that nobody is timed who waits for a rank that is late, and each measures how long the call
//! takes it. Then all take the time of the slowest rank, so they decide alike; and the choice stays. What a program computes never
//! depends on it: operations that would give other bits are not raced, and run on the team.

use crate::process;
use corecast::debug::{Level, say};
use std::time::{Duration, Instant};

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

impl Kind {
    /// Whether ranks do not know each other's lengths, so that all lengths have one race.
    #[inline]
    pub(crate) fn is_of_any_lengths(self) -> bool {
        matches!(self, Self::Gatherv | Self::Scatterv | Self::Alltoallv)
    }
}

const KINDS: [Kind; 15] = [
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

/// Calls in one block. The first one still has to do with what the block before left behind, and is not counted.
const BLOCK: u32 = 5;
/// Calls in one block from this length on, where each takes as long as many short ones.
const LONG: usize = 256 << 10;
const LONG_BLOCK: u32 = 3;

/// Bytes that pass through the team's bounce buffers before a race begins, in at most so many calls: new memory costs time when
/// it is touched first, several times as much as a copy.
const WARM_BYTES: usize = 2 << 20;
const WARM_CALLS: usize = 64;
/// Shorter data need no bounce buffers.
const WARM_FROM: usize = 4 << 10;

/// After so many pairs of blocks the ranks compare, and decide if the one takes so many times as long as the other.
const LOOKS: [(usize, f64); 3] = [(2, 2.0), (4, 1.3), (7, 1.0)];

/// The library is chosen where it takes at most this part of the team's time. What cannot be told apart stays with the team.
const CLEARLY: f64 = 0.97;

/// Who runs an operation at a length.
#[derive(Debug, Default)]
enum Choice {
    #[default]
    Open,
    Team,
    Library,
    Racing(Box<Racing>),
}

/// A race that is not decided.
#[derive(Debug, Default)]
struct Racing {
    /// Calls that are still to come before it begins.
    warm: usize,
    /// Calls so far.
    calls: u32,
    block: u32,
    /// Seconds a call, of each block, on the team and by the library.
    times: [Vec<f64>; 2],
    /// Of the current block.
    sum: f64,
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
    /// It runs on the team, and is timed.
    TeamTimed,
    /// It is the library's, and is timed.
    LibraryTimed,
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

    fn told(self, team: f64, library: f64) -> String {
        let (kind, class) = (KINDS[self.0 / CLASSES], self.0 % CLASSES);
        let upto = (1_usize << class) - 1;
        let [team, library] = [team, library].map(|seconds| seconds * 1e6);
        format!(
            "MPI: {kind:?} of up to {upto} B: {team:.2} µs on the team, {library:.2} µs by the library"
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
        greatest: impl FnOnce([f64; 2]) -> Option<[f64; 2]>,
    ) -> Turn {
        match self.choices[entry.0] {
            Choice::Team => Turn::Team,
            Choice::Library => Turn::Library,
            _ => self.race(entry, bytes, greatest),
        }
    }

    #[cold]
    fn race(
        &mut self,
        entry: Entry,
        bytes: usize,
        greatest: impl FnOnce([f64; 2]) -> Option<[f64; 2]>,
    ) -> Turn {
        let choice = &mut self.choices[entry.0];
        if matches!(choice, Choice::Open) {
            if !process::races() {
                *choice = Choice::Team;
                return Turn::Team;
            }
            let block = if bytes < LONG { BLOCK } else { LONG_BLOCK };
            let warm = match bytes {
                _ if bytes < WARM_FROM => 0,
                _ => (WARM_BYTES / bytes).min(WARM_CALLS),
            };
            *choice = Choice::Racing(Box::new(Racing {
                warm,
                block,
                ..Racing::default()
            }));
        }
        let Choice::Racing(racing) = choice else {
            return Turn::Team;
        };
        if racing.warm > 0 {
            racing.warm -= 1;
            return Turn::Team;
        }
        if let Some(limit) = racing.look() {
            // A failure of the team is told by the operation itself.
            let Some([team, library]) = greatest(racing.medians()) else {
                return Turn::Team;
            };
            let decided = limit == LOOKS[LOOKS.len() - 1].1;
            if decided || team > limit * library || library > limit * team {
                if self.tells {
                    say(Level::Trace, || entry.told(team, library));
                }
                let (next, turn) = match library < CLEARLY * team {
                    true => (Choice::Library, Turn::Library),
                    false => (Choice::Team, Turn::Team),
                };
                *choice = next;
                return turn;
            }
        }
        match racing.contestant() {
            0 => Turn::TeamTimed,
            _ => Turn::LibraryTimed,
        }
    }

    /// Notes how long a timed call took.
    #[cold]
    pub(crate) fn note(&mut self, entry: Entry, began: Instant) {
        if let Choice::Racing(racing) = &mut self.choices[entry.0] {
            racing.note(began.elapsed());
        }
    }
}

impl Racing {
    /// Whose block it is: 0 for the team.
    fn contestant(&self) -> usize {
        (self.calls / self.block % 2) as usize
    }

    /// Whether this is a call before which ranks compare, and by how much the times must differ.
    fn look(&self) -> Option<f64> {
        let pair = 2 * self.block;
        let pairs = (self.calls / pair) as usize;
        let whole = self.calls.is_multiple_of(pair);
        let found = LOOKS.iter().find(|&&(after, _)| whole && after == pairs);
        found.map(|&(_, limit)| limit)
    }

    fn note(&mut self, took: Duration) {
        let (contestant, within) = (self.contestant(), self.calls % self.block);
        if within == 0 {
            self.sum = 0.0;
        } else {
            self.sum += took.as_secs_f64();
        }
        self.calls += 1;
        if within + 1 == self.block {
            let mean = self.sum / f64::from(self.block - 1);
            self.times[contestant].push(mean);
        }
    }

    /// Of two blocks it is the shorter one: the first call at a length may have to touch new memory.
    fn medians(&self) -> [f64; 2] {
        [0, 1].map(|contestant| {
            let mut sorted = self.times[contestant].clone();
            sorted.sort_by(f64::total_cmp);
            sorted[(sorted.len() - 1) / 2]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a race between contestants of these times, of which every rank sees the same; who wins, and after how many calls.
    fn race(team: f64, library: f64, bytes: usize) -> (Turn, u32) {
        let block = if bytes < LONG { BLOCK } else { LONG_BLOCK };
        let mut races = Races::new(false);
        let entry = Entry::of(Kind::Reduce, bytes);
        races.choices[entry.0] = Choice::Racing(Box::new(Racing {
            block,
            ..Racing::default()
        }));
        for call in 0..1000 {
            let turn = races.turn(entry, bytes, |own| Some(own.map(|time| 3.0 * time)));
            let took = match turn {
                Turn::TeamTimed => team,
                Turn::LibraryTimed => library,
                decided => return (decided, call),
            };
            let Choice::Racing(racing) = &mut races.choices[entry.0] else {
                panic!("it is raced");
            };
            racing.note(Duration::from_secs_f64(took));
        }
        panic!("it is decided in the end");
    }

    #[test]
    fn the_faster_one_stays_and_clear_cases_end_early() {
        assert_eq!(race(1e-6, 9e-6, 8), (Turn::Team, 20));
        assert_eq!(race(9e-6, 1e-6, 8), (Turn::Library, 20));
        assert_eq!(race(1.5e-6, 1e-6, 8), (Turn::Library, 40));
        assert_eq!(race(1.1e-6, 1e-6, 8), (Turn::Library, 70));
        assert_eq!(race(1e-6, 0.99e-6, 8), (Turn::Team, 70));
        assert_eq!(race(1e-3, 1e-3, LONG), (Turn::Team, 42));
    }

    #[test]
    fn a_first_block_that_is_slow_decides_nothing() {
        let mut racing = Racing {
            block: 2,
            ..Racing::default()
        };
        for time in [90, 90, 5, 5, 1, 1, 5, 5] {
            racing.note(Duration::from_secs(time));
        }
        assert_eq!(racing.medians(), [1.0, 5.0]);
        assert_eq!(racing.look(), Some(2.0));
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
