//! A rank of a contestant: the timed loops.

use super::collective::ELEMENT_BYTES;
use super::lines::SignalLines;
use super::teams::Contestant;
use corecast_model::Collective;
use corecast_team::Failure;
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Distance of the elements that change between operations: one per cache line.
const STRIDE: usize = 64 / ELEMENT_BYTES;

/// One rank in all teams of a contestant.
pub(super) struct ContestantRank<'a> {
    pub(super) contestant: &'a Contestant,
    pub(super) rank: usize,
    pub(super) members: Vec<corecast_team::Member>,
    /// Index of the team that runs now.
    pub(super) place: usize,
    /// Last number used on the signal lines of each team.
    numbers: Vec<u64>,
    pub(super) data: Vec<u64>,
}

/// The operator of reductions: it is cheap, and the check can compute its results.
pub(super) fn sum(a: u64, b: u64) -> u64 {
    a.wrapping_add(b)
}

impl<'a> ContestantRank<'a> {
    /// Joins all teams as `rank`.
    ///
    /// # Panics
    ///
    /// If the contestant has been in a race before.
    pub(super) fn join(contestant: &'a Contestant, rank: usize) -> Self {
        let joined = contestant.teams.iter().map(|team| team.join(rank));
        ContestantRank {
            contestant,
            rank,
            members: joined
                .collect::<Result<_, _>>()
                .expect("a contestant serves one race"),
            place: 0,
            numbers: vec![0; contestant.teams.len()],
            data: vec![0; contestant.exercise.bytes / ELEMENT_BYTES],
        }
    }

    /// Repeats the operation. Returns the time that counts at the root of a broadcast or reduction,
    /// `None` elsewhere.
    pub(super) fn repeat(&mut self, operations: u64) -> Result<Option<Duration>, Failure> {
        match self.contestant.exercise.collective {
            Collective::Barrier => {
                let member = &mut self.members[self.place];
                for _ in 0..operations {
                    member.barrier()?;
                }
                Ok(None)
            }
            Collective::Allreduce => {
                let member = &mut self.members[self.place];
                for number in 0..operations {
                    touch(&mut self.data, number);
                    member.allreduce(&mut self.data, sum)?;
                    black_box(&mut self.data);
                }
                Ok(None)
            }
            Collective::Broadcast => {
                let answerer = self.contestant.answerer.load(Ordering::Relaxed);
                self.broadcasts(operations, answerer)
            }
            Collective::Reduce => self.reductions(operations),
            other => unreachable!("a contestant was made for {other}"),
        }
    }

    /// Runs broadcasts, each answered by `answerer`; returns the root's time less the answers' way.
    pub(super) fn broadcasts(
        &mut self,
        operations: u64,
        answerer: usize,
    ) -> Result<Option<Duration>, Failure> {
        let (oversubscribed, root) = (
            self.contestant.oversubscribed,
            self.contestant.exercise.root,
        );
        let way = self.way(operations, answerer);
        let numbers = self.next_numbers(operations);
        let lines = &self.contestant.lines[self.place];
        let member = &mut self.members[self.place];
        let begin = Instant::now();
        for number in numbers {
            if self.rank == root {
                touch(&mut self.data, number);
            }
            member.broadcast(root, &mut self.data)?;
            black_box(&mut self.data);
            if self.rank == root && answerer != root {
                lines.await_answer(number, oversubscribed);
            } else if self.rank == answerer {
                lines.answer(number);
            }
        }
        Ok((self.rank == root).then(|| without(begin.elapsed(), way, operations)))
    }

    /// Runs reductions, each started by the root; returns the root's time less the signals' way.
    fn reductions(&mut self, operations: u64) -> Result<Option<Duration>, Failure> {
        let (oversubscribed, root) = (
            self.contestant.oversubscribed,
            self.contestant.exercise.root,
        );
        let answerer = self.contestant.answerer.load(Ordering::Relaxed);
        let way = self.way(operations, answerer);
        let numbers = self.next_numbers(operations);
        let lines = &self.contestant.lines[self.place];
        let member = &mut self.members[self.place];
        let begin = Instant::now();
        for number in numbers {
            if self.rank == root {
                lines.start(number);
            } else {
                lines.await_start(number, oversubscribed);
            }
            touch(&mut self.data, number);
            member.reduce(root, &mut self.data, sum)?;
            black_box(&mut self.data);
        }
        Ok((self.rank == root).then(|| without(begin.elapsed(), way, operations)))
    }

    /// At the root, the time that `operations` messages from or to `answerer` take: half of as many
    /// round trips over the lines. Zero at the other ranks, and where ranks share PUs.
    fn way(&mut self, operations: u64, answerer: usize) -> Duration {
        let root = self.contestant.exercise.root;
        if self.contestant.oversubscribed || answerer == root {
            return Duration::ZERO;
        }
        let lines: &SignalLines = &self.contestant.lines[self.place];
        let trips = operations / 2 + 1;
        let numbers = self.next_numbers(trips);
        if self.rank == root {
            let begin = Instant::now();
            for number in numbers {
                lines.start(number);
                lines.await_answer(number, false);
            }
            return begin
                .elapsed()
                .mul_f64(operations as f64 / trips as f64 / 2.0);
        }
        if self.rank == answerer {
            for number in numbers {
                lines.await_start(number, false);
                lines.answer(number);
            }
        }
        Duration::ZERO
    }

    /// Takes the next `count` numbers of the team's signal lines. All ranks call it with the same
    /// counts, so that they agree on the numbers.
    fn next_numbers(&mut self, count: u64) -> Range<u64> {
        let last = &mut self.numbers[self.place];
        let first = *last + 1;
        *last += count;
        first..first + count
    }

    /// Lets the ranks through that wait for this one, after a failure.
    pub(super) fn give_up(&self) {
        for lines in &self.contestant.lines {
            lines.give_up();
        }
    }
}

/// Changes one element of every cache line, so that other ranks must fetch the data anew.
fn touch(data: &mut [u64], number: u64) {
    for element in data.iter_mut().step_by(STRIDE) {
        *element = number;
    }
}

/// `whole` less `way`, but at least a nanosecond per operation, so that no batch takes no time.
fn without(whole: Duration, way: Duration, operations: u64) -> Duration {
    whole
        .saturating_sub(way)
        .max(Duration::from_nanos(operations))
}
