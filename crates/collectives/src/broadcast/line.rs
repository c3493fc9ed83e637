//! One line that all others poll: the payload is in the flag's line (CLa §4.1 over a flat tree, which
//! is best on its Sandy Bridge, §4.1.1), and what is longer in the body lines that go with it.

use crate::groups::Groups;
use corecast_wire::Fabric;

/// One rank's numbers of the lines of all ranks, each for all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllLines {
    publish: usize,
    /// By root; the rank's own is not used.
    reads: Vec<usize>,
}

impl AllLines {
    /// The line that the rank publishes on.
    pub(crate) fn own(&self) -> usize {
        self.publish
    }

    /// The numbers of all ranks, and a line for each.
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

/// Gives `root`'s `payload`, which fits a published message, to everybody.
///
/// Nobody reports that it has read: a root that runs ahead waits when it comes to a line again that
/// somebody has not read yet.
///
/// # Errors
///
/// Those of the fabric.
///
/// # Cost
///
/// One line written, and one per 64 bytes beyond 56; all read by n − 1.
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
