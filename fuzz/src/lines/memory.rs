//! Memory that another process writes, and buffers that nobody else may write.

use arbitrary::{Result, Unstructured};
use corecast_wire::wait::Watch;
use corecast_wire::{Line, LineRef, Parker, Segment, WaitConfig, WaitStrategy, shared_fence_kind};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

/// A word that another process may write: any, a small one, nearly the largest one, or with one bit.
pub(super) fn word(u: &mut Unstructured) -> Result<u64> {
    Ok(match u.int_in_range(0..=4)? {
        0 => u.arbitrary()?,
        1 => u.int_in_range(0..=63)?,
        2 => u64::MAX - u.int_in_range(0..=63)?,
        3 => 1 << u.int_in_range(0..=63)?,
        _ => u.int_in_range(0..=1 << 26)?,
    })
}

/// Writes a word as another process does, by a mapping of its own.
pub(super) fn write(memory: &File, place: u64, word: u64) {
    let written = memory.write_all_at(&word.to_ne_bytes(), place);
    written.expect("memory can be written");
}

/// Shared memory, and the file by which another process writes it.
pub(super) fn shared(bytes: usize) -> (Arc<Segment>, File) {
    let (segment, fd) = Segment::shared(bytes).expect("there is memory");
    (segment, fd.into())
}

/// Ends a wait at its first check.
pub(super) struct Lost;

impl Watch for Lost {
    type Error = ();

    fn check(&mut self, _waited: Duration) -> std::result::Result<(), ()> {
        Err(())
    }
}

/// A thread's place to sleep, and how it waits.
pub(super) fn wait_strategy() -> WaitStrategy {
    WaitStrategy::with_fence(WaitConfig::OVERSUBSCRIBED, parker(), shared_fence_kind())
}

pub(super) fn parker() -> LineRef<Line<Parker>> {
    Segment::one(None).expect("there is memory")
}

/// A buffer between bytes that nobody may write.
pub(super) struct Guarded {
    bytes: Vec<u8>,
    pub(super) len: usize,
}

/// Bytes on each side.
const GUARD: usize = 64;
/// What they hold.
const SENTINEL: u8 = 0xA5;

impl Guarded {
    pub(super) fn new(len: usize) -> Self {
        let mut bytes = vec![SENTINEL; len + 2 * GUARD];
        bytes[GUARD..][..len].fill(0);
        Self { bytes, len }
    }

    pub(super) fn data(&mut self) -> &mut [u8] {
        &mut self.bytes[GUARD..][..self.len]
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let (front, rest) = self.bytes.split_at(GUARD);
        let back = &rest[self.len..];
        let kept = front.iter().chain(back).all(|&byte| byte == SENTINEL);
        assert!(kept, "bytes around a buffer of {} were written", self.len);
    }
}
