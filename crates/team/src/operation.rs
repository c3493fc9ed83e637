//! The name of an operation, and its fingerprint, which fits into a message's header.

use corecast_collectives::Collective;
use corecast_wire::VALUE_BYTES_MAX;
use corecast_wire::op_history::Entry;
use std::fmt;

/// One operation of a team. All members must agree on all of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// 1 for a team's first operation; the lower 32 bits of the count.
    pub seq: u32,
    /// The collective that it runs.
    pub kind: Collective,
    /// The rank at which it starts or ends; 0 for operations without a root.
    pub root: u32,
    /// Whether it is an operation in flight, see [`Member::overlap`](crate::Member::overlap).
    pub in_flight: bool,
}

/// The bit of an operation history's word that marks an operation in flight.
const IN_FLIGHT: u32 = 1 << 31;

/// Ranks that fit into an operation history's word beside the kind.
pub(crate) const RANKS_MAX: usize = 1 << 24;

impl Operation {
    /// The `seq`-th operation of a team, which blocks.
    #[inline(always)]
    pub(crate) fn blocking(seq: u64, kind: Collective, root: usize) -> Self {
        Self {
            seq: seq as u32,
            kind,
            root: root as u32,
            in_flight: false,
        }
    }

    /// The operation in an operation history. Its word also goes into the fingerprint:
    ///
    /// ```text
    ///   31         30        24 23                 0
    /// ┌───────────┬────────────┬────────────────────┐
    /// │ in flight │ collective │ root               │   collectives are numbered from 1 on: no operation has word 0
    /// └───────────┴────────────┴────────────────────┘
    /// ```
    pub(crate) fn entry(self) -> Entry {
        Entry {
            seq: self.seq,
            what: self.kind.number() << 24 | self.root | if self.in_flight { IN_FLIGHT } else { 0 },
        }
    }

    /// Whether the operation in an operation history blocks its member, so that the earlier ones have ended there.
    pub(crate) fn blocks(entry: Entry) -> bool {
        entry.what != 0 && entry.what & IN_FLIGHT == 0
    }

    pub(crate) fn of_entry(entry: Entry) -> Option<Self> {
        let number = (entry.what & !IN_FLIGHT) >> 24;
        let kind = Collective::of_number(number)?;
        Some(Self {
            seq: entry.seq,
            kind,
            root: entry.what & 0xFF_FFFF,
            in_flight: entry.what & IN_FLIGHT != 0,
        })
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, root) = (self.kind, self.root);
        match kind {
            Collective::Broadcast | Collective::Scatter | Collective::Scatterv => {
                write!(f, "{kind} from rank {root}")?;
            }
            Collective::Reduce | Collective::Gather | Collective::Gatherv => {
                write!(f, "{kind} to rank {root}")?
            }
            _ => kind.fmt(f)?,
        }
        let flight = if self.in_flight { " in flight" } else { "" };
        write!(f, "{flight} (operation {})", self.seq)
    }
}

/// The mark on an operation's notifications and messages: its number, and a digest of all operations so far.
/// Members that ever called different operations, or gave different roots, have different digests from then on
/// (but for one case in 65,536 each time).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpFingerprint {
    seq: u64,
    digest: u64,
}

/// Bits of the digest in flags and tags.
const DIGEST_BITS: u32 = 16;

/// Bits of the count in an arrival counter: it counts up to twice the ranks of any group.
const COUNT_BITS: u32 = 25;

impl OpFingerprint {
    /// Adds an operation to the digest, the `seq`-th one of the team.
    #[inline(always)]
    pub(crate) fn advance(&mut self, operation: Entry, seq: u64) {
        // Multiplication by an odd number is a bijection: what differed stays different. The
        // constant is 2^64 divided by the golden ratio, whose upper bits mix well.
        const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
        let what = u64::from(operation.what);
        self.seq = seq;
        self.digest = (self.digest.rotate_left(7) ^ what).wrapping_mul(GOLDEN);
    }

    /// The number of the last operation, all of its bits.
    pub(crate) fn number(self) -> u64 {
        self.seq
    }

    /// The whole digest, which differs for members that have called different operations.
    pub(crate) fn word(self) -> u64 {
        self.digest
    }

    /// The fingerprint after `seq` operations in all, of which those in flight have the digest `others`.
    pub(crate) fn with(self, seq: u64, others: u64) -> Self {
        Self {
            seq,
            digest: self.digest ^ others,
        }
    }

    #[inline(always)]
    fn digest(self) -> u64 {
        self.digest >> (64 - DIGEST_BITS)
    }

    /// The value of a flag at the `count`-th notification of a link, beside a value of `len` bytes: the count above the digest
    /// and the length, which change each other's bits. Members with the same history raise the same ones.
    #[inline(always)]
    pub(crate) fn flag(self, count: u64, len: usize) -> u64 {
        count << DIGEST_BITS | self.digest() ^ len as u64
    }

    /// The length beside which another member has raised `found`, where this one has raised `expected` beside `len` bytes, if
    /// their histories can be the same.
    pub(crate) fn len_of((expected, len): (u64, usize), found: u64) -> Option<usize> {
        let sent = found ^ expected ^ len as u64;
        (sent <= VALUE_BYTES_MAX as u64).then_some(sent as usize)
    }

    /// Whether a flag with the value `found` has seen as many notifications as one with the value `expected`.
    #[inline(always)]
    pub(crate) fn reached(expected: u64, found: u64) -> bool {
        let expected = expected >> DIGEST_BITS << DIGEST_BITS;
        (found.wrapping_sub(expected) as i64) >= 0
    }

    /// Whether a flag that has reached the count of `expected` was raised to it by a member with the same history, beside a value
    /// of the same length. It is also `true` for a flag beyond that count, which no longer shows this.
    #[inline(always)]
    pub(crate) fn agrees(expected: u64, found: u64) -> bool {
        found == expected || (found ^ expected) >> DIGEST_BITS != 0
    }

    /// What a member adds to an arrival counter: a one in the bits of the count, and as much of the digest as
    /// fits above them.
    #[inline(always)]
    pub(crate) fn share(self) -> u64 {
        self.digest >> COUNT_BITS << COUNT_BITS | 1
    }

    /// Whether an arrival counter at `found` has at least as many shares as one at `expected`. Only the count
    /// is compared: shares of members with another history come to another sum.
    #[inline(always)]
    pub(crate) fn is_counted(expected: u64, found: u64) -> bool {
        let more = found.wrapping_sub(expected) << (64 - COUNT_BITS);
        more as i64 >= 0
    }

    /// How many shares an arrival counter at `found` lacks to have as many as one at `expected`.
    #[inline(always)]
    pub(crate) fn missing(expected: u64, found: u64) -> u64 {
        expected.wrapping_sub(found) & ((1 << COUNT_BITS) - 1)
    }

    /// Whether a sum that has reached `expected` comes from members with the same history. It is also `true` for a
    /// sum to which some of `others` members have added once more, which no longer shows this.
    #[inline(always)]
    pub(crate) fn agrees_in_sum(expected: u64, found: u64, others: usize) -> bool {
        let ahead = Self::missing(found, expected);
        found == expected || (1..=others as u64).contains(&ahead)
    }

    /// A message's tag: the lower 8 bits of the number above the digest.
    #[inline(always)]
    pub(crate) fn tag(self) -> u32 {
        ((self.seq & 0xFF) << DIGEST_BITS | self.digest()) as u32
    }

    /// The operation's number, of which a tag holds 8 bits: the one with these bits that is nearest to `near`.
    pub(crate) fn seq_of_tag(tag: u32, near: u32) -> u32 {
        let ahead = (tag >> DIGEST_BITS).wrapping_sub(near) as u8 as i8;
        near.wrapping_add_signed(i32::from(ahead))
    }
}

#[cfg(test)]
mod tests;
