//! Costs of messages and calls beside the pairwise costs, which a simulated machine needs to predict times.
//!
//! Pairwise costs say how long two threads are blocked that send message after message. A collective that is
//! called now and then meets other circumstances: its receiver waits already, the sender has done something else
//! before, and a message may have many lines. Each of these is measured by itself, by a short program over the
//! queues, see `corecast_probe`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::pairwise::{CostError, CostModel, Matrix};

/// Costs of messages that come alone, in the unit of the file that has them, and of calls.
///
/// Entry (i, j) of a matrix is about a message from thread i to thread j of the file. Both begin at an instant
/// that they have agreed on.
///
/// # Examples
///
/// ```
/// use corecast_model::{Matrix, Messages};
///
/// let machine = corecast_model::synthetic("core:2")?;
/// let all = |ns| Matrix::from_fn(2, |i, j| if i == j { 0.0 } else { ns });
/// let messages = Messages {
///     long_bytes: 4152,
///     one: all(66.0),
///     long: all(250.0),
///     alone: all(25.0),
///     taken: all(120.0),
///     crossed: all(90.0),
///     calls: [("barrier".to_owned(), 8.0)].into(),
///     combine: 60.0,
///     copy: 50.0,
/// };
/// let file = machine.with_messages(messages.clone())?;
/// let again = corecast_model::MachineFile::from_json(&file.to_json())?;
/// assert_eq!(again.messages(), Some(&messages));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Messages {
    /// Bytes of a long message.
    pub long_bytes: usize,
    /// From the start until j, which waits, has a message of one line from i.
    pub one: Matrix,
    /// From the start until j, which waits, has a long message from i.
    pub long: Matrix,
    /// The time that j takes to receive a message of one line that is queued already.
    pub alone: Matrix,
    /// The time that j takes to receive a long message that is queued already.
    pub taken: Matrix,
    /// From the start until i and j, which both send one line, have the other's: the later of the two.
    pub crossed: Matrix,
    /// The time of an operation in a team of one, by its name: calls, counters, checks.
    pub calls: BTreeMap<String, f64>,
    /// The bytes that a thread combines in a unit of time; 0 where unknown.
    pub combine: f64,
    /// The bytes that a thread copies in a unit of time, within its caches; 0 where unknown.
    pub copy: f64,
}

impl Messages {
    /// The names of the matrices, as in files and errors.
    pub const MATRICES: [&str; 5] = ["one", "long", "alone", "taken", "crossed"];

    /// The matrices, in the order of [`Messages::MATRICES`].
    #[must_use]
    pub fn matrices(&self) -> [&Matrix; 5] {
        [
            &self.one,
            &self.long,
            &self.alone,
            &self.taken,
            &self.crossed,
        ]
    }

    /// Returns the time of this operation in a team of one; 0 where unknown.
    #[must_use]
    pub fn call(&self, operation: &str) -> f64 {
        self.calls.get(operation).copied().unwrap_or(0.0)
    }

    /// Returns the costs of some of the threads, in that order.
    ///
    /// # Panics
    ///
    /// When a position is not that of a thread.
    #[must_use]
    pub fn subset(&self, positions: &[usize]) -> Self {
        let part = |matrix: &Matrix| {
            Matrix::from_fn(positions.len(), |i, j| {
                matrix.get(positions[i], positions[j])
            })
        };
        Self {
            one: part(&self.one),
            long: part(&self.long),
            alone: part(&self.alone),
            taken: part(&self.taken),
            crossed: part(&self.crossed),
            ..self.clone()
        }
    }

    /// Checks that all matrices are for `n` threads, and that all numbers may be costs.
    ///
    /// # Errors
    ///
    /// A matrix for another number of threads; a number that is NaN, infinite, negative or above
    /// [`CostModel::COST_MAX`].
    pub fn check(&self, n: usize) -> Result<(), CostError> {
        for (what, matrix) in Self::MATRICES.into_iter().zip(self.matrices()) {
            let rows = matrix.rows().map(<[f64]>::to_vec).collect();
            Matrix::checked(what, rows, n)?;
        }
        let rates = [("combine", self.combine), ("copy", self.copy)];
        let calls = self.calls.iter().map(|(name, &cost)| (name.as_str(), cost));
        // NaN fails the range test, as it must.
        let bad = |&(_, value): &(&str, f64)| !(0.0..=CostModel::COST_MAX).contains(&value);
        match calls.chain(rates).find(bad) {
            Some((what, value)) => Err(CostError::BadMessage {
                what: what.to_owned(),
                value: value.to_string(),
            }),
            None => Ok(()),
        }
    }
}
