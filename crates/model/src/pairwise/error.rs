//! Errors of costs.

/// The greatest cost that is accepted: a greater one, in any unit, is an error of the measurement.
pub(crate) const COST_MAX: f64 = 1e15;

/// Why costs were refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// There is no thread.
    #[error("the cost model has no threads: give at least one row to \"send\" and \"receive\"")]
    Empty,
    /// A row has the wrong number of entries.
    #[error(
        "{matrix}[{row}] has {found} entries, expected {expected}: every ordered pair needs a cost"
    )]
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
    /// The two matrices, or a matrix and the list of NUMA nodes, are for different numbers of threads.
    #[error("{what} has {found} entries, expected {expected}, one for each row of \"send\"")]
    Length {
        /// The part with the wrong length: `receive`, `numa`, ...
        what: &'static str,
        /// Entries found.
        found: usize,
        /// Entries expected.
        expected: usize,
    },
    /// A pair has no cost.
    #[error(
        "{matrix}[{from}][{to}] is missing: measure the pair from {from} to {to} or give its cost"
    )]
    Missing {
        /// `send` or `receive`.
        matrix: &'static str,
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
    /// A cost is no finite number from 0 to [`CostModel::COST_MAX`](crate::CostModel::COST_MAX).
    #[error("{matrix}[{from}][{to}] is {value}: costs are numbers from 0 to 1e15")]
    BadValue {
        /// `send` or `receive`.
        matrix: &'static str,
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The value as it was given.
        value: String,
    },
    /// A cost of shared lines is no finite number from 0 to [`CostModel::COST_MAX`](crate::CostModel::COST_MAX).
    #[error("lines.{what} is {value}: costs are numbers from 0 to 1e15")]
    BadLine {
        /// The parameter, for example `slope[2]`.
        what: String,
        /// The value as it was given.
        value: String,
    },
    /// A cost of messages or calls is no finite number from 0 to [`CostModel::COST_MAX`](crate::CostModel::COST_MAX).
    #[error("messages.{what} is {value}: costs are numbers from 0 to 1e15")]
    BadMessage {
        /// The entry with the cost, for example an operation.
        what: String,
        /// The value as it was given.
        value: String,
    },
    /// A list of line costs has not one entry for each class.
    #[error(
        "lines.{what} has {found} entries, expected 4: same core, same NUMA node, same package, \
         other package"
    )]
    LineClasses {
        /// The parameter.
        what: &'static str,
        /// Entries found.
        found: usize,
    },
    /// A team names a thread that the model does not have.
    #[error("thread position {position} is outside of the cost model, which has 0 to {last}")]
    OutOfRange {
        /// The position asked for.
        position: usize,
        /// The last valid one.
        last: usize,
    },
    /// A team names a thread twice.
    #[error(
        "thread position {position} is listed twice: each member of a team is a thread of its own"
    )]
    Duplicate {
        /// The repeated position.
        position: usize,
    },
}
