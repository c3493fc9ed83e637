//! Costs of a line that several threads share: the parameters of a plan with groups.
//!
//! A message goes through a line of its own for each pair, and the pairwise model says what it
//! costs. In a group one thread writes one line and all members of the group fetch it, or all of
//! them add to one line and one thread fetches it. What that costs depends on how many they are,
//! so it is no entry of a matrix. The parameters are those of Ramos and Hoefler, *Cache Line Aware
//! Algorithm Design for Cache-Coherent Architectures* (CLa, TPDS 2016):
//!
//! | field | in the paper | source |
//! | --- | --- | --- |
//! | [`LineCosts::write`] | `R_I`: the first access to a line that nobody caches | Table 1, §2.5 |
//! | [`LineCosts::invalidate`] | what each reader that polls already adds to a write | §2.3, *n-readers* |
//! | [`LineCosts::transfer`] | `R_L`, `R_R`, `R_Q`: fetching a line that one other thread wrote | Table 1 |
//! | [`LineCosts::base`], [`LineCosts::slope`] | b and c of `T_C(n) = b + c·n`: n threads fetch one line at once | Equation 2, Table 2 |
//!
//! All lists are by [`Proximity`], nearest first; `R_L` is the first entry of `transfer`.

use serde::Serialize;

use crate::pairwise::error::{COST_MAX, CostError};
use crate::place::Proximity;

pub use crate::place::Place;

/// Costs of shared lines by class of [`Proximity`], in the unit of the model that carries them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LineCosts {
    /// The time for which the first writer of a line that no cache has is blocked.
    pub write: f64,
    /// The time that each thread which polls the line already adds to a write of it, by its proximity to the writer.
    /// All 0 means the paper's best case, in which no thread polls yet.
    pub invalidate: [f64; 4],
    /// The time for which a thread is blocked that fetches, to read or to change, a line that another one wrote.
    pub transfer: [f64; 4],
    /// The constant part of `base + slope·n`, for which each of n threads that fetch one line at once is blocked, by
    /// its proximity to the writer.
    pub base: [f64; 4],
    /// The time for each of the n threads, see [`LineCosts::base`].
    pub slope: [f64; 4],
}

/// The line costs of the threads of a [`CostModel`](crate::CostModel).
///
/// # Examples
///
/// ```
/// let machine = corecast_model::builtin("sandybridge-2x8").unwrap();
/// let lines = machine.costs().lines().unwrap();
/// // Threads 2 and 31 poll a line that thread 0 writes: R_I for it, R_R and R_Q for them.
/// assert_eq!(lines.write(0, &[2, 31]), 70.0);
/// assert_eq!((lines.fetch(0, 2, 2), lines.fetch(0, 31, 2)), (35.0, 94.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    costs: LineCosts,
    /// The place of each thread.
    places: Vec<Place>,
}

impl LineCosts {
    /// The names of the lists, as in files and messages.
    pub const LISTS: [&str; 4] = ["invalidate", "transfer", "base", "slope"];

    /// The lists, in the order of [`LineCosts::LISTS`].
    #[must_use]
    pub fn lists(&self) -> [&[f64; 4]; 4] {
        [&self.invalidate, &self.transfer, &self.base, &self.slope]
    }

    /// Checks every number as the pairwise costs are checked.
    ///
    /// # Errors
    ///
    /// A number that is NaN, infinite, negative or above [`CostModel::COST_MAX`](crate::CostModel::COST_MAX).
    pub fn check(&self) -> Result<(), CostError> {
        // NaN fails the range test, as it must.
        let bad = |value: f64| !(0.0..=COST_MAX).contains(&value);
        if bad(self.write) {
            return Err(CostError::BadLine {
                what: "write".to_owned(),
                value: self.write.to_string(),
            });
        }
        for (name, list) in Self::LISTS.iter().zip(self.lists()) {
            if let Some(class) = list.iter().position(|&value| bad(value)) {
                return Err(CostError::BadLine {
                    what: format!("{name}[{class}]"),
                    value: list[class].to_string(),
                });
            }
        }
        Ok(())
    }
}

impl Lines {
    /// Checked costs and one place for each thread; the model checks the number of places.
    pub(crate) fn new(costs: LineCosts, places: Vec<Place>) -> Result<Self, CostError> {
        costs.check()?;
        Ok(Self { costs, places })
    }

    /// The costs by class.
    #[must_use]
    pub fn costs(&self) -> &LineCosts {
        &self.costs
    }

    /// Returns the place of each thread.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Returns the proximity of two threads.
    ///
    /// # Panics
    ///
    /// When a thread is outside of the model. The other methods that take a thread panic then, too.
    #[must_use]
    #[inline]
    pub fn proximity(&self, i: usize, j: usize) -> Proximity {
        self.places[i].proximity(&self.places[j])
    }

    /// Returns how long `writer` is blocked to write one line that all of `readers` poll.
    #[must_use]
    pub fn write(&self, writer: usize, readers: &[usize]) -> f64 {
        let polled = |&j: &usize| self.costs.invalidate[self.proximity(writer, j) as usize];
        self.costs.write + readers.iter().map(polled).sum::<f64>()
    }

    /// Returns how long `reader` is blocked to fetch a line that `writer` wrote, when `readers` threads fetch it at
    /// once, itself included: `T_C(readers)`.
    #[must_use]
    #[inline]
    pub fn fetch(&self, writer: usize, reader: usize, readers: usize) -> f64 {
        let class = self.proximity(writer, reader) as usize;
        self.costs.base[class] + self.costs.slope[class] * readers as f64
    }

    /// Returns how long it takes to fetch a line alone, when `writer` wrote it and `owner` is at its home.
    #[must_use]
    #[inline]
    pub fn transfer(&self, owner: usize, writer: usize) -> f64 {
        self.costs.transfer[self.proximity(owner, writer) as usize]
    }

    pub(crate) fn subset(&self, positions: &[usize]) -> Self {
        Self {
            costs: self.costs,
            places: positions.iter().map(|&p| self.places[p]).collect(),
        }
    }

    pub(crate) fn set_numa(&mut self, numa: &[u32]) {
        for (place, &node) in self.places.iter_mut().zip(numa) {
            place.numa_node = node;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::synthetic;

    const OK: LineCosts = LineCosts {
        write: 70.0,
        invalidate: [1.0, 2.0, 3.0, 4.0],
        transfer: [2.3, 35.0, 35.0, 94.0],
        base: [5.0, 10.0, 15.0, 20.0],
        slope: [0.5, 1.0, 2.0, 3.0],
    };

    #[test]
    fn bad_line_costs_are_quoted() {
        OK.check().unwrap();
        let refused = |costs: LineCosts, part: &str| {
            let error = costs.check().unwrap_err().to_string();
            assert!(error.contains(part), "{error:?} lacks {part:?}");
        };
        let write = f64::NAN;
        refused(LineCosts { write, ..OK }, "lines.write is NaN");
        let slope = [0.0, 0.0, -1.0, 0.0];
        refused(LineCosts { slope, ..OK }, "lines.slope[2] is -1");
        let base = [0.0, f64::INFINITY, 0.0, 0.0];
        refused(LineCosts { base, ..OK }, "lines.base[1] is inf");
        let transfer = [2e15, 0.0, 0.0, 0.0];
        refused(LineCosts { transfer, ..OK }, "lines.transfer[0] is 2000000");
    }

    #[test]
    fn costs_follow_proximity_through_subsets_and_mirrors() {
        let file = synthetic("package:2 numa:2 core:2 pu:2").unwrap();
        let file = file.with_lines(OK).unwrap();
        let lines = file.costs().lines().unwrap();
        assert_eq!(
            [1, 2, 4, 8].map(|j| lines.fetch(0, j, 3)),
            [6.5, 13.0, 21.0, 29.0]
        );
        assert_eq!([1, 2, 4, 8].map(|j| lines.transfer(0, j)), OK.transfer);
        assert_eq!(lines.write(0, &[1, 2, 4, 8]), 80.0);

        let part = file.costs().subset(&[8, 0, 9]).unwrap();
        assert_eq!(part.lines().unwrap().fetch(0, 1, 1), 23.0);
        assert_eq!(part.lines().unwrap().fetch(0, 2, 1), 5.5);
        assert_eq!(part.mirrored().lines(), part.lines());

        // The NUMA nodes of the line costs change as well.
        let moved = file.costs().clone().with_numa(vec![0; 16]);
        assert_eq!(moved.lines().unwrap().transfer(0, 8), 35.0);
    }

    #[test]
    fn one_place_for_each_thread() {
        let file = synthetic("core:3").unwrap();
        let places = file.machine().pus[..2].iter().map(Place::from).collect();
        let error = file.costs().clone().with_lines(OK, places).unwrap_err();
        assert!(error.to_string().contains("lines has 2 entries"), "{error}");
    }
}
