//! A square matrix of numbers, one for each ordered pair.

use std::ops::ControlFlow;

use super::error::{COST_MAX, CostError};

/// A dense square matrix, row by row. Row i, column j belongs to the ordered pair (i, j).
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    n: usize,
    values: Vec<f64>,
}

impl serde::Serialize for Matrix {
    /// As rows.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

impl Matrix {
    /// The matrix whose entry (i, j) is `f(i, j)`.
    #[must_use]
    pub fn from_fn(n: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut values = Vec::with_capacity(n * n);
        for i in 0..n {
            for j in 0..n {
                values.push(f(i, j));
            }
        }
        Self { n, values }
    }

    /// Number of rows and of columns.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// The entry of the ordered pair (i, j).
    ///
    /// # Panics
    ///
    /// When i or j is not below [`Matrix::n`].
    #[must_use]
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        assert!(j < self.n);
        self.values[i * self.n + j]
    }

    /// All entries (i, ·).
    #[must_use]
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..][..self.n]
    }

    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.n.max(1))
    }

    /// The matrix with rows and columns exchanged. `go_on` hears of every few thousand entries.
    ///
    /// Filled by tiles: in a large matrix a walk down a column is all cache misses.
    pub(super) fn transposed(
        &self,
        go_on: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<(), Self> {
        const TILE: usize = 16;
        const TOLD: usize = 256;
        let n = self.n;
        let mut values = vec![0.0; n * n];
        for top in (0..n).step_by(TILE) {
            for left in (0..n).step_by(TILE) {
                if left.is_multiple_of(TOLD) {
                    go_on(TILE * TOLD.min(n - left))?;
                }
                for i in top..n.min(top + TILE) {
                    for j in left..n.min(left + TILE) {
                        values[i * n + j] = self.values[j * n + i];
                    }
                }
            }
        }
        ControlFlow::Continue(Self { n, values })
    }

    /// Rows as given by a user, with every cost checked and the diagonal set to 0.
    pub(crate) fn checked(
        name: &'static str,
        rows: Vec<Vec<f64>>,
        expected: usize,
    ) -> Result<Self, CostError> {
        if rows.len() != expected {
            return Err(CostError::Length {
                what: name,
                found: rows.len(),
                expected,
            });
        }
        let mut values = Vec::with_capacity(expected * expected);
        for (i, mut row) in rows.into_iter().enumerate() {
            if row.len() != expected {
                return Err(CostError::Ragged {
                    matrix: name,
                    row: i,
                    found: row.len(),
                    expected,
                });
            }
            row[i] = 0.0;
            values.extend_from_slice(&row);
        }
        let matrix = Self {
            n: expected,
            values,
        };
        matrix.check(name)?;
        Ok(matrix)
    }

    pub(super) fn check(&self, name: &'static str) -> Result<(), CostError> {
        // NaN fails the range test, as it must.
        let bad = self
            .values
            .iter()
            .position(|v| !(0.0..=COST_MAX).contains(v));
        bad.map_or(Ok(()), |at| {
            Err(CostError::BadValue {
                matrix: name,
                from: at / self.n,
                to: at % self.n,
                value: self.values[at].to_string(),
            })
        })
    }
}
