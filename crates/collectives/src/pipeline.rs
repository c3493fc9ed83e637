//! Pipeline segments: the parts of long data, on which the levels of a tree work at the same time (NUMA clusters
//! §3).

use std::ops::Range;

/// How data are cut into pipeline segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineSegments {
    /// One segment: the whole buffer.
    Whole,
    /// Segments of this many bytes.
    Fixed(usize),
    /// Repeated halving while the halves have at least this many bytes: the number of segments is a power of two.
    Dynamic(usize),
}

impl PipelineSegments {
    /// Bytes of a segment, the default of the NUMA-cluster collectives.
    pub const FIXED_BYTES: usize = 32 * 1024;
    /// Fewest bytes of a half, the default of the NUMA-cluster collectives.
    pub const DYNAMIC_BYTES: usize = 8 * 1024;
    /// Data of up to so many bytes gain nothing by segments where two ranks copy at the same time: cut in two they took 1.0 to 1.3 of
    /// the time.
    pub const WHOLE_BYTES: usize = 2 * Self::DYNAMIC_BYTES;
    /// Segments of 32 KiB.
    pub const FIXED: Self = Self::Fixed(Self::FIXED_BYTES);
    /// Halving into segments of at least 8 KiB.
    pub const DYNAMIC: Self = Self::Dynamic(Self::DYNAMIC_BYTES);

    /// Bytes of each pipeline segment but the last: a multiple of `element_size`, at least `element_size`.
    pub fn bytes(self, len: usize, element_size: usize) -> usize {
        let requested = match self {
            Self::Whole => len,
            Self::Fixed(bytes) => bytes.min(len),
            Self::Dynamic(least) => {
                let mut bytes = len;
                while bytes.div_ceil(2) >= least.max(1) && bytes > 1 {
                    bytes = bytes.div_ceil(2);
                }
                bytes
            }
        };
        (requested / element_size * element_size).max(element_size)
    }

    /// The segments of `len` bytes, in order. For no bytes there is one empty segment, so that members still meet.
    pub fn of(self, len: usize, element_size: usize) -> impl Iterator<Item = Range<usize>> + Clone {
        let bytes = self.bytes(len, element_size);
        let count = len.div_ceil(bytes).max(1);
        (0..count).map(move |part| part * bytes..((part + 1) * bytes).min(len))
    }
}

/// Part `index` of `len` bytes in `parts` nearly equal blocks of whole elements.
#[inline]
pub fn block(len: usize, element_size: usize, parts: usize, index: usize) -> Range<usize> {
    let elements = len / element_size;
    let at = |index: usize| {
        // Without overflow for any length: the first `elements % parts` blocks have one more.
        (elements / parts * index + index.min(elements % parts)) * element_size
    };
    at(index)..at(index + 1)
}

#[cfg(test)]
mod tests;
