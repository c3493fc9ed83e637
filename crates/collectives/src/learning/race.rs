//! A race of few contenders in calls of the program itself, such as an operation's algorithms at one class of lengths.
//!
//! ```text
//! all contenders ─► the best four ─► the best two ─► the winner
//! ```
//!
//! A stage has blocks of consecutive calls by one algorithm. The first call of a block warms up; the shortest of the others is
//! the block's time, since whatever disturbs a call makes it longer. The algorithm that would run without a race stays to the
//! last stage. All ranks take the same turns, and conclude from the same times: the greatest of all ranks for each block.

/// A stage of the race.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Blocks of each contender.
    blocks: usize,
    /// The most contenders that go on.
    keep: usize,
    /// Whoever takes longer than this multiple of the best time does not go on.
    within: f64,
}

const STAGES: [Stage; 3] = [
    Stage {
        blocks: 1,
        keep: 4,
        within: 2.0,
    },
    Stage {
        blocks: 3,
        keep: 2,
        within: 1.25,
    },
    Stage {
        blocks: 8,
        keep: 1,
        within: 1.0,
    },
];

/// Calls of a block. Three that count leave little to a disturbance of one.
const CALLS: usize = 4;

/// Blocks of the last stage in which the second of two contenders must be faster to win. If both are alike this comes about
/// with a probability of 9 in 256.
const FASTER_BLOCKS: usize = 7;

/// A race that goes on.
///
/// # Examples
///
/// ```
/// use corecast_collectives::learning::Race;
///
/// let mut race = Race::new(vec![0, 1]);
/// let won = loop {
///     // The second one takes half the time.
///     let took = if race.next() == 0 { 200 } else { 100 };
///     if race.note(took).is_some()
///         && let Some(won) = race.conclude()
///     {
///         break won;
///     }
/// };
/// assert_eq!((won.winner, won.ratio), (1, 0.5));
/// ```
#[derive(Clone, Debug)]
pub struct Race {
    /// Contenders that are left. The first one wins ties: at first the algorithm that ran without a race.
    contenders: Vec<u8>,
    stage: usize,
    /// Calls of this stage so far.
    calls: usize,
    /// The shortest time of each block of this stage, block by block.
    times: Vec<u64>,
}

/// The end of a race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Won {
    /// The winner.
    pub winner: u8,
    /// The winner's time over that of the contender that it was compared with last; 1 without such.
    pub ratio: f64,
}

impl Race {
    /// A race of at least two contenders, of which the first one wins ties.
    pub fn new(contenders: Vec<u8>) -> Self {
        debug_assert!(contenders.len() > 1);
        let times = Self::untimed(&contenders, 0);
        Self {
            contenders,
            stage: 0,
            calls: 0,
            times,
        }
    }

    fn untimed(contenders: &[u8], stage: usize) -> Vec<u64> {
        vec![u64::MAX; contenders.len() * STAGES[stage].blocks]
    }

    /// The place in `times` of the block that the next call belongs to. The order of contenders is reversed in every other
    /// block, so that none always follows the same one.
    fn block(&self) -> usize {
        let of = self.contenders.len();
        let turn = self.calls / CALLS;
        let (block, at) = (turn / of, turn % of);
        block * of + if block % 2 == 0 { at } else { of - 1 - at }
    }

    /// The contender of the next call.
    pub fn next(&self) -> u8 {
        self.contenders[self.block() % self.contenders.len()]
    }

    /// Notes the time of a call by the [`next`](Self::next) contender. Returns the times of the stage if it is over; then
    /// [`conclude`](Self::conclude) follows.
    pub fn note(&mut self, time: u64) -> Option<&mut [u64]> {
        let block = self.block();
        if !self.calls.is_multiple_of(CALLS) {
            self.times[block] = self.times[block].min(time);
        }
        self.calls += 1;
        (self.calls == self.times.len() * CALLS).then_some(&mut self.times)
    }

    /// Ends a stage, whose times are those of all ranks now. Returns the winner if there is one.
    pub fn conclude(&mut self) -> Option<Won> {
        let (of, stage) = (self.contenders.len(), STAGES[self.stage]);
        let medians: Vec<u64> = (0..of).map(|at| self.median(at)).collect();
        if self.stage == STAGES.len() - 1 {
            return Some(self.last(&medians));
        }
        let best = medians.iter().copied().min().unwrap_or(0);
        let most = (best as f64 * stage.within) as u64;
        // The first one stays to the end, so that no disturbance of a few calls replaces it.
        let mut others: Vec<usize> = (1..of).filter(|&at| medians[at] <= most).collect();
        if others.is_empty() {
            let second = medians[1..].iter().copied().min().unwrap_or(1);
            return Some(Won {
                winner: self.contenders[0],
                ratio: medians[0] as f64 / second.max(1) as f64,
            });
        }
        others.sort_by_key(|&at| medians[at]);
        others.truncate(stage.keep - 1);
        let left = std::iter::once(0).chain(others);
        self.contenders = left.map(|at| self.contenders[at]).collect();
        self.stage += 1;
        self.calls = 0;
        self.times = Self::untimed(&self.contenders, self.stage);
        None
    }

    /// The median of a contender's blocks.
    fn median(&self, at: usize) -> u64 {
        let of = self.contenders.len();
        let mut times: Vec<u64> = self.times.iter().copied().skip(at).step_by(of).collect();
        times.sort_unstable();
        times[times.len() / 2]
    }

    /// The winner of the last stage, of two contenders.
    fn last(&self, medians: &[u64]) -> Won {
        let faster = self.times.chunks(2).filter(|pair| pair[1] < pair[0]);
        let at = usize::from(faster.count() >= FASTER_BLOCKS);
        Won {
            winner: self.contenders[at],
            ratio: medians[at] as f64 / medians[1 - at].max(1) as f64,
        }
    }

    /// [`conclude`](Self::conclude) with these times.
    #[cfg(test)]
    pub(super) fn agreed(&mut self, times: &[u64]) -> Option<Won> {
        self.times.copy_from_slice(times);
        self.conclude()
    }

    /// The most calls that a race of `contenders` takes.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_collectives::learning::Race;
    ///
    /// assert_eq!(Race::calls_most(6), 136);
    /// assert_eq!(Race::calls_most(1), 0);
    /// ```
    pub const fn calls_most(contenders: usize) -> usize {
        let (mut calls, mut left, mut stage) = (0, contenders, 0);
        while stage < STAGES.len() && left > 1 {
            calls += left * STAGES[stage].blocks * CALLS;
            if left > STAGES[stage].keep {
                left = STAGES[stage].keep;
            }
            stage += 1;
        }
        calls
    }
}
