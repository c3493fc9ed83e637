//! The operations, and who gives and gets how much.

use super::ELEMENT_BYTES;
use std::fmt;
use std::str::FromStr;

/// A collective operation over doubles; reductions are sums.
///
/// One block is the size that a race is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// No data.
    Barrier,
    /// One block of the root, for everybody.
    Broadcast,
    /// One block of each rank, combined for the root.
    Reduce,
    /// One block of each rank, combined for everybody.
    Allreduce,
    /// A block for each rank, all from the root.
    Scatter,
    /// One block of each rank, side by side, for the root.
    Gather,
    /// One block of each rank, side by side, for everybody.
    Allgather,
    /// A block for each rank, combined over all ranks.
    ReduceScatter,
    /// A block from each rank for each rank.
    Alltoall,
    /// One block of each rank, combined over all ranks up to the own one.
    Scan,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Scatter,
        Self::Gather,
        Self::Allgather,
        Self::ReduceScatter,
        Self::Alltoall,
        Self::Scan,
    ];

    /// Its name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Scatter => "scatter",
            Self::Gather => "gather",
            Self::Allgather => "allgather",
            Self::ReduceScatter => "reduce_scatter",
            Self::Alltoall => "alltoall",
            Self::Scan => "scan",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no collective operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {0:?} is unknown: use one of {names}", names = Operation::ALL.map(Operation::name).join(", "))]
pub struct OperationError(pub String);

impl FromStr for Operation {
    type Err = OperationError;

    fn from_str(text: &str) -> Result<Self, OperationError> {
        let found = Self::ALL.into_iter().find(|o| o.name() == text);
        found.ok_or_else(|| OperationError(text.to_owned()))
    }
}

/// Bytes that the inputs of one rank go round in, unless two of them need more: small data lie in
/// many places, so that no contestant wins or loses by one address (see [`crate::floor::PLACES`]).
const ROUND_BYTES: usize = 1 << 20;

/// One operation at one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// What is done. The root is rank [`Task::ROOT`].
    pub operation: Operation,
    /// Number of ranks.
    pub ranks: usize,
    /// Bytes of a block, a multiple of [`ELEMENT_BYTES`]; 0 for a barrier.
    pub bytes: usize,
}

impl Task {
    /// The rank that broadcasts from or reduces to.
    pub const ROOT: usize = 0;

    /// Elements of a block.
    pub const fn count(&self) -> usize {
        self.bytes / ELEMENT_BYTES
    }

    /// Blocks that `rank` gives.
    pub fn gives(&self, rank: usize) -> usize {
        match self.operation {
            Operation::Barrier => 0,
            Operation::Broadcast => usize::from(rank == Self::ROOT),
            Operation::Scatter if rank == Self::ROOT => self.ranks,
            Operation::Scatter => 0,
            Operation::ReduceScatter | Operation::Alltoall => self.ranks,
            Operation::Reduce
            | Operation::Allreduce
            | Operation::Gather
            | Operation::Allgather
            | Operation::Scan => 1,
        }
    }

    /// Blocks that `rank` gets. The root of a broadcast has its block already.
    pub fn gets(&self, rank: usize) -> usize {
        let root = rank == Self::ROOT;
        match self.operation {
            Operation::Barrier => 0,
            Operation::Broadcast => usize::from(!root),
            Operation::Reduce => usize::from(root),
            Operation::Gather if root => self.ranks,
            Operation::Gather => 0,
            Operation::Allgather | Operation::Alltoall => self.ranks,
            Operation::Allreduce
            | Operation::Scatter
            | Operation::ReduceScatter
            | Operation::Scan => 1,
        }
    }

    /// How many buffers the operations go round in, at least two.
    pub fn places(&self) -> usize {
        (ROUND_BYTES / self.bytes.max(ELEMENT_BYTES)).clamp(2, 64)
    }

    /// Bytes of all inputs and results of one contestant.
    pub fn footprint(&self) -> usize {
        let blocks = (0..self.ranks).map(|rank| self.gives(rank) + self.gets(rank));
        (blocks.sum::<usize>() * self.places()).saturating_mul(self.bytes)
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            Operation::Barrier => write!(f, "barrier"),
            operation => write!(f, "{operation} of {} bytes", self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_unknown_ones_quoted() {
        for operation in Operation::ALL {
            assert_eq!(operation.name().parse(), Ok(operation));
        }
        let error = "allgoat".parse::<Operation>().unwrap_err().to_string();
        assert!(error.contains("\"allgoat\"") && error.contains("reduce_scatter"));
    }

    #[test]
    fn what_is_given_is_got() {
        // Blocks that go from one rank to another are neither lost nor made.
        for ranks in 1..6 {
            let total = |operation, of: fn(&Task, usize) -> usize| -> usize {
                let task = Task {
                    operation,
                    ranks,
                    bytes: 8,
                };
                (0..ranks).map(|rank| of(&task, rank)).sum()
            };
            for operation in [Operation::Scatter, Operation::Gather, Operation::Alltoall] {
                assert_eq!(total(operation, Task::gives), total(operation, Task::gets));
            }
            assert_eq!(total(Operation::Broadcast, Task::gets), ranks - 1);
            assert_eq!(total(Operation::Allgather, Task::gets), ranks * ranks);
            assert_eq!(total(Operation::ReduceScatter, Task::gets), ranks);
        }
    }

    #[test]
    fn buffers_change_even_if_they_are_long() {
        let task = |bytes| Task {
            operation: Operation::Allgather,
            ranks: 2,
            bytes,
        };
        assert_eq!(task(8).places(), 64);
        assert_eq!(task(64 << 10).places(), 16);
        assert_eq!(task(16 << 20).places(), 2);
        assert_eq!(task(16 << 20).footprint(), 2 * 2 * 3 * (16 << 20));
    }
}
