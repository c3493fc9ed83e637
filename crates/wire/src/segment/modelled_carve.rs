//! The two ways by which a segment of a model hands out its lines.

use super::error::SegmentError;
use super::lines::Lines;
use super::modelled::{Kept, Segment};
use super::view::LineSlice;
use std::any::TypeId;
use std::sync::Arc;

impl Segment {
    /// The next `count` lines, all in their default state.
    pub fn lines<T: Lines>(self: &Arc<Self>, count: usize) -> Result<LineSlice<T>, SegmentError> {
        let Some((whole, next)) = &self.whole else {
            return Ok(self.keep(None, count));
        };
        let mut next = next.lock().unwrap();
        let offset = *next;
        // Lines without any have a place of their own, too.
        *next += count.max(1);
        whole.at(offset, count)
    }

    /// The `count` lines of this type at this offset. The first call makes them, and later calls
    /// must ask for as many.
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
}
