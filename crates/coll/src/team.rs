//! Teams: all lines of a team made at once, then one member per rank.

use crate::algorithms::Algorithms;
use crate::failure::Failure;
use crate::frame::Frame;
use crate::member::Member;
use crate::operation::{Mark, RANKS_MAX};
use crate::plans::Plans;
use crate::process::{Party, Reach};
use corecast_wire::diary::Presence;
use corecast_wire::queue::Backend;
use corecast_wire::{Placement, Policy, SegmentError};
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// How a team is made, besides its plans.
#[derive(Clone, Debug)]
pub struct Options {
    /// How members wait. `None`: by the number of ranks and of hardware threads that this process
    /// may use.
    pub policy: Option<Policy>,
    /// Hardware threads that the ranks have between them: with fewer than ranks these take turns, and the
    /// team's lines are laid out for that. `None`: as many as this process may use.
    pub parallelism: Option<usize>,
    /// The queues' protocol.
    pub backend: Backend,
    /// Slots of each queue, a power of two, at least 2. Queues for operations in flight have 16 at most.
    pub slots: usize,
    /// The operating system's number of each rank's NUMA node, for the placement of its lines.
    /// `None`: memory is placed by whoever touches it first.
    pub numa_nodes: Option<Vec<u32>>,
    /// How long a member may sleep for another one before that is a [`Failure::Stalled`].
    /// `None`: for ever, as a pool of idle workers does.
    pub patience: Option<Duration>,
    /// How long a member may sleep for a rank that nobody has joined yet.
    pub join_limit: Duration,
    /// Whether reductions give the same bits on every rank, for every plan, root, length and
    /// repetition: their brackets then depend on the number of ranks alone.
    pub deterministic: bool,
    /// Operations that a member can have in flight at a time beside a blocking one, see
    /// [`Member::overlap`].
    pub depth: usize,
    /// Algorithms to use instead of those that Corecast would choose.
    pub algorithms: Algorithms,
}

impl Options {
    /// Whether a team of `size` ranks can have these.
    pub(crate) fn check(&self, size: usize) -> Result<(), TeamError> {
        if size > RANKS_MAX {
            return Err(TeamError::TooLarge(size));
        }
        if !self.slots.is_power_of_two() || self.slots < 2 {
            return Err(TeamError::Slots(self.slots));
        }
        match &self.numa_nodes {
            Some(nodes) if nodes.len() != size => Err(TeamError::NumaNodes {
                given: nodes.len(),
                ranks: size,
            }),
            _ => Ok(()),
        }
    }

    /// How the members of a team of `size` ranks wait.
    pub(crate) fn policy(&self, size: usize) -> Policy {
        let usable = || Policy::for_team(size, self.usable());
        self.policy.unwrap_or_else(usable)
    }

    /// Whether the ranks of a team of `size` share hardware threads.
    pub(crate) fn is_crowded(&self, size: usize) -> bool {
        size > self.usable()
    }

    /// Hardware threads that the ranks have between them.
    pub(crate) fn usable(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.parallelism.unwrap_or_else(all)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policy: None,
            parallelism: None,
            backend: Backend::Ump,
            slots: 64,
            numa_nodes: None,
            patience: None,
            join_limit: Duration::from_secs(10),
            deterministic: false,
            depth: 8,
            algorithms: Algorithms::default(),
        }
    }
}

/// Why a team could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TeamError {
    /// Memory for the lines.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// One NUMA node is needed for each rank.
    #[error(
        "{given} NUMA nodes were given for {ranks} ranks: give one for each rank, or none at all"
    )]
    NumaNodes {
        /// Nodes given.
        given: usize,
        /// Ranks of the plans.
        ranks: usize,
    },
    /// More ranks than an operation's name can hold.
    #[error("a team has at most {RANKS_MAX} ranks; {0} were asked for")]
    TooLarge(usize),
    /// A number of slots that no queue can have.
    #[error("a queue has a power of two of slots, at least 2; {0} were asked for")]
    Slots(usize),
}

/// Why a rank could not be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// Somebody speaks for it already, or did.
    #[error("rank {rank} is joined twice: at {first} and at {second}")]
    Taken {
        /// The rank.
        rank: usize,
        /// Where it was joined first.
        first: &'static Location<'static>,
        /// Where it was joined again.
        second: &'static Location<'static>,
    },
    /// Another process speaks for it.
    #[error("rank {rank} belongs to another process: join as one of this process's own ranks")]
    Elsewhere {
        /// The rank.
        rank: usize,
    },
    /// There is no such rank.
    #[error("rank {rank} is outside of the team, whose ranks are 0 to {last}")]
    Outside {
        /// The rank.
        rank: usize,
        /// The last rank.
        last: usize,
    },
}

/// A team of threads. Each of them joins as one rank.
///
/// Dropping the team while ranks are not joined tells those who wait for them.
#[derive(Debug)]
pub struct Team {
    frame: Arc<Frame>,
    policy: Policy,
    party: Option<Party>,
}

impl Drop for Team {
    fn drop(&mut self) {
        self.frame.abandon();
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
    /// Two queues, two flags and two lines of offers for each pair of ranks; above 64 ranks only for
    /// pairs that some plan or algorithm joins.
    pub fn new(plans: Plans) -> Result<Self, TeamError> {
        Self::with_options(plans, &Options::default())
    }

    /// A team that runs these plans, made in a particular way.
    ///
    /// # Errors
    ///
    /// [`TeamError`].
    pub fn with_options(plans: Plans, options: &Options) -> Result<Self, TeamError> {
        options.check(plans.len())?;
        let policy = options.policy(plans.len());
        let frame = Frame::private(&plans, policy, options)?;
        Ok(Self::of_frame(frame, policy, None))
    }

    pub(crate) fn of_frame(frame: Arc<Frame>, policy: Policy, party: Option<Party>) -> Self {
        Self {
            frame,
            policy,
            party,
        }
    }

    /// The ranks of this process, in order: all of them, unless others bring some.
    pub fn ranks(&self) -> Vec<usize> {
        match &self.party {
            Some(party) => party.ranks.clone(),
            None => (0..self.size()).collect(),
        }
    }

    /// How long data come from the process of a rank; `None` for ranks of this process.
    ///
    /// # Panics
    ///
    /// If `rank` is outside of the team.
    ///
    /// # Examples
    ///
    /// ```
    /// # use corecast_coll::{Plans, Team};
    /// # let machine = corecast_model::synthetic("core:2").unwrap();
    /// # let plans = Plans::of_pattern(machine.costs(), corecast_plan::Pattern::Smelt, None)?;
    /// // Threads read each other's buffers.
    /// assert_eq!(Team::new(plans)?.reach(1), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reach(&self, rank: usize) -> Option<&Reach> {
        let size = self.size();
        assert!(rank < size, "rank {rank} is outside of a team of {size}");
        self.party.as_ref()?.reaches.from[rank].as_ref()
    }

    /// From how many bytes on this process's ranks lend without copying to other processes that can
    /// read its memory ([`Reach::Direct`]); `None`: they never do.
    pub fn lends_direct_from(&self) -> Option<usize> {
        self.party.as_ref()?.reaches.lends_from
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.frame.size()
    }

    /// How the members wait.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Where the lines of a rank lie.
    ///
    /// # Panics
    ///
    /// If `rank` is outside of the team.
    pub fn placement(&self, rank: usize) -> &Placement {
        self.frame.placement(rank)
    }

    /// Becomes a member. Each rank can be joined once.
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
        if !self.frame.is_owned(rank) {
            return Err(JoinError::Elsewhere { rank });
        }
        let diary = &self.frame.board().diaries[rank];
        let Some(lane) = self.frame.take_first(rank) else {
            return Err(JoinError::Taken {
                rank,
                first: diary.joined_at().unwrap_or(site),
                second: site,
            });
        };
        diary.set_presence(Presence::Present, Some(site));
        Ok(Member::new(lane, Arc::clone(&self.frame), self.policy))
    }

    /// Runs `body` as every rank of this process, each on a thread of its own, and returns what they
    /// return, by rank. Afterwards nobody can join any more.
    ///
    /// # Panics
    ///
    /// With the panic of the first rank that panicked, after all have ended; if a rank was joined
    /// before; if the threads cannot be started; if members ended after different operations
    /// without any of them noticing.
    #[track_caller]
    pub fn run<R: Send>(&self, body: impl Fn(&mut Member) -> R + Sync) -> Vec<R> {
        let site = Location::caller();
        let members: Vec<Member> = self
            .ranks()
            .into_iter()
            .map(|rank| match self.join_at(rank, site) {
                Ok(member) => member,
                Err(error) => panic!("{error}"),
            })
            .collect();
        std::thread::scope(|scope| {
            let body = &body;
            let threads: Vec<_> = members
                .into_iter()
                .map(|mut member| {
                    std::thread::Builder::new()
                        .name(format!("rank {}", member.rank()))
                        .spawn_scoped(scope, move || {
                            let result = body(&mut member);
                            (result, member.mark())
                        })
                        .expect("cannot start a thread")
                })
                .collect();
            let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            let (results, marks): (Vec<R>, Vec<Mark>) = ended
                .into_iter()
                .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .unzip();
            if !self.frame.board().is_stopped()
                && let Some(failure) = self.frame.board().last_difference(&self.ranks(), &marks)
            {
                panic!("{failure}");
            }
            results
        })
    }

    /// The first failure of any member, if there was one.
    pub fn failure(&self) -> Option<Failure> {
        self.frame.board().failure()
    }
}
