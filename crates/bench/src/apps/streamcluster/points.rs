//! Points with weights.

use super::{Dice, Problem};
use std::ops::Range;

/// Coordinates are from 0 to below this.
pub const GRID: i16 = 1 << 12;

/// Points with weights, in memory of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    dimensions: usize,
    coordinates: Vec<i16>,
    weights: Vec<i64>,
}

impl Stream {
    /// Creates points with independent, uniformly distributed coordinates, as in PARSEC's input.
    pub fn random(problem: &Problem) -> Stream {
        // Not the dice of the search: its choices must not follow from the points.
        let mut dice = Dice::new(!problem.seed);
        let coordinate = |_| dice.below(GRID as u64) as i16;
        let n = problem.points * problem.dimensions;
        Stream::new(problem.dimensions, (0..n).map(coordinate).collect())
    }

    /// Creates points of weight 1 from their coordinates, point after point.
    ///
    /// # Panics
    ///
    /// If a point is not whole, or a coordinate is negative or not below [`GRID`].
    pub fn new(dimensions: usize, coordinates: Vec<i16>) -> Stream {
        assert!(
            dimensions > 0 && coordinates.len().is_multiple_of(dimensions),
            "{} coordinates of points of {dimensions}",
            coordinates.len()
        );
        let inside = coordinates.iter().all(|c| (0..GRID).contains(c));
        assert!(inside, "a coordinate is not below {GRID}");
        Stream {
            dimensions,
            weights: vec![1; coordinates.len() / dimensions],
            coordinates,
        }
    }

    /// A view of all points.
    pub fn points(&self) -> Points<'_> {
        Points::new(self.dimensions, &self.coordinates, &self.weights)
    }
}

/// A view of points with weights.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    dimensions: usize,
    coordinates: &'a [i16],
    weights: &'a [i64],
}

impl<'a> Points<'a> {
    /// Creates a view of points with `dimensions` coordinates each.
    ///
    /// # Panics
    ///
    /// If there are not as many weights as points.
    pub fn new(dimensions: usize, coordinates: &'a [i16], weights: &'a [i64]) -> Points<'a> {
        assert_eq!(coordinates.len(), dimensions * weights.len());
        Points {
            dimensions,
            coordinates,
            weights,
        }
    }

    /// Number of points.
    #[expect(clippy::len_without_is_empty, reason = "a problem has some")]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Number of coordinates of each point.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// A view of the points in `range`.
    pub fn part(&self, range: Range<usize>) -> Points<'a> {
        let coordinates = range.start * self.dimensions..range.end * self.dimensions;
        Points {
            dimensions: self.dimensions,
            coordinates: &self.coordinates[coordinates],
            weights: &self.weights[range],
        }
    }

    /// The coordinates of a point.
    pub fn at(&self, point: usize) -> &'a [i16] {
        &self.coordinates[point * self.dimensions..][..self.dimensions]
    }

    /// How many points of the stream a point stands for.
    pub fn weight(&self, point: usize) -> i64 {
        self.weights[point]
    }

    /// What it costs to have `point` belong to a centre at `place`: the squared distance, once for
    /// each point that it stands for.
    pub fn cost(&self, point: usize, place: &[i16]) -> i64 {
        self.weight(point) * i64::from(distance(self.at(point), place))
    }
}

/// Squared distance. It fits 31 bits, since a point has at most 128 coordinates of 12 bits.
fn distance(a: &[i16], b: &[i16]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| {
            // The difference has 16 bits, so that one vector instruction multiplies and adds pairs.
            let way = a.wrapping_sub(*b);
            i32::from(way) * i32::from(way)
        })
        .fold(0, i32::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::super::DIMENSIONS_MAX;
    use super::*;

    #[test]
    fn the_longest_way_fits() {
        let (low, high) = ([0; DIMENSIONS_MAX], [GRID - 1; DIMENSIONS_MAX]);
        let exact = i64::from(GRID - 1).pow(2) * DIMENSIONS_MAX as i64;
        assert_eq!(i64::from(distance(&low, &high)), exact);
        assert_eq!(distance(&[3, 0, 7], &[0, 4, 7]), 25);
    }

    #[test]
    fn random_points_fill_the_grid() {
        let stream = Stream::random(&Problem::default());
        let sum: i64 = stream.coordinates.iter().map(|&c| i64::from(c)).sum();
        let mean = sum as f64 / stream.coordinates.len() as f64;
        assert!((mean - 2047.5).abs() < 20.0, "{mean}");
        assert!(stream.coordinates.contains(&0) && stream.coordinates.contains(&(GRID - 1)));
    }
}
