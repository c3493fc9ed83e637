//! Segments in models: lines on the heap, because loom's types are no plain memory.

use super::error::SegmentError;
use super::lines::Lines;
use super::placement::Placement;
use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex};

/// Lines that models share.
#[derive(Debug, Default)]
pub struct Segment {
    bytes: usize,
    pub(super) kept: Mutex<Vec<Kept>>,
    /// The segment that this is a part of, and the offset of its next lines there.
    pub(super) whole: Option<(Arc<Segment>, Mutex<usize>)>,
}

/// Lines, and the offset and type by which they were asked for, if any.
pub(super) struct Kept {
    pub(super) place: Option<(usize, TypeId)>,
    pub(super) lines: Box<dyn Any + Send + Sync>,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kept")
    }
}

impl Segment {
    /// An empty segment.
    pub fn new(bytes: usize, _node: Option<u32>) -> Result<Arc<Self>, SegmentError> {
        Ok(Arc::new(Self {
            bytes,
            ..Self::default()
        }))
    }

    /// A part of this segment. Whoever asks for the same part, and then for lines of the same types in the same order, gets
    /// the same lines: so a process of a model meets the others.
    pub fn part(
        self: &Arc<Self>,
        offset: usize,
        bytes: usize,
        _node: Option<u32>,
    ) -> Result<Arc<Self>, SegmentError> {
        Ok(Arc::new(Self {
            bytes,
            whole: Some((Arc::clone(self), Mutex::new(offset))),
            ..Self::default()
        }))
    }

    /// An empty segment, as `new` makes it.
    pub fn reserve(bytes: usize, node: Option<u32>) -> Result<Arc<Self>, SegmentError> {
        Self::new(bytes, node)
    }

    /// Bytes that `count` lines of `T` take in a segment.
    pub const fn bytes_for<T: Lines>(count: usize) -> usize {
        count
    }

    /// Always `Ok`, because a model is small.
    pub fn check_room(_bytes: usize) -> Result<(), SegmentError> {
        Ok(())
    }

    /// The length in bytes that the segment was made with.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether no process of the model but one writes here: `false` in a part.
    pub fn keep_for_addresses(&self) -> bool {
        self.whole.is_none()
    }

    /// Whether processes of the model share it, by its parts.
    pub fn is_shared(&self) -> bool {
        self.whole.is_some()
    }

    /// Does nothing, because a model has no NUMA nodes.
    pub fn bind(&self, _offset: usize, _len: usize, _node: u32) -> Placement {
        Placement::Anywhere
    }

    /// Always [`Placement::Anywhere`].
    pub fn placement(&self) -> &Placement {
        &Placement::Anywhere
    }
}
