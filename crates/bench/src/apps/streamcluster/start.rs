//! The first centres: points are visited in turn, and each opens with a probability of its cost
//! over the price.
//!
//! Each rank finds the first of its points that opens. The first one of all ranks becomes a centre,
//! every rank moves the points there that are nearer to it, and the search goes on behind it. This
//! gives the centres that one rank would open point by point, since each point has a throw of its
//! own.
//!
//! Source: Meyerson, *Online Facility Location*, FOCS 2001, which Guha and others start from.

use super::super::Lost;
use super::search::{LocalSearch, interrupted};
use corecast_wire::ending;

/// Stands for no point, and for the cost of a point without a centre.
const NONE: i64 = i64::MAX;

/// Stands for a rank that was asked to end.
const ENDS: i64 = -1;

impl LocalSearch<'_> {
    /// Opens a random point, then further ones by chance, in the order of the points from the first
    /// one round to it. It takes one minimum over all ranks for each centre.
    pub(super) fn start(&mut self) -> Result<(), Lost> {
        let n = self.points.len();
        let first = self.dice.below(n as u64) as usize;
        let throws = self.dice;
        self.dice.bits();
        self.centres.clear();
        self.costs.fill(NONE);
        self.open(first);
        let mut next = 1;
        while self.centres.len() < n {
            let opens = |(at, point): (usize, usize)| {
                let turn = (point + n - first) % n;
                let throw = u128::from(throws.throw(point as u64));
                // A throw below 2^32 against cost / price.
                let opens =
                    turn >= next && throw * (self.price as u128) < (self.costs[at] as u128) << 32;
                opens.then_some(turn as i64)
            };
            let own = self.own.clone().enumerate().filter_map(opens).min();
            let own = match ending::is_asked() {
                true => ENDS,
                false => own.unwrap_or(NONE),
            };
            match self.backend.min(own)? {
                NONE => break,
                ENDS => return Err(interrupted()),
                turn => {
                    next = turn as usize + 1;
                    self.open((first + turn as usize) % n);
                }
            }
        }
        self.renumber();
        let mut sum = [self.costs.iter().sum()];
        self.backend.sum(&mut sum)?;
        let centres = i128::from(self.price) * self.centres.len() as i128;
        self.total = i128::from(sum[0]) + centres;
        Ok(())
    }

    /// Opens a centre, and moves those points there that are nearer to it.
    fn open(&mut self, centre: usize) {
        self.centres.push(centre);
        let place = self.points.at(centre);
        for (at, point) in self.own.clone().enumerate() {
            let cost = self.points.cost(point, place);
            if cost < self.costs[at] {
                self.costs[at] = cost;
                self.belongs[at] = centre;
            }
        }
    }
}
