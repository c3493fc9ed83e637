//! The whole registry: the entries of all collectives.

use crate::registry::Entry;
use crate::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan,
    scatter,
};

/// The entries of all algorithms, in the order of docs/algorithms.md.
///
/// # Examples
///
/// ```
/// let ring = corecast_collectives::entries().into_iter().find(|entry| entry.name == "ring");
/// assert_eq!(ring.unwrap().collective.name(), "allreduce");
/// ```
pub fn entries() -> Vec<&'static Entry> {
    macro_rules! all {
        ($($collective:ident),*) => {
            [$($collective::Algorithm::ALL.iter().map(|one| one.entry()).collect::<Vec<_>>()),*].concat()
        };
    }
    all!(
        barrier,
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
}
