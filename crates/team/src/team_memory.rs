//! The memory of a team: segments, the lines between ranks, and each rank's operation contexts.
//!
//! Memory is handed out in one fixed order, so that processes that build the same team over the same segment
//! compute the same offsets and need not exchange them.

use crate::OpContext;
use crate::call_sites::{CallSiteTable, CallSiteWriter, SITES};
use crate::element::Element;
use crate::hardware::{self, CallContext, Hardware, Link, NO_LINK, SharedLines};
use crate::operation::{OpFingerprint, Operation};
use crate::options::Options;
use crate::record::{RECORD_LINES, Record};
use crate::team_state::{CrossProcess, TeamState};
use crate::transfer_path::Processes;
use corecast_collectives::Collective;
use corecast_collectives::RankSchedule;
use corecast_collectives::groups::Groups;
use corecast_collectives::layout::Layout;
use corecast_collectives::plans::Plans;
use corecast_collectives::{MESH_RANKS_MAX, edges};
use corecast_transfer::{self as bulk, BounceMemory, Endpoint, Memory};
use corecast_wire::fork::ForkDetector;
use corecast_wire::op_history::OpHistory;
use corecast_wire::queue::{self, Backend};
use corecast_wire::{
    Exchange, FenceKind, Flag, Line, LineRef, Parker, Placement, Segment, SegmentError, Signal,
    WaitConfig, WaitStrategy, Words, fence_kind, stream,
};
use std::panic::Location;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes of a chunk of a bounce buffer with few links: two of them fit the first cache of both sides.
const CHUNK_BYTES: usize = 32 * 1024;
/// Bytes of a chunk where a rank has many links.
const CHUNK_BYTES_MIN: usize = 4 * 1024;
/// Bytes of a bounce buffer, unless its links need more.
const BOUNCE_BYTES: usize = 256 * 1024;

/// Bytes of the bounce buffer of a rank with this many links, and of its chunks. Each link must find a chunk of
/// its own; twice as many let it fill one while the peer reads another.
fn bounce_buffer(links: usize) -> (usize, usize) {
    let mut chunk = CHUNK_BYTES;
    while chunk > CHUNK_BYTES_MIN && 2 * links * chunk > BOUNCE_BYTES {
        chunk /= 2;
    }
    (BOUNCE_BYTES.max(2 * links * chunk), chunk)
}

/// A team without its members.
#[derive(Debug)]
pub struct TeamMemory {
    state: Arc<TeamState>,
    /// The schedules of the ranks of this process; `None` for other ranks.
    tables: Vec<Option<Arc<RankSchedule>>>,
    edges: Vec<(usize, usize)>,
    groups: Groups,
    sizes: MemorySizes,
    placement: Vec<Placement>,
    wait_config: WaitConfig,
    /// Hardware threads that the ranks share.
    usable: usize,
    backend: Backend,
    memory: MemoryKind,
    /// NUMA nodes of the ranks of this process, where they are known.
    nodes: Vec<Option<u32>>,
    fork_detector: ForkDetector,
    /// Processes whose memory can be read, and from how many bytes on this one lends its own.
    kernel_copy: OnceLock<(Processes, usize)>,
    /// Operation contexts that no member has taken yet, by context and rank. They are built when the first member asks.
    contexts: Mutex<Vec<Vec<Option<OpContext>>>>,
}

/// Where the lines of a team lie.
#[derive(Debug)]
enum MemoryKind {
    /// In this process's own memory.
    Private,
    /// In a segment of all processes, from this offset on.
    Shared(Arc<Segment>, usize),
}

/// Bytes of memory of each rank in each operation context.
#[derive(Debug)]
struct MemorySizes {
    degrees: Vec<usize>,
    slots: usize,
    /// Whether ranks share cores.
    oversubscribed: bool,
    /// Bytes of the lines that groups share, by kind of context (blocking, in flight) and rank.
    lines: [Vec<usize>; 2],
    shared: bool,
    depth: usize,
}

impl MemorySizes {
    fn new(
        edges: &[(usize, usize)],
        groups: &Groups,
        n: usize,
        options: &Options,
        shared: bool,
    ) -> Self {
        let mut degrees = vec![0; n];
        for &(a, b) in edges {
            degrees[a] += 1;
            degrees[b] += 1;
        }
        Self {
            degrees,
            slots: options.slots,
            oversubscribed: false,
            lines: [0, 1].map(|context| hardware::shared_bytes(n, groups, context)),
            shared,
            depth: options.depth,
        }
    }

    /// Slots of the queues in one operation context.
    fn slots(&self, context: usize) -> usize {
        match context {
            0 => self.slots,
            _ => self.slots.min(IN_FLIGHT_SLOTS),
        }
    }

    /// Bytes for one rank in one operation context.
    fn rank_segment(&self, context: usize, rank: usize) -> usize {
        let link = queue::receiver_bytes(self.slots(context))
            + queue::sender_bytes()
            + Segment::bytes_for::<Exchange>(1)
            + bulk::link_bytes();
        let mut bytes = Segment::bytes_for::<OpHistory>(1)
            + self.degrees[rank] * link
            + self.lines[context.min(1)][rank];
        if context == 0 {
            bytes += Segment::bytes_for::<Line<Parker>>(1);
            if rank == 0 {
                bytes += Segment::bytes_for::<Flag>(1);
            }
            if self.shared {
                bytes += Segment::bytes_for::<Words>(SITES);
                if rank == 0 {
                    bytes += Segment::bytes_for::<Words>(RECORD_LINES);
                }
            }
        }
        match self.shared {
            true => (bytes + bounce_buffer(self.degrees[rank]).0).next_multiple_of(PAGE_BYTES),
            false => bytes + EAGER_CHUNKS * self.eager_chunk(context),
        }
    }

    /// Bytes of a chunk of a rank's eager buffer in one operation context; 0 if there is no eager buffer.
    fn eager_chunk(&self, context: usize) -> usize {
        match context {
            _ if self.shared || self.degrees.len() > EAGER_RANKS_MAX => 0,
            0 if !self.oversubscribed => 0,
            0 => EAGER_CHUNK_OVERSUBSCRIBED,
            _ => EAGER_CHUNK_IN_FLIGHT,
        }
    }

    fn context(&self, context: usize) -> usize {
        (0..self.degrees.len())
            .map(|rank| self.rank_segment(context, rank))
            .sum()
    }

    fn all(&self) -> usize {
        self.context(0) + self.depth * self.context(1)
    }
}

/// Chunks of a rank's eager buffer.
const EAGER_CHUNKS: usize = 4;

/// Bytes of a chunk where ranks share cores: a pipeline segment. Without a copy a rank waits until others have
/// run and read its loan: of eight ranks on two cores a broadcast of 32 KiB takes 0.5 of the time with a copy,
/// of 4 KiB 0.6, reductions and allgathers 0.7 to 1.0. With a core for each of two ranks copies of 4 KiB take
/// 1.1 to 1.2 times as long (AMD EPYC, November 2026, `corecast bench --op broadcast`).
const EAGER_CHUNK_OVERSUBSCRIBED: usize = 32 << 10;

/// Bytes of a chunk for operations in flight, where each wait switches stacks: eight broadcasts in flight take
/// 0.7 of the time with copies at 1 and 4 KiB (same machine, `--example in_flight`).
const EAGER_CHUNK_IN_FLIGHT: usize = 4 << 10;

/// Largest team that has eager buffers: each rank has one in each operation context.
const EAGER_RANKS_MAX: usize = 16;

/// Most slots of a queue for operations in flight. There are many such queues, and while an operation waits at
/// a full one the others go on.
const IN_FLIGHT_SLOTS: usize = 16;

/// Alignment of each rank's part of a shared segment. It is the largest page size of supported machines, so that all
/// processes compute the same offsets.
const PAGE_BYTES: usize = 64 * 1024;

/// Bytes that a team of processes takes in its segment, without the segment header.
pub fn shared_bytes(plans: &Plans, options: &Options, oversubscribed: bool) -> usize {
    let n = plans.len();
    let edges = edges(plans, n <= MESH_RANKS_MAX);
    let layout = Layout::new(plans, &options.algorithms, (None, oversubscribed));
    MemorySizes::new(&edges, &layout.groups, n, options, true).all()
}

impl TeamMemory {
    /// Memory of a team whose ranks are all in this process.
    pub(crate) fn private(
        plans: &Plans,
        wait_config: WaitConfig,
        options: &Options,
    ) -> Result<Arc<Self>, SegmentError> {
        let owned = vec![true; plans.len()];
        let memory = MemoryKind::Private;
        let waits = (wait_config, options.is_oversubscribed(plans.len()));
        Self::build(plans, waits, options, &owned, memory, fence_kind())
    }

    /// This process's part of a team over `segment`, whose ranks are `owned`.
    ///
    /// # Errors
    ///
    /// [`SegmentError`], if the segment has no room for the lines.
    pub fn shared(
        plans: &Plans,
        wait_config: WaitConfig,
        options: &Options,
        owned: &[usize],
        (segment, from, oversubscribed): (Arc<Segment>, usize, bool),
        fence: FenceKind,
    ) -> Result<Arc<Self>, SegmentError> {
        let memory = MemoryKind::Shared(segment, from);
        let owned: Vec<bool> = (0..plans.len()).map(|rank| owned.contains(&rank)).collect();
        Self::build(
            plans,
            (wait_config, oversubscribed),
            options,
            &owned,
            memory,
            fence,
        )
    }

    fn build(
        plans: &Plans,
        (wait_config, oversubscribed): (WaitConfig, bool),
        options: &Options,
        owned: &[bool],
        memory: MemoryKind,
        fence: FenceKind,
    ) -> Result<Arc<Self>, SegmentError> {
        // The limit for streaming copies is looked up now, because operations must not allocate.
        stream::above();
        let n = plans.len();
        let mesh = n <= MESH_RANKS_MAX;
        let edges = edges(plans, mesh);
        let shared = matches!(memory, MemoryKind::Shared(..));
        // A process knows the NUMA nodes of its own ranks only.
        let nodes = options.numa_nodes.as_deref().filter(|_| !shared);
        let layout = Layout::new(plans, &options.algorithms, (nodes, oversubscribed));
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
        let sizes = MemorySizes {
            oversubscribed,
            ..MemorySizes::new(&edges, &groups, n, options, shared)
        };
        let node = |rank| options.numa_nodes.as_ref().map(|nodes| nodes[rank]);
        let nodes: Vec<Option<u32>> = (0..n)
            .map(|rank| node(rank).filter(|_| owned[rank]))
            .collect();
        let rank_segments = rank_segments(&memory, &nodes, &sizes, 0)?;
        let placement = rank_segments
            .iter()
            .map(|rank_segment| rank_segment.placement().clone())
            .collect();
        let mut histories = Vec::with_capacity(n);
        let mut parkers: Vec<LineRef<Line<Parker>>> = Vec::with_capacity(n);
        for rank_segment in &rank_segments {
            parkers.push(rank_segment.lines(1)?.get(0));
            histories.push(rank_segment.lines(1)?.get(0));
        }
        let stopped = rank_segments[0].lines(1)?.get(0);
        let between = match shared {
            true => Some(CrossProcess {
                record: Record::new(rank_segments[0].lines(RECORD_LINES)?),
                site_tables: rank_segments
                    .iter()
                    .map(|rank_segment| rank_segment.lines(SITES).map(CallSiteTable::new))
                    .collect::<Result<_, _>>()?,
            }),
            false => None,
        };
        let state = TeamState::new(histories, parkers, stopped, fence, options, between);
        let team_memory = Self {
            state: Arc::new(state),
            tables: schedules
                .into_iter()
                .zip(owned)
                .map(|(schedule, &owned)| owned.then(|| Arc::new(schedule)))
                .collect(),
            edges,
            groups,
            sizes,
            placement,
            wait_config,
            usable: options.usable(),
            backend: options.backend,
            memory,
            nodes,
            fork_detector: ForkDetector::now(),
            kernel_copy: OnceLock::new(),
            contexts: Mutex::new(Vec::new()),
        };
        let first = team_memory.context(0, &rank_segments)?;
        *team_memory.waiting() = vec![first];
        Ok(Arc::new(team_memory))
    }

    /// Tells all members on which NUMA node each rank is. Call it before the first of them joins.
    pub fn set_nodes(&self, nodes: Arc<[u32]>) {
        for tables in self.tables.iter().flatten() {
            tables.set_nodes(Arc::clone(&nodes));
        }
    }

    /// Lets members read the memory of the processes of other ranks, and lend without copying from `lends_from`
    /// bytes on. Call it before the first of them joins.
    pub fn set_processes(&self, processes: Processes, lends_from: Option<usize>) {
        let _ = self
            .kernel_copy
            .set((processes, lends_from.unwrap_or(usize::MAX)));
        self.waiting()
            .iter_mut()
            .for_each(|context| self.introduce(context));
    }

    /// Tells the endpoints of an operation context whose memory they can read.
    fn introduce(&self, context: &mut [Option<OpContext>]) {
        let Some((processes, lends_from)) = self.kernel_copy.get() else {
            return;
        };
        for context in context.iter_mut().flatten() {
            context.fabric.open_kernel_copy(processes, *lends_from);
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Vec<Option<OpContext>>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.tables.len()
    }

    /// The state that all members share besides their lines.
    pub fn state(&self) -> &Arc<TeamState> {
        &self.state
    }

    pub(crate) fn placement(&self, rank: usize) -> &Placement {
        &self.placement[rank]
    }

    /// Whether a rank belongs to this process.
    pub fn is_owned(&self, rank: usize) -> bool {
        self.tables.get(rank).is_some_and(Option::is_some)
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
        if corecast_wire::fork::forked_since(&self.fork_detector) {
            return;
        }
        let abandoned: Vec<usize> = match self.waiting().first_mut() {
            Some(first) => (0..first.len())
                .filter(|&r| first[r].take().is_some())
                .collect(),
            None => Vec::new(),
        };
        for rank in abandoned {
            self.state.leave(rank, std::thread::panicking());
        }
    }

    /// A rank's call-site writer, in a team of several processes.
    pub(crate) fn site_writer(&self, rank: usize) -> Option<CallSiteWriter> {
        self.state
            .site_table(rank)
            .map(|site_table| CallSiteWriter::new(site_table.clone()))
    }

    /// The ends of all lines of one operation context, for the ranks of this process.
    fn context(
        &self,
        context: usize,
        rank_segments: &[Arc<Segment>],
    ) -> Result<Vec<Option<OpContext>>, SegmentError> {
        let (state, fence) = (&self.state, self.state.fence());
        let wait_strategy = |parker: &LineRef<Line<Parker>>| {
            WaitStrategy::with_fence(self.wait_config, parker.clone(), fence)
        };
        let wait_strategies: Vec<WaitStrategy> = state.parkers.iter().map(wait_strategy).collect();
        let context_histories: Option<Arc<[LineRef<OpHistory>]>> = match context {
            0 => None,
            _ => Some(
                rank_segments
                    .iter()
                    .map(|rank_segment| Ok(rank_segment.lines(1)?.get(0)))
                    .collect::<Result<_, SegmentError>>()?,
            ),
        };
        let bounce_buffers: Option<Vec<BounceMemory>> = match self.memory {
            MemoryKind::Private => None,
            MemoryKind::Shared(..) => Some(
                rank_segments
                    .iter()
                    .zip(&self.sizes.degrees)
                    .map(|(rank_segment, &links)| {
                        BounceMemory::new(rank_segment, bounce_buffer(links).0)
                    })
                    .collect::<Result<_, _>>()?,
            ),
        };
        let eager_buffers: Option<Vec<BounceMemory>> = match self.sizes.eager_chunk(context) {
            0 => None,
            chunk => Some(
                rank_segments
                    .iter()
                    .map(|rank_segment| BounceMemory::new(rank_segment, EAGER_CHUNKS * chunk))
                    .collect::<Result<_, _>>()?,
            ),
        };
        let slots = self.sizes.slots(context);
        let mut ends: Vec<(Vec<Link>, Endpoint)> = rank_segments
            .iter()
            .map(|_| (Vec::new(), Endpoint::new(fence)))
            .collect();
        for (number, &(a, b)) in self.edges.iter().enumerate() {
            let forth = 2 * (context * self.edges.len() + number) as u32;
            let back = forth + 1;
            let to_b = queue::parts(slots, forth, &rank_segments[a], &rank_segments[b])?;
            let to_a = queue::parts(slots, back, &rank_segments[b], &rank_segments[a])?;
            let at_a: LineRef<Exchange> = rank_segments[a].lines(1)?.get(0);
            let at_b: LineRef<Exchange> = rank_segments[b].lines(1)?.get(0);
            // Two ranks notify each other at the same time, so both flags share a line.
            let (for_a, for_b) = match self.size() {
                2 => (Signal::new(at_a.clone(), 0), Signal::new(at_a, 1)),
                _ => (Signal::new(at_a, 0), Signal::new(at_b, 0)),
            };
            for (me, peer, out, into, tokens, flags) in [
                (a, b, &to_b, &to_a, (forth, back), (&for_b, &for_a)),
                (b, a, &to_a, &to_b, (back, forth), (&for_a, &for_b)),
            ] {
                if self.tables[me].is_none() {
                    continue;
                }
                ends[me].0.push(Link {
                    peer,
                    out_flag: flags.0.clone(),
                    out_parker: state.parkers[peer].clone(),
                    out_token: queue::flag_token(tokens.0),
                    in_flag: flags.1.clone(),
                    in_token: queue::flag_token(tokens.1),
                    out_count: 0,
                    in_count: 0,
                    sender: out.sender(self.backend, &wait_strategies[me], &wait_strategies[peer]),
                    receiver: into.receiver(
                        self.backend,
                        &wait_strategies[me],
                        &wait_strategies[peer],
                    ),
                    loan_token: queue::loan_token(tokens.0),
                });
            }
            let memory = match &bounce_buffers {
                None => Memory::Address,
                Some(bounce_buffers) => {
                    Memory::BounceBuffers([&bounce_buffers[a], &bounce_buffers[b]])
                }
            };
            let (left, right) = ends.split_at_mut(b);
            let (a_end, b_end) = (&mut left[a].1, &mut right[0].1);
            bulk::join(
                (
                    a_end,
                    queue::loan_token(forth),
                    (&state.parkers[a], &rank_segments[a]),
                ),
                (
                    b_end,
                    queue::loan_token(back),
                    (&state.parkers[b], &rank_segments[b]),
                ),
                memory,
            )?;
        }
        let lines = hardware::line_ends(
            &self.groups,
            context,
            |rank| self.tables[rank].is_some(),
            (rank_segments, &state.parkers),
            (fence, self.usable),
        )?;
        type Ends = (((Vec<Link>, Endpoint), WaitStrategy), SharedLines);
        let end = |(rank, (((links, mut endpoint), wait_strategy), lines)): (usize, Ends)| {
            let tables = self.tables[rank].as_ref()?;
            let bounce_buffer = bounce_buffers.as_ref().map(|bounce_buffers| {
                (
                    &bounce_buffers[rank],
                    bounce_buffer(self.sizes.degrees[rank]).1,
                )
            });
            endpoint.open(bounce_buffer);
            if let Some(eager_buffers) = &eager_buffers {
                endpoint.copy_short_loans(&eager_buffers[rank], self.sizes.eager_chunk(context));
            }
            let mut link_of = vec![NO_LINK; self.size()];
            for (index, link) in links.iter().enumerate() {
                link_of[link.peer] = index as u32;
            }
            let fabric = Hardware {
                call: CallContext {
                    state: Arc::clone(state),
                    context_histories: context_histories.clone(),
                    rank,
                    operation: Operation {
                        seq: 0,
                        kind: Collective::Barrier,
                        root: 0,
                        in_flight: false,
                    },
                    site: Location::caller(),
                },
                link_of,
                lend_to: Vec::with_capacity(links.len()),
                element: Element::default(),
                links,
                endpoint,
                lines,
                wait_strategy,
                fingerprint: OpFingerprint::default(),
            };
            Some(OpContext::new(fabric, Arc::clone(tables)))
        };
        let ranks = ends.into_iter().zip(wait_strategies).zip(lines).enumerate();
        Ok(ranks.map(end).collect())
    }
}

/// Memory for each rank in one operation context.
fn rank_segments(
    memory: &MemoryKind,
    nodes: &[Option<u32>],
    sizes: &MemorySizes,
    context: usize,
) -> Result<Vec<Arc<Segment>>, SegmentError> {
    let mut at = match (memory, context) {
        (MemoryKind::Private, _) => 0,
        (MemoryKind::Shared(_, from), 0) => *from,
        (MemoryKind::Shared(_, from), _) => {
            from + sizes.context(0) + (context - 1) * sizes.context(1)
        }
    };
    let rank_segment = |(rank, &node): (usize, &Option<u32>)| {
        let bytes = sizes.rank_segment(context, rank);
        match memory {
            MemoryKind::Private if context == 0 => Segment::new(bytes, node),
            MemoryKind::Private => {
                let rank_segment = Segment::reserve(bytes)?;
                if let Some(node) = node {
                    // The result is ignored: it is that of operation context 0, which the team reports.
                    rank_segment.bind(0, rank_segment.bytes(), node);
                }
                Ok(rank_segment)
            }
            MemoryKind::Shared(segment, _) => {
                at += bytes;
                segment.part(at - bytes, bytes, node)
            }
        }
    };
    nodes.iter().enumerate().map(rank_segment).collect()
}
