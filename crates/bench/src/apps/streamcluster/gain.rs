//! The gain of opening a centre.
//!
//! If `x` opens, points that are nearer to it than to their centre move there. A centre whose other
//! points can move to `x` for less than the price of a centre is closed. `x` opens if this saves
//! more than the price of `x`.

use super::super::Lost;
use super::search::{LocalSearch, interrupted};
use corecast_wire::ending;

impl LocalSearch<'_> {
    /// Looks at `x`, and opens it if that gains anything.
    ///
    /// It costs a sum over all ranks of two numbers more than there are centres, and a pass over the
    /// points of each rank; another pass if `x` opens.
    pub(super) fn look(&mut self, x: usize) -> Result<(), Lost> {
        self.looks += 1;
        let place = self.points.at(x);
        let count = self.centres.len();
        // The first sums are what it costs, for each centre, to move its other points to `x`; the next one is what the
        // points that are nearer to `x` save. The last one is above zero if any rank was asked to end, so that all do.
        let mut sums = vec![0; count + 2];
        sums[count + 1] = i64::from(ending::is_asked());
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
        if sums[count + 1] != 0 {
            return Err(interrupted());
        }
        // If `x` is a centre already, it is closed here and opened again below.
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
