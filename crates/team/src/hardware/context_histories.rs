//! What ranks have begun in an operation context that is for operations in flight.

use crate::operation::Operation;
use corecast_wire::LineRef;
use corecast_wire::op_history::{Entry, OpHistory};
use corecast_wire::sync::mutated;
use std::panic::Location;
use std::sync::Arc;

/// The operation histories of an operation context, of which each operation has a number of its own there.
///
/// A context rests while operations run elsewhere, so the team's number of its last operation may be any number of
/// operations old, and would not tell whether a peer is ahead. By the context's own numbers peers are never further apart
/// than operations can be under way.
#[derive(Debug)]
pub(crate) struct ContextHistories {
    /// The history of each rank.
    pub(crate) ranks: Arc<[LineRef<OpHistory>]>,
    /// The number of this rank's operation in the context; the lower 32 bits.
    pub(crate) seq: u32,
}

impl ContextHistories {
    /// Enters the next operation of this rank, whose number in the team is `entry.seq`, by its word in a history. A call
    /// would make each blocking operation lay out its name in memory first, so this is inlined.
    #[inline(always)]
    pub(crate) fn enter(&mut self, rank: usize, entry: Entry, site: &'static Location<'static>) {
        self.seq = match mutated!(TeamsNumbers) {
            true => entry.seq,
            false => self.seq.wrapping_add(1),
        };
        let seq = self.seq;
        self.ranks[rank].enter(Entry { seq, ..entry }, site);
    }

    /// Tells the others that `rank`, which waits for long, has ended its last operation here.
    pub(crate) fn tell_ended(&self, rank: usize) {
        self.ranks[rank].note_ended(self.seq);
    }

    /// The entry of `operation`, this rank's last one here.
    pub(super) fn entry(&self, operation: Operation) -> Entry {
        Entry {
            seq: self.seq,
            ..operation.entry()
        }
    }
}
