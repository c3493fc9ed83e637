//! The schedule of a measurement: which pairs are measured, and in which order. Pure.
//!
//! Up to a limit of threads, all n(n-1) pairs are measured. Above it, a few of each topology class
//! are measured, spread over the class, and the rest is filled in from them. The order jumps over the
//! machine, so that a slow drift (heat, a neighbour that wakes up) does not affect whole rows of the
//! matrix.

use std::collections::BTreeMap;

use corecast_model::{Machine, Pu};

use crate::class::{Caches, Class};

/// The pairs to measure, as positions in the list of hardware threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Ordered pairs in the order of measurement, each once, none with itself.
    pub pairs: Vec<(usize, usize)>,
    /// The class of every ordered pair, row by row, when only some of them are measured. Diagonal
    /// entries mean nothing.
    pub classes: Option<Vec<Class>>,
}

impl Schedule {
    /// Every ordered pair of `n` threads.
    ///
    /// # Examples
    ///
    /// ```
    /// let schedule = corecast_probe::Schedule::all(3);
    /// assert_eq!(schedule.pairs.len(), 6);
    /// assert!(schedule.classes.is_none());
    /// ```
    #[must_use]
    pub fn all(n: usize) -> Self {
        let pairs = off_diagonal(n).collect();
        Self {
            pairs: interleaved(pairs),
            classes: None,
        }
    }

    /// `per_class` ordered pairs of each topology class, or the whole class where it is smaller.
    #[must_use]
    pub fn by_class(machine: &Machine, pus: &[Pu], per_class: usize) -> Self {
        let caches = Caches::new(machine);
        let classes: Vec<Class> = pus
            .iter()
            .flat_map(|from| pus.iter().map(|to| caches.class(from, to)))
            .collect();
        let mut members: BTreeMap<Class, Vec<(usize, usize)>> = BTreeMap::new();
        for (i, j) in off_diagonal(pus.len()) {
            members
                .entry(classes[i * pus.len() + j])
                .or_default()
                .push((i, j));
        }
        let pairs = members
            .values()
            .flat_map(|class| spread(class, per_class.max(1)))
            .collect();
        Self {
            pairs: interleaved(pairs),
            classes: Some(classes),
        }
    }
}

fn off_diagonal(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (0..n).filter(move |&j| j != i).map(move |j| (i, j)))
}

/// Returns `count` members at even distances.
fn spread(class: &[(usize, usize)], count: usize) -> Vec<(usize, usize)> {
    let count = count.min(class.len());
    (0..count)
        .map(|k| class[(2 * k + 1) * class.len() / (2 * count)])
        .collect()
}

/// Reorders the pairs so that neighbours in the list come far apart: every k-th one around the list,
/// with k near the golden section and without a common divisor with the list's length.
fn interleaved(pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let len = pairs.len();
    let start = (len as f64 * 0.618) as usize;
    let step = (start..=len)
        .find(|&k| gcd(k, len) == 1)
        .unwrap_or(1)
        .max(1);
    (0..len).map(|k| pairs[k * step % len]).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::synthetic;
    use std::collections::BTreeSet;

    #[test]
    fn all_pairs_come_once_for_every_small_n() {
        for n in 0..40 {
            let schedule = Schedule::all(n);
            let set: BTreeSet<_> = schedule.pairs.iter().copied().collect();
            assert_eq!(set.len(), schedule.pairs.len());
            assert_eq!(set.len(), n * n.saturating_sub(1));
            assert!(set.iter().all(|&(i, j)| i != j && i < n && j < n));
        }
    }

    #[test]
    fn the_order_leaves_the_row() {
        let pairs = Schedule::all(16).pairs;
        let same_row = pairs.windows(2).filter(|w| w[0].0 == w[1].0).count();
        assert!(same_row < 16, "{same_row} of 239 steps stay in a row");
    }

    #[test]
    fn sampling_measures_every_class_and_little_else() {
        let file = synthetic("package:4 numa:2 core:16 pu:2").unwrap();
        let machine = file.machine();
        let schedule = Schedule::by_class(machine, &machine.pus, 5);
        let classes = schedule.classes.unwrap();
        let n = machine.pus.len();
        assert_eq!((n, classes.len()), (256, n * n));
        let wanted: BTreeSet<_> = off_diagonal(n).map(|(i, j)| classes[i * n + j]).collect();
        let measured: BTreeSet<_> = schedule
            .pairs
            .iter()
            .map(|&(i, j)| classes[i * n + j])
            .collect();
        assert_eq!(wanted, measured);
        assert!(schedule.pairs.len() <= 5 * wanted.len());
        // 8 nodes: 64 ordered node pairs, those within a node split in two.
        assert_eq!(wanted.len(), 72);
        let set: BTreeSet<_> = schedule.pairs.iter().collect();
        assert_eq!(set.len(), schedule.pairs.len(), "no pair twice");
    }

    #[test]
    fn small_classes_are_measured_whole() {
        let file = synthetic("package:1 core:2 pu:2").unwrap();
        let schedule = Schedule::by_class(file.machine(), &file.machine().pus, 100);
        assert_eq!(schedule.pairs.len(), 12);
    }

    #[test]
    fn representatives_are_spread() {
        let class: Vec<_> = (0..100).map(|k| (k, 0)).collect();
        assert_eq!(
            spread(&class, 5),
            [(10, 0), (30, 0), (50, 0), (70, 0), (90, 0)]
        );
        assert_eq!(spread(&class[..2], 5), [(0, 0), (1, 0)]);
    }
}
