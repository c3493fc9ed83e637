//! A collective at one size, and how much each rank gives and gets. Elements are doubles, reductions are sums, and the
//! size of a race is the size of one block.

use super::ELEMENT_BYTES;
use corecast_model::Collective;
use std::fmt;

/// Most bytes that one block takes at all places together, unless two places need more. Small data
/// rotate through many places, so that no contestant wins or loses by one address (see
/// [`crate::floor::PLACES`]).
const ROUND_BYTES: usize = 1 << 20;

/// One operation at one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// The operation. Its root is rank [`Task::ROOT`].
    pub operation: Collective,
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
            Collective::Barrier => Vec::new(),
            Collective::Broadcast if !root => Vec::new(),
            Collective::Scatter | Collective::Scatterv if !root => Vec::new(),
            Collective::Scatter | Collective::ReduceScatter | Collective::Alltoall => each,
            Collective::Broadcast
            | Collective::Reduce
            | Collective::Allreduce
            | Collective::Gather
            | Collective::Allgather
            | Collective::Scan
            | Collective::Exscan => one,
            Collective::Scatterv | Collective::ReduceScatterv => self.all_uneven(0),
            Collective::Gatherv | Collective::Allgatherv => vec![self.uneven(rank)],
            Collective::Alltoallv => self.all_uneven(rank),
        }
    }

    /// Number of elements of each block that `rank` gets. The root of a broadcast has its block already.
    pub fn output(&self, rank: usize) -> Vec<usize> {
        let root = rank == Self::ROOT;
        let (one, each) = (vec![self.count()], vec![self.count(); self.ranks]);
        match self.operation {
            Collective::Barrier => Vec::new(),
            Collective::Broadcast if root => Vec::new(),
            Collective::Reduce | Collective::Gather | Collective::Gatherv if !root => Vec::new(),
            Collective::Exscan if rank == 0 => Vec::new(),
            Collective::Gather | Collective::Allgather | Collective::Alltoall => each,
            Collective::Broadcast
            | Collective::Reduce
            | Collective::Allreduce
            | Collective::Scatter
            | Collective::ReduceScatter
            | Collective::Scan
            | Collective::Exscan => one,
            Collective::Scatterv | Collective::ReduceScatterv => vec![self.uneven(rank)],
            Collective::Gatherv | Collective::Allgatherv => self.all_uneven(0),
            // As many elements go from rank k to this one as from this one to rank k.
            Collective::Alltoallv => self.all_uneven(rank),
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
            Collective::Barrier => write!(f, "barrier"),
            operation => write!(f, "{operation} of {} bytes", self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(operation: Collective, ranks: usize, count: usize) -> Task {
        Task {
            operation,
            ranks,
            bytes: count * ELEMENT_BYTES,
        }
    }

    #[test]
    fn what_is_given_is_got() {
        use Collective::*;
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
            let task = task(Collective::Gatherv, ranks, count);
            (0..ranks).map(|k| task.uneven(k)).collect::<Vec<_>>()
        };
        assert_eq!(of(1, 8), [8]);
        assert_eq!(of(2, 8), [0, 16]);
        assert_eq!(of(3, 8), [0, 8, 16]);
        assert_eq!(of(5, 8), [0, 4, 8, 12, 16]);
        assert_eq!(of(4, 1), [0, 0, 2, 2]);
        // Rank k gives as many elements to r as r gets from k.
        let task = task(Collective::Alltoallv, 5, 8);
        for (r, k) in (0..5).flat_map(|r| (0..5).map(move |k| (r, k))) {
            assert_eq!(task.input(k)[r], task.output(r)[k]);
        }
    }

    #[test]
    fn buffers_change_even_if_they_are_long() {
        let task = |bytes: usize| task(Collective::Allgather, 2, bytes / ELEMENT_BYTES);
        assert_eq!(task(8).places(), 64);
        assert_eq!(task(64 << 10).places(), 16);
        assert_eq!(task(16 << 20).places(), 2);
        assert_eq!(task(16 << 20).footprint(), 2 * 2 * 3 * (16 << 20));
    }
}
