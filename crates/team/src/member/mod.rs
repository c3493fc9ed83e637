//! Members: a thread's handle on one rank, with the operations that it calls.

mod bodies;
mod by_address;
mod element_size;
mod flight;
mod in_flight;
mod moves;
mod overlap;
mod scans;
mod sync;

pub use overlap::{Overlap, OverlapError, Request};
pub use sync::{Await, Synchrony, UnknownSynchrony};

use crate::OpContext;
use crate::failure::Failure;
use crate::op_tracker::OpTracker;
use crate::operation::OpFingerprint;
use crate::team_memory::TeamMemory;
use bytemuck::Pod;
use corecast_collectives::Collective;
use corecast_collectives::combine::On;
use corecast_collectives::operator::Operator;
use corecast_collectives::{allreduce, barrier, broadcast, reduce};
use corecast_wire::{Fabric, WaitConfig};
use element_size::{assert_fits, element_size};
use flight::Flight;
use std::panic::Location;
use std::sync::Arc;

/// One rank of a team. It can be sent to another thread, but is used by one thread at a time.
///
/// Every operation must be called by all members, in the same order and with the same root. It
/// fails instead of hanging when they do not: see [`Failure`]. After a failure all further
/// operations of the team fail in the same way.
///
/// A member that is dropped leaves the team: members that wait for it fail. A forked process is no member: in
/// it every operation is a [`Failure::Forked`], and nothing that happens to its copy of a member reaches the
/// team.
#[derive(Debug)]
pub struct Member {
    context: OpContext,
    tracker: OpTracker,
    wait_config: WaitConfig,
    team_memory: Arc<TeamMemory>,
    /// The state of operations in flight, made when there is a first one.
    flight: Option<Flight>,
}

impl Member {
    pub(crate) fn new(
        context: OpContext,
        team_memory: Arc<TeamMemory>,
        wait_config: WaitConfig,
    ) -> Self {
        let rank = context.fabric.rank();
        let history = team_memory.state().histories[rank].clone();
        Self {
            context,
            tracker: OpTracker::new(
                history,
                team_memory.site_writer(rank),
                team_memory.fork_detector(),
            ),
            wait_config,
            team_memory,
            flight: None,
        }
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.context.fabric.rank()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.context.fabric.size()
    }

    /// How this member waits.
    pub fn wait_config(&self) -> WaitConfig {
        self.wait_config
    }

    /// Cancels every operation of the team from this member's next one on: a member that is in such an
    /// operation, or calls one, gets [`Failure::Cancelled`]. Earlier operations complete, because this member
    /// has done its part in them. Use it when this member will not call an operation in which others may wait
    /// already. Afterwards make another team.
    ///
    /// # Cost
    ///
    /// A store to a line that all members read, and a look at each member's parker. A member that waits notices
    /// when its spin is over.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_team::{Failure, Plans, Team};
    ///
    /// let machine = corecast_model::synthetic("core:2").unwrap();
    /// let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let ended = Team::new(plans)?.run(|member| {
    ///     member.barrier().unwrap();
    ///     match member.rank() {
    ///         0 => Ok(member.cancel()),
    ///         _ => member.barrier(), // would wait for ever
    ///     }
    /// });
    /// assert_eq!(ended, [Ok(()), Err(Failure::Cancelled { rank: 1 })]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(&mut self) {
        if !self.tracker.is_forked() {
            self.team_memory
                .state()
                .cancel((self.tracker.seq() + 1) as u32);
        }
    }

    /// The fingerprint of all operations that this member has begun.
    pub(crate) fn fingerprint(&self) -> OpFingerprint {
        let others = self.flight.as_ref().map_or(0, Flight::digest);
        self.context
            .fabric
            .fingerprint
            .with(self.tracker.seq(), others)
    }

    /// Begins an operation: enters it in the history that members which wait for this rank read.
    #[inline(always)]
    fn begin(
        &mut self,
        kind: Collective,
        root: usize,
        site: &'static Location<'static>,
    ) -> Result<(), Failure> {
        self.tracker.begin(&mut self.context, kind, root, site)
    }

    /// Returns when every member has called it. What members wrote before it is visible to all members after
    /// it.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Cost
    ///
    /// The cost of the plan, or of the algorithm that was asked for: see [`barrier`].
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_team::{Plans, Team};
    /// use corecast_plan::Pattern;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let machine = corecast_model::synthetic("core:3").unwrap();
    /// let dissemination: Pattern = "dissemination:2".parse()?;
    /// let team = Team::new(Plans::of_pattern(machine.costs(), dissemination, None)?)?;
    /// let come = AtomicUsize::new(0);
    /// team.run(|member| {
    ///     come.fetch_add(1, Ordering::Relaxed);
    ///     member.barrier().unwrap();
    ///     assert_eq!(come.load(Ordering::Relaxed), 3);
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn barrier(&mut self) -> Result<(), Failure> {
        self.begin(Collective::Barrier, 0, Location::caller())?;
        barrier::start(&mut self.context)
    }

    /// Gives `root`'s `data` to every member. All have the same number of elements.
    ///
    /// Broadcasts are totally ordered: every member gets them in the order in which they were called, even if
    /// their roots differ.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `data` may then be partly overwritten.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team.
    ///
    /// # Cost
    ///
    /// See [`broadcast::tree`](corecast_collectives::broadcast::tree); data longer than a message are lent, see [`broadcast::lent`](corecast_collectives::broadcast::lent).
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// team.run(|member| {
    ///     let mut data = [0.0; 4];
    ///     if member.rank() == 2 {
    ///         data = [1.0, 2.0, 3.0, 4.0];
    ///     }
    ///     member.broadcast(2, &mut data).unwrap();
    ///     assert_eq!(data, [1.0, 2.0, 3.0, 4.0]);
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn broadcast<T: Pod>(&mut self, root: usize, data: &mut [T]) -> Result<(), Failure> {
        self.begin(Collective::Broadcast, root, Location::caller())?;
        broadcast::start(
            &mut self.context,
            root,
            bytemuck::cast_slice_mut(data),
            element_size::<T>(),
        )
    }

    /// [`broadcast`](Self::broadcast) of one value: returns `root`'s.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team.
    #[inline]
    #[track_caller]
    pub fn broadcast_value<T: Pod>(&mut self, root: usize, mut value: T) -> Result<T, Failure> {
        self.broadcast(root, std::slice::from_mut(&mut value))?;
        Ok(value)
    }

    /// Combines the members' `data` element by element into that of `root`; on other ranks `data`
    /// stays as it is. All have the same number of elements.
    ///
    /// `operator` must be associative and commutative up to what the caller tolerates. Values are
    /// combined in an order that depends on the plan and the root alone: a team gives the same
    /// bits each time.
    ///
    /// # Errors
    ///
    /// [`Failure`]; `root`'s `data` may then hold partial results.
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team, or an element has an alignment above 16.
    ///
    /// # Cost
    ///
    /// See [`reduce::tree`](corecast_collectives::reduce::tree); data longer than a message are lent, see [`reduce::lent`](corecast_collectives::reduce::lent).
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:3").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// let results = team.run(|member| {
    ///     let mut data = [member.rank() as i32, 10 * member.rank() as i32];
    ///     member.reduce(1, &mut data, i32::max).unwrap();
    ///     data
    /// });
    /// assert_eq!(results, [[0, 0], [2, 20], [2, 20]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn reduce<T: Pod>(
        &mut self,
        root: usize,
        data: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<(), Failure> {
        self.begin(Collective::Reduce, root, Location::caller())?;
        assert_fits::<T>();
        let combine = On::<T, _>::new(&operator);
        reduce::start(
            &mut self.context,
            root,
            bytemuck::cast_slice_mut(data),
            &combine,
        )
    }

    /// [`reduce`](Self::reduce) of one value: `Some` for `root`, `None` for the others.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// In the same cases as [`reduce`](Self::reduce).
    #[inline]
    #[track_caller]
    pub fn reduce_value<T: Pod>(
        &mut self,
        root: usize,
        mut value: T,
        operator: impl Operator<T>,
    ) -> Result<Option<T>, Failure> {
        self.reduce(root, std::slice::from_mut(&mut value), operator)?;
        Ok((self.rank() == root).then_some(value))
    }

    /// Combines the members' `data` element by element, and gives all members the result, with the same bits.
    /// Otherwise it is like [`reduce`](Self::reduce).
    ///
    /// # Errors
    ///
    /// [`Failure`]; `data` may then hold partial results.
    ///
    /// # Panics
    ///
    /// If an element has an alignment above 16.
    ///
    /// # Cost
    ///
    /// See [`allreduce::tree`](corecast_collectives::allreduce::tree); two ranks use [`allreduce::exchange`](corecast_collectives::allreduce::exchange); by length and number of ranks also
    /// [`allreduce::owners`](corecast_collectives::allreduce::owners) and others.
    #[inline]
    #[track_caller]
    pub fn allreduce<T: Pod>(
        &mut self,
        data: &mut [T],
        operator: impl Operator<T>,
    ) -> Result<(), Failure> {
        self.begin(Collective::Allreduce, 0, Location::caller())?;
        assert_fits::<T>();
        let combine = On::<T, _>::new(&operator);
        allreduce::start(&mut self.context, bytemuck::cast_slice_mut(data), &combine)
    }

    /// [`allreduce`](Self::allreduce) of one value.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    ///
    /// # Panics
    ///
    /// In the same cases as [`allreduce`](Self::allreduce).
    #[inline]
    #[track_caller]
    pub fn allreduce_value<T: Pod>(
        &mut self,
        mut value: T,
        operator: impl Operator<T>,
    ) -> Result<T, Failure> {
        self.allreduce(std::slice::from_mut(&mut value), operator)?;
        Ok(value)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if self.tracker.is_forked() {
            return;
        }
        let call = &self.context.fabric.call;
        call.state.leave(call.rank, std::thread::panicking());
    }
}
