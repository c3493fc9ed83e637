//! What it gains to open a centre.
//!
//! With `x` open, points that are nearer to it go there. A centre whose other points can follow for
//! less than its price is closed. If that is worth more than the price of `x`, it is done.

use super::super::Lost;
use super::search::LocalSearch;

impl LocalSearch<'_> {
    /// Looks at `x`, and opens it if that gains anything.
    ///
    /// One sum of one number more than there are centres, and a pass over the points of each rank;
    /// another pass if `x` opens.
    pub(super) fn look(&mut self, x: usize) -> Result<(), Lost> {
        self.looks += 1;
        let place = self.points.at(x);
        let count = self.centres.len();
        // For each centre what it would cost to send its other points to `x`, and last what
        // those that go there anyway save.
        let mut sums = vec![0; count + 1];
        for (at, point) in self.own.clone().enumerate() {
            let cost = self.points.cost(point, place);
            self.tried[at] = cost;
            let more = cost - self.costs[at];
            match more < 0 {
                true => sums[count] -= more,
                false => sums[self.column[self.belongs[at]]] += more,
            }
        }
        self.backend.sum(&mut sums)?;
        // One that is open already costs nothing to close, and opens again.
        let closing = |at: usize| sums[at] < self.price || self.centres[at] == x;
        let closed: i64 = (0..count).filter(|&at| closing(at)).count() as i64;
        let sent: i64 = (0..count)
            .filter(|&at| closing(at))
            .map(|at| sums[at])
            .sum();
        let gain = i128::from(self.price) * i128::from(closed - 1) + i128::from(sums[count] - sent);
        if gain <= 0 {
            return Ok(());
        }
        for at in 0..self.own.len() {
            if self.tried[at] < self.costs[at] || closing(self.column[self.belongs[at]]) {
                self.costs[at] = self.tried[at];
                self.belongs[at] = x;
            }
        }
        let stay = (0..count).filter(|&at| !closing(at));
        let mut centres: Vec<usize> = stay.map(|at| self.centres[at]).collect();
        centres.push(x);
        self.centres = centres;
        self.renumber();
        self.total -= gain;
        Ok(())
    }
}
