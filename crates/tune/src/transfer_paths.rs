//! The transfer paths between processes: when they race, over what, and what the times say.
//!
//! Whether bounce buffers or copies by the kernel are faster depends on the machine's copies and system calls, and on
//! whether ranks share hardware threads. A team has one length from which on the kernel copies, for all operations, so the
//! operations that move most decide together. What is combined goes that way only where ranks share hardware threads
//! (`transfer_path.rs` of corecast-process).

use crate::request::TuneRequest;
use crate::search_space::SearchSpace;
use corecast_model::Collective;
use corecast_team::KernelCopies;

/// In an allgather all ranks lend to all others, in a gather all to one.
pub(crate) const OPERATIONS: [Collective; 2] = [Collective::Allgather, Collective::Gather];

/// Bytes of the blocks that race, each a possible start of the kernel's copies.
pub(crate) const SIZES: [usize; 5] = [64 << 10, 128 << 10, 256 << 10, 1 << 20, 4 << 20];

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
/// size: the start for which the product of the ratios at this and all greater sizes is the least, if that is clearly less
/// than with bounce buffers alone.
pub(crate) fn start(ratios: &[(usize, Vec<f64>)]) -> KernelCopies {
    let (mut sum, mut races) = (0.0, 0.0);
    let (mut best, mut found) = (0.0, KernelCopies::Never);
    for (bytes, of_size) in ratios.iter().rev() {
        sum += of_size.iter().map(|ratio| ratio.ln()).sum::<f64>();
        races += of_size.len() as f64;
        if sum < best && sum < CLEARLY.ln() * races {
            (best, found) = (sum, KernelCopies::From(*bytes));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_copies_from_where_that_saves_most() {
        let of = |ratios: [&[f64]; 4]| {
            let with_sizes = SIZES.into_iter().zip(ratios.map(<[f64]>::to_vec));
            start(&with_sizes.collect::<Vec<_>>())
        };
        let (slow, fast): (&[f64], &[f64]) = (&[1.6, 1.5], &[0.2, 0.5]);
        assert_eq!(of([slow; 4]), KernelCopies::Never);
        assert_eq!(of([fast; 4]), KernelCopies::From(SIZES[0]));
        assert_eq!(of([slow, slow, fast, fast]), KernelCopies::From(SIZES[2]));
        // A size at which it loses a little is within a range in which it wins much, and one that was not raced as well.
        assert_eq!(
            of([slow, fast, &[1.05, 1.1], fast]),
            KernelCopies::From(SIZES[1])
        );
        assert_eq!(of([slow, fast, fast, &[1.1]]), KernelCopies::From(SIZES[1]));
        assert_eq!(of([slow, fast, &[], fast]), KernelCopies::From(SIZES[1]));
        assert_eq!(
            of([fast, &[9.0, 8.0], fast, fast]),
            KernelCopies::From(SIZES[2])
        );
        assert_eq!(
            of([fast, slow, &[12.0, 11.0], &[12.0]]),
            KernelCopies::Never
        );
        // The product of both operations decides, and a few per cent may be chance.
        assert_eq!(
            of([slow, slow, slow, &[0.3, 1.2]]),
            KernelCopies::From(SIZES[3])
        );
        assert_eq!(of([slow, slow, slow, &[0.99, 0.98]]), KernelCopies::Never);
    }
}
