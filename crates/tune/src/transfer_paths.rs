//! The transfer paths between processes: when they race, over what, and what the times say.
//!
//! Whether bounce buffers or copies by the kernel are faster depends on the machine's copies and system calls, and on
//! whether ranks share hardware threads. A team has one length from which on the kernel copies, for all operations, so the
//! operations that move most decide together.

use crate::request::TuneRequest;
use crate::search_space::SearchSpace;
use corecast_model::Collective;
use corecast_team::KernelCopies;

/// In an allgather all ranks lend to all others, in a gather all to one.
pub(crate) const OPERATIONS: [Collective; 2] = [Collective::Allgather, Collective::Gather];

/// Bytes of the blocks that race, each a possible start of the kernel's copies.
pub(crate) const SIZES: [usize; 4] = [64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// By this part the kernel has to be faster than bounce buffers: less may be chance.
const CLEARLY: f64 = 0.97;

/// Whether the paths race: a tuning of other operations, or of short data, leaves an earlier result as it is.
pub(crate) fn is_raced(search_space: &SearchSpace, request: &TuneRequest) -> bool {
    let operations = OPERATIONS
        .iter()
        .all(|one| request.operations.contains(one));
    let long = request.sizes.iter().any(|&bytes| bytes >= SIZES[0]);
    search_space.transfer_paths && operations && long
}

/// From which length on the kernel copies, by the ratios of its times to those of bounce buffers at each size, in order of
/// size: from the least size at which it is clearly faster on the geometric mean, and at all greater ones as well.
pub(crate) fn start(ratios: &[(usize, Vec<f64>)]) -> KernelCopies {
    let is_faster = |ratios: &[f64]| {
        let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        !ratios.is_empty() && sum < CLEARLY.ln() * ratios.len() as f64
    };
    let faster = ratios
        .iter()
        .rev()
        .take_while(|(_, of_size)| is_faster(of_size));
    match faster.last() {
        Some((bytes, _)) => KernelCopies::From(*bytes),
        None => KernelCopies::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_copies_from_where_it_is_faster_at_all_greater_sizes() {
        let of = |ratios: [&[f64]; 4]| {
            let with_sizes = SIZES.into_iter().zip(ratios.map(<[f64]>::to_vec));
            start(&with_sizes.collect::<Vec<_>>())
        };
        let (slow, fast): (&[f64], &[f64]) = (&[1.6, 1.5], &[0.2, 0.5]);
        assert_eq!(of([slow; 4]), KernelCopies::Never);
        assert_eq!(of([fast; 4]), KernelCopies::From(SIZES[0]));
        assert_eq!(of([slow, slow, fast, fast]), KernelCopies::From(SIZES[2]));
        // A size at which it loses ends the range, and so does one that was not raced.
        assert_eq!(of([fast, slow, fast, fast]), KernelCopies::From(SIZES[2]));
        assert_eq!(of([fast, fast, &[], fast]), KernelCopies::From(SIZES[3]));
        assert_eq!(of([fast, fast, fast, slow]), KernelCopies::Never);
        // The mean of both operations decides, and a few per cent may be chance.
        assert_eq!(
            of([slow, slow, slow, &[0.3, 1.2]]),
            KernelCopies::From(SIZES[3])
        );
        assert_eq!(of([slow, slow, slow, &[0.99, 0.98]]), KernelCopies::Never);
    }
}
