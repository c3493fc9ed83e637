//! Who goes on in a race, and when it is over: a sequential test.
//!
//! Samples of one round saw the same machine, so contenders are compared round by round and drift that hits all
//! alike cancels. Only signs count, so it does not matter how long the tails are. Two kinds of bets run between
//! each two contenders, see [`martingale`](crate::betting_martingale):
//!
//! | bet | what it refutes | what comes of it |
//! | --- | --- | --- |
//! | a takes more than 1 + `worse` times as long as b | a is as good as b, but for `worse` | a is out |
//! | a takes less than 1 + `alike` times as long as b | b is better by more than `alike` | if so for all b that are left, the race is over |
//!
//! Rounds come in *replicates*. Each has teams and buffers of its own, as where they happen to lie makes up to a seventh of a
//! short operation's time, and some time lies between replicates, as a busy second outlasts the rounds of one. So
//! a candidate that is slower by less than a quarter is eliminated after all planned replicates only, one that is slower
//! by less than three quarters after the third one, and a favourite loses only to a candidate that was faster in three
//! replicates of four. Rounds of one replicate do not tell how the next one will be: beyond those planned
//! there may be more replicates, until the winner's times in the medians of replicates are
//! [confirmed](SequentialTest::confirmed).
//!
//! With K contenders a bet has won when its unit has become (K − 1) / `error`. A contender whose median ratio to
//! each other one is at most 1 + `worse` is therefore sent home with a probability of at most `error`, however
//! often one looks; and one that ends a race loses more than `alike` with at most `error` more.

use crate::betting_martingale::martingale;
use corecast_bench::stats::{self, Interval};

/// How sure a sequential test must be, and how patient he is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Probability of a wrong decision of each kind in a race.
    pub error: f64,
    /// How much slower is bearable: 0.005 for half a percent.
    pub worse: f64,
    /// Within which times count as alike.
    pub alike: f64,
    /// Rounds of a replicate at most.
    pub replicate_rounds: u32,
    /// Replicates that are planned, unless one is left before.
    pub replicates: u32,
    /// Replicates at most, where those that are planned do not decide.
    pub replicates_most: u32,
    /// How many times longer than another one a confirmed winner may take: 0.03 for three percent.
    pub near: f64,
}

impl Rules {
    /// These for data so long that the times of one replicate say little about the next: where pages happen to lie
    /// makes up to a fifth of an operation's time, and that is the same in all rounds of a replicate.
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
            replicate_rounds: 20,
            replicates: 6,
            replicates_most: 20,
            near: 0.03,
        }
    }
}

/// Rounds at least, also of one contender alone: its interval then leaves two samples out at each end.
const ROUNDS_LEAST: u32 = 12;

/// Rounds of a replicate at least, before it can confirm what another one said.
const REPLICATE_LEAST: u32 = 8;

/// Replicates that confirm a winner: the fewest of which the interval of the median has its full coverage.
const CONFIRMING: usize = 6;

/// Part of the replicates in which a favourite must have been faster than who seems to be faster than it.
const ONCE: f64 = 0.25;

/// Who takes so many times as long leaves at once: no place in memory explains that.
const CLEAR: f64 = 1.75;

/// Who takes so many times as long leaves in the third replicate: pages that lie badly explain that, but not twice.
const CLEAR_IN_THREE: f64 = 1.25;

/// Why a contender is not in the race any more.
#[derive(Clone, Debug, PartialEq)]
pub enum Left {
    /// It was clearly slower than another one.
    Slower {
        /// Rounds that this took.
        round: u32,
        /// Than whom.
        than: usize,
    },
    /// It did not work.
    Failed(String),
}

/// How a race went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// One is left, or as good as any that is left.
    Decided,
    /// Nobody is clearly better, and there were rounds enough.
    Undecided,
}

/// Bets between two contenders.
#[derive(Clone, Copy, Debug, Default)]
struct Bets {
    rounds: u32,
    worse: u32,
    alike: u32,
    /// Rounds in which the one took [`CLEAR`] times as long as the other, and [`CLEAR_IN_THREE`] times.
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
    /// At which round each replicate began.
    replicates: Vec<u32>,
    decided: bool,
    favoured: Vec<usize>,
    /// The candidate that is never eliminated.
    stays: Option<usize>,
}

impl SequentialTest {
    /// Of so many contenders, none of which is favoured.
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
            stays: None,
        }
    }

    /// Does not send `contender` home, however slow it is: how it fares is what the race is about.
    #[must_use]
    pub fn keeping(mut self, contender: usize) -> Self {
        self.stays = Some(contender);
        self
    }

    /// Favours these where there is a tie, the first most.
    #[must_use]
    pub fn favouring(mut self, favoured: Vec<usize>) -> Self {
        self.favoured = favoured;
        self
    }

    /// Looks at the samples of a round, an entry for each contender. Returns who is out from now on.
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
        // Medians can go round in a circle; somebody stays.
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

    /// Takes a contender out that does not work.
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

    /// What a bet must come to.
    fn won(&self, a: usize, b: usize, heads: impl Fn(&Bets) -> u32) -> bool {
        let n = self.samples.len();
        let bets = &self.bets[a * n + b];
        martingale(heads(bets), bets.rounds) >= (n - 1) as f64 / self.rules.error
    }

    /// Who is clearly faster than `a`: among several, the one that is the most.
    fn beaten_by(&self, a: usize) -> Option<usize> {
        let n = self.samples.len();
        let last = self.replicates() >= self.rules.replicates;
        let clear = |b: usize| {
            let bets = &self.bets[a * n + b];
            let so_many = match self.replicates() < 3 {
                true => bets.clear,
                false => bets.clear_in_three,
            };
            // In the median.
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

    /// Who is still in the race.
    pub fn racing(&self) -> Vec<usize> {
        let all = 0..self.samples.len();
        all.filter(|&at| self.left[at].is_none()).collect()
    }

    /// Why a contender has left.
    pub fn left(&self, contender: usize) -> Option<&Left> {
        self.left[contender].as_ref()
    }

    /// Rounds so far.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Replicates so far.
    pub fn replicates(&self) -> u32 {
        self.replicates.len() as u32
    }

    /// The rules that it goes by.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether this replicate needs no further round, or is allowed none.
    pub fn over(&self) -> bool {
        let begun = *self.replicates.last().expect("a first heat");
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

    /// Whether there is nothing more to find out: one is left, or the winner is within what counts as alike of all others
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

    /// Whether the winner takes at most [`Rules::near`] longer than each other one that is left, beyond the interval of
    /// the median over replicates, six of which there must be.
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

    /// Begins another replicate, unless there is nothing left to find out, or there were as many as there may be.
    pub fn next_replicate(&mut self) -> bool {
        let more = self.replicates() < self.rules.replicates_most.max(self.rules.replicates)
            && !self.enough();
        if more {
            self.replicates.push(self.rounds);
        }
        more
    }

    /// Median of how many times as long `a` takes as `b`, in each replicate that has rounds enough of both.
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

    /// How it ended.
    pub fn ended(&self) -> Ended {
        match self.decided {
            true => Ended::Decided,
            false => Ended::Undecided,
        }
    }

    /// All samples of a contender that there are.
    pub fn samples(&self, contender: usize) -> Vec<f64> {
        self.samples[contender].iter().flatten().copied().collect()
    }

    /// Median of a contender's samples, and its interval.
    pub fn summary(&self, contender: usize) -> Option<(f64, Interval)> {
        let samples = self.samples(contender);
        Some((stats::median(&samples)?, stats::median_interval(&samples)?))
    }

    /// Median over the rounds of how many times as long `a` takes as `b`.
    pub fn ratio(&self, a: usize, b: usize) -> Option<f64> {
        stats::paired_ratio(&self.samples[a], &self.samples[b]).map(|ratio| ratio.median)
    }

    /// Median over replicates of how many times as long `a` takes as `b`; over rounds, where no replicate has enough of them.
    pub fn standing(&self, a: usize, b: usize) -> Option<f64> {
        stats::median(&self.ratio_by_replicate(a, b)).or_else(|| self.ratio(a, b))
    }

    /// The fastest of those that are left: in the median over replicates, each by the median of its rounds, and each round by
    /// what it took them together.
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

    /// Between which rounds each replicate lies.
    fn bounds(&self) -> impl Iterator<Item = (u32, u32)> {
        let ends = self.replicates.iter().skip(1).chain([&self.rounds]);
        self.replicates.iter().copied().zip(ends.copied())
    }

    /// Who is taken: the first of those favoured that is left, unless it is slower than the leader by more than what counts
    /// as alike, and was slower in more than three replicates of four; else the leader.
    pub fn winner(&self) -> Option<usize> {
        let leader = self.leader()?;
        let good = |&at: &usize| {
            let near = |ratio| ratio <= 1.0 + self.rules.alike;
            let is_near = || self.standing(at, leader).is_some_and(near);
            let once = || {
                let replicates = self.ratio_by_replicate(at, leader);
                let faster = replicates.iter().filter(|&&ratio| ratio < 1.0).count();
                faster > 0 && faster as f64 >= ONCE * replicates.len() as f64
            };
            self.left[at].is_none() && (at == leader || is_near() || once())
        };
        Some(self.favoured.iter().copied().find(good).unwrap_or(leader))
    }
}
