//! Elements that are longer than the pieces in which they arrive.
//!
//! Between processes data come in chunks of 4 to 32 KiB. An element that is longer, say a matrix as one
//! element, is put together here before an operator sees it.

use corecast_collectives::context::aligned_room;
use corecast_wire::LINE_BYTES;

/// An element of which only a part may have arrived.
#[derive(Debug, Default)]
pub(crate) struct Element {
    /// Room for a line more than is needed, so that what lies there can begin with a line.
    room: Vec<u128>,
    /// Bytes of the element that have arrived.
    len: usize,
}

impl Element {
    /// Whether no part of an element has arrived.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a piece of `len` bytes, which `copy` copies, to an element of `element_size` bytes, and calls `whole` with
    /// the element when it is complete. Returns `false` if the piece has more bytes than the element lacks.
    ///
    /// # Cost
    ///
    /// A copy. Allocates for an element that is longer than any before.
    #[cold]
    pub(crate) fn join(
        &mut self,
        element_size: usize,
        len: usize,
        copy: impl FnOnce(&mut [u8]),
        whole: impl FnOnce(&[u8]),
    ) -> bool {
        let end = self.len + len;
        if end > element_size {
            return false;
        }
        let start = std::mem::replace(&mut self.len, end % element_size);
        let room = self.room(element_size);
        copy(&mut room[start..end]);
        if end == element_size {
            whole(room);
        }
        true
    }

    /// Room of `bytes` bytes; the part of an element that has arrived lies at its beginning, if the room was as long
    /// before. It begins with a line, as wide vectors that cross lines take longer.
    ///
    /// # Cost
    ///
    /// Allocates if `bytes` is more than in any call before.
    pub(crate) fn room(&mut self, bytes: usize) -> &mut [u8] {
        let room = aligned_room(&mut self.room, bytes + LINE_BYTES);
        let start = room.as_ptr().align_offset(LINE_BYTES).min(LINE_BYTES);
        &mut room[start..start + bytes]
    }
}

#[cfg(test)]
mod tests;
