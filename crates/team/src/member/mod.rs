//! Members: a thread's handle on one rank, with the operations that it calls.

mod algorithm;
mod bodies;
mod by_address;
mod element_size;
mod flight;
mod in_flight;
mod moves;
mod on_lines;
mod overlap;
mod reductions;
mod scans;
mod sync;

pub use overlap::{Overlap, OverlapError, Request};
pub use sync::{Await, Synchrony, UnknownSynchrony};

use crate::OpContext;
use crate::failure::Failure;
use crate::hardware::ExchangeStage;
use crate::op_tracker::OpTracker;
use crate::operation::OpFingerprint;
use crate::progress::Ended;
#[cfg(not(loom))]
use crate::symmetric::SymmetricBuffer;
use crate::team_memory::TeamMemory;
use crate::team_state::TeamState;
#[cfg(not(loom))]
use bytemuck::Pod;
use corecast_collectives::barrier;
use corecast_collectives::{Collective, Learned};
#[cfg(not(loom))]
use corecast_transfer::AllocError;
use corecast_wire::arch::cycles;
use corecast_wire::op_history::Presence;
use corecast_wire::sync::{model_failed, mutated};
use corecast_wire::{Fabric, WaitConfig};
use flight::{ContextSlot, Flight};
use std::num::NonZeroUsize;
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
    /// Whether there are two ranks, and operations are not recorded.
    is_pair: bool,
    /// Whether its barriers are exchanges of flags too.
    exchanges_flags: bool,
    wait_config: WaitConfig,
    team_memory: Arc<TeamMemory>,
    /// The state of operations in flight, made when there is a first one.
    flight: Option<Flight>,
}

impl Member {
    pub(crate) fn new(
        mut context: OpContext,
        team_memory: Arc<TeamMemory>,
        wait_config: WaitConfig,
    ) -> Self {
        if team_memory.learns() {
            context.learn(cycles);
        }
        let rank = context.fabric.rank();
        let history = team_memory.state().histories[rank].clone();
        let tracker = OpTracker::new(
            history,
            team_memory.site_writer(rank),
            team_memory.recorder(rank),
            team_memory.fork_detector(),
            team_memory.begun()[0],
        );
        let is_pair = !tracker.is_recorded() && context.fabric.size() == 2;
        Self {
            is_pair,
            exchanges_flags: is_pair && barrier::is_exchange(&context),
            context,
            tracker,
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

    /// A [symmetric buffer](SymmetricBuffer) of `len` zeroed elements: operations of this member lend what lies in it
    /// without a copy to other processes, as they lend any memory to threads.
    ///
    /// # Errors
    ///
    /// [`AllocError`]: the process that made the team has set [`Options::symmetric`](crate::Options::symmetric) bytes of
    /// addresses aside for each rank, which have to suffice, and there has to be memory.
    ///
    /// # Cost
    ///
    /// A lock, a system call, and the clearing of the pages, of which a buffer takes whole ones. In a team of processes that
    /// is about what the first use of any memory costs.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:2").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// team.run(|member| {
    ///     let mut data = member.alloc::<u64>(1 << 17).unwrap();
    ///     data.fill(member.rank() as u64 + 1);
    ///     member.allreduce(&mut data, |a, b| a + b).unwrap();
    ///     assert!(data.iter().all(|&sum| sum == 3));
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(not(loom))]
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<SymmetricBuffer<T>, AllocError> {
        self.team_memory.alloc(self.rank(), len)
    }

    /// How this member waits.
    pub fn wait_config(&self) -> WaitConfig {
        self.wait_config
    }

    /// What the team has learned so far, the same on all ranks that have called the same operations; nothing unless
    /// [`Options::learn`](crate::Options::learn) is set.
    ///
    /// The first calls of an operation at a length race the algorithms that can run it, and later calls use the fastest: see
    /// [`learning`](corecast_collectives::learning), which says what is not raced.
    ///
    /// # Cost
    ///
    /// At most [`Race::calls_most`](corecast_collectives::learning::Race::calls_most) calls of an operation at a class of
    /// lengths are raced: 4 by each algorithm, 12 by each of the best four, and 32 by each of the best two. Each stage ends with
    /// an allreduction of at most 128 bytes. Afterwards each call of the operation looks up what was learned.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_team::{Options, Plans, Team};
    ///
    /// let machine = corecast_model::synthetic("core:2").unwrap();
    /// let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let options = Options { learn: true, ..Options::default() };
    /// let learned = Team::with_options(plans, &options)?.run(|member| {
    ///     let mut data = [1_u64; 512];
    ///     for _ in 0..200 {
    ///         member.allreduce(&mut data, u64::max).unwrap();
    ///     }
    ///     member.learned().to_vec()
    /// });
    /// assert_eq!(learned[0], learned[1]);
    /// assert_eq!((learned[0].len(), learned[0][0].up_to), (1, 4096));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn learned(&self) -> &[Learned] {
        self.context.learned()
    }

    /// Cancels every operation of the team from this member's next one on: a member that is in such an
    /// operation, or calls one, gets [`Failure::Cancelled`]. Earlier operations complete, because this member
    /// has done its part in them. If several members cancel, the earliest operation counts. Use it when this member will not call an operation in which others may wait
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
            // It may never begin another operation, by which others would see that.
            self.tracker.tell_ended();
            self.team_memory
                .state()
                .cancel((self.tracker.seq() + 1) as u32);
        }
    }

    /// Goes on as if `count` operations had gone by in which all members took part.
    #[cfg(corecast_simulated)]
    pub fn skip_operations(&mut self, count: u64) {
        self.tracker.skip(count);
    }

    /// The fingerprint of all operations that this member has begun.
    pub(crate) fn fingerprint(&self) -> OpFingerprint {
        let others = self.flight.as_ref().map_or(0, Flight::digest);
        self.context
            .fabric
            .call
            .fingerprint
            .with(self.tracker.seq(), others)
    }

    /// What the operations of this member have come to; none is running.
    fn ended(&self) -> Ended {
        let rank = self.rank();
        let blocking = std::iter::once(&self.context);
        match &self.flight {
            None => Ended::of(rank, &self.tracker, blocking),
            Some(flight) => {
                let in_flight: Vec<_> = flight.slots.iter().filter_map(ContextSlot::look).collect();
                let in_flight = in_flight.iter().map(|context| &**context);
                Ended::of(rank, &self.tracker, blocking.chain(in_flight))
            }
        }
    }

    /// Ends, or ends a run: notes how far this rank has come, and tells the others `by` what.
    fn end_by(&self, by: impl FnOnce(&TeamState, usize)) {
        if self.tracker.is_forked() || model_failed() {
            return;
        }
        if let Some(recorder) = self.tracker.recorder() {
            recorder.end();
        }
        let rank = self.rank();
        self.team_memory.set_ended(rank, Some(self.ended()));
        by(self.team_memory.state(), rank);
    }

    /// Comes to the end of a run. No operation may follow before [`resume`](Self::resume).
    pub(crate) fn rest(&self) {
        self.end_by(TeamState::rest);
    }

    /// Comes to the end of a run of a simulation; see [`Team::begin_simulated_run`](crate::Team::begin_simulated_run).
    #[cfg(corecast_simulated)]
    pub fn end_of_simulated_run(&self) {
        self.rest();
    }

    /// Begins a further run, which is called at `site`.
    pub(crate) fn resume(&self, site: &'static Location<'static>) {
        if let Some(recorder) = self.tracker.recorder() {
            recorder.resume();
        }
        let rank = self.rank();
        self.team_memory.set_ended(rank, None);
        let history = &self.team_memory.state().histories[rank];
        if !mutated!(ResumeUntold) {
            history.set_presence(Presence::Present, Some(site));
        }
    }

    /// Has the record say that calls from now on come from the code at this address, to which the program's call returns, and
    /// not from the places where this member is called: for libraries that call it on behalf of a program. `None` ends that.
    /// Failures name the places still. Does nothing if the team has no record.
    ///
    /// # Examples
    ///
    /// ```
    /// use corecast_team::{CallSite, Options, Plans, Synchrony, Team};
    ///
    /// let machine = corecast_model::synthetic("core:2").unwrap();
    /// let mut options = Options::default();
    /// options.record = true;
    /// let plans = Plans::of_pattern(machine.costs(), "dissemination:2".parse()?, None)?;
    /// let team = Team::with_options(plans, &options)?;
    /// let caller = std::num::NonZero::new(0x1000);
    /// team.run(|member| {
    ///     member.set_caller(caller);
    ///     member.barrier().unwrap();
    /// });
    /// let calls = team.recording().unwrap().calls();
    /// assert_eq!(calls[0].site, CallSite::Code(caller.unwrap()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_caller(&mut self, caller: Option<NonZeroUsize>) {
        self.tracker.set_caller(caller);
    }

    /// Begins an operation, on `bytes` that are the same number on all ranks if it is given: enters it in the history that
    /// members which wait for this rank read.
    #[inline(always)]
    fn begin(
        &mut self,
        kind: Collective,
        root: usize,
        bytes: Option<usize>,
        site: &'static Location<'static>,
    ) -> Result<(), Failure> {
        let operation = (kind, root, bytes);
        self.tracker.begin(&mut self.context, operation, site)
    }

    /// Ends what [`begin`](Self::begin) has begun, which has come to this.
    #[inline(always)]
    fn end<R>(&mut self, ended: Result<R, Failure>) -> Result<R, Failure> {
        match ended {
            Ok(result) => {
                self.tracker.end(true);
                Ok(result)
            }
            Err(failure) => Err(self.end_failed(failure)),
        }
    }

    /// Apart, since the copies of a failure take a tenth of the shortest operations, also of those that have none.
    #[cold]
    #[inline(never)]
    fn end_failed(&mut self, failure: Failure) -> Failure {
        self.tracker.end(false);
        failure
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
        let site = Location::caller();
        if self.exchanges_flags {
            match self.tracker.exchange_flags(&mut self.context.fabric, site) {
                None => {}
                Some(ExchangeStage::Done) => {
                    barrier::ran(&self.context);
                    return Ok(());
                }
                Some(met) => return self.barrier_late(site, met),
            }
        }
        self.barrier_by_steps(site)
    }

    #[cold]
    #[inline(never)]
    fn barrier_late(
        &mut self,
        site: &'static Location<'static>,
        met: ExchangeStage,
    ) -> Result<(), Failure> {
        barrier::ran(&self.context);
        let (kind, fabric) = (Collective::Barrier, &mut self.context.fabric);
        self.tracker.end_exchange(fabric, kind, site, (met, None))
    }

    /// Apart, so that two ranks do not save registers for it.
    #[inline(never)]
    fn barrier_by_steps(&mut self, site: &'static Location<'static>) -> Result<(), Failure> {
        self.begin(Collective::Barrier, 0, None, site)?;
        let ended = barrier::start(&mut self.context);
        self.end(ended)
    }
}

/// A blocking operation that may panic, in its operator or in a check of its arguments. The member may catch the panic and
/// go on, but its part of the operation is lost, so the team fails, as for operations in flight: else others would wait for
/// this member for as long as it does nothing else.
///
/// It is no closure around the operation: in one, panics of checks would not name the call site of the user.
struct Amid<'m>(&'m mut Member);

impl Amid<'_> {
    /// The operation has ended without a panic.
    #[inline(always)]
    fn end<R>(self, ended: Result<R, Failure>) -> Result<R, Failure> {
        let ended = self.0.end(ended);
        std::mem::forget(self);
        ended
    }
}

impl Drop for Amid<'_> {
    #[cold]
    fn drop(&mut self) {
        if !self.0.tracker.is_forked() && !mutated!(PanicBlockingUntold) && !model_failed() {
            self.0.context.fabric.call.lost_in_panic();
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.end_by(|state, rank| state.leave(rank, corecast_wire::sync::panicking()));
    }
}
