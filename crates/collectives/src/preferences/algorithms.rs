//! The algorithms that are asked for, of every operation.

use super::by_length::{ByLength, ByLengthError};
use crate::registry::{RoundLimits, SegmentModel, Selection, assumed_half_bytes};
use crate::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan,
    scatter,
};

/// Algorithms asked for instead of those that Corecast would choose, by the bytes of a block. An algorithm that
/// cannot serve an operation is not used there: the operation chooses as if nothing had been asked.
///
/// A block is what each field below names and `corecast bench` counts; all ranks know its length. Of operations
/// whose parts differ in length (`scatterv` and the like) no rank knows all parts: there an algorithm counts only
/// if it is asked for at every length. Operations that run others, as `trees` does, choose the others' algorithms
/// by the others' blocks.
///
/// # Examples
///
/// ```
/// use corecast_collectives::{Algorithms, ByLength};
///
/// let mut asked = Algorithms::default();
/// asked.barrier = Some("dissemination".parse()?);
/// asked.broadcast = ByLength::new(&[(56, None)], Some("chain:64K".parse()?))?;
/// asked.scan = corecast_collectives::scan::Algorithm::Chain.into();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Algorithms {
    /// For barriers, which have no length.
    pub barrier: Option<Selection<barrier::Algorithm>>,
    /// For broadcasts, by the bytes of the root.
    pub broadcast: ByLength<Selection<broadcast::Algorithm>>,
    /// For reductions, by the bytes of one rank.
    pub reduce: ByLength<Selection<reduce::Algorithm>>,
    /// For allreductions, by the bytes of one rank.
    pub allreduce: ByLength<Selection<allreduce::Algorithm>>,
    /// For scatters, by the bytes that one rank gets.
    pub scatter: ByLength<Selection<scatter::Algorithm>>,
    /// For gathers, by the bytes that one rank gives.
    pub gather: ByLength<Selection<gather::Algorithm>>,
    /// For allgathers, by the bytes that one rank gives.
    pub allgather: ByLength<Selection<allgather::Algorithm>>,
    /// For all-to-alls, by the bytes from one rank for another.
    pub alltoall: ByLength<Selection<alltoall::Algorithm>>,
    /// For reduce-scatters, by the bytes that one rank gets; where blocks differ, by the bytes of all blocks over
    /// the number of ranks, rounded up.
    pub reduce_scatter: ByLength<Selection<reduce_scatter::Algorithm>>,
    /// For scans, inclusive and exclusive, by the bytes of one rank.
    pub scan: ByLength<Selection<scan::Algorithm>>,
    /// The length in bytes at which a message takes twice as long as a short one in this team, by which Corecast chooses
    /// where no algorithm is asked for. `None`: it was not measured, and [`assumed_half_bytes`] stands in.
    pub half_bytes: Option<usize>,
}

/// Calls the macro `$do` with the names of all operations that have lengths.
macro_rules! each_by_length {
    ($do:ident) => {
        $do!(
            broadcast,
            reduce,
            allreduce,
            scatter,
            gather,
            allgather,
            alltoall,
            reduce_scatter,
            scan
        )
    };
}
pub(super) use each_by_length;

impl Algorithms {
    /// Returns these algorithms, and those of `others` where these leave the choice to Corecast.
    ///
    /// # Errors
    ///
    /// The name of an operation that would have too many ranges.
    pub fn or(&self, others: &Self) -> Result<Self, (&'static str, ByLengthError)> {
        let mut both = *self;
        both.barrier = self.barrier.or(others.barrier);
        both.half_bytes = self.half_bytes.or(others.half_bytes);
        macro_rules! each {
            ($($operation:ident),*) => {$(
                both.$operation = self.$operation.or(&others.$operation)
                    .map_err(|error| (stringify!($operation), error))?;
            )*};
        }
        each_by_length!(each);
        Ok(both)
    }

    /// Nothing asked for, on the same machine: what Corecast chooses by itself.
    #[must_use]
    pub fn unasked(&self) -> Self {
        Self {
            half_bytes: self.half_bytes,
            ..Self::default()
        }
    }

    /// [`half_bytes`](field@Self::half_bytes), or what stands in for it where up to `sharing` ranks share a hardware thread.
    pub fn half_bytes_or_assumed(&self, sharing: usize) -> usize {
        self.half_bytes.unwrap_or(assumed_half_bytes(sharing))
    }

    /// The limits of rounds by which a team of `n` ranks, of which up to `sharing` share a hardware thread, chooses where no
    /// algorithm is asked for.
    pub fn limits(&self, n: usize, sharing: usize) -> RoundLimits {
        let half_bytes = self.half_bytes_or_assumed(sharing);
        match sharing {
            0 | 1 => RoundLimits::new(n, half_bytes),
            _ => RoundLimits::shared(n, sharing, half_bytes),
        }
    }

    /// The model of pipeline segments of a team, see [`SegmentModel::of_team`].
    pub fn segments(&self, sharing: usize, copies: bool) -> Option<SegmentModel> {
        SegmentModel::of_team(sharing, copies, self.half_bytes_or_assumed(sharing))
    }
}
