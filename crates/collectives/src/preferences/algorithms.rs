//! The algorithms that are asked for, of every operation.

use super::by_length::{ByLength, ByLengthError};
use crate::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan,
    scatter,
};

/// Algorithms asked for instead of those that Corecast would choose, by the bytes of a block. One that cannot
/// do what it is asked for is not used: the operation then chooses as if nothing had been asked.
///
/// A block is what `corecast bench` counts, and all ranks know its length. Of operations whose parts differ
/// in length (`scatterv` and the like) no rank knows all parts: there only what is asked for at every length
/// counts. Operations that run others, as `trees` do, ask anew with those others' blocks.
///
/// # Examples
///
/// ```
/// use corecast_collectives::{Algorithms, ByLength, broadcast};
///
/// let mut asked = Algorithms::default();
/// asked.barrier = Some("dissemination".parse()?);
/// asked.broadcast = ByLength::new(&[(56, None)], Some(broadcast::Algorithm::Chain))?;
/// asked.scan = corecast_collectives::scan::Algorithm::Chain.into();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Algorithms {
    /// Of barriers, which have no length.
    pub barrier: Option<barrier::Algorithm>,
    /// Of broadcasts, by the bytes of the root.
    pub broadcast: ByLength<broadcast::Algorithm>,
    /// Of reductions, by the bytes of one rank.
    pub reduce: ByLength<reduce::Algorithm>,
    /// Of allreductions, by the bytes of one rank.
    pub allreduce: ByLength<allreduce::Algorithm>,
    /// Of scatters, by the bytes that one rank gets.
    pub scatter: ByLength<scatter::Algorithm>,
    /// Of gathers, by the bytes that one rank gives.
    pub gather: ByLength<gather::Algorithm>,
    /// Of allgathers, by the bytes that one rank gives.
    pub allgather: ByLength<allgather::Algorithm>,
    /// Of all-to-alls, by the bytes from one rank for another.
    pub alltoall: ByLength<alltoall::Algorithm>,
    /// Of reductions that are scattered, by the bytes that one rank gets; where blocks differ by those of all
    /// ranks over their number, rounded up.
    pub reduce_scatter: ByLength<reduce_scatter::Algorithm>,
    /// Of scans, inclusive and exclusive, by the bytes of one rank.
    pub scan: ByLength<scan::Algorithm>,
}

/// Does the same for each operation whose algorithms go by length.
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
    /// These, and where they leave the choice, `others`.
    ///
    /// # Errors
    ///
    /// The name of an operation that would have too many ranges.
    pub fn or(&self, others: &Self) -> Result<Self, (&'static str, ByLengthError)> {
        let mut both = *self;
        both.barrier = self.barrier.or(others.barrier);
        macro_rules! each {
            ($($operation:ident),*) => {$(
                both.$operation = self.$operation.or(&others.$operation)
                    .map_err(|error| (stringify!($operation), error))?;
            )*};
        }
        each_by_length!(each);
        Ok(both)
    }
}
