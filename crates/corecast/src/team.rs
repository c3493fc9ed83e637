//! [`Team`]: the members with their chosen plans and pinned threads, and the queries about them.

use std::time::Instant;

use corecast_collectives::Plans;
use corecast_team::TransferPath;
use corecast_team::{
    AllocError, Failure, JoinError, Member, Pod, SymmetricBuffer, TeamError, TeamLines,
};
use corecast_wire::cache_lines::LineSet;
use corecast_wire::{Placement, WaitConfig};

use crate::builder::Builder;
use crate::choose::Choice;
use crate::costs::TeamCosts;
use crate::explanation::Explanation;
use crate::pins::{Pinning, Pins};
use crate::record::Record;
use crate::recorded_teams;

/// A team of threads on this machine, one rank each, in one process or in several; made by
/// [`Builder`](crate::Builder).
///
/// Either [`Team::run`] starts a thread for every rank of this process, or the user's own threads
/// each [`join`](Team::join) as one rank.
#[derive(Debug)]
pub struct Team {
    pub(crate) team: corecast_team::Team,
    pub(crate) pins: Pins,
    pub(crate) built: Explanation,
    pub(crate) costs: TeamCosts,
    pub(crate) choices: Vec<Choice>,
    pub(crate) plans: Plans,
    /// What was asked for.
    pub(crate) builder: Builder,
    pub(crate) made: Instant,
}

/// Tells the pins that a rank's thread ends, even in a panic.
struct Leave<'a>(&'a Pins, usize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

impl Team {
    /// Runs `body` as every rank of this process, each on a thread of its own, pinned where the team pins, and
    /// returns the results in the order of [`Team::ranks`]. It can be called again: the ranks go on where they were.
    ///
    /// A rank whose `body` returns while others of this process wait for it has left them, and they fail. Ranks of other
    /// processes wait for the next run, or until this process drops the team.
    ///
    /// A refused pinning is no error: the thread runs wherever it may, and [`Team::pinning`] tells.
    ///
    /// # Panics
    ///
    /// With the panic of the first rank that panicked, after all have ended; if a rank was joined
    /// before, or an earlier run has panicked; if threads cannot be started; if members ended after different operations.
    ///
    /// # Examples
    ///
    /// ```
    /// let team = corecast::team(2)?;
    /// let sums = team.run(|member| member.allreduce_value(member.rank() as u64 + 1, |a, b| a + b));
    /// assert_eq!(sums, [Ok(3), Ok(3)]);
    /// # Ok::<(), corecast::Error>(())
    /// ```
    #[track_caller]
    pub fn run<R: Send>(&self, body: impl Fn(&mut Member) -> R + Sync) -> Vec<R> {
        self.team.run(|member| {
            self.pins.pin_here(member.rank());
            let _leave = Leave(&self.pins, member.rank());
            body(member)
        })
    }

    /// Memory for the lines of an algorithm in the four primitives of cache-line-aware design, which members run by
    /// [`Member::on_lines`](corecast_team::Member::on_lines). Such an algorithm says line by line what it does. The same
    /// source runs on a simulated machine and on the symbolic model, which predict its time. All processes of a team make the
    /// lines of the same algorithms in the same order.
    ///
    /// # Errors
    ///
    /// [`TeamError`]: a team of processes keeps less memory for lines ([`Builder::lines`](crate::Builder::lines)), or there is
    /// no memory.
    ///
    /// # Panics
    ///
    /// If the lines are for another number of ranks than the team has.
    ///
    /// # Examples
    ///
    /// Rank 0 gives all others a line: the data lie in the line of the flag.
    ///
    /// ```
    /// use corecast::cache_lines::{CacheLines, LineSet};
    /// use corecast::model::Collective;
    ///
    /// let mut set = LineSet::new(3);
    /// let flag = set.broadcast("flag", 0, &[1, 2]);
    /// let come = set.counter("come", &[1, 2], 0);
    /// let team = corecast::team(3)?;
    /// let lines = team.lines(&set)?;
    /// let found = team.run(|member| {
    ///     member.on_lines(&lines, Collective::Broadcast, 0, |lines, round| {
    ///         if lines.rank() == 0 {
    ///             lines.set_payload(flag, [7; 7]);
    ///             lines.write(flag, round);
    ///             // Others have read the line before it is written again.
    ///             lines.wait(come, 2 * round)?;
    ///         } else {
    ///             lines.wait(flag, round)?;
    ///         }
    ///         let payload = lines.payload(flag);
    ///         if lines.rank() != 0 {
    ///             lines.add(come, 1);
    ///         }
    ///         Ok(payload)
    ///     })
    /// });
    /// assert_eq!(found, [Ok([7; 7]), Ok([7; 7]), Ok([7; 7])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lines(&self, lines: &LineSet) -> Result<TeamLines, TeamError> {
        self.team.lines(lines)
    }

    /// A [symmetric buffer](SymmetricBuffer) of `len` zeroed elements that belongs to a rank of this process: what
    /// [`Member::alloc`] gives, for whoever has no member at hand.
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
    /// let team = corecast::team(2)?;
    /// let mut buffers = [0, 1].map(|rank| team.alloc::<u32>(rank, 1000).unwrap());
    /// buffers[1].fill(7);
    /// assert_eq!((buffers[0][999], buffers[1][999]), (0, 7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn alloc<T: Pod>(&self, rank: usize, len: usize) -> Result<SymmetricBuffer<T>, AllocError> {
        self.team.alloc(rank, len)
    }

    /// Joins as `rank` and returns its member, for users who bring their own threads. Each rank can be joined
    /// once, and the member can be sent to another thread. The call pins nothing: see [`Team::pin_here`].
    ///
    /// # Errors
    ///
    /// [`JoinError`].
    #[track_caller]
    pub fn join(&self, rank: usize) -> Result<Member, JoinError> {
        self.team.join(rank)
    }

    /// Pins the calling thread to the PU of `rank`, where the team pins, and says what came of it.
    /// The thread stays pinned after the team is gone.
    ///
    /// # Panics
    ///
    /// If `rank` is outside of the team. A refused pinning does not panic.
    ///
    /// # Cost
    ///
    /// A few system calls. Call it once for each thread, outside of what is timed.
    pub fn pin_here(&self, rank: usize) -> Pinning {
        let size = self.size();
        assert!(rank < size, "rank {rank} is outside of a team of {size}");
        self.pins.pin_here(rank)
    }

    /// The ranks of this process: all ranks of the team, unless it has several processes.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(corecast::team(3)?.ranks(), [0, 1, 2]);
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn ranks(&self) -> Vec<usize> {
        self.team.ranks()
    }

    /// The path by which long data come from the process of a rank; `None` for ranks of this process.
    ///
    /// # Panics
    ///
    /// If `rank` is outside of the team.
    ///
    /// # Examples
    ///
    /// ```
    /// // Threads read each other's buffers.
    /// assert_eq!(corecast::team(2)?.transfer_path(1), None);
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn transfer_path(&self, rank: usize) -> Option<&TransferPath> {
        self.team.transfer_path(rank)
    }

    /// Number of ranks, of all processes together.
    pub fn size(&self) -> usize {
        self.team.size()
    }

    /// The PU of each rank, by the operating system's numbers. Where the team does not pin, it is the
    /// PU that the plans assume.
    pub fn pus(&self) -> Vec<u32> {
        self.built.ranks.iter().map(|rank| rank.pu).collect()
    }

    /// How the members wait.
    pub fn wait_config(&self) -> WaitConfig {
        self.team.wait_config()
    }

    /// The NUMA placement of a rank's memory.
    ///
    /// # Panics
    ///
    /// If `rank` is outside of the team.
    pub fn placement(&self, rank: usize) -> &Placement {
        self.team.placement(rank)
    }

    /// The pinning of each rank at this moment, and the planned one for ranks of other processes. The
    /// masks of running threads are read anew, so a pinning that was lost silently is found.
    ///
    /// # Cost
    ///
    /// One or two system calls for each rank.
    pub fn pinning(&self) -> Vec<Pinning> {
        self.pins.look()
    }

    /// The first failure of any member, if there was one.
    pub fn failure(&self) -> Option<Failure> {
        self.team.failure()
    }

    /// How long this process's members waited in operations so far: for each call site, operation and rank the number of
    /// calls, and how much of their time was *imbalance*, from the call to the last arrival that the call depends on, and
    /// how much *mechanism*, from that arrival until the call returned. `None` if the team does not record, see
    /// [`Builder::record`](crate::Builder::record).
    ///
    /// Imbalance comes from uneven work, or from a rank without a CPU; a faster operation could reduce the mechanism only.
    /// What a call depends on follows from what its operation means:
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
    /// The last arrival is at most the return: an operation without data need not wait for anybody. A call that depends on
    /// nobody is all mechanism, although it may have waited: in a tree for the ranks below it, or until others have read
    /// what it has lent. The barriers of [`Member::synced`] are calls of their own.
    ///
    /// Not split are starts of operations in flight and waits for them, calls that failed, and operations to which a rank
    /// that is awaited came more than 768 operations before this one. They are counted as `unsplit`, with their time. Calls
    /// that panicked, and calls that were refused before they began, are not counted.
    ///
    /// # Cost
    ///
    /// Of the call, some microseconds for each rank. Of the record, for each rank 18 KiB and an entry for each call site
    /// and kind, however many operations there are. An operation that blocks reads the cycle counter twice and takes a lock
    /// that nobody else wants. Once in 256 operations a rank reads 2 KiB of each other one.
    ///
    /// # Examples
    ///
    /// ```
    /// let team = corecast::Builder::new().threads(2).record(true).build()?;
    /// team.run(|member| {
    ///     for _ in 0..100 {
    ///         member.barrier().unwrap();
    ///     }
    /// });
    /// let record = team.record().unwrap();
    /// assert_eq!(record.waits.len(), 2, "one call site, two ranks");
    /// assert!(record.waits.iter().all(|wait| wait.sums.times == 100));
    /// println!("{record}");
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn record(&self) -> Option<Record> {
        let recording = self.team.recording()?;
        let ranks = self.ranks().len();
        Some(recorded_teams::record(recording, ranks, self.made))
    }

    /// The plans that run, the place of each rank, the reasons, and the gaps to the lower bounds. In a team of
    /// processes only the process that came first knows the operations' plans; the explanation of any other has
    /// none.
    ///
    /// # Cost
    ///
    /// The call computes lower bounds of the latency of all plans. That takes up to some milliseconds
    /// for 48 ranks and half a second for 1,024, too long for the start of a team.
    ///
    /// # Examples
    ///
    /// ```
    /// let team = corecast::team(2)?;
    /// let explanation = team.explain();
    /// assert!(explanation.to_string().contains("barrier"));
    /// # Ok::<(), corecast::Error>(())
    /// ```
    pub fn explain(&self) -> Explanation {
        let mut explanation = self.built.clone();
        explanation.waits = explanation.waits.counted();
        for (rank, pinning) in explanation.ranks.iter_mut().zip(self.pinning()) {
            rank.pinning = pinning;
        }
        for (chosen, choice) in explanation.operations.iter_mut().zip(&self.choices) {
            // A counter barrier runs instead of the plan, whose gap says nothing about it.
            if chosen.predicted.is_none() {
                continue;
            }
            let found = self.costs.gap(choice.chosen(), choice.operation);
            chosen.gap = found.map(|(gap, _)| gap);
            chosen.bound_space = found.map(|(_, scope)| scope.space);
            chosen.bound_root = found.and_then(|(_, scope)| scope.root);
        }
        explanation
    }
}
