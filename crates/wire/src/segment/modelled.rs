//! Segments in models: lines on the heap, because loom's types are no plain memory.

use super::{LineSlice, Lines, Placement, SegmentError};
use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex};

/// Lines that models share.
#[derive(Debug, Default)]
pub struct Segment {
    bytes: usize,
    kept: Mutex<Vec<Kept>>,
}

/// Lines with the offset that they were asked for by, if any.
struct Kept {
    place: Option<(usize, TypeId)>,
    lines: Box<dyn Any + Send + Sync>,
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
            kept: Mutex::default(),
        }))
    }

    /// As `new`.
    pub fn reserve(bytes: usize) -> Result<Arc<Self>, SegmentError> {
        Self::new(bytes, None)
    }

    /// The next `count` lines, all in their default state.
    pub fn lines<T: Lines>(self: &Arc<Self>, count: usize) -> Result<LineSlice<T>, SegmentError> {
        Ok(self.keep(None, count))
    }

    /// The `count` lines of this type that were first asked for by this offset: a model asks for a
    /// place as a whole.
    pub fn at<T: Lines>(
        self: &Arc<Self>,
        offset: usize,
        count: usize,
    ) -> Result<LineSlice<T>, SegmentError> {
        let place = Some((offset, TypeId::of::<T>()));
        let kept = self.kept.lock().unwrap();
        let found = kept.iter().find(|kept| kept.place == place);
        if let Some(lines) = found.and_then(|kept| kept.lines.downcast_ref::<Arc<[T]>>()) {
            assert_eq!(lines.len(), count, "a model asks for a place as a whole");
            return Ok(self.view(lines));
        }
        drop(kept);
        Ok(self.keep(place, count))
    }

    fn keep<T: Lines>(
        self: &Arc<Self>,
        place: Option<(usize, TypeId)>,
        count: usize,
    ) -> LineSlice<T> {
        let lines: Arc<[T]> = (0..count).map(|_| T::default()).collect();
        let view = self.view(&lines);
        let lines = Box::new(lines);
        self.kept.lock().unwrap().push(Kept { place, lines });
        view
    }

    fn view<T: Lines>(self: &Arc<Self>, lines: &Arc<[T]>) -> LineSlice<T> {
        LineSlice {
            first: lines.as_ptr(),
            len: lines.len(),
            segment: Arc::clone(self),
        }
    }

    /// Bytes that `count` lines of `T` take in a segment.
    pub const fn bytes_for<T: Lines>(count: usize) -> usize {
        count
    }

    /// What it was made with.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Models make no views by hand.
    pub fn keep_for_addresses(&self) -> bool {
        true
    }

    /// No other processes in a model.
    pub fn is_shared(&self) -> bool {
        false
    }

    /// No nodes in a model.
    pub fn bind(&self, _offset: usize, _len: usize, _node: u32) -> Placement {
        Placement::Anywhere
    }

    /// Where the memory lies.
    pub fn placement(&self) -> &Placement {
        &Placement::Anywhere
    }
}
