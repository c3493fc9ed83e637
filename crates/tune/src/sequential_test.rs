//! The sequential test that eliminates contenders from a race and ends it.
//!
//! Samples of one round are taken close together, so contenders are compared round by round and drift that hits all
//! alike cancels. Only signs count, so long tails of times do not matter. Two kinds of bets run between each two
//! contenders, see [`martingale`](crate::betting_martingale):
//!
//! | bet | what it refutes | what comes of it |
//! | --- | --- | --- |
//! | a takes more than 1 + `worse` times as long as b | a is as good as b, but for `worse` | a is out |
//! | a takes less than 1 + `alike` times as long as b | b is better by more than `alike` | if so for all b that are left, the race is over |
//!
//! Rounds come in *replicates*. Each has teams and buffers of its own, since their place in memory makes up to a
//! seventh of a short operation's time, and time passes between replicates, since a busy second outlasts the rounds
//! of one. So a candidate that is slower by less than a quarter is eliminated after all planned replicates only, one
//! that is slower by less than three quarters in the third one at the earliest, and a favourite loses only to a
//! candidate that was faster in more than three replicates of four. An incumbent, which is what a team runs
//! without a tuning, loses by these ratios and numbers of replicates as well. Rounds of one replicate do not predict the next
//! one: there may be more replicates than planned, until the winner is [confirmed](SequentialTest::confirmed) by the
//! medians of replicates.
//!
//! With K contenders a bet has won when its unit has become (K − 1) / `error`. A contender whose median ratio to
//! each other one is at most 1 + `worse` is therefore eliminated with a probability of at most `error`, however
//! often the test looks; and the winner of a decided race is slower than another one by more than `alike` with a
//! further probability of at most `error`.

use crate::betting_martingale::martingale;
use corecast_bench::stats::{self, Interval};

/// The error probabilities and limits of a sequential test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Probability of a wrong decision of each kind in a race.
    pub error: f64,
    /// Relative slowness that does not eliminate a contender: 0.005 is half a percent.
    pub worse: f64,
    /// Relative difference up to which times count as alike.
    pub alike: f64,
    /// The most rounds of a replicate. Replicates tell more than rounds of the same buffers: on the eleven simulated machines of
    /// docs/defaults.md, in the time of the main job, 4093 of 4356 choices are within 3 % of the best algorithm with ten rounds,
    /// and 3921 with twenty.
    pub replicate_rounds: u32,
    /// Planned replicates; a race ends earlier when one contender is left.
    pub replicates: u32,
    /// The most replicates, if the planned ones do not decide.
    pub replicates_most: u32,
    /// How much longer than another one a confirmed winner may take: 0.03 is three percent.
    pub near: f64,
}

impl Rules {
    /// These rules for long data, with more replicates of fewer rounds. The placement of pages makes up to a fifth of a
    /// long operation's time and stays in all rounds of a replicate, so one replicate says little about the next.
    #[must_use]
    pub fn of_long_data(self) -> Self {
        let replicates = self.replicates + 2;
        Self {
            replicate_rounds: self.replicate_rounds.div_ceil(2),
            replicates,
            replicates_most: self.replicates_most.max(replicates),
            ..self
        }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            error: 0.05,
            worse: 0.005,
            alike: 0.02,
            replicate_rounds: 10,
            replicates: 6,
            replicates_most: 20,
            near: 0.03,
        }
    }
}

/// The fewest rounds, also of one contender alone: the interval of its median then leaves two samples out at each end.
const ROUNDS_LEAST: u32 = 12;

/// The fewest rounds of a replicate that can confirm the result of others.
const REPLICATE_LEAST: u32 = 8;

/// The fewest rounds that say anything where no replicate has [`REPLICATE_LEAST`].
const ROUNDS_FEW: u32 = 3;

/// The fewest replicates that confirm a winner: from six on the interval of the median has its full coverage.
const CONFIRMING: usize = 6;

/// Part of the replicates in which a favourite must have been faster than the leader to win all the same.
const ONCE: f64 = 0.25;

/// A contender that takes this many times as long as another leaves at once: no place in memory explains that.
const CLEAR: f64 = 1.75;

/// A contender that takes this many times as long leaves in the third replicate: badly placed pages explain that in
/// one replicate, but not in several.
const CLEAR_IN_THREE: f64 = 1.25;

/// A contender that takes this many times as long in three to five replicates is slower, even if it is what runs without a
/// race: places in memory of the one and the other even out. On the simulated machines of [`Rules::replicate_rounds`] 4152
/// choices are near the best algorithm by it, and 4093 by [`CLEAR_IN_THREE`]; 4098 and 4015 where places differ by 8 %.
const CLEAR_IN_SEVERAL: f64 = 1.1;

/// Why a contender is not in the race any more.
#[derive(Clone, Debug, PartialEq)]
pub enum Left {
    /// It was clearly slower than another one.
    Slower {
        /// The round, counted from 1, after which it was eliminated.
        round: u32,
        /// Index of the faster contender.
        than: usize,
    },
    /// It did not work.
    Failed(String),
}

/// Whether a race was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// One contender is left, or one is as good as any that is left.
    Decided,
    /// Rounds or time ran out before one was clearly better.
    Undecided,
}

/// Counts of rounds for the bets between two contenders.
#[derive(Clone, Copy, Debug, Default)]
struct Bets {
    rounds: u32,
    worse: u32,
    alike: u32,
    /// Rounds in which the first took at least [`CLEAR`], and [`CLEAR_IN_THREE`], times as long as the second.
    clear: u32,
    clear_in_three: u32,
}

/// A sequential test of one race.
///
/// # Examples
///
/// ```
/// use corecast_tune::sequential_test::{SequentialTest, Rules};
///
/// let mut test = SequentialTest::new(2, Rules::default());
/// while !test.over() {
///     test.round(&[Some(100.0), Some(190.0)]);
/// }
/// assert_eq!(test.winner(), Some(0));
/// assert!(test.left(1).is_some() && test.rounds() < 20);
/// ```
#[derive(Clone, Debug)]
pub struct SequentialTest {
    rules: Rules,
    samples: Vec<Vec<Option<f64>>>,
    left: Vec<Option<Left>>,
    bets: Vec<Bets>,
    rounds: u32,
    /// Index of the first round of each replicate.
    replicates: Vec<u32>,
    decided: bool,
    favoured: Vec<usize>,
    incumbent: Option<usize>,
    /// The candidate that is never eliminated.
    stays: Option<usize>,
}

impl SequentialTest {
    /// A test of so many contenders, none of which is favoured.
    pub fn new(contenders: usize, rules: Rules) -> Self {
        Self {
            rules,
            samples: vec![Vec::new(); contenders],
            left: vec![None; contenders],
            bets: vec![Bets::default(); contenders * contenders],
            rounds: 0,
            replicates: vec![0],
            decided: contenders <= 1,
            favoured: Vec::new(),
            incumbent: None,
            stays: None,
        }
    }

    /// Never eliminates `contender`, however slow it is, since the race is about its times.
    #[must_use]
    pub fn keeping(mut self, contender: usize) -> Self {
        self.stays = Some(contender);
        self
    }

    /// With a contender that is what runs without a race. If it is favoured it [wins](Self::winner) until it was shown to be
    /// slower.
    #[must_use]
    pub fn incumbent(mut self, incumbent: Option<usize>) -> Self {
        self.incumbent = incumbent;
        self
    }

    /// Lets these contenders win ties, the first before the others.
    #[must_use]
    pub fn favouring(mut self, favoured: Vec<usize>) -> Self {
        self.favoured = favoured;
        self
    }

    /// Adds the samples of a round, an entry for each contender. Returns the contenders that it eliminates.
    ///
    /// # Panics
    ///
    /// If there is another number of entries.
    ///
    /// # Cost
    ///
    /// Square in the contenders.
    pub fn round(&mut self, samples: &[Option<f64>]) -> Vec<usize> {
        let n = self.samples.len();
        assert_eq!(samples.len(), n, "an entry for each contender");
        self.rounds += 1;
        for (all, sample) in self.samples.iter_mut().zip(samples) {
            all.push(*sample);
        }
        for a in 0..n {
            for b in (0..n).filter(|&b| b != a) {
                if let (Some(one), Some(other)) = (samples[a], samples[b]) {
                    let bets = &mut self.bets[a * n + b];
                    bets.rounds += 1;
                    bets.worse += u32::from(one > (1.0 + self.rules.worse) * other);
                    bets.alike += u32::from(one < (1.0 + self.rules.alike) * other);
                    bets.clear += u32::from(one >= CLEAR * other);
                    bets.clear_in_three += u32::from(one >= CLEAR_IN_THREE * other);
                }
            }
        }
        let racing = self.racing();
        let leaves = |a: &&usize| Some(**a) != self.stays;
        let beaten = racing.iter().filter(leaves);
        let beaten = beaten.filter_map(|&a| Some((a, self.beaten_by(a)?)));
        let mut out: Vec<(usize, usize)> = beaten.collect();
        // Medians need not be transitive, so each may be beaten by another: then all stay.
        if out.len() == racing.len() {
            out.clear();
        }
        for &(a, than) in &out {
            let round = self.rounds;
            self.left[a] = Some(Left::Slower { round, than });
        }
        self.decide();
        out.into_iter().map(|(a, _)| a).collect()
    }

    /// Eliminates a contender that does not work, and drops its samples.
    pub fn fail(&mut self, contender: usize, reason: String) {
        self.left[contender] = Some(Left::Failed(reason));
        self.samples[contender].fill(None);
        self.decide();
    }

    fn decide(&mut self) {
        let racing = self.racing();
        let several = self.replicates() >= self.rules.replicates;
        let alone = racing.len() <= 1;
        self.decided = alone
            || several
                && racing.iter().any(|&a| {
                    let mut others = racing.iter().filter(|&&b| b != a);
                    others.all(|&b| self.won(a, b, |bets| bets.alike))
                });
    }

    /// Whether the bet on `heads` of `a` against `b` has won: its martingale has reached (K − 1) / `error`.
    fn won(&self, a: usize, b: usize, heads: impl Fn(&Bets) -> u32) -> bool {
        let n = self.samples.len();
        let bets = &self.bets[a * n + b];
        martingale(heads(bets), bets.rounds) >= (n - 1) as f64 / self.rules.error
    }

    /// The contender that is clearly faster than `a`; among several, the fastest relative to `a`.
    fn beaten_by(&self, a: usize) -> Option<usize> {
        let n = self.samples.len();
        let last = self.replicates() >= self.rules.replicates;
        let clear = |b: usize| {
            let bets = &self.bets[a * n + b];
            let so_many = match self.replicates() < 3 {
                true => bets.clear,
                false => bets.clear_in_three,
            };
            // In at least half of the rounds, so in the median.
            2 * so_many >= bets.rounds
        };
        let faster = (0..n).filter(|&b| b != a && self.works(b));
        let faster = faster.filter(|&b| last || clear(b));
        let faster = faster.filter(|&b| self.won(a, b, |bets| bets.worse));
        let ratio = |b: usize| self.ratio(a, b).unwrap_or(0.0);
        faster.max_by(|&x, &y| ratio(x).total_cmp(&ratio(y)))
    }

    fn works(&self, contender: usize) -> bool {
        !matches!(self.left[contender], Some(Left::Failed(_)))
    }

    /// The contenders that are still in the race.
    pub fn racing(&self) -> Vec<usize> {
        let all = 0..self.samples.len();
        all.filter(|&at| self.left[at].is_none()).collect()
    }

    /// Why a contender has left; `None` if it is in the race.
    pub fn left(&self, contender: usize) -> Option<&Left> {
        self.left[contender].as_ref()
    }

    /// Number of rounds so far.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Number of replicates so far, the present one included.
    pub fn replicates(&self) -> u32 {
        self.replicates.len() as u32
    }

    /// The rules of the test.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether this replicate is over: it needs no further round, or has had its maximum.
    pub fn over(&self) -> bool {
        let begun = *self.replicates.last().expect("a replicate has begun");
        let here = self.rounds - begun;
        let alone = self.racing().len() <= 1;
        self.settled() && (alone || here >= REPLICATE_LEAST) || here >= self.replicate_rounds()
    }

    fn replicate_rounds(&self) -> u32 {
        self.rules.replicate_rounds.max(1)
    }

    fn settled(&self) -> bool {
        self.decided && self.rounds >= ROUNDS_LEAST || self.racing().is_empty()
    }

    /// Whether the race needs no further replicate: one contender is left, the winner is within `alike` of all others
    /// by the rounds, or it is [confirmed](Self::confirmed).
    pub fn enough(&self) -> bool {
        let Some(winner) = self.winner() else {
            return true;
        };
        if self.racing().len() <= 1 {
            return self.rounds >= ROUNDS_LEAST;
        }
        if self.replicates() < self.rules.replicates {
            return false;
        }
        let near = |ratio| ratio <= 1.0 + self.rules.alike.max(0.0);
        let leader = self.leader().unwrap_or(winner);
        let is_leader = || leader == winner || self.standing(winner, leader).is_some_and(near);
        self.settled() && is_leader() || self.confirmed()
    }

    /// Whether the winner takes at most [`Rules::near`] longer than each other contender that is left, by the upper end
    /// of the interval of the median over at least six replicates.
    pub fn confirmed(&self) -> bool {
        let Some(winner) = self.winner() else {
            return false;
        };
        let confirms = |b: usize| {
            let replicates = self.ratio_by_replicate(winner, b);
            let interval = stats::median_interval(&replicates);
            replicates.len() >= CONFIRMING
                && interval.is_some_and(|i| i.high <= 1.0 + self.rules.near)
        };
        let racing = self.racing();
        racing.into_iter().all(|b| b == winner || confirms(b))
    }

    /// Begins another replicate and returns true, unless there were [enough](Self::enough), or the most that the rules
    /// allow.
    pub fn next_replicate(&mut self) -> bool {
        let more = self.replicates() < self.rules.replicates_most.max(self.rules.replicates)
            && !self.enough();
        if more {
            self.replicates.push(self.rounds);
        }
        more
    }

    /// How many times as long `a` takes as `b`: the median of each replicate that has enough rounds of both.
    pub fn ratio_by_replicate(&self, a: usize, b: usize) -> Vec<f64> {
        let replicate = |(begin, end): (u32, u32)| {
            let rounds = begin as usize..end as usize;
            let (a, b) = (&self.samples[a][rounds.clone()], &self.samples[b][rounds]);
            let ratio = stats::paired_ratio(a, b)?;
            (ratio.pairs as u32 >= REPLICATE_LEAST.min(self.replicate_rounds().div_ceil(2)))
                .then_some(ratio.median)
        };
        self.bounds().filter_map(replicate).collect()
    }

    /// Whether the race was decided.
    pub fn ended(&self) -> Ended {
        match self.decided {
            true => Ended::Decided,
            false => Ended::Undecided,
        }
    }

    /// All samples of a contender.
    pub fn samples(&self, contender: usize) -> Vec<f64> {
        self.samples[contender].iter().flatten().copied().collect()
    }

    /// Whether `a` took [`CLEAR`] times as long as `b` in three quarters of a few rounds.
    fn is_soon_clear(&self, a: usize, b: usize) -> bool {
        let bets = &self.bets[a * self.samples.len() + b];
        bets.rounds >= ROUNDS_FEW && 4 * bets.clear >= 3 * bets.rounds
    }

    /// Median of a contender's samples, and its interval.
    pub fn summary(&self, contender: usize) -> Option<(f64, Interval)> {
        let samples = self.samples(contender);
        Some((stats::median(&samples)?, stats::median_interval(&samples)?))
    }

    /// How many times as long `a` takes as `b`: the median over rounds.
    pub fn ratio(&self, a: usize, b: usize) -> Option<f64> {
        stats::paired_ratio(&self.samples[a], &self.samples[b]).map(|ratio| ratio.median)
    }

    /// How many times as long `a` takes as `b`: the median over replicates, or over rounds where no replicate has
    /// enough of them.
    pub fn standing(&self, a: usize, b: usize) -> Option<f64> {
        stats::median(&self.ratio_by_replicate(a, b)).or_else(|| self.ratio(a, b))
    }

    /// The fastest of the contenders that are left, by the median over replicates of the median over rounds of its time
    /// relative to the geometric mean of the round.
    pub fn leader(&self) -> Option<usize> {
        let racing = self.racing();
        let mean = |round: usize| -> Option<f64> {
            let logs = racing.iter().map(|&at| self.samples[at].get(round));
            let logs = logs.map(|sample| Some(sample.copied()??.ln()));
            let logs: Vec<f64> = logs.collect::<Option<_>>()?;
            Some(logs.iter().sum::<f64>() / logs.len() as f64)
        };
        let means: Vec<Option<f64>> = (0..self.rounds as usize).map(mean).collect();
        let standing = |at: usize| {
            let of_replicate = |(begin, end): (u32, u32)| {
                let rounds = begin as usize..end as usize;
                let pairs = self.samples[at][rounds.clone()].iter().zip(&means[rounds]);
                let beyond: Vec<f64> = pairs
                    .filter_map(|(sample, mean)| Some(sample.as_ref()?.ln() - (*mean)?))
                    .collect();
                stats::median(&beyond)
            };
            stats::median(&self.bounds().filter_map(of_replicate).collect::<Vec<f64>>())
        };
        let standings = racing.iter().filter_map(|&at| Some((at, standing(at)?)));
        let best = standings.min_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(at, _)| at)
    }

    /// The index of the first round of each replicate, and one past its last.
    fn bounds(&self) -> impl Iterator<Item = (u32, u32)> {
        let ends = self.replicates.iter().skip(1).chain([&self.rounds]);
        self.replicates.iter().copied().zip(ends.copied())
    }

    /// The winner: the first favoured contender that is left and takes at most `alike` longer than the leader, or was faster
    /// than it in a quarter of the replicates; else the leader. A favoured [incumbent](Self::incumbent) also wins where
    /// it was not shown to be slower: by a tenth in fewer than six replicates, by a quarter in two, by three quarters in one, and by
    /// as much in most of three rounds at least where no replicate has enough of them.
    pub fn winner(&self) -> Option<usize> {
        let leader = self.leader()?;
        let good = |&at: &usize| {
            let replicates = self.ratio_by_replicate(at, leader);
            let shown_from = match replicates.len() {
                _ if self.incumbent != Some(at) => 1.0,
                0 if self.is_soon_clear(at, leader) => 1.0,
                0 => f64::INFINITY,
                1 => CLEAR,
                2 => CLEAR_IN_THREE,
                3..CONFIRMING => CLEAR_IN_SEVERAL,
                _ => 1.0,
            };
            let limit = shown_from.max(1.0 + self.rules.alike);
            let is_near = || {
                self.standing(at, leader)
                    .is_some_and(|ratio| ratio <= limit)
            };
            let once = || {
                let faster = replicates.iter().filter(|&&ratio| ratio < 1.0).count();
                faster > 0 && faster as f64 >= ONCE * replicates.len() as f64
            };
            self.left[at].is_none() && (at == leader || is_near() || once())
        };
        Some(self.favoured.iter().copied().find(good).unwrap_or(leader))
    }
}
