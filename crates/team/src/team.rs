//! Teams: the lines of all ranks are made at once, then each rank is joined by one member.

use crate::error::{JoinError, TeamError};
use crate::failure::Failure;
use crate::hardware::TeamLines;
use crate::member::Member;
use crate::operation::OpFingerprint;
use crate::options::Options;
use crate::progress::Progress;
use crate::recording::Recording;
#[cfg(not(loom))]
use crate::symmetric::SymmetricBuffer;
use crate::team_memory::TeamMemory;
use crate::transfer_path::{TransferPath, TransferPaths};
#[cfg(not(loom))]
use bytemuck::Pod;
use corecast_collectives::Plans;
#[cfg(not(loom))]
use corecast_transfer::AllocError;
use corecast_wire::cache_lines::LineSet;
use corecast_wire::op_history::Presence;
use corecast_wire::sync::{Mutex, MutexGuard};
use corecast_wire::{Placement, WaitConfig};
use std::any::Any;
use std::fmt::Debug;
use std::panic::Location;
use std::sync::{Arc, PoisonError};

/// A team of threads. Each of them joins as one rank.
///
/// If the team is dropped while some ranks are not joined, or rest after a run, operations that wait for these ranks fail.
#[derive(Debug)]
pub struct Team {
    team_memory: Arc<TeamMemory>,
    wait_config: WaitConfig,
    part: Option<OwnPart>,
    /// The members between two runs.
    resting: Mutex<Vec<Member>>,
}

/// This process's part of a team of several processes.
#[derive(Debug)]
pub struct OwnPart {
    /// This process's ranks.
    pub ranks: Vec<usize>,
    /// The transfer path of long data to and from each rank of another process.
    pub paths: TransferPaths,
    /// A value that is dropped with the team, such as the monitors of the other processes.
    pub kept: Box<dyn Kept>,
}

/// A value that a team keeps, and gives back to whoever knows its type by [`Team::kept`].
pub trait Kept: Any + Debug + Send + Sync {}

impl<T: Any + Debug + Send + Sync> Kept for T {}

impl Drop for Team {
    fn drop(&mut self) {
        self.resting().clear();
        self.team_memory.abandon();
    }
}

impl Team {
    /// A team that runs these plans.
    ///
    /// # Errors
    ///
    /// [`TeamError`].
    ///
    /// # Cost
    ///
    /// Two queues, two flags and two sets of loan descriptors for each pair of ranks; above 64 ranks only for
    /// pairs that some plan or algorithm joins.
    pub fn new(plans: Plans) -> Result<Self, TeamError> {
        Self::with_options(plans, &Options::default())
    }

    /// A team that runs these plans, made with `options`.
    ///
    /// # Errors
    ///
    /// [`TeamError`].
    pub fn with_options(plans: Plans, options: &Options) -> Result<Self, TeamError> {
        options.check(plans.len())?;
        let wait_config = options.wait_config(plans.len());
        let team_memory = TeamMemory::private(&plans, wait_config, options)?;
        Ok(Self::of_memory(team_memory, wait_config, None))
    }

    /// A team over memory that was made before. `part` is `None` if all ranks belong to this process.
    pub fn of_memory(
        team_memory: Arc<TeamMemory>,
        wait_config: WaitConfig,
        part: Option<OwnPart>,
    ) -> Self {
        Self {
            team_memory,
            wait_config,
            part,
            resting: Mutex::default(),
        }
    }

    /// The ranks of this process: all ranks of the team, unless it has several processes.
    pub fn ranks(&self) -> Vec<usize> {
        match &self.part {
            Some(part) => part.ranks.clone(),
            None => (0..self.size()).collect(),
        }
    }

    /// The transfer path of long data from the process of a rank; `None` for ranks of this process.
    ///
    /// # Panics
    ///
    /// If `rank` is outside of the team.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:2").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// // Threads read each other's buffers.
    /// assert_eq!(Team::new(plans)?.transfer_path(1), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn transfer_path(&self, rank: usize) -> Option<&TransferPath> {
        let size = self.size();
        assert!(rank < size, "rank {rank} is outside of a team of {size}");
        self.part.as_ref()?.paths.from[rank].as_ref()
    }

    /// The least number of bytes that this process's ranks lend without copying to processes that can read its
    /// memory ([`TransferPath::Direct`]) and copy what they read; `None` if they always copy.
    pub fn lends_direct_from(&self) -> Option<usize> {
        self.part.as_ref()?.paths.lends_from.copied
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.team_memory.size()
    }

    /// How the members wait.
    pub fn wait_config(&self) -> WaitConfig {
        self.wait_config
    }

    /// The NUMA node on which the lines of a rank lie, if one was asked for.
    ///
    /// # Panics
    ///
    /// If `rank` is outside of the team.
    pub fn placement(&self, rank: usize) -> &Placement {
        self.team_memory.placement(rank)
    }

    /// Memory for the lines of an algorithm in CLa's primitives, which members run by
    /// [`Member::on_lines`](crate::Member::on_lines). Each line lies with the rank that polls it first, on its NUMA node
    /// if that is known. A team can have the lines of several algorithms. All processes of a team make those of the same
    /// algorithms in the same order; members that have others notice it as a [`Failure::Mismatch`].
    ///
    /// # Errors
    ///
    /// [`TeamError::LinesOfProcesses`] if a team of processes keeps less memory for lines than these take;
    /// [`TeamError::Segment`] if there is no memory.
    ///
    /// # Panics
    ///
    /// If the lines are for another number of ranks than the team has.
    ///
    /// # Cost
    ///
    /// 128 bytes for each line and each rank, and some system calls for each NUMA node, or for each rank in a team of
    /// processes, which has [`Options::lines`] of them. Make them before they are used.
    ///
    /// # Examples
    ///
    /// See [`Member::on_lines`](crate::Member::on_lines).
    pub fn lines(&self, lines: &LineSet) -> Result<TeamLines, TeamError> {
        let (given, size) = (lines.ranks(), self.size());
        assert_eq!(given, size, "lines for {given} ranks in a team of {size}");
        self.team_memory.lines(lines)
    }

    /// A [symmetric buffer](SymmetricBuffer) of `len` zeroed elements that belongs to a rank of this process; see
    /// [`Member::alloc`](crate::Member::alloc).
    ///
    /// # Errors
    ///
    /// [`AllocError`].
    ///
    /// # Panics
    ///
    /// If the rank is not one of this process.
    ///
    /// # Cost
    ///
    /// A lock, a system call, and the clearing of the pages.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:2").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// let buffer = team.alloc::<f32>(1, 1000)?;
    /// assert_eq!(buffer[..], [0.0; 1000]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(not(loom))]
    pub fn alloc<T: Pod>(&self, rank: usize, len: usize) -> Result<SymmetricBuffer<T>, AllocError> {
        let is_ours = self.team_memory.is_owned(rank);
        assert!(is_ours, "rank {rank} is none of this process");
        self.team_memory.alloc(rank, len)
    }

    /// Joins as `rank` and returns its member. Each rank can be joined once.
    ///
    /// # Errors
    ///
    /// [`JoinError`].
    #[track_caller]
    pub fn join(&self, rank: usize) -> Result<Member, JoinError> {
        self.join_at(rank, Location::caller())
    }

    fn join_at(&self, rank: usize, site: &'static Location<'static>) -> Result<Member, JoinError> {
        let last = self.size() - 1;
        if rank > last {
            return Err(JoinError::Outside { rank, last });
        }
        if !self.team_memory.is_owned(rank) {
            return Err(JoinError::Elsewhere { rank });
        }
        let history = &self.team_memory.state().histories[rank];
        let Some(context) = self.team_memory.take_first(rank) else {
            return Err(JoinError::Taken {
                rank,
                first: history.joined_at().unwrap_or(site),
                second: site,
            });
        };
        history.set_presence(Presence::Present, Some(site));
        Ok(Member::new(
            context,
            Arc::clone(&self.team_memory),
            self.wait_config,
        ))
    }

    /// Runs `body` as every rank of this process, each on a thread of its own, and returns the results by rank.
    /// It can be called again: the ranks go on where they were, and no rank of this process can be joined any more.
    ///
    /// A rank whose `body` returns while others of this process wait for it has left them, and they fail. Ranks of other
    /// processes wait for the next run, or until this process drops the team.
    ///
    /// # Panics
    ///
    /// With the panic of the first rank that panicked, after all have ended; if a rank was joined
    /// before, or an earlier run has panicked; if the threads cannot be started; if members ended after different operations
    /// without any of them noticing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:2").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// for _ in 0..2 {
    ///     team.run(|member| member.barrier().unwrap());
    /// }
    /// assert_eq!(team.progress(1).ended.unwrap().completed, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn run<R: Send>(&self, body: impl Fn(&mut Member) -> R + Sync) -> Vec<R> {
        let members = self.members_of_run(Location::caller());
        let ended: Vec<_> = std::thread::scope(|scope| {
            let body = &body;
            let run = |mut member: Member| {
                std::thread::Builder::new()
                    .name(format!("rank {}", member.rank()))
                    .spawn_scoped(scope, move || {
                        let result = body(&mut member);
                        member.rest();
                        (result, member)
                    })
                    .expect("cannot start a thread")
            };
            let threads: Vec<_> = members.into_iter().map(run).collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        // Members that ended well leave before a panic, since they are not part of it.
        let (mut results, mut members, mut panic) = (Vec::new(), Vec::new(), None);
        for ended in ended {
            match ended {
                Ok((result, member)) => {
                    results.push(result);
                    members.push(member);
                }
                Err(first) => _ = panic.get_or_insert(first),
            }
        }
        if let Some(panic) = panic {
            drop(members);
            std::panic::resume_unwind(panic);
        }
        self.end_of_run(members);
        results
    }

    /// Keeps the members until the next run, if all have ended after the same operation.
    fn end_of_run(&self, members: Vec<Member>) {
        let state = self.team_memory.state();
        let fingerprints: Vec<OpFingerprint> = members.iter().map(Member::fingerprint).collect();
        if !state.is_stopped()
            && let Some(failure) = state.last_difference(&self.ranks(), &fingerprints)
        {
            drop(members);
            panic!("{failure}");
        }
        *self.resting() = members;
    }

    /// Begins a run whose ranks are tasks of a simulation instead of threads. Each member
    /// [comes to its end](Member::end_of_simulated_run), and [`end_simulated_run`](Self::end_simulated_run) gets all of them back.
    #[cfg(corecast_simulated)]
    #[track_caller]
    pub fn begin_simulated_run(&self) -> Vec<Member> {
        self.members_of_run(Location::caller())
    }

    /// Ends a run as [`run`](Self::run) does when no rank has panicked.
    #[cfg(corecast_simulated)]
    pub fn end_simulated_run(&self, members: Vec<Member>) {
        self.end_of_run(members);
    }

    /// The members that rest since the last run, or those of a first one.
    fn members_of_run(&self, site: &'static Location<'static>) -> Vec<Member> {
        let rested = std::mem::take(&mut *self.resting());
        if !rested.is_empty() {
            rested.iter().for_each(|member| member.resume(site));
            return rested;
        }
        let joined = |rank| match self.join_at(rank, site) {
            Ok(member) => member,
            Err(error) => panic!("{error}"),
        };
        self.ranks().into_iter().map(joined).collect()
    }

    fn resting(&self) -> MutexGuard<'_, Vec<Member>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of type `T` that was given as [`OwnPart::kept`], if it was.
    pub fn kept<T: Any>(&self) -> Option<&T> {
        let kept: &dyn Any = &*self.part.as_ref()?.kept;
        kept.downcast_ref()
    }

    /// How far a rank has come. It is exact once its member has left, or was lost.
    ///
    /// # Panics
    ///
    /// If `rank` is outside of the team.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:2").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let team = Team::new(plans)?;
    /// team.run(|member| (0..3).for_each(|_| member.barrier().unwrap()));
    /// let progress = team.progress(1);
    /// assert_eq!(progress.ended.unwrap().completed, 3);
    /// assert_eq!(progress.last.operation.unwrap().seq, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn progress(&self, rank: usize) -> Progress {
        let size = self.size();
        assert!(rank < size, "rank {rank} is outside of a team of {size}");
        self.team_memory.progress(rank)
    }

    /// Whether a rank has a member at this moment.
    ///
    /// # Panics
    ///
    /// If `rank` is outside of the team.
    pub fn is_joined(&self, rank: usize) -> bool {
        self.team_memory.state().is_joined(rank)
    }

    /// The calls of this process's members; `None` if the team was made without [`Options::record`].
    ///
    /// Operations that block are split by the last arrival that a call depends on, by what the operation means:
    ///
    /// | operation | rank | depends on |
    /// | --- | --- | --- |
    /// | barrier, allreduce, allgather, alltoall, reduce_scatter | all | all ranks |
    /// | broadcast, scatter | root | nobody |
    /// | | others | the root |
    /// | reduce, gather | root | all ranks |
    /// | | others | nobody |
    /// | scan, exscan | r | ranks below r |
    ///
    /// The last arrival is at most the return: an operation without data need not wait for anybody.
    /// A call that depends on nobody is all mechanism, although it may have waited: in a tree for the ranks below it, or
    /// until others have read what it has lent.
    ///
    /// Not split are calls that failed, starts of operations in flight and waits for them, and operations to which a rank
    /// that is awaited came more than 768 operations before this one: its stamp is gone. Their number and time are kept
    /// apart. Calls that panicked, and calls that were refused before they began, are not counted.
    ///
    /// # Cost
    ///
    /// Each rank has 8 KiB of stamps, 10 KiB of calls that are not split yet, and some words for each call site and kind,
    /// however many operations there are. An operation that blocks reads the cycle counter twice and takes a lock that
    /// nobody else wants. Once in 256 operations a rank reads 2 KiB of each other rank's stamps.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_team::{Options, Plans, Team};
    /// # let machine = corecast_model::synthetic("core:2").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// let options = Options { record: true, ..Options::default() };
    /// let team = Team::with_options(plans, &options)?;
    /// team.run(|member| (0..10).try_for_each(|_| member.barrier()).unwrap());
    /// let calls = team.recording().unwrap().calls();
    /// assert_eq!(calls.iter().map(|at| (at.rank, at.sums.calls)).collect::<Vec<_>>(), [(0, 10), (1, 10)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recording(&self) -> Option<&Arc<Recording>> {
        self.team_memory.recording()
    }

    /// The first failure of any member, if there was one.
    pub fn failure(&self) -> Option<Failure> {
        self.team_memory.state().failure()
    }
}
