//! What a member keeps for operations in flight, from the first of them on.

use crate::Lane;
use crate::failure::Failure;
use corecast_wire::fiber::Stacks;
use std::cell::{Cell, RefCell};

/// A lane for one operation in flight, and what has become of that operation.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) lane: RefCell<Lane>,
    /// The number of the operation that runs here, or ran last.
    pub(super) ticket: Cell<u64>,
    /// Whether that operation has ended.
    pub(super) ended: Cell<bool>,
    /// Its failure, if it has failed.
    pub(super) failure: RefCell<Option<Failure>>,
}

/// What a member needs for operations in flight, made when it first has one.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) seats: Vec<Seat>,
    pub(super) stacks: Stacks,
    /// How many operations have been started.
    pub(super) started: Cell<u64>,
}

impl Flight {
    pub(super) fn new(lanes: Vec<Lane>) -> std::io::Result<Self> {
        let seat = |lane| Seat {
            lane: RefCell::new(lane),
            ticket: Cell::new(0),
            ended: Cell::new(true),
            failure: RefCell::new(None),
        };
        Ok(Self {
            stacks: Stacks::new(lanes.len())?,
            started: Cell::new(0),
            seats: lanes.into_iter().map(seat).collect(),
        })
    }

    /// A digest of what all lanes have done.
    pub(super) fn digest(&self) -> u64 {
        let digests = self
            .seats
            .iter()
            .map(|seat| seat.lane.borrow().fabric.mark.word());
        digests.fold(0, |sum, word| sum.rotate_left(9) ^ word)
    }
}
