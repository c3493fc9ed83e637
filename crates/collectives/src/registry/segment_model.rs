//! How long pipeline segments of long data should be where ranks share hardware threads, by a model of messages.
//!
//! Where `k` ranks share a hardware thread, a rank takes up a segment after the others had their turns. A turn counts into `n½`, the
//! length at which a message takes twice as long as a short one (see [`RoundLimits`](super::RoundLimits)), so each segment of `s`
//! bytes takes as long as `s + k·n½`. All hardware threads together are busy for `W` with `len` bytes; one level after the other,
//! without segments, takes `f` times as long, since at most levels some of them have nothing to do:
//!
//! ```text
//! f = levels / k           levels: ⌈log2 n⌉ of a tree, n of a chain
//! time in segments of s  = W·(1 + (f − 1)·s / len) + W·k·n½ / s
//! least where s          = √(len·k·n½ / (f − 1))
//! ```
//!
//! Where `f ≤ 1` all hardware threads are busy without a pipeline, and data go whole. On two of them, in times of segments of 32 KiB
//! (KVM guest, AMD EPYC, 28 November 2026, in turn in one program), data of 256 KiB to 2 MiB of 3, 8 and 16 threads took 0.55 to 1.04
//! in broadcasts, 0.43 to 1.01 in reductions and 0.49 to 1.01 in scans.
//!
//! Other teams have segments of 32 KiB (NUMA clusters §3). Where each rank has a hardware thread of its own, `√(len·n½ / (f − 1))` was
//! no better on eleven simulated machines, as caches count more. Between processes longer segments are copied by the kernel and
//! not through bounce buffers: reductions and scans of three took 1.4 to 2.3 times as long with them, those of eight 0.7 to 1.1.

/// The costs on which the length of pipeline segments depends in a team of threads that share hardware threads.
///
/// # Examples
///
/// ```
/// use corecast_collectives::registry::SegmentModel;
///
/// // 128 ranks on 64 hardware threads.
/// let model = SegmentModel::of_team(2, false, 8 << 10).unwrap();
/// assert_eq!(model.of_tree(1 << 20, 128), Some(82_897));
/// // On two hardware threads all are busy without segments.
/// let crowd = SegmentModel::of_team(64, false, 8 << 10).unwrap();
/// assert_eq!(crowd.of_tree(1 << 20, 128), None);
/// assert_eq!(SegmentModel::of_team(1, false, 8 << 10), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentModel {
    /// Most ranks on one hardware thread.
    sharing: usize,
    half_bytes: usize,
}

impl SegmentModel {
    /// The model of a team of which up to `sharing` ranks share a hardware thread; `None` if none do, or if lending copies the data.
    /// `half_bytes` is its `n½`.
    pub fn of_team(sharing: usize, copies: bool, half_bytes: usize) -> Option<Self> {
        (sharing > 1 && !copies).then_some(Self {
            sharing,
            half_bytes,
        })
    }

    /// The best length of a segment of `len` bytes that go along a tree of `n` ranks; `None` if they should go whole.
    #[inline]
    pub fn of_tree(&self, len: usize, n: usize) -> Option<usize> {
        self.bytes(len, n.next_power_of_two().ilog2() as usize)
    }

    /// The same from each of `n` ranks to the next.
    #[inline]
    pub fn of_chain(&self, len: usize, n: usize) -> Option<usize> {
        self.bytes(len, n)
    }

    fn bytes(&self, len: usize, levels: usize) -> Option<usize> {
        let sharing = self.sharing as f64;
        let idle = levels as f64 / sharing - 1.0;
        let per_segment = sharing * self.half_bytes as f64;
        (idle > 0.0).then(|| (len as f64 * per_segment / idle).sqrt() as usize)
    }
}
