//! The memory of a team: segments, the lines between ranks, and each rank's operation contexts.
//!
//! Memory is handed out in one fixed order, so that processes that build the same team over the same segment
//! compute the same offsets and need not exchange them.

mod sizes;

pub use sizes::shared_bytes;

use crate::OpContext;
use crate::call_sites::{CallSiteTable, CallSiteWriter, SITES};
use crate::element::Element;
use crate::error::TeamError;
use crate::hardware::{
    self, COMBINE_BYTES, CallContext, ContextHistories, Hardware, Link, NO_LINK, SharedLines,
};
use crate::operation::{OpFingerprint, Operation};
use crate::options::Options;
use crate::record::{RECORD_LINES, Record};
use crate::team_state::{CrossProcess, TeamState};
use crate::transfer_path::Processes;
use corecast_collectives::groups::Groups;
use corecast_collectives::layout::{Layout, RankSchedule};
use corecast_collectives::plans::Plans;
use corecast_collectives::{Collective, MESH_RANKS_MAX, edges};
use corecast_transfer::{self as bulk, BounceMemory, Endpoint, Memory};
use corecast_wire::fork::ForkDetector;
use corecast_wire::op_history::OpHistory;
use corecast_wire::queue::{self, Backend};
use corecast_wire::sync::{Mutex, MutexGuard, panicking};
use corecast_wire::{
    Exchange, FenceKind, Line, LineRef, Parker, Placement, Segment, SegmentError, Signal,
    WaitConfig, WaitStrategy, fence_kind, stream,
};
use sizes::{EAGER_CHUNKS, MemoryKind, MemorySizes, bounce_buffer, check_numbers, rank_segments};
use std::panic::Location;
use std::sync::{Arc, OnceLock, PoisonError};

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
    /// Bytes of the stack of an operation in flight.
    stack_bytes: usize,
    /// [`Options::begun`].
    begun: [u64; 2],
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
        let waits = (wait_config, options.is_oversubscribed(plans.len()));
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
        (segment, from, oversubscribed): (Arc<Segment>, usize, bool),
        fence: FenceKind,
    ) -> Result<Arc<Self>, TeamError> {
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
    ) -> Result<Arc<Self>, TeamError> {
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
        check_numbers(&edges, &groups, options.depth)?;
        let mut sizes = MemorySizes::new(&edges, &groups, n, options, shared);
        sizes.oversubscribed = oversubscribed;
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
            }),
            false => None,
        };
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
            usable: options.usable(),
            backend: options.backend,
            memory,
            nodes,
            fork_detector: ForkDetector::now(),
            kernel_copy: OnceLock::new(),
            contexts: Mutex::new(Vec::new()),
            stack_bytes: options.stack_bytes,
            begun: options.begun,
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

    pub(crate) fn placement(&self, rank: usize) -> &Placement {
        &self.placement[rank]
    }

    /// Whether a rank belongs to this process.
    pub fn is_owned(&self, rank: usize) -> bool {
        self.schedules.get(rank).is_some_and(Option::is_some)
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
            self.state.leave(rank, panicking());
        }
    }

    /// A rank's call-site writer, in a team of several processes.
    pub(crate) fn site_writer(&self, rank: usize) -> Option<CallSiteWriter> {
        self.state
            .site_table(rank)
            .map(|site_table| CallSiteWriter::new(site_table.clone()))
    }

    /// One operation context: the ends of all its lines, for the ranks of this process.
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
                    .map(|rank_segment| history(rank_segment, self.begun[1]))
                    .collect::<Result<_, SegmentError>>()?,
            ),
        };
        let buffers = self.buffers(context, rank_segments)?;
        let links = self.links(context, rank_segments, &wait_strategies, &buffers)?;
        let lines = hardware::line_ends(
            &self.groups,
            context,
            |rank| self.schedules[rank].is_some(),
            (rank_segments, &state.parkers),
            (fence, self.usable),
        )?;
        let ranks = links.into_iter().zip(wait_strategies).zip(lines);
        let ends = ranks.enumerate().map(|(rank, ((links, waits), lines))| {
            let schedule = self.schedules[rank].as_ref()?;
            let call = CallContext {
                state: Arc::clone(state),
                in_flight: context_histories.clone().map(|ranks| ContextHistories {
                    ranks,
                    seq: self.begun[1] as u32,
                }),
                rank,
                operation: Operation {
                    seq: 0,
                    kind: Collective::Barrier,
                    root: 0,
                    in_flight: false,
                },
                site: Location::caller(),
            };
            let fabric = self.fabric(call, links, lines, waits, &buffers);
            Some(OpContext::new(fabric, Arc::clone(schedule)))
        });
        Ok(ends.collect())
    }

    /// The memory to which the ranks copy what they lend in an operation context.
    fn buffers(
        &self,
        context: usize,
        rank_segments: &[Arc<Segment>],
    ) -> Result<Buffers, SegmentError> {
        let bounce: Option<Vec<BounceMemory>> = match self.memory {
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
        let eager_chunk = self.sizes.eager_chunk(context);
        let eager: Option<Vec<BounceMemory>> = match eager_chunk {
            0 => None,
            chunk => Some(
                rank_segments
                    .iter()
                    .map(|rank_segment| BounceMemory::new(rank_segment, EAGER_CHUNKS * chunk))
                    .collect::<Result<_, _>>()?,
            ),
        };
        Ok(Buffers {
            bounce,
            eager,
            eager_chunk,
        })
    }

    /// Each rank's ends of its links in an operation context, and the endpoint of its loans.
    fn links(
        &self,
        context: usize,
        rank_segments: &[Arc<Segment>],
        wait_strategies: &[WaitStrategy],
        buffers: &Buffers,
    ) -> Result<Vec<(Vec<Link>, Endpoint)>, SegmentError> {
        let (state, slots) = (&self.state, self.sizes.slots(context));
        let mut ends: Vec<(Vec<Link>, Endpoint)> = rank_segments
            .iter()
            .map(|_| (Vec::new(), Endpoint::new(state.fence())))
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
                if self.schedules[me].is_none() {
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
            let memory = match &buffers.bounce {
                None => Memory::Address,
                Some(all) => Memory::BounceBuffers([&all[a], &all[b]]),
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
        Ok(ends)
    }

    /// A rank's fabric in an operation context, from its ends of links and shared lines.
    fn fabric(
        &self,
        call: CallContext,
        (links, mut endpoint): (Vec<Link>, Endpoint),
        lines: SharedLines,
        wait_strategy: WaitStrategy,
        buffers: &Buffers,
    ) -> Hardware {
        let rank = call.rank;
        let bounce = buffers.bounce.as_ref().map(|all| {
            let chunk_bytes = bounce_buffer(self.sizes.degrees[rank]).1;
            (&all[rank], chunk_bytes)
        });
        endpoint.open(bounce);
        if let Some(all) = &buffers.eager {
            endpoint.copy_short_loans(&all[rank], buffers.eager_chunk);
        }
        let mut element = Element::default();
        if endpoint.copies() {
            // The room is made now, because operations must not allocate.
            element.room(COMBINE_BYTES);
        }
        let mut link_of = vec![NO_LINK; self.size()];
        for (index, link) in links.iter().enumerate() {
            link_of[link.peer] = index as u32;
        }
        Hardware {
            call,
            link_of,
            lend_to: Vec::with_capacity(links.len()),
            element,
            links,
            endpoint,
            lines,
            wait_strategy,
            fingerprint: OpFingerprint::default(),
        }
    }
}

/// The memory to which the ranks of a team copy what they lend in one operation context, by rank.
struct Buffers {
    /// Of a team of several processes: what others read goes there.
    bounce: Option<Vec<BounceMemory>>,
    /// Where lending short data as a copy is faster.
    eager: Option<Vec<BounceMemory>>,
    /// Bytes of a chunk of an eager buffer.
    eager_chunk: usize,
}
