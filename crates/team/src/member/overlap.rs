//! Operations in flight: a member can start several of them and compute meanwhile.

use super::Member;
use super::element_size::{assert_fits, element_size};
use super::flight::{ContextSlot, Flight};
use crate::OpContext;
use crate::failure::Failure;
use crate::op_tracker::{OpTracker, check_root};
use crate::recording::CallKind;
use crate::team_state::TeamState;
use bytemuck::Pod;
use corecast_collectives::Collective;
use corecast_collectives::combine::{Combine, On};
use corecast_collectives::operator::Operator;
use corecast_collectives::{allreduce, barrier, broadcast, reduce};
use corecast_wire::arch::cycles;
use corecast_wire::fiber::{self, Fibers, Look, Stacks};
use corecast_wire::fork::{ForkDetector, forked_since};
use corecast_wire::park::ANY;
use corecast_wire::sync::{model_failed, mutated, panicking};
use corecast_wire::wait::{PollClock, Watch};
use corecast_wire::{SegmentError, WaitStrategy};
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::time::Duration;

/// Why a member cannot have operations in flight.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OverlapError {
    /// The team was made without operation contexts for them.
    #[error("the team was made with depth 0: make it with the number of operations in flight")]
    NoDepth,
    /// The memory for the lines could not be made.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The stacks could not be made.
    #[error(
        "no memory for {count} stacks: {source}; make the team with a smaller depth, or smaller stacks"
    )]
    Stacks {
        /// The number of stacks.
        count: usize,
        /// The kernel's answer.
        source: std::io::Error,
    },
}

/// Starts operations in flight; the body of [`Member::overlap`] gets one.
#[derive(Debug)]
pub struct Overlap<'scope, 'env> {
    fibers: &'scope Fibers<'scope, 'env>,
    slots: &'env [ContextSlot],
    tracker: RefCell<&'env mut OpTracker>,
    started: &'env Cell<u64>,
    polls: &'env PollClock,
    wait_strategy: &'env WaitStrategy,
    fork_detector: ForkDetector,
    size: usize,
    rank: usize,
}

/// The number of an operation in flight: the member's first is 1.
#[derive(Clone, Copy, Debug)]
pub struct Ticket(u64);

/// An operation in flight. Dropping it loses nothing: the operation goes on, and has ended when
/// [`Member::overlap`] returns.
#[derive(Debug)]
#[must_use = "an operation in flight goes on when somebody waits"]
pub struct Request<'o, 'scope, 'env> {
    overlap: &'o Overlap<'scope, 'env>,
    slot: usize,
    ticket: u64,
}

impl Member {
    /// Runs `body`, which starts operations without waiting for them and computes in between. All have
    /// ended when this returns.
    ///
    /// Each operation runs on a stack of its own, as does its operator: of 128 KiB, less some that the algorithm
    /// takes, unless [`Options::stack_bytes`](crate::Options::stack_bytes) asks for more. An operator that needs more
    /// than there is ends the program with a memory fault. So does a function of another language, unless it was
    /// compiled without stack probes and has a frame of more than 1 MiB.
    ///
    /// If an operator panics, the panic comes out of the call that let the operation go on: the one that started it, a
    /// wait, a test, or this one. The team fails at that moment with [`Failure::PeerLost`], also if the body catches it.
    ///
    /// Up to as many operations as the team's [`depth`](crate::Options::depth) are in flight; one
    /// more waits for the oldest. They go on while this member waits for any of them, or calls
    /// [`Request::test`] or [`Overlap::progress`]. As with blocking operations all members start
    /// the same ones in the same order, but may wait for them in any order.
    ///
    /// # Errors
    ///
    /// [`OverlapError`], if the operation contexts cannot be made. The failure of an operation comes from its
    /// [`Request`], and from every later operation.
    ///
    /// # Cost
    ///
    /// The first call makes the operation contexts of the whole team and a stack for each. Afterwards nothing is
    /// allocated.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// team.run(|member| {
    ///     let (mut sum, mut news) = ([member.rank() as u64], [0u8; 100]);
    ///     if member.rank() == 2 {
    ///         news = [7; 100];
    ///     }
    ///     member
    ///         .overlap(|flight| {
    ///             let summing = flight.allreduce(&mut sum, &|a, b| a + b)?;
    ///             let telling = flight.broadcast(2, &mut news)?;
    ///             // … compute …
    ///             telling.wait()?;
    ///             summing.wait()
    ///         })
    ///         .unwrap()
    ///         .unwrap();
    ///     assert_eq!((sum, news), ([3], [7; 100]));
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn overlap<'env, R>(
        &'env mut self,
        body: impl for<'scope> FnOnce(&Overlap<'scope, 'env>) -> R,
    ) -> Result<R, OverlapError> {
        if self.flight.is_none() {
            let (memory, count) = (&self.team_memory, self.team_memory.depth());
            if count == 0 {
                return Err(OverlapError::NoDepth);
            }
            // The stacks come first: contexts are handed out once, and would be lost with an error.
            let stacks = Stacks::for_operators(count, memory.stack_bytes())
                .map_err(|source| OverlapError::Stacks { count, source })?;
            let contexts = memory.take_others(self.rank())?;
            self.flight = Some(Flight::new(contexts, stacks, memory));
        }
        let (size, rank, site) = (self.size(), self.rank(), Location::caller());
        let flight = self.flight.as_mut().expect("was just made");
        let (slots, stacks) = (&flight.slots, &mut flight.stacks);
        let (started, polls) = (&flight.started, &flight.polls);
        let state = &*self.context.fabric.call.state;
        let (tracker, wait_strategy) = (&mut self.tracker, &self.context.fabric.wait_strategy);
        /// Tells the team that this member has panicked, because a body that panics leaves operations half
        /// done.
        struct Lost<'a>(&'a TeamState, usize, ForkDetector);
        impl Drop for Lost<'_> {
            fn drop(&mut self) {
                if panicking() && !forked_since(&self.2) && !model_failed() {
                    self.0.leave(self.1, true);
                }
            }
        }
        let fork_detector = self.team_memory.fork_detector();
        let _lost = Lost(state, rank, fork_detector);
        Ok(fiber::scope(stacks, |fibers| {
            let overlap = Overlap {
                fibers,
                slots,
                tracker: RefCell::new(tracker),
                started,
                polls,
                wait_strategy,
                fork_detector,
                size,
                rank,
            };
            let result = body(&overlap);
            // All operations must end before this returns. Their requests have reported failures.
            let has_ended = || overlap.busy().next().is_none();
            if !has_ended() {
                overlap.recorded(CallKind::Wait, site, || overlap.wait_until(has_ended));
            }
            result
        }))
    }
}

/// Ends an operation in flight that is unwound, because its operator has panicked or the body has. The member may catch
/// the panic and go on, but its part of the operation is lost, so the team fails: else this member would wait for the
/// operation for ever, and the others for this member. What happens in a forked process does not reach the team.
struct Unwound<'a>(&'a ContextSlot);

impl Drop for Unwound<'_> {
    fn drop(&mut self) {
        let Self(place) = self;
        if mutated!(PanicInFlightUntold) || model_failed() {
            return;
        }
        let context = place.context.borrow();
        let call = &context.fabric.call;
        let failure = match forked_since(&place.fork_detector) {
            true => Failure::Forked { rank: call.rank },
            false => call.lost_in_panic(),
        };
        *place.failure.borrow_mut() = Some(failure);
        place.ended.set(true);
    }
}

/// Resumes the operations in flight, which learn how long the thread has waited, and tells others which ones have ended.
struct Long<'a, 'scope, 'env>(&'a Overlap<'scope, 'env>);

/// An operation in flight has made progress.
struct GoneOn;

impl Watch for Long<'_, '_, '_> {
    type Error = GoneOn;

    fn check(&mut self, waited: Duration) -> Result<(), GoneOn> {
        match self.0.resume_long(waited) {
            true => Err(GoneOn),
            false => Ok(()),
        }
    }
}

impl<'scope, 'env> Overlap<'scope, 'env> {
    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of operations that can be in flight at a time.
    pub fn depth(&self) -> usize {
        self.slots.len()
    }

    fn busy(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.slots.len()).filter(|&slot| !self.fibers.is_idle(slot))
    }

    /// Lets every operation in flight go as far as it can without waiting. An operation that can no longer succeed
    /// ends, and its request reports why.
    ///
    /// # Cost
    ///
    /// A look at what each operation waits for. While nothing comes, also a read of the cycle counter, and once in
    /// 100 µs a look at the lines of the ranks that are waited for. A limit such as
    /// [`Options::patience`](crate::Options::patience) counts from the first of these polls, and of the time between two
    /// of them at most 5 ms: this member may have computed meanwhile.
    pub fn progress(&self) {
        if self.is_forked() {
            return self.end_forked();
        }
        let went_on = self.resume(Look::Quick)
            || match self.polls.vain() {
                Some(_) if mutated!(PollsInVain) => false,
                Some(waited) => self.resume_long(waited),
                None => false,
            };
        if went_on {
            self.polls.restart();
        }
    }

    /// Resumes all operations in flight; returns whether any has made progress.
    fn resume(&self, look: Look) -> bool {
        let slots = 0..self.slots.len();
        slots.fold(false, |any, slot| self.fibers.resume(slot, look) | any)
    }

    /// Whether this process was forked from the member's.
    fn is_forked(&self) -> bool {
        forked_since(&self.fork_detector)
    }

    /// Ends the operations in flight of a forked process without resuming them: they would take the parent's messages,
    /// send in its name, or wait for threads that are not in this process. Their fibers are unwound at the end.
    #[cold]
    fn end_forked(&self) {
        for place in self.slots.iter().filter(|place| !place.ended.get()) {
            *place.failure.borrow_mut() = Some(Failure::Forked { rank: self.rank });
            place.ended.set(true);
        }
    }

    /// Resumes all operations in flight after a wait of that length; returns whether any has made progress. Others learn
    /// here, and not earlier, which operations this member has ended: only who waits for them in vain needs it.
    #[cold]
    fn resume_long(&self, waited: Duration) -> bool {
        let went_on = self.resume(Look::Long(waited));
        let succeeded = |slot: &&ContextSlot| slot.ended.get() && slot.failure.borrow().is_none();
        for slot in self.slots.iter().filter(succeeded) {
            let call = &slot.context.borrow().fabric.call;
            if let Some(in_flight) = &call.in_flight
                && !forked_since(&slot.fork_detector)
            {
                in_flight.tell_ended(call.rank);
            }
        }
        went_on
    }

    /// Waits until `done`, which operations in flight bring about. In a forked process it returns at once, and they have
    /// ended.
    fn wait_until(&self, done: impl Fn() -> bool) {
        while !done() {
            if self.is_forked() {
                return self.end_forked();
            }
            // A wait begins anew when an operation makes progress, because limits count from a peer's last
            // step.
            let look = || self.resume(Look::Quick).then_some(GoneOn);
            let (Ok(GoneOn) | Err(GoneOn)) =
                self.wait_strategy.wait_watched(ANY, || Long(self), look);
            // So do limits of later polls.
            self.polls.restart();
        }
    }

    /// Runs `call`, and records it if calls are recorded.
    #[inline]
    fn recorded<R>(
        &self,
        kind: CallKind,
        site: &'static Location<'static>,
        call: impl FnOnce() -> R,
    ) -> R {
        let came = self.tracker.borrow().recorder().map(|_| cycles());
        let result = call();
        if let Some(came) = came {
            let tracker = self.tracker.borrow();
            let recorder = tracker.recorder().expect("it gave the time");
            recorder.leave_whole((kind, site), came, tracker.seq());
        }
        result
    }

    /// The operation that was started last.
    pub(super) fn last_started(&self) -> Ticket {
        Ticket(self.started.get())
    }

    /// Waits until all operations that were started after `before` have ended, and returns the first failure.
    #[track_caller]
    pub(super) fn wait_since(&self, Ticket(before): Ticket) -> Result<(), Failure> {
        // An operation context that has begun a later operation has ended the earlier ones.
        let since = || self.slots.iter().filter(|slot| slot.ticket.get() > before);
        let have_ended = || since().all(|slot| slot.ended.get());
        let site = Location::caller();
        self.recorded(CallKind::Wait, site, || self.wait_until(have_ended));
        let failures =
            since().filter_map(|slot| Some((slot.ticket.get(), slot.failure.borrow().clone()?)));
        match failures.min_by_key(|&(ticket, _)| ticket) {
            Some((_, failure)) => Err(failure),
            None => Ok(()),
        }
    }

    /// Starts an operation, on `bytes` that are the same number on all ranks if it is given, on the next operation context;
    /// waits until that is free.
    pub(super) fn start<'o>(
        &'o self,
        kind: Collective,
        root: usize,
        bytes: Option<usize>,
        site: &'static Location<'static>,
        job: impl FnOnce(&mut OpContext) -> Result<(), Failure> + 'scope,
    ) -> Result<Request<'o, 'scope, 'env>, Failure> {
        self.recorded(CallKind::Start(kind), site, || {
            self.start_unrecorded(kind, root, bytes, site, job)
        })
    }

    fn start_unrecorded<'o>(
        &'o self,
        kind: Collective,
        root: usize,
        bytes: Option<usize>,
        site: &'static Location<'static>,
        job: impl FnOnce(&mut OpContext) -> Result<(), Failure> + 'scope,
    ) -> Result<Request<'o, 'scope, 'env>, Failure> {
        // Before anything counts: a call that is refused changes nothing.
        if !mutated!(BadRootCounts) {
            check_root(root, self.size);
        }
        // The slot depends on the number of operations alone, so that all members take the same operation
        // context.
        let ticket = self.started.get() + 1;
        let slot = (ticket % self.slots.len() as u64) as usize;
        self.wait_until(|| self.fibers.is_idle(slot));
        if self.is_forked() {
            // The operation context may be that of an operation whose fiber stands still.
            return Err(Failure::Forked { rank: self.rank });
        }
        self.started.set(ticket);
        let place = &self.slots[slot];
        self.tracker.borrow_mut().begin_in_flight(
            &mut place.context.borrow_mut(),
            (kind, root, bytes),
            site,
        )?;
        place.ended.set(false);
        place.ticket.set(ticket);
        // Limits of polls are those of the operations that were in flight at the time.
        self.polls.restart();
        self.fibers.start(slot, move || {
            let unwound = Unwound(place);
            if let Err(failure) = job(&mut place.context.borrow_mut()) {
                *place.failure.borrow_mut() = Some(failure);
            }
            place.ended.set(true);
            std::mem::forget(unwound);
        });
        Ok(Request {
            overlap: self,
            slot,
            ticket,
        })
    }

    /// [`Member::barrier`], split in two: this is the arrival, [`Request::wait`] the departure.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    #[track_caller]
    pub fn barrier(&self) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Barrier,
            0,
            None,
            Location::caller(),
            barrier::start,
        )
    }

    /// Starts [`Member::broadcast`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team.
    #[track_caller]
    pub fn broadcast<T: Pod>(
        &self,
        root: usize,
        data: &'scope mut [T],
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        self.start(
            Collective::Broadcast,
            root,
            Some(size_of_val(data)),
            Location::caller(),
            move |context| {
                broadcast::start(
                    context,
                    root,
                    bytemuck::cast_slice_mut(data),
                    element_size::<T>(),
                )
            },
        )
    }

    /// Starts [`Member::reduce`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team.
    #[track_caller]
    pub fn reduce<T: Pod>(
        &self,
        root: usize,
        data: &'scope mut [T],
        operator: &'scope impl Operator<T>,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        assert_fits::<T>();
        self.start(
            Collective::Reduce,
            root,
            Some(size_of_val(data)),
            Location::caller(),
            move |context| {
                let (data, combine) = (bytemuck::cast_slice_mut(data), On::<T, _>::new(operator));
                reduce_in_flight(context, root, data, &combine)
            },
        )
    }

    /// Starts [`Member::allreduce`] as an operation in flight.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed.
    #[track_caller]
    pub fn allreduce<T: Pod>(
        &self,
        data: &'scope mut [T],
        operator: &'scope impl Operator<T>,
    ) -> Result<Request<'_, 'scope, 'env>, Failure> {
        assert_fits::<T>();
        self.start(
            Collective::Allreduce,
            0,
            Some(size_of_val(data)),
            Location::caller(),
            move |context| {
                let (data, combine) = (bytemuck::cast_slice_mut(data), On::<T, _>::new(operator));
                allreduce_in_flight(context, data, &combine)
            },
        )
    }
}

/// What all operators share of a reduction in flight.
#[inline(never)]
fn reduce_in_flight(
    context: &mut OpContext,
    root: usize,
    data: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), Failure> {
    reduce::start(context, root, data, &combine)
}

/// What all operators share of an allreduction in flight.
#[inline(never)]
fn allreduce_in_flight(
    context: &mut OpContext,
    data: &mut [u8],
    combine: &dyn Combine,
) -> Result<(), Failure> {
    allreduce::start(context, data, &combine)
}

impl Request<'_, '_, '_> {
    fn place(&self) -> &ContextSlot {
        &self.overlap.slots[self.slot]
    }

    fn has_ended(&self) -> bool {
        let place = self.place();
        place.ticket.get() != self.ticket || place.ended.get()
    }

    fn outcome(&self) -> Result<(), Failure> {
        let place = self.place();
        // If the context has begun a later operation, this one has succeeded, or the team has failed and every
        // later operation reports it.
        match &*place.failure.borrow() {
            Some(failure) if place.ticket.get() == self.ticket => Err(failure.clone()),
            _ => Ok(()),
        }
    }

    /// Returns whether the operation has ended. Before that it lets all operations in flight go as far as they
    /// can. A member that only polls gets the same failures as one that waits, see [`Overlap::progress`].
    ///
    /// # Errors
    ///
    /// The operation's failure.
    pub fn test(&self) -> Result<bool, Failure> {
        if !self.has_ended() {
            self.overlap.progress();
        }
        match self.has_ended() {
            true => self.outcome().map(|()| true),
            false => Ok(false),
        }
    }

    /// Waits until the operation has ended.
    ///
    /// # Errors
    ///
    /// The operation's failure.
    #[track_caller]
    pub fn wait(self) -> Result<(), Failure> {
        let (overlap, site) = (self.overlap, Location::caller());
        overlap.recorded(CallKind::Wait, site, || {
            overlap.wait_until(|| self.has_ended());
        });
        self.outcome()
    }
}
