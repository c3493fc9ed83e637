//! A broadcast over one line that all others poll: the payload is in the flag's line (CLa §4.1 over
//! a flat tree, which is best on its Sandy Bridge, §4.1.1), and longer payloads continue in the
//! body lines that go with it.

use crate::groups::Groups;
use corecast_wire::Fabric;

/// One rank's numbers of all ranks' lines, each of which one rank publishes on for all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllLines {
    publish: usize,
    /// The number of each root's line; the rank's own entry is not used.
    reads: Vec<usize>,
}

impl AllLines {
    /// The line that the rank publishes on.
    pub(crate) fn own(&self) -> usize {
        self.publish
    }

    /// The numbers at all ranks. Adds a line for each rank to `groups`.
    pub fn all(n: usize, groups: &mut Groups) -> Vec<Self> {
        let mut all = vec![
            Self {
                publish: 0,
                reads: vec![0; n],
            };
            n
        ];
        for root in 0..if n > 1 { n } else { 0 } {
            let others: Vec<usize> = (0..n).filter(|&rank| rank != root).collect();
            let numbers = groups.long_ring(root, others.clone());
            all[root].publish = numbers.one;
            for (rank, number) in others.into_iter().zip(numbers.others) {
                all[rank].reads[root] = number;
            }
        }
        all
    }
}

/// Copies `root`'s `payload`, which fits a published message, to all ranks.
///
/// Readers send no answer: a root that runs ahead waits when it comes back to a line that some rank
/// has not read yet.
///
/// # Errors
///
/// Returns the first error of the fabric.
///
/// # Cost
///
/// The root writes one line, and one more per 64 bytes beyond 56; n − 1 ranks read them all.
///
/// # Source
///
/// CLa §4.1, Figure 12, without the way back.
#[inline(always)]
pub fn line<F: Fabric>(
    fabric: &mut F,
    lines: &AllLines,
    root: usize,
    payload: &mut [u8],
) -> Result<(), F::Error> {
    match (fabric.size(), fabric.rank() == root) {
        (1, _) => Ok(()),
        (_, true) => fabric.publish(lines.publish, payload),
        (_, false) => fabric.read(lines.reads[root], payload),
    }
}
