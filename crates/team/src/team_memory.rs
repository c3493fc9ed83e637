//! The memory of a team: segments, the lines between ranks, and each rank's operation contexts.
//!
//! Memory is handed out in one fixed order, so that processes that build the same team over the same segment
//! compute the same offsets and need not exchange them.

mod contexts;
mod line_memory;
mod sizes;
#[cfg(not(loom))]
mod symmetric;

pub use sizes::{shared_bytes, spare_bytes};

use crate::OpContext;
use crate::call_sites::{CallSiteTable, CallSiteWriter, SITES};
use crate::error::TeamError;
use crate::hardware::TeamLines;
use crate::options::Options;
use crate::progress::{Ended, Progress};
use crate::record::{RECORD_LINES, Record};
use crate::recording::{ArrivalStamps, Recorder, Recording, STAMP_LINES};
use crate::team_state::{CrossProcess, TeamState};
use crate::transfer_path::{LendsFrom, Processes};
use corecast_collectives::groups::Groups;
use corecast_collectives::layout::{Layout, RankSchedule};
use corecast_collectives::plans::Plans;
use corecast_collectives::{MESH_RANKS_MAX, edges};
use corecast_wire::cache_lines::LineSet;
use corecast_wire::fork::ForkDetector;
use corecast_wire::op_history::OpHistory;
use corecast_wire::queue::Backend;
use corecast_wire::sync::{Mutex, MutexGuard, model_failed, panicking};
use corecast_wire::{
    FenceKind, Line, LineRef, Parker, Placement, Segment, SegmentError, WaitConfig, copy,
    fence_kind, stream,
};
use line_memory::LineMemory;
use sizes::{MemoryKind, MemorySizes, bounce_buffer, check_numbers, rank_segments};
use std::sync::{Arc, OnceLock, PoisonError};
#[cfg(not(loom))]
use {
    crate::symmetric::SymmetricBuffer,
    crate::transfer_path::Heaps,
    bytemuck::Pod,
    corecast_transfer::{AllocError, SharedRegions, SymmetricHeap, SymmetricMemory},
};

/// A team without its members.
#[derive(Debug)]
pub struct TeamMemory {
    state: Arc<TeamState>,
    /// The schedules of the ranks of this process; `None` for other ranks.
    schedules: Vec<Option<Arc<RankSchedule>>>,
    edges: Vec<(usize, usize)>,
    groups: Groups,
    sizes: MemorySizes,
    placement: Vec<Placement>,
    wait_config: WaitConfig,
    /// What ranks call while they wait for long.
    meanwhile: Option<fn()>,
    /// Hardware threads that the ranks share.
    usable: usize,
    backend: Backend,
    memory: MemoryKind,
    /// NUMA nodes of the ranks of this process, where they are known.
    nodes: Vec<Option<u32>>,
    fork_detector: ForkDetector,
    /// Processes whose memory can be read, and from how many bytes on this one lends its own.
    kernel_copy: OnceLock<(Processes, LendsFrom)>,
    /// Operation contexts that no member has taken yet, by context and rank. They are built when the first member asks.
    contexts: Mutex<Vec<Vec<Option<OpContext>>>>,
    /// Bytes of the stack of an operation in flight.
    stack_bytes: usize,
    /// [`Options::begun`].
    begun: [u64; 2],
    /// What the members of this process's ranks had ended when they left.
    ended: Vec<Mutex<Option<Ended>>>,
    recording: Option<Arc<Recording>>,
    /// [`Options::learn`].
    learn: bool,
    line_memory: LineMemory,
    /// The symmetric memory of each rank; none in a team of threads.
    #[cfg(not(loom))]
    symmetric: Vec<SymmetricMemory>,
    /// This process's heap, and by rank those of other processes that this one has mapped.
    #[cfg(not(loom))]
    heaps: OnceLock<(Option<Arc<SymmetricHeap>>, Heaps)>,
    /// Memory that all processes of the team share otherwise.
    #[cfg(not(loom))]
    regions: OnceLock<Arc<SharedRegions>>,
}

/// The line of a rank's operation history, which goes on after operation number `begun`.
fn history(rank_segment: &Arc<Segment>, begun: u64) -> Result<LineRef<OpHistory>, SegmentError> {
    let history: LineRef<OpHistory> = rank_segment.lines(1)?.get(0);
    if begun > 0 {
        history.begin_after(begun as u32);
    }
    Ok(history)
}

impl TeamMemory {
    /// Memory of a team whose ranks are all in this process.
    pub(crate) fn private(
        plans: &Plans,
        wait_config: WaitConfig,
        options: &Options,
    ) -> Result<Arc<Self>, TeamError> {
        let owned = vec![true; plans.len()];
        let memory = MemoryKind::Private;
        let waits = (wait_config, options.sharing(plans.len()));
        Self::build(plans, waits, options, &owned, memory, fence_kind())
    }

    /// This process's part of a team over `segment`, whose ranks are `owned`.
    ///
    /// # Errors
    ///
    /// [`TeamError::Segment`], if the segment has no room for the lines; [`TeamError::Depth`].
    pub fn shared(
        plans: &Plans,
        wait_config: WaitConfig,
        options: &Options,
        owned: &[usize],
        (segment, from, sharing): (Arc<Segment>, usize, usize),
        fence: FenceKind,
    ) -> Result<Arc<Self>, TeamError> {
        let memory = MemoryKind::Shared(segment, from);
        let owned: Vec<bool> = (0..plans.len()).map(|rank| owned.contains(&rank)).collect();
        Self::build(
            plans,
            (wait_config, sharing),
            options,
            &owned,
            memory,
            fence,
        )
    }

    fn build(
        plans: &Plans,
        (wait_config, sharing): (WaitConfig, usize),
        options: &Options,
        owned: &[bool],
        memory: MemoryKind,
        fence: FenceKind,
    ) -> Result<Arc<Self>, TeamError> {
        // How long data are copied is found out now, because operations must not allocate.
        copy::choose();
        stream::above();
        let n = plans.len();
        let mesh = n <= MESH_RANKS_MAX;
        let edges = edges(plans, mesh);
        let shared = matches!(memory, MemoryKind::Shared(..));
        // A process knows the NUMA nodes of its own ranks only.
        let nodes = options.numa_nodes.as_deref().filter(|_| !shared);
        let layout = Layout::new(plans, &options.algorithms, (nodes, sharing));
        let known = options.numa_nodes.as_deref();
        // Processes exchange their nodes later, see `set_nodes`.
        let known = known.filter(|_| owned.iter().all(|&owned| owned));
        let (schedules, groups) = RankSchedule::all(
            plans,
            layout,
            options.algorithms,
            options.deterministic,
            known,
        );
        check_numbers(&edges, &groups, options.depth)?;
        let sizes = MemorySizes::new(&edges, &groups, n, (options, sharing), shared);
        let node = |rank| options.numa_nodes.as_ref().map(|nodes| nodes[rank]);
        let nodes: Vec<Option<u32>> = (0..n)
            .map(|rank| node(rank).filter(|_| owned[rank]))
            .collect();
        #[cfg(not(loom))]
        let symmetric = symmetric::symmetric_memory(&memory, &sizes)?;
        let rank_segments = rank_segments(&memory, &nodes, &sizes, 0)?;
        let placement = rank_segments
            .iter()
            .map(|rank_segment| rank_segment.placement().clone())
            .collect();
        let mut histories = Vec::with_capacity(n);
        let mut parkers: Vec<LineRef<Line<Parker>>> = Vec::with_capacity(n);
        for rank_segment in &rank_segments {
            parkers.push(rank_segment.lines(1)?.get(0));
            histories.push(history(rank_segment, options.begun[0])?);
        }
        let stopped = rank_segments[0].lines(1)?.get(0);
        let between = match shared {
            true => Some(CrossProcess {
                record: Record::new(rank_segments[0].lines(RECORD_LINES)?),
                site_tables: rank_segments
                    .iter()
                    .map(|rank_segment| rank_segment.lines(SITES).map(CallSiteTable::new))
                    .collect::<Result<_, SegmentError>>()?,
                own: (0..n).filter(|&rank| owned[rank]).collect(),
            }),
            false => None,
        };
        let fork_detector = ForkDetector::now();
        let stamps = || {
            let stamps = |of: &Arc<Segment>| of.lines(STAMP_LINES).map(ArrivalStamps::new);
            rank_segments.iter().map(stamps).collect()
        };
        let stamps: Option<Vec<_>> = options.record.then(stamps).transpose()?;
        let recording = stamps.map(|stamps| Recording::new(stamps, owned, fork_detector));
        let state = TeamState::new(histories, parkers, stopped, fence, options, between);
        let team_memory = Self {
            state: Arc::new(state),
            schedules: schedules
                .into_iter()
                .zip(owned)
                .map(|(schedule, &owned)| owned.then(|| Arc::new(schedule)))
                .collect(),
            edges,
            groups,
            sizes,
            placement,
            wait_config,
            meanwhile: options.meanwhile,
            usable: options.usable(),
            backend: options.backend,
            memory,
            nodes,
            fork_detector,
            kernel_copy: OnceLock::new(),
            contexts: Mutex::new(Vec::new()),
            stack_bytes: options.stack_bytes,
            begun: options.begun,
            ended: (0..n).map(|_| Mutex::default()).collect(),
            recording: recording.map(Arc::new),
            learn: options.learn,
            line_memory: LineMemory::default(),
            #[cfg(not(loom))]
            symmetric,
            #[cfg(not(loom))]
            heaps: OnceLock::new(),
            #[cfg(not(loom))]
            regions: OnceLock::new(),
        };
        let first = team_memory.context(0, &rank_segments)?;
        *team_memory.waiting() = vec![first];
        Ok(Arc::new(team_memory))
    }

    /// Tells all members on which NUMA node each rank is. Call it before the first of them joins.
    pub fn set_nodes(&self, nodes: Arc<[u32]>) {
        for schedule in self.schedules.iter().flatten() {
            schedule.set_nodes(Arc::clone(&nodes));
        }
    }

    /// Lets members read the memory of the processes of other ranks, and lend without copying from `lends_from`
    /// bytes on. Call it before the first of them joins.
    pub fn set_processes(&self, processes: Processes, lends_from: LendsFrom) {
        let _ = self.kernel_copy.set((processes, lends_from));
        self.waiting()
            .iter_mut()
            .for_each(|context| self.introduce(context));
    }

    /// Bytes that a rank can lend to one other process without waiting for it: as much as has room in the link between them.
    /// Of longer data lender and borrower copy in turn.
    pub fn loan_without_turns(&self, rank: usize) -> usize {
        corecast_transfer::loan_room(bounce_buffer(self.sizes.degrees[rank]).1)
    }

    /// Lets members lend what lies in this process's heap without copying it, and read what others lend of theirs, which are
    /// mapped here by rank. Call it before [`set_processes`](Self::set_processes).
    #[cfg(not(loom))]
    pub fn set_heaps(&self, own: Option<Arc<SymmetricHeap>>, theirs: Heaps) {
        let _ = self.heaps.set((own, theirs));
    }

    /// Lets members lend what lies in these regions without copying it, and read what others lend of theirs. Call it before
    /// [`set_processes`](Self::set_processes).
    #[cfg(not(loom))]
    pub fn set_regions(&self, regions: Arc<SharedRegions>) {
        let _ = self.regions.set(regions);
    }

    /// Tells the endpoints of an operation context whose memory they can read.
    fn introduce(&self, context: &mut [Option<OpContext>]) {
        #[cfg(not(loom))]
        if let Some((own, theirs)) = self.heaps.get() {
            for context in context.iter_mut().flatten() {
                context.fabric.open_heaps(own.as_deref(), theirs);
            }
        }
        #[cfg(not(loom))]
        if let Some(regions) = self.regions.get() {
            for context in context.iter_mut().flatten() {
                context.fabric.open_regions(regions);
            }
        }
        let Some((processes, lends_from)) = self.kernel_copy.get() else {
            return;
        };
        for context in context.iter_mut().flatten() {
            context.fabric.open_kernel_copy(processes, *lends_from);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Vec<Option<OpContext>>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.schedules.len()
    }

    /// The state that all members share besides their lines.
    pub fn state(&self) -> &Arc<TeamState> {
        &self.state
    }

    /// Notes what a member had ended that leaves; `None` for one that has come back.
    pub(crate) fn set_ended(&self, rank: usize, ended: Option<Ended>) {
        *self.ended_of(rank) = ended;
    }

    fn ended_of(&self, rank: usize) -> MutexGuard<'_, Option<Ended>> {
        let ended = &self.ended[rank];
        ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far a rank has come.
    pub(crate) fn progress(&self, rank: usize) -> Progress {
        Progress {
            rank,
            last: self.state.activity(rank),
            lost: self.state.loss(rank),
            ended: self.ended_of(rank).clone(),
        }
    }

    /// Memory for the lines of an algorithm; see [`Team::lines`](crate::Team::lines).
    pub(crate) fn lines(&self, set: &LineSet) -> Result<TeamLines, TeamError> {
        let bytes = TeamLines::bytes(set);
        let near = self
            .line_memory
            .near(&self.memory, &self.nodes, &self.sizes, &bytes)?;
        Ok(TeamLines::new(set, &self.state, &near)?)
    }

    /// A symmetric buffer of a rank of this process.
    #[cfg(not(loom))]
    pub(crate) fn alloc<T: Pod>(
        &self,
        rank: usize,
        len: usize,
    ) -> Result<SymmetricBuffer<T>, AllocError> {
        match (&self.memory, self.symmetric.get(rank)) {
            (MemoryKind::Shared(..), None) => Err(AllocError::None),
            (_, memory) => SymmetricBuffer::new(memory, len),
        }
    }

    pub(crate) fn placement(&self, rank: usize) -> &Placement {
        &self.placement[rank]
    }

    /// Whether a rank belongs to this process.
    pub fn is_owned(&self, rank: usize) -> bool {
        self.schedules.get(rank).is_some_and(Option::is_some)
    }

    /// The number of operations that can be in flight at a time.
    pub(crate) fn depth(&self) -> usize {
        self.sizes.depth
    }

    /// Bytes of the stack of an operation in flight.
    pub(crate) fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    /// [`Options::begun`].
    pub(crate) fn begun(&self) -> [u64; 2] {
        self.begun
    }

    /// Tells whether this process was forked after it made the team or attached to it.
    pub(crate) fn fork_detector(&self) -> ForkDetector {
        self.fork_detector
    }

    /// Takes the operation context of a rank's blocking operations; `None` if it has been taken.
    pub(crate) fn take_first(&self, rank: usize) -> Option<OpContext> {
        self.waiting()[0].get_mut(rank)?.take()
    }

    /// Takes the operation contexts of a rank's operations in flight; none if they have been taken. The first
    /// call makes them for all ranks of this process.
    ///
    /// # Errors
    ///
    /// [`SegmentError`], if the contexts cannot be made.
    pub(crate) fn take_others(&self, rank: usize) -> Result<Vec<OpContext>, SegmentError> {
        let mut waiting = self.waiting();
        while waiting.len() <= self.sizes.depth {
            let context = waiting.len();
            let rank_segments = rank_segments(&self.memory, &self.nodes, &self.sizes, context)?;
            let mut context = self.context(context, &rank_segments)?;
            self.introduce(&mut context);
            waiting.push(context);
        }
        Ok(waiting[1..]
            .iter_mut()
            .filter_map(|context| context[rank].take())
            .collect())
    }

    /// Marks the ranks that are not joined as having left, so that members that wait for them fail.
    pub(crate) fn abandon(&self) {
        if corecast_wire::fork::forked_since(&self.fork_detector) || model_failed() {
            return;
        }
        let abandoned: Vec<usize> = match self.waiting().first_mut() {
            Some(first) => (0..first.len())
                .filter(|&r| first[r].take().is_some())
                .collect(),
            None => Vec::new(),
        };
        for rank in abandoned {
            self.state.leave(rank, panicking());
        }
    }

    /// A rank's call-site writer, in a team of several processes.
    pub(crate) fn site_writer(&self, rank: usize) -> Option<CallSiteWriter> {
        self.state
            .site_table(rank)
            .map(|site_table| CallSiteWriter::new(site_table.clone()))
    }

    /// Whether members learn while the team runs.
    pub(crate) fn learns(&self) -> bool {
        self.learn
    }

    /// The calls of members, if they are recorded.
    pub(crate) fn recording(&self) -> Option<&Arc<Recording>> {
        self.recording.as_ref()
    }

    /// The recorder of a rank that is joined now.
    pub(crate) fn recorder(&self, rank: usize) -> Option<Recorder> {
        self.recording.as_ref()?.recorder(rank)
    }
}
