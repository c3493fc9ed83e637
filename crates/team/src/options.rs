//! The options with which a team is made.

use crate::error::TeamError;
use crate::operation::RANKS_MAX;
use crate::transfer_path::KernelCopies;
use corecast_collectives::Algorithms;
#[cfg(not(loom))]
use corecast_transfer::{SharedRegions, SymmetricHeap};
use corecast_wire::WaitConfig;
use corecast_wire::fiber::STACK_BYTES;
use corecast_wire::queue::{Backend, DEFAULT_SLOTS};
#[cfg(not(loom))]
use std::sync::Arc;
use std::time::Duration;

/// Most operations in flight of a member. Each of them takes hundreds of kilobytes.
pub const DEPTH_MAX: usize = 1 << 16;

/// Lines near each rank by default: 64 KiB, beside at least 2 MiB that a rank of a team of processes has of bounce buffers.
const LINES: usize = 512;

/// Bytes set aside for the symmetric buffers of a rank by default, which are addresses and no memory.
const SYMMETRIC_BYTES: usize = 1 << 30;

/// The options of a team, besides its plans.
#[derive(Clone, Debug)]
pub struct Options {
    /// How members wait. `None`: chosen by the number of ranks and of hardware threads that they share.
    pub wait_config: Option<WaitConfig>,
    /// Hardware threads that the ranks share. If there are fewer than ranks, the ranks take turns, and the
    /// team's lines are laid out for that. `None`: as many as this process may use.
    pub parallelism: Option<usize>,
    /// The queues' protocol.
    pub backend: Backend,
    /// Slots of each queue, a power of two, at least 2, which also bound its messages. Queues for operations in flight have
    /// 16 at most. `None`: [`DEFAULT_SLOTS`], and, where ranks share hardware threads, more for short messages.
    pub slots: Option<usize>,
    /// The operating system's number of each rank's NUMA node, for the placement of its lines. `None`: a page
    /// is placed where the thread that first touches it runs.
    pub numa_nodes: Option<Vec<u32>>,
    /// How long a member may sleep for another one before that is a [`Failure::Stalled`](crate::Failure::Stalled).
    /// `None`: for ever, as a pool of idle workers does.
    pub patience: Option<Duration>,
    /// How long a member may sleep for a rank that is not joined before that is a
    /// [`Failure::NeverJoined`](crate::Failure::NeverJoined).
    pub join_limit: Duration,
    /// Whether reductions give the same bits on every rank, for every plan, root, length and repetition: their
    /// order of reduction then depends on the number of ranks alone.
    pub deterministic: bool,
    /// Operations that a member can have in flight at a time beside a blocking one, see
    /// [`Member::overlap`](crate::Member::overlap). At most [`DEPTH_MAX`].
    pub depth: usize,
    /// Bytes of the stack on which each operation in flight runs, users' operators included. Fewer than
    /// [`STACK_BYTES`](corecast_wire::fiber::STACK_BYTES) are as many as these. Processes of one team may differ.
    pub stack_bytes: usize,
    /// Algorithms to use instead of those that Corecast would choose.
    pub algorithms: Algorithms,
    /// Whether the calls of members are recorded, see [`Team::recording`](crate::Team::recording). All processes of a team
    /// do it, or none.
    pub record: bool,
    /// Whether members learn which algorithms are fastest while the team runs, see [`Member::learned`](crate::Member::learned).
    /// All processes of a team do it, or none.
    pub learn: bool,
    /// Lines of 128 bytes that a team of processes keeps near each rank for [`Team::lines`](crate::Team::lines), rounded up
    /// to 64 KiB. Each algorithm takes one for itself near each rank. Teams of threads take them when they are made.
    pub lines: usize,
    /// Bytes of addresses that a team of processes sets aside for each rank, of which [`Member::alloc`](crate::Member::alloc)
    /// makes buffers; 0 for none. They are rounded up to 64 KiB, and take no memory until then. The process that makes the
    /// team decides.
    pub symmetric: usize,
    /// The heap of this process: what its ranks lend of it is read where it lies, by processes that can map it. It serves all
    /// teams of the process, and buffers are made in it without any of them. Processes of one team may differ.
    #[cfg(not(loom))]
    pub heap: Option<Arc<SymmetricHeap>>,
    /// Memory that all processes of the team share by means of somebody else's: what ranks lend of it is read where it lies. All
    /// processes of the team have the same regions, or this one has none.
    #[cfg(not(loom))]
    pub regions: Option<Arc<SharedRegions>>,
    /// From which length on the kernel copies what this process's ranks lend to other processes, where `CORECAST_CMA` does
    /// not say it. `None`: where ranks share cores from the length on of which lender and borrower would copy in turn
    /// ([`TeamMemory::loan_without_turns`](crate::team_memory::TeamMemory::loan_without_turns)), else never.
    pub kernel_copies: Option<KernelCopies>,
    /// What ranks of this process call while they wait for long, see [`WaitStrategy::calling`]. Processes of one team may differ.
    ///
    /// [`WaitStrategy::calling`]: corecast_wire::WaitStrategy::calling
    pub meanwhile: Option<fn()>,
    /// The numbers of operations that count as begun when the team is made: of all, and of those in flight in each
    /// operation context. Sequence numbers go on from there. It is for tests of numbers that wrap around; all processes of
    /// a team give the same.
    #[doc(hidden)]
    pub begun: [u64; 2],
}

impl Options {
    /// Checks that a team of `size` ranks can have these options.
    ///
    /// # Errors
    ///
    /// [`TeamError`].
    pub fn check(&self, size: usize) -> Result<(), TeamError> {
        if size > RANKS_MAX {
            return Err(TeamError::TooLarge(size));
        }
        if let Some(slots) = self
            .slots
            .filter(|&slots| !slots.is_power_of_two() || slots < 2)
        {
            return Err(TeamError::Slots(slots));
        }
        if self.depth > DEPTH_MAX {
            return Err(TeamError::Depth {
                depth: self.depth,
                most: DEPTH_MAX,
            });
        }
        match &self.numa_nodes {
            Some(nodes) if nodes.len() != size => Err(TeamError::NumaNodes {
                given: nodes.len(),
                ranks: size,
            }),
            _ => Ok(()),
        }
    }

    /// Slots of each queue of blocking operations, by which messages are as long as they are.
    pub fn slots_or_default(&self) -> usize {
        self.slots.unwrap_or(DEFAULT_SLOTS)
    }

    /// How the members of a team of `size` ranks wait.
    pub fn wait_config(&self, size: usize) -> WaitConfig {
        let usable = || WaitConfig::for_team(size, self.usable());
        self.wait_config.unwrap_or_else(usable)
    }

    /// Whether the ranks of a team of `size` share hardware threads.
    pub fn is_oversubscribed(&self, size: usize) -> bool {
        self.sharing(size) > 1
    }

    /// Most ranks on one hardware thread in a team of `size`.
    pub fn sharing(&self, size: usize) -> usize {
        size.div_ceil(self.usable().max(1)).max(1)
    }

    /// Hardware threads that the ranks share.
    pub fn usable(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.parallelism.unwrap_or_else(all)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            wait_config: None,
            parallelism: None,
            backend: Backend::Ump,
            slots: None,
            numa_nodes: None,
            patience: None,
            join_limit: Duration::from_secs(10),
            deterministic: false,
            depth: 8,
            stack_bytes: STACK_BYTES,
            algorithms: Algorithms::default(),
            record: false,
            learn: false,
            lines: LINES,
            symmetric: SYMMETRIC_BYTES,
            #[cfg(not(loom))]
            heap: None,
            #[cfg(not(loom))]
            regions: None,
            kernel_copies: None,
            meanwhile: None,
            begun: [0; 2],
        }
    }
}
