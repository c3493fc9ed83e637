//! A square matrix of costs with names for its rows, from which every heat map is drawn.

use corecast_model::words::decimals;
use corecast_model::{MachineFile, Matrix};

/// One cost per ordered pair of threads; unmeasured pairs and the diagonal have none.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The measured cost, e.g. `send`.
    pub title: String,
    /// `ns` or `cycles`.
    pub unit: String,
    /// Operating-system number of each thread.
    pub labels: Vec<u32>,
    /// NUMA node of each thread.
    pub numa: Vec<u32>,
    /// The costs, row by row; NaN where there is none.
    mean: Vec<f64>,
    /// Half width of the confidence interval of each entry, where measured.
    spread: Option<Vec<f64>>,
    /// Digits after the point with which the costs are written.
    pub decimals: usize,
    /// How many threads are merged into one row; above 1 after [`Grid::coarse`].
    pub merged: usize,
}

/// The least, mean and greatest entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Least entry, with its row and column.
    pub least: (f64, usize, usize),
    /// Mean of all entries.
    pub mean: f64,
    /// Greatest entry, with its row and column.
    pub greatest: (f64, usize, usize),
}

impl Grid {
    /// A grid over `labels.len()` threads; `cost` is not called for the diagonal.
    ///
    /// # Panics
    ///
    /// If there is not one NUMA node for each thread.
    pub fn new(
        title: &str,
        unit: &str,
        labels: Vec<u32>,
        numa: Vec<u32>,
        cost: impl Fn(usize, usize) -> f64,
        spread: Option<&dyn Fn(usize, usize) -> f64>,
    ) -> Grid {
        let n = labels.len();
        assert_eq!(n, numa.len(), "every thread needs a NUMA node");
        let fill = |f: &dyn Fn(usize, usize) -> f64| {
            (0..n * n)
                .map(|k| {
                    if k / n == k % n {
                        f64::NAN
                    } else {
                        f(k / n, k % n)
                    }
                })
                .collect()
        };
        let mean: Vec<f64> = fill(&cost);
        Grid {
            title: title.to_owned(),
            unit: unit.to_owned(),
            decimals: decimals(
                mean.iter()
                    .copied()
                    .filter(|v| v.is_finite())
                    .fold(0.0, f64::max),
            ),
            mean,
            spread: spread.map(fill),
            labels,
            numa,
            merged: 1,
        }
    }

    /// The costs to send and to receive a message among `members`, with their intervals if these were measured.
    ///
    /// # Panics
    ///
    /// If a member has no costs in `file`.
    pub fn of_costs(file: &MachineFile, members: &[u32]) -> [Grid; 2] {
        let at: Vec<usize> = members.iter().filter_map(|&t| file.position(t)).collect();
        assert_eq!(at.len(), members.len(), "members have costs");
        let costs = file.costs();
        let numa = file.machine().numa_os_indices(members);
        let unit = costs.unit().to_string();
        let make = |title: &str, cost: &dyn Fn(usize, usize) -> f64, spread: Option<&Matrix>| {
            let half = |i: usize, j: usize| spread.map_or(f64::NAN, |m| m.get(at[i], at[j]));
            let half: Option<&dyn Fn(usize, usize) -> f64> =
                if spread.is_some() { Some(&half) } else { None };
            let cost = |i: usize, j: usize| cost(at[i], at[j]);
            Grid::new(title, &unit, members.to_vec(), numa.clone(), cost, half)
        };
        [
            make("send", &|i, j| costs.send(i, j), file.send_interval()),
            make(
                "receive",
                &|i, j| costs.receive(i, j),
                file.receive_interval(),
            ),
        ]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no thread.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Digits of the longest label.
    pub fn label_digits(&self) -> usize {
        let digits = self.labels.iter().map(|label| label.to_string().len());
        digits.max().unwrap_or(1)
    }

    /// The entry of row `i`, column `j`.
    pub fn get(&self, i: usize, j: usize) -> Option<f64> {
        Some(self.mean[i * self.len() + j]).filter(|v| v.is_finite())
    }

    /// The half width of the confidence interval of row `i`, column `j`.
    pub fn spread(&self, i: usize, j: usize) -> Option<f64> {
        self.spread
            .as_ref()
            .map(|s| s[i * self.len() + j])
            .filter(|v| v.is_finite())
    }

    /// Whether entries have confidence intervals.
    pub fn has_spread(&self) -> bool {
        self.spread.is_some()
    }

    /// Whether both directions cost the same, so that one triangle shows all.
    pub fn is_symmetric(&self) -> bool {
        let n = self.len();
        (0..n).all(|i| (0..i).all(|j| self.get(i, j) == self.get(j, i)))
    }

    /// All entries with their positions.
    fn entries(&self) -> impl Iterator<Item = (f64, usize, usize)> + '_ {
        let n = self.len();
        (0..n * n).filter_map(move |k| self.get(k / n, k % n).map(|v| (v, k / n, k % n)))
    }

    /// Least, mean and greatest entry; `None` for an empty grid.
    pub fn summary(&self) -> Option<Summary> {
        let least = self.entries().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let greatest = self.entries().max_by(|a, b| a.0.total_cmp(&b.0))?;
        let (count, sum) = self
            .entries()
            .fold((0usize, 0.0), |(n, s), (v, ..)| (n + 1, s + v));
        Some(Summary {
            least,
            mean: sum / count as f64,
            greatest,
        })
    }

    /// The range that colours span: all entries but the greatest 1 %, so that a single outlier
    /// does not make all others dark, and at least a twentieth of the least, so that what is about equal looks so.
    pub fn range(&self) -> (f64, f64) {
        let mut all: Vec<f64> = self.entries().map(|e| e.0).collect();
        all.sort_by(f64::total_cmp);
        match all.len() {
            0 => (0.0, 1.0),
            n => {
                let (least, greatest) = (all[0], all[(n - 1) - (n - 1) / 100]);
                (least, greatest.max(least * (1.0 + NEAR)))
            }
        }
    }

    /// A grid of at most `rows` rows, in which neighbouring threads are merged and their entries averaged.
    ///
    /// Up to twice as many threads as necessary are merged where that keeps NUMA nodes apart.
    pub fn coarse(&self, rows: usize) -> Grid {
        let n = self.len();
        let least = n.div_ceil(rows.max(1));
        let bounds: Vec<usize> = (1..n)
            .filter(|&k| self.numa[k] != self.numa[k - 1])
            .collect();
        let keeps_apart = |k: &usize| bounds.iter().all(|b| b.is_multiple_of(*k));
        let merged = (least..=2 * least)
            .find(|k| *k > 0 && keeps_apart(k))
            .unwrap_or(least);
        if merged <= 1 {
            return self.clone();
        }
        let m = n.div_ceil(merged);
        let mut sum = vec![(0.0, 0usize); m * m];
        for (v, i, j) in self.entries() {
            let cell = &mut sum[i / merged * m + j / merged];
            *cell = (cell.0 + v, cell.1 + 1);
        }
        Grid {
            title: self.title.clone(),
            unit: self.unit.clone(),
            labels: self.labels.iter().step_by(merged).copied().collect(),
            numa: self.numa.iter().step_by(merged).copied().collect(),
            mean: sum
                .into_iter()
                .map(|(s, k)| if k == 0 { f64::NAN } else { s / k as f64 })
                .collect(),
            spread: None,
            decimals: self.decimals,
            merged: self.merged * merged,
        }
    }
}

/// The least range of colours, as a part of the least entry.
const NEAR: f64 = 0.05;

/// The position of `value` in `range`, from 0 to 1.
pub(super) fn position(value: f64, range: (f64, f64)) -> f64 {
    let width = range.1 - range.0;
    if width > 0.0 {
        ((value - range.0) / width).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(n: u32) -> Grid {
        let cost = |i: usize, j: usize| (10 * i + j) as f64;
        Grid::new(
            "send",
            "ns",
            (0..n).collect(),
            vec![0; n as usize],
            cost,
            None,
        )
    }

    #[test]
    fn summary_skips_the_diagonal() {
        let s = ramp(3).summary().unwrap();
        assert_eq!(s.least, (1.0, 0, 1));
        assert_eq!(s.greatest, (21.0, 2, 1));
        assert!((s.mean - 11.0).abs() < 1e-12);
        assert!(ramp(1).summary().is_none());
    }

    #[test]
    fn what_is_about_equal_has_one_colour() {
        let costs = |low: f64| move |i: usize, _: usize| if i == 0 { low } else { 200.0 };
        let grid = |low| Grid::new("send", "ns", vec![0, 1], vec![0; 2], costs(low), None);
        let position = |low| position(200.0, grid(low).range());
        assert!(position(199.5) < 0.06);
        assert_eq!(position(180.0), 1.0);
    }

    #[test]
    fn coarse_averages_blocks() {
        let c = ramp(5).coarse(3);
        assert_eq!((c.len(), c.merged), (3, 2));
        assert_eq!(c.labels, [0, 2, 4]);
        // Rows 0 and 1, columns 2 and 3.
        assert_eq!(c.get(0, 1), Some((2.0 + 3.0 + 12.0 + 13.0) / 4.0));
        // The last block is the diagonal entry alone.
        assert_eq!(c.get(2, 2), None);
    }

    #[test]
    fn symmetry_is_exact() {
        assert!(!ramp(3).is_symmetric());
        let g = Grid::new(
            "x",
            "ns",
            vec![0, 1, 2],
            vec![0; 3],
            |i, j| (i * j) as f64,
            None,
        );
        assert!(g.is_symmetric());
    }
}
