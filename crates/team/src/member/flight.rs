//! The state that a member keeps for operations in flight, from the first of them on.

use crate::OpContext;
use crate::failure::Failure;
use crate::team_memory::TeamMemory;
use corecast_wire::fiber::Stacks;
use corecast_wire::fork::ForkDetector;
use corecast_wire::wait::PollClock;
use std::cell::{Cell, Ref, RefCell};

/// An operation context for one operation in flight, and the outcome of that operation.
#[derive(Debug)]
pub(super) struct ContextSlot {
    pub(super) context: RefCell<OpContext>,
    /// The number of the operation that runs here, or ran last.
    pub(super) ticket: Cell<u64>,
    /// Whether that operation has ended.
    pub(super) ended: Cell<bool>,
    /// Its failure, if it has failed.
    pub(super) failure: RefCell<Option<Failure>>,
    /// Tells whether this process was forked from the member's.
    pub(super) fork_detector: ForkDetector,
}

impl ContextSlot {
    /// The context, unless its operation runs.
    pub(super) fn look(&self) -> Option<Ref<'_, OpContext>> {
        self.context.try_borrow().ok()
    }
}

/// A member's operation contexts and stacks for operations in flight, made when it first has one.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) slots: Vec<ContextSlot>,
    pub(super) stacks: Stacks,
    /// How many operations have been started.
    pub(super) started: Cell<u64>,
    /// Tells polls that find nothing when to look whether anything can still come.
    pub(super) polls: PollClock,
}

impl Flight {
    pub(super) fn new(contexts: Vec<OpContext>, stacks: Stacks, memory: &TeamMemory) -> Self {
        let slot = |context| ContextSlot {
            context: RefCell::new(context),
            ticket: Cell::new(0),
            ended: Cell::new(true),
            failure: RefCell::new(None),
            fork_detector: memory.fork_detector(),
        };
        Self {
            stacks,
            started: Cell::new(memory.begun()[1]),
            polls: PollClock::default(),
            slots: contexts.into_iter().map(slot).collect(),
        }
    }

    /// A digest of the operations of all operation contexts.
    pub(super) fn digest(&self) -> u64 {
        let digests = self
            .slots
            .iter()
            .map(|slot| slot.context.borrow().fabric.call.fingerprint.word());
        digests.fold(0, |sum, word| sum.rotate_left(9) ^ word)
    }
}
