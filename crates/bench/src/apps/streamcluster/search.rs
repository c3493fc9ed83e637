//! The local search of one set of points, as one rank.
//!
//! The state of the search (centres, price, total cost) is the same on every rank. Of its share of
//! the points each rank keeps which centre a point belongs to, and what that costs.

use super::super::{Lost, SyncBackend, share};
use super::{Dice, Points, Problem};
use std::ops::Range;

/// Factor of k ln k: so many points may become centres, and so many are tried in a round.
const SAMPLE_FACTOR: f64 = 3.0;

/// Least gain of a round of the rough search, in thousandths of the cost: a round that gains less
/// is the last one.
const ROUGH: i128 = 100;

/// Least gain of a round, in thousandths of the cost, once the number of centres is about right.
const FINE: i128 = 1;

/// One rank's view of the search.
pub(super) struct LocalSearch<'a> {
    problem: &'a Problem,
    pub(super) points: Points<'a>,
    /// The points of this rank.
    pub(super) own: Range<usize>,
    pub(super) backend: &'a mut dyn SyncBackend,
    pub(super) dice: Dice,
    /// Cost of a centre.
    pub(super) price: i64,
    /// The points that are centres.
    pub(super) centres: Vec<usize>,
    /// For each point that is a centre, its index in `centres`.
    pub(super) column: Vec<usize>,
    /// The centre that each of this rank's points belongs to.
    pub(super) belongs: Vec<usize>,
    /// Cost of belonging there, for each of this rank's points.
    pub(super) costs: Vec<i64>,
    /// Cost of belonging to the candidate looked at, for each of this rank's points.
    pub(super) tried: Vec<i64>,
    /// Cost of all points and centres.
    pub(super) total: i128,
    pub(super) looks: u64,
}

impl<'a> LocalSearch<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        points: Points<'a>,
        (rank, ranks): (usize, usize),
        dice: Dice,
        backend: &'a mut dyn SyncBackend,
    ) -> Self {
        let own = share(points.len(), rank, ranks);
        LocalSearch {
            problem,
            points,
            backend,
            dice,
            price: 0,
            centres: Vec::new(),
            column: vec![0; points.len()],
            belongs: vec![0; own.len()],
            costs: vec![0; own.len()],
            tried: vec![0; own.len()],
            own,
            total: 0,
            looks: 0,
        }
    }

    pub(super) fn looks(&self) -> u64 {
        self.looks
    }

    pub(super) fn dice(&self) -> Dice {
        self.dice
    }

    /// Searches until the number of centres is right, or no price makes it so.
    pub(super) fn run(&mut self) -> Result<(), Lost> {
        let (min, max) = (self.problem.centres_min, self.problem.centres_max);
        if self.points.len() <= max {
            self.centres = (0..self.points.len()).collect();
            self.renumber();
            self.belongs = self.own.clone().collect();
            return Ok(());
        }
        // The highest price is the cost with the first point as the only centre.
        let first = self.points.at(0);
        let mut high = self.whole(|points, point| points.cost(point, first))?;
        let mut low = 0;
        self.price = high / 2;
        self.start()?;
        while self.centres.len() < min && self.price > 0 {
            high = self.price;
            self.price = middle(low, high);
            self.start()?;
        }
        let mut sample = self.sample(min);
        loop {
            self.improve(&mut sample, max, ROUGH)?;
            let centres = self.centres.len();
            let nearly = 10 * centres <= 11 * max && 10 * centres >= 9 * min;
            if nearly || (centres <= max + 2 && centres + 2 >= min) {
                self.improve(&mut sample, max, FINE)?;
            }
            let (centres, before) = (self.centres.len(), self.price);
            if centres > max {
                low = self.price;
            } else if centres < min {
                high = self.price;
            } else {
                return Ok(());
            }
            self.price = middle(low, high);
            self.total += i128::from(self.price - before) * centres as i128;
            let close = i128::from(low) * 1000 >= i128::from(high) * 999;
            if close || high - low <= 1 {
                return Ok(());
            }
        }
    }

    /// Looks at candidates until a round of them gains less than `least` thousandths of the cost.
    fn improve(&mut self, sample: &mut [usize], max: usize, least: i128) -> Result<(), Lost> {
        let tries = times_logarithm(max);
        loop {
            self.dice.shuffle(sample);
            let before = self.total;
            for number in 0..tries {
                self.look(sample[number % sample.len()])?;
            }
            // The total is below zero only if a barrier under test let wrong sums through.
            if (before - self.total) * 1000 <= least * self.total || self.total < 0 {
                return Ok(());
            }
        }
    }

    /// Draws the points that may become centres, with chances in proportion to their weights. A
    /// point may be drawn twice.
    fn sample(&mut self, min: usize) -> Vec<usize> {
        let count = times_logarithm(min);
        if self.points.len() <= count {
            return (0..self.points.len()).collect();
        }
        let mut sum = 0;
        let sums: Vec<u64> = (0..self.points.len())
            .map(|point| {
                sum += self.points.weight(point) as u64;
                sum
            })
            .collect();
        let mut point = || {
            let at = self.dice.below(sum);
            sums.partition_point(|&sum| sum <= at)
        };
        (0..count).map(|_| point()).collect()
    }

    /// Sum of `part` over the points of all ranks.
    fn whole(&mut self, part: impl Fn(Points<'_>, usize) -> i64) -> Result<i64, Lost> {
        let points = self.points;
        let mut sum = [self.own.clone().map(|point| part(points, point)).sum()];
        self.backend.sum(&mut sum)?;
        Ok(sum[0])
    }

    /// Brings `column` up to date after the centres have changed.
    pub(super) fn renumber(&mut self) {
        for (at, &centre) in self.centres.iter().enumerate() {
            self.column[centre] = at;
        }
    }

    /// Returns the coordinates of the centres, which are the means of their points, and how many
    /// points of the stream each has, in order of the points that were opened. Centres without
    /// points are left out.
    pub(super) fn centres(&mut self) -> Result<(Vec<i16>, Vec<i64>), Lost> {
        self.centres.sort_unstable();
        self.renumber();
        let dimensions = self.points.dimensions();
        let mut sums = vec![0; self.centres.len() * (dimensions + 1)];
        for (at, point) in self.own.clone().enumerate() {
            let row = self.column[self.belongs[at]] * (dimensions + 1);
            let weight = self.points.weight(point);
            sums[row] += weight;
            let places = sums[row + 1..][..dimensions].iter_mut();
            for (sum, &coordinate) in places.zip(self.points.at(point)) {
                *sum += weight * i64::from(coordinate);
            }
        }
        self.backend.sum(&mut sums)?;
        let (mut places, mut weights) = (Vec::new(), Vec::new());
        for row in sums.chunks(dimensions + 1).filter(|row| row[0] > 0) {
            weights.push(row[0]);
            // A mean of coordinates fits the type of a coordinate.
            places.extend(row[1..].iter().map(|sum| (sum / row[0]) as i16));
        }
        Ok((places, weights))
    }
}

/// The reason of a search that ends early because this process was asked to end.
pub(super) fn interrupted() -> Lost {
    Lost("interrupted".to_owned())
}

fn middle(low: i64, high: i64) -> i64 {
    low + (high - low) / 2
}

/// `SAMPLE_FACTOR × k ln k`, at least one for each of `k`.
fn times_logarithm(k: usize) -> usize {
    let k = k as f64;
    (SAMPLE_FACTOR * k * k.ln()).max(k) as usize
}
