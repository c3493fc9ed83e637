//! A part of a command that fits a slot.

use std::sync::Arc;

use crate::paxos::group::wires::Coded;

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece(Arc<[u8]>);

impl Piece {
    /// Longest piece in bytes, with its first one.
    pub const BYTES_MAX: usize = 968;

    /// The piece of these bytes.
    ///
    /// # Panics
    ///
    /// If there are more than [`BYTES_MAX`](Self::BYTES_MAX).
    pub fn new(bytes: &[u8]) -> Self {
        assert!(bytes.len() <= Self::BYTES_MAX, "{} bytes", bytes.len());
        Self(bytes.into())
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Coded for Piece {
    fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.0);
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        (bytes.len() <= Self::BYTES_MAX).then(|| Self::new(bytes))
    }
}
