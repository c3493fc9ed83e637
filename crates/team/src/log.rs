//! Which operations a member has begun, for itself and for whoever waits for it.

use crate::Lane;
use crate::book::Pen;
use crate::failure::Failure;
use crate::operation::Operation;
use corecast_collectives::Collective;
use corecast_wire::diary::Diary;
use corecast_wire::fork::{Stamp, forked_since};
use corecast_wire::{Fabric, LineRef};
use std::panic::Location;

/// A member's log.
#[derive(Debug)]
pub(crate) struct Log {
    /// Operations begun.
    seq: u64,
    diary: LineRef<Diary>,
    /// Puts call sites in words, where ranks are in different processes.
    pen: Option<Pen>,
    stamp: Stamp,
}

impl Log {
    pub(crate) fn new(diary: LineRef<Diary>, pen: Option<Pen>, stamp: Stamp) -> Self {
        Self {
            seq: 0,
            diary,
            pen,
            stamp,
        }
    }

    /// Operations begun.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Whether this process was forked from the one that the member belongs to.
    pub(crate) fn is_forked(&self) -> bool {
        forked_since(&self.stamp)
    }

    /// Names the operation that `lane` begins, to whoever will wait for this rank.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed; [`Failure::Forked`].
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        lane: &mut Lane,
        kind: Collective,
        root: usize,
        site: &'static Location<'static>,
    ) -> Result<(), Failure> {
        let fabric = &mut lane.fabric;
        if root >= fabric.size() {
            root_outside(root, fabric.size());
        }
        if forked_since(&self.stamp) {
            let rank = fabric.rank();
            return Err(Failure::Forked { rank });
        }
        self.seq += 1;
        let operation = Operation {
            seq: self.seq as u32,
            kind,
            root: root as u32,
            in_flight: fabric.here.lane_diaries.is_some(),
        };
        fabric.here.operation = operation;
        fabric.here.site = site;
        fabric.mark.advance(operation, self.seq);
        if let Some(pen) = &self.pen {
            pen.note(site);
        }
        self.diary.enter(operation.entry(), site);
        if let Some(diaries) = &fabric.here.lane_diaries {
            diaries[fabric.here.rank].enter(operation.entry(), site);
        }
        fabric.here.board.stops(fabric.here.rank, operation.seq)
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn root_outside(root: usize, size: usize) -> ! {
    panic!(
        "root {root} is outside of the team, whose ranks are 0 to {}",
        size - 1
    )
}
