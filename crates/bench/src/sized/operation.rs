//! The operations, and how much each rank gives and gets.

use super::ELEMENT_BYTES;
use std::fmt;
use std::str::FromStr;

/// A collective operation over doubles; reductions are sums.
///
/// The size that a race is about is the size of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// All ranks wait for each other, without data.
    Barrier,
    /// All ranks get one block of the root.
    Broadcast,
    /// The root gets one block of each rank, combined.
    Reduce,
    /// All ranks get one block of each rank, combined.
    Allreduce,
    /// Each rank gets a block of its own from the root.
    Scatter,
    /// The root gets one block of each rank, side by side.
    Gather,
    /// All ranks get one block of each rank, side by side.
    Allgather,
    /// Each rank gets a block of its own, combined over all ranks.
    ReduceScatter,
    /// Each rank gets a block of its own from each rank.
    Alltoall,
    /// Each rank gets one block of each rank up to itself, combined.
    Scan,
    /// Each rank gets one block of each rank before itself, combined; the first gets nothing.
    Exscan,
    /// A scatter of [uneven blocks](Task::uneven).
    Scatterv,
    /// A gather of uneven blocks.
    Gatherv,
    /// An allgather of uneven blocks.
    Allgatherv,
    /// A reduce_scatter of uneven blocks.
    ReduceScatterv,
    /// An alltoall of uneven blocks, whose lengths differ from rank to rank.
    Alltoallv,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 16] = [
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
        Self::Exscan,
        Self::Scatterv,
        Self::Gatherv,
        Self::Allgatherv,
        Self::ReduceScatterv,
        Self::Alltoallv,
    ];

    /// The operations that algorithms are chosen for; the others are [forms](Self::form_of) of these.
    pub const CHOSEN: [Self; 10] = [
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

    /// The operation that this one is a form of; itself, if algorithms are chosen for it.
    pub const fn form_of(self) -> Self {
        match self {
            Self::Exscan => Self::Scan,
            Self::Scatterv => Self::Scatter,
            Self::Gatherv => Self::Gather,
            Self::Allgatherv => Self::Allgather,
            Self::ReduceScatterv => Self::ReduceScatter,
            Self::Alltoallv => Self::Alltoall,
            chosen => chosen,
        }
    }

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
            Self::Exscan => "exscan",
            Self::Scatterv => "scatterv",
            Self::Gatherv => "gatherv",
            Self::Allgatherv => "allgatherv",
            Self::ReduceScatterv => "reduce_scatterv",
            Self::Alltoallv => "alltoallv",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text is not the name of a collective operation.
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

/// Most bytes that one block takes at all places together, unless two places need more. Small data
/// rotate through many places, so that no contestant wins or loses by one address (see
/// [`crate::floor::PLACES`]).
const ROUND_BYTES: usize = 1 << 20;

/// One operation at one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// The operation. Its root is rank [`Task::ROOT`].
    pub operation: Operation,
    /// Number of ranks.
    pub ranks: usize,
    /// Bytes of a block, a multiple of [`ELEMENT_BYTES`]; on average, if blocks are uneven; 0 for a barrier.
    pub bytes: usize,
}

impl Task {
    /// The root of all operations that have one.
    pub const ROOT: usize = 0;

    /// Number of elements of a block.
    pub const fn count(&self) -> usize {
        self.bytes / ELEMENT_BYTES
    }

    /// Number of elements of uneven block `k`. The numbers rise evenly from none to twice the average, and together
    /// are as many as in even blocks.
    pub fn uneven(&self, k: usize) -> usize {
        self.before(k + 1) - self.before(k)
    }

    /// Number of elements of all uneven blocks before `k`.
    pub(super) fn before(&self, k: usize) -> usize {
        match self.ranks {
            1 => self.count() * k,
            n => self.count() * k * k.saturating_sub(1) / (n - 1),
        }
    }

    /// Numbers of elements of all uneven blocks, in turn from block `from` on.
    fn all_uneven(&self, from: usize) -> Vec<usize> {
        let block = |k| self.uneven((k + from) % self.ranks);
        (0..self.ranks).map(block).collect()
    }

    /// Number of elements of each block that `rank` gives.
    pub fn input(&self, rank: usize) -> Vec<usize> {
        let root = rank == Self::ROOT;
        let (one, each) = (vec![self.count()], vec![self.count(); self.ranks]);
        match self.operation {
            Operation::Barrier => Vec::new(),
            Operation::Broadcast if !root => Vec::new(),
            Operation::Scatter | Operation::Scatterv if !root => Vec::new(),
            Operation::Scatter | Operation::ReduceScatter | Operation::Alltoall => each,
            Operation::Broadcast
            | Operation::Reduce
            | Operation::Allreduce
            | Operation::Gather
            | Operation::Allgather
            | Operation::Scan
            | Operation::Exscan => one,
            Operation::Scatterv | Operation::ReduceScatterv => self.all_uneven(0),
            Operation::Gatherv | Operation::Allgatherv => vec![self.uneven(rank)],
            Operation::Alltoallv => self.all_uneven(rank),
        }
    }

    /// Number of elements of each block that `rank` gets. The root of a broadcast has its block already.
    pub fn output(&self, rank: usize) -> Vec<usize> {
        let root = rank == Self::ROOT;
        let (one, each) = (vec![self.count()], vec![self.count(); self.ranks]);
        match self.operation {
            Operation::Barrier => Vec::new(),
            Operation::Broadcast if root => Vec::new(),
            Operation::Reduce | Operation::Gather | Operation::Gatherv if !root => Vec::new(),
            Operation::Exscan if rank == 0 => Vec::new(),
            Operation::Gather | Operation::Allgather | Operation::Alltoall => each,
            Operation::Broadcast
            | Operation::Reduce
            | Operation::Allreduce
            | Operation::Scatter
            | Operation::ReduceScatter
            | Operation::Scan
            | Operation::Exscan => one,
            Operation::Scatterv | Operation::ReduceScatterv => vec![self.uneven(rank)],
            Operation::Gatherv | Operation::Allgatherv => self.all_uneven(0),
            // As many elements go from rank k to this one as from this one to rank k.
            Operation::Alltoallv => self.all_uneven(rank),
        }
    }

    /// Number of elements that `rank` gives.
    pub fn gives(&self, rank: usize) -> usize {
        self.input(rank).iter().sum()
    }

    /// Number of elements that `rank` gets.
    pub fn gets(&self, rank: usize) -> usize {
        self.output(rank).iter().sum()
    }

    /// Number of buffers that operations rotate through, at least two.
    pub fn places(&self) -> usize {
        (ROUND_BYTES / self.bytes.max(ELEMENT_BYTES)).clamp(2, 64)
    }

    /// Bytes of all inputs and results of one contestant.
    pub fn footprint(&self) -> usize {
        let elements = (0..self.ranks).map(|rank| self.gives(rank) + self.gets(rank));
        (elements.sum::<usize>() * self.places()).saturating_mul(ELEMENT_BYTES)
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

    fn task(operation: Operation, ranks: usize, count: usize) -> Task {
        Task {
            operation,
            ranks,
            bytes: count * ELEMENT_BYTES,
        }
    }

    #[test]
    fn what_is_given_is_got() {
        use Operation::*;
        // Elements that go from one rank to another are neither lost nor made.
        for (ranks, count) in [(1, 1), (2, 1), (3, 1), (3, 5), (4, 7), (5, 64)] {
            let total = |operation, of: fn(&Task, usize) -> usize| -> usize {
                let task = task(operation, ranks, count);
                (0..ranks).map(|rank| of(&task, rank)).sum()
            };
            for operation in [Scatter, Gather, Alltoall, Scatterv, Gatherv, Alltoallv] {
                assert_eq!(total(operation, Task::gives), total(operation, Task::gets));
            }
            assert_eq!(total(Broadcast, Task::gets), (ranks - 1) * count);
            assert_eq!(total(Exscan, Task::gets), (ranks - 1) * count);
            for operation in [Allgather, Allgatherv] {
                assert_eq!(total(operation, Task::gets), ranks * ranks * count);
            }
            for operation in [ReduceScatter, ReduceScatterv] {
                assert_eq!(total(operation, Task::gets), ranks * count);
                assert_eq!(total(operation, Task::gives), ranks * ranks * count);
            }
        }
    }

    #[test]
    fn uneven_blocks_are_uneven_and_together_as_long_as_even_ones() {
        let of = |ranks, count| {
            let task = task(Operation::Gatherv, ranks, count);
            (0..ranks).map(|k| task.uneven(k)).collect::<Vec<_>>()
        };
        assert_eq!(of(1, 8), [8]);
        assert_eq!(of(2, 8), [0, 16]);
        assert_eq!(of(3, 8), [0, 8, 16]);
        assert_eq!(of(5, 8), [0, 4, 8, 12, 16]);
        assert_eq!(of(4, 1), [0, 0, 2, 2]);
        // Rank k gives as many elements to r as r gets from k.
        let task = task(Operation::Alltoallv, 5, 8);
        for (r, k) in (0..5).flat_map(|r| (0..5).map(move |k| (r, k))) {
            assert_eq!(task.input(k)[r], task.output(r)[k]);
        }
    }

    #[test]
    fn buffers_change_even_if_they_are_long() {
        let task = |bytes: usize| task(Operation::Allgather, 2, bytes / ELEMENT_BYTES);
        assert_eq!(task(8).places(), 64);
        assert_eq!(task(64 << 10).places(), 16);
        assert_eq!(task(16 << 20).places(), 2);
        assert_eq!(task(16 << 20).footprint(), 2 * 2 * 3 * (16 << 20));
    }
}
