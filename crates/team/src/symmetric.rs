//! Buffers that all processes of a team see.

use bytemuck::Pod;
use corecast_transfer::{AllocError, SymmetricBytes, SymmetricMemory};
use corecast_wire::{Segment, SegmentError};
use std::ops::{Deref, DerefMut};

/// A buffer of a rank that all processes of its team have mapped, as the symmetric memory of OpenSHMEM and NVSHMEM: what an
/// operation lends of it is read where it lies. In a team of one process it is memory as any other, which is lent so anyway.
///
/// It belongs to its rank alone: only operations read it elsewhere, and only what they lend. It outlives its member and its
/// team.
///
/// # Examples
///
/// See [`Member::alloc`](crate::Member::alloc).
#[derive(Debug)]
pub struct SymmetricBuffer<T>(Elements<T>);

#[derive(Debug)]
enum Elements<T> {
    Shared(SymmetricBytes),
    /// Of a team of threads, or no elements.
    Private(Vec<T>),
}

impl<T: Pod> SymmetricBuffer<T> {
    /// A buffer of `len` zeroed elements, in `memory` if the team has several processes.
    pub(crate) fn new(memory: Option<&SymmetricMemory>, len: usize) -> Result<Self, AllocError> {
        let bytes = len.saturating_mul(size_of::<T>());
        Ok(Self(match memory {
            Some(memory) if bytes > 0 => Elements::Shared(memory.alloc(bytes)?),
            _ => {
                Segment::check_room(bytes)?;
                let source = std::io::ErrorKind::OutOfMemory;
                let none = |_| SegmentError::Map {
                    bytes,
                    source: source.into(),
                };
                let mut elements = Vec::new();
                elements.try_reserve_exact(len).map_err(none)?;
                elements.resize(len, T::zeroed());
                Elements::Private(elements)
            }
        }))
    }
}

impl<T: Pod> Deref for SymmetricBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            // It begins with a page.
            Elements::Shared(bytes) => bytemuck::cast_slice(bytes),
            Elements::Private(elements) => elements,
        }
    }
}

impl<T: Pod> DerefMut for SymmetricBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Elements::Shared(bytes) => bytemuck::cast_slice_mut(bytes),
            Elements::Private(elements) => elements,
        }
    }
}
