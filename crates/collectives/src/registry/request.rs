//! The inputs of the choice of an algorithm: one call's request, and the team's traits.

use super::{RoundLimits, SegmentModel};

/// The properties of one call of a collective on which the choice of an algorithm depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes of a block, which all ranks know; [`Algorithms`](crate::Algorithms) says what a block is in each
    /// operation.
    pub bytes: usize,
    /// Bytes of an element, at least 1.
    pub element: usize,
    /// The root, where the operation starts or ends; 0 for operations without a root.
    pub root: usize,
    /// Whether the order of ranks counts: the operator does not commute, or the team is deterministic.
    pub keeps_order: bool,
    /// Whether all parts have one length; if not, [`bytes`](Self::bytes) is unknown and 0.
    pub equal_parts: bool,
}

impl Request {
    /// A request for blocks of `bytes`, with elements of one byte, root 0 and a commutative operator.
    pub const fn of_bytes(bytes: usize) -> Self {
        Self {
            bytes,
            element: 1,
            root: 0,
            keeps_order: false,
            equal_parts: true,
        }
    }

    /// A request for parts of different lengths, of which no rank knows all.
    pub const fn of_parts(element: usize) -> Self {
        Self {
            element,
            equal_parts: false,
            ..Self::of_bytes(0)
        }
    }
}

/// The traits of a team on which the choice of an algorithm depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeamTraits {
    /// Number of ranks.
    pub ranks: usize,
    /// Most ranks on one hardware thread: 1 where each has one of its own.
    pub sharing: usize,
    /// Whether all pairs of ranks have links.
    pub mesh: bool,
    /// Bytes that fit one message.
    pub message_bytes: usize,
    /// Whether lending copies the data, as it does between processes.
    pub copies: bool,
    /// Lengths below which rounds of messages are the faster way.
    pub limits: RoundLimits,
    /// How long pipeline segments are where no size was asked for, if ranks share hardware threads and lend without a copy.
    pub segments: Option<SegmentModel>,
    /// Whether each rank has a line on which it publishes for all others.
    pub lines: bool,
    /// Whether broadcasts use these lines where no algorithm was asked for.
    pub publishes: bool,
    /// The root of the broadcast's plan, if members share lines in it.
    pub groups_root: Option<usize>,
    /// Whether reductions give the same bits every time.
    pub deterministic: bool,
}

/// Data of so many bytes have four chunks of a bounce buffer, of 32 KiB each.
const OVERLAPPED_MAX: usize = 128 << 10;

impl TeamTraits {
    /// Whether equal blocks are so short that they travel together with those of other ranks, in messages: those of up to
    /// half of the ranks at once.
    #[inline]
    pub fn travel_together(&self, request: &Request) -> bool {
        let bytes = request.bytes;
        request.equal_parts
            && bytes < self.limits.together
            && bytes * self.ranks <= 2 * self.message_bytes
    }

    /// Bytes of the longest data that go one way in one message. A loan is copied once and not twice, unless lending copies as
    /// well.
    #[inline]
    pub const fn one_message_bytes(&self) -> usize {
        let limit = self.limits.message;
        match self.copies || limit > self.message_bytes {
            true => self.message_bytes,
            false => limit,
        }
    }

    /// Bytes of the longest part that goes in messages where ranks only give or only take: two messages where lending copies, as
    /// they always fit a queue whose receiver has read all before, so the sender does not wait.
    #[inline]
    pub const fn one_way_bytes(&self, element: usize) -> usize {
        match self.copies {
            true => 2 * self.whole_elements(element),
            false => self.one_message_bytes() / element * element,
        }
    }

    /// Bytes of the longest data that go between two processes with a core each in pipeline segments of
    /// [`DYNAMIC_BYTES`](crate::PipelineSegments::DYNAMIC_BYTES), though no rank passes them on; 0 in other teams.
    ///
    /// The borrower begins when the lender has copied the first of them. So with c for one copy of all data they take
    /// (1 + 1/segments)·c, and whole, in chunks of a bounce buffer, (1 + 1/chunks)·c.
    ///
    /// In times of the chunks or published messages that they replace, two processes on an AMD EPYC (Zen 4, 2-core KVM guest,
    /// 1 December 2026, `--example settings`): reductions and broadcasts of 16 KiB 0.56 to 0.88, of 32 and 64 KiB 0.50 to 0.79, of
    /// 128 KiB 0.68 to 0.86 (one broadcast 1.25), and of 256 KiB 0.79 to 1.69; gathers and scatters of 32 KiB 0.60 to 0.86, of 64 KiB
    /// 0.74 to 0.97 (one scatter 1.26), of 128 KiB 0.78 to 1.04, and of 256 KiB 0.91 to 2.07.
    #[inline]
    pub const fn overlapped_bytes(&self) -> usize {
        match self.ranks == 2 && self.copies && self.sharing == 1 {
            true => OVERLAPPED_MAX,
            false => 0,
        }
    }

    /// Bytes of the longest message of whole elements.
    #[inline]
    pub const fn whole_elements(&self, element: usize) -> usize {
        self.message_bytes / element * element
    }
}
