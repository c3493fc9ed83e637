//! What one message costs each of its two ends, for every ordered pair of threads.

use serde::{Deserialize, Serialize};

/// The unit of every number in a [`CostModel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Cycles of the machine's own counter.
    #[serde(rename = "cycles")]
    Cycles,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
}

/// A dense square matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    n: usize,
    values: Vec<f64>,
}

/// Why costs were refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// A row has the wrong number of entries.
    #[error("{matrix}[{row}] has {found} entries, expected {expected}: every ordered pair needs a cost")]
    Ragged {
        /// `send` or `receive`.
        matrix: &'static str,
        /// The row.
        row: usize,
        /// Entries found.
        found: usize,
        /// Entries expected.
        expected: usize,
    },
}

/// `send(i, j)`: how long i is blocked to send one line to j;
/// `receive(i, j)`: how long j is blocked to receive it (Smelt §3.1).
///
/// Both indices are positions in the list of measured threads, not operating-system numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct CostModel {
    unit: Unit,
    send: Matrix,
    receive: Matrix,
    /// NUMA node of each thread, dense from 0.
    numa: Vec<u32>,
}
