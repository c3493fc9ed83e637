//! The sizes that an algorithm can be asked for with: how long its pipeline segments are, and how many ranks share a
//! line.

/// What the size behind an algorithm's name counts, as in `chain:64K` and `m-way:3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SizeKind {
    /// The bytes of a pipeline segment, at most; so many where no size is asked for.
    Segment(usize),
    /// The bytes of a pipeline segment, at most, of the parts of all ranks one after the other; so many where no size is
    /// asked for.
    SegmentOfAll(usize),
    /// How many ranks read a line that one writes, at most; the [best m](crate::barrier::best_m) where no size is asked
    /// for.
    Readers,
    /// How many ranks share a line with the one that serves them, at most; all where no size is asked for.
    Group,
}

impl SizeKind {
    /// The sizes that can be asked for, ascending.
    pub const fn values(self) -> &'static [usize] {
        match self {
            Self::Segment(_) | Self::SegmentOfAll(_) => &SEGMENTS,
            Self::Readers | Self::Group => &RANKS,
        }
    }

    /// The size that an algorithm has in a team of `ranks` where none is asked for.
    pub fn built_in(self, ranks: usize) -> usize {
        match self {
            Self::Segment(bytes) | Self::SegmentOfAll(bytes) => bytes,
            Self::Readers => crate::barrier::best_m(ranks),
            Self::Group => ranks.saturating_sub(1),
        }
    }

    /// The size in the words of docs/algorithms.md.
    pub(super) fn text(self) -> String {
        match self {
            Self::Segment(bytes) => format!("segments, {}K", bytes >> 10),
            Self::SegmentOfAll(bytes) => format!("segments of all parts, {}K", bytes >> 10),
            Self::Readers => "readers, best m".to_owned(),
            Self::Group => "group, all".to_owned(),
        }
    }
}

/// Bytes of segments that can be asked for.
const SEGMENTS: [usize; 9] = {
    let mut all = [4 << 10; 9];
    let mut at = 1;
    while at < all.len() {
        all[at] = 2 * all[at - 1];
        at += 1;
    }
    all
};

/// Numbers of ranks that can be asked for to share a line.
const RANKS: [usize; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64];

/// The sizes of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// What they count.
    pub kind: SizeKind,
    /// The algorithm's name with each of [`SizeKind::values`], in the same order.
    pub names: &'static [&'static str],
}

/// The names of an algorithm with each size of a kind.
macro_rules! sized_names {
    ($name:literal, Segment) => {
        $crate::registry::sized_names!(
            @each $name, ":4K", ":8K", ":16K", ":32K", ":64K", ":128K", ":256K", ":512K", ":1M"
        )
    };
    ($name:literal, SegmentOfAll) => {
        $crate::registry::sized_names!($name, Segment)
    };
    ($name:literal, $ranks:ident) => {
        $crate::registry::sized_names!(
            @each $name, ":1", ":2", ":3", ":4", ":5", ":6", ":7", ":8", ":12", ":16", ":24", ":32", ":48", ":64"
        )
    };
    (@each $name:literal, $($size:literal),+) => {
        &[$(concat!($name, $size)),+]
    };
}
pub(crate) use sized_names;
