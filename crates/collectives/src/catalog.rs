//! The whole registry: the entries of all collectives.

use crate::registry::Entry;
use crate::{
    allgather, allreduce, alltoall, barrier, broadcast, gather, reduce, reduce_scatter, scan,
    scatter,
};
use corecast_model::Collective;

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

/// The entry of an algorithm by its name, with a size or without; `None` if the collective has none of that name.
///
/// # Examples
///
/// ```
/// use corecast_collectives::{Collective, entry};
///
/// assert!(entry(Collective::Scan, "chain").is_some());
/// assert_eq!(entry(Collective::Scan, "chain:64K"), entry(Collective::Scan, "chain"));
/// assert!(entry(Collective::Scan, "ring").is_none());
/// ```
pub fn entry(collective: Collective, name: &str) -> Option<&'static Entry> {
    let is_it = |entry: &&Entry| entry.collective == collective && entry.place_of(name).is_some();
    entries().into_iter().find(is_it)
}
