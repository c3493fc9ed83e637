//! What a team is made of: memory, lines between ranks, and what each rank's lanes are built from.
//!
//! Memory is handed out in one fixed order, so that processes that build the same team over the same
//! segment find each other's lines where they look for them, and need to tell each other nothing.

use crate::Lane;
use crate::board::{Between, Board};
use crate::book::{Book, Pen, SITES};
use crate::element::Element;
use crate::hardware::{self, Hardware, Here, Link, NO_LINK, SharedLines};
use crate::operation::{Mark, Operation};
use crate::options::Options;
use crate::reach::Processes;
use crate::record::{RECORD_LINES, Record};
use corecast_collectives::Collective;
use corecast_collectives::RankSchedule;
use corecast_collectives::groups::Groups;
use corecast_collectives::layout::Layout;
use corecast_collectives::plans::Plans;
use corecast_collectives::{MESH_RANKS_MAX, edges};
use corecast_transfer::{self as bulk, Desk, Memory, OutboxMemory};
use corecast_wire::diary::Diary;
use corecast_wire::fork::Stamp;
use corecast_wire::queue::{self, Backend};
use corecast_wire::{
    Exchange, FenceKind, Flag, Governor, Line, LineRef, Parker, Placement, Policy, Segment,
    SegmentError, Signal, Words, fence_kind, stream,
};
use std::panic::Location;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes of a chunk of an outbox with few links: two of them fit the first cache of both sides.
const CHUNK_BYTES: usize = 32 * 1024;
/// Bytes of a chunk where a rank has many links.
const CHUNK_BYTES_MIN: usize = 4 * 1024;
/// Bytes of an outbox, unless its links need more.
const OUTBOX_BYTES: usize = 256 * 1024;

/// Bytes of an outbox with so many links, and of its chunks. Each link must find a chunk of its own;
/// twice as many let it fill one while the peer reads another.
fn outbox(links: usize) -> (usize, usize) {
    let mut chunk = CHUNK_BYTES;
    while chunk > CHUNK_BYTES_MIN && 2 * links * chunk > OUTBOX_BYTES {
        chunk /= 2;
    }
    (OUTBOX_BYTES.max(2 * links * chunk), chunk)
}

/// A team without its members.
#[derive(Debug)]
pub struct Frame {
    board: Arc<Board>,
    /// Of the ranks that this process speaks for; others have none.
    tables: Vec<Option<Arc<RankSchedule>>>,
    edges: Vec<(usize, usize)>,
    groups: Groups,
    sizes: Sizes,
    placement: Vec<Placement>,
    policy: Policy,
    /// Hardware threads that the ranks have between them.
    usable: usize,
    backend: Backend,
    memory: Where,
    /// NUMA nodes of the ranks that this process speaks for, where they are known.
    nodes: Vec<Option<u32>>,
    stamp: Stamp,
    /// Processes whose memory can be read, and from how many bytes on this one lends its own.
    far: OnceLock<(Processes, usize)>,
    /// Operation contexts that no member has taken yet, by context and rank. They are built when the first member asks.
    lanes: Mutex<Vec<Vec<Option<Lane>>>>,
}

/// Where the lines of a team lie.
#[derive(Debug)]
enum Where {
    /// In this process's own memory.
    Private,
    /// In a segment of all processes, from this offset on.
    Shared(Arc<Segment>, usize),
}

/// Bytes of memory of each rank in each operation context.
#[derive(Debug)]
struct Sizes {
    degrees: Vec<usize>,
    slots: usize,
    /// Whether ranks share cores.
    crowded: bool,
    /// Bytes of the lines that groups share, by kind of context (blocking, in flight) and rank.
    lines: [Vec<usize>; 2],
    shared: bool,
    depth: usize,
}

impl Sizes {
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
            crowded: false,
            lines: [0, 1].map(|lane| hardware::shared_bytes(n, groups, lane)),
            shared,
            depth: options.depth,
        }
    }

    /// Slots of the queues in one lane.
    fn slots(&self, lane: usize) -> usize {
        match lane {
            0 => self.slots,
            _ => self.slots.min(IN_FLIGHT_SLOTS),
        }
    }

    /// Bytes for one rank in one lane.
    fn home(&self, lane: usize, rank: usize) -> usize {
        let link = queue::receiver_bytes(self.slots(lane))
            + queue::sender_bytes()
            + Segment::bytes_for::<Exchange>(1)
            + bulk::link_bytes();
        let mut bytes = Segment::bytes_for::<Diary>(1)
            + self.degrees[rank] * link
            + self.lines[lane.min(1)][rank];
        if lane == 0 {
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
            true => (bytes + outbox(self.degrees[rank]).0).next_multiple_of(PAGE_BYTES),
            false => bytes + SHELF_CHUNKS * self.shelf_chunk(lane),
        }
    }

    /// Bytes of a chunk of a rank's shelf in one lane; 0: there is none.
    fn shelf_chunk(&self, lane: usize) -> usize {
        match lane {
            _ if self.shared || self.degrees.len() > SHELF_RANKS_MAX => 0,
            0 if !self.crowded => 0,
            0 => SHELF_CHUNK_CROWDED,
            _ => SHELF_CHUNK_IN_FLIGHT,
        }
    }

    fn lane(&self, lane: usize) -> usize {
        (0..self.degrees.len())
            .map(|rank| self.home(lane, rank))
            .sum()
    }

    fn all(&self) -> usize {
        self.lane(0) + self.depth * self.lane(1)
    }
}

/// Chunks of a rank's shelf.
const SHELF_CHUNKS: usize = 4;

/// Bytes of a chunk where ranks share cores: a fragment. Waiting until a loan was read means that others
/// have to run: of eight ranks on two cores a broadcast of 32 KiB takes 0.5 of the time with a copy, of 4 KiB
/// 0.6, reductions and allgathers 0.7 to 1.0. With a core for each of two ranks copies of 4 KiB take 1.1 to 1.2
/// times as long (AMD EPYC, November 2026, `corecast bench --op broadcast`).
const SHELF_CHUNK_CROWDED: usize = 32 << 10;

/// Bytes of a chunk for operations in flight, where whoever waits changes stacks: eight broadcasts in flight
/// take 0.7 of the time with copies at 1 and 4 KiB (same machine, `--example in_flight`).
const SHELF_CHUNK_IN_FLIGHT: usize = 4 << 10;

/// Largest team that has shelves: each rank has one in each lane.
const SHELF_RANKS_MAX: usize = 16;

/// Most slots of a queue for operations in flight: there are many such queues, and what waits for long
/// data in one of them holds up nothing.
const IN_FLIGHT_SLOTS: usize = 16;

/// Alignment of each rank's part of a shared segment. It is the largest page size of supported machines, so that all
/// processes compute the same offsets.
const PAGE_BYTES: usize = 64 * 1024;

/// Bytes that a team of processes takes in its segment, besides what is in front.
pub fn shared_bytes(plans: &Plans, options: &Options, crowded: bool) -> usize {
    let n = plans.len();
    let edges = edges(plans, n <= MESH_RANKS_MAX);
    let layout = Layout::new(plans, &options.algorithms, (None, crowded));
    Sizes::new(&edges, &layout.groups, n, options, true).all()
}

impl Frame {
    /// A team of this process alone.
    pub(crate) fn private(
        plans: &Plans,
        policy: Policy,
        options: &Options,
    ) -> Result<Arc<Self>, SegmentError> {
        let owned = vec![true; plans.len()];
        let memory = Where::Private;
        let waits = (policy, options.is_crowded(plans.len()));
        Self::build(plans, waits, options, &owned, memory, fence_kind())
    }

    /// This process's part of a team over `segment`, whose ranks are `owned`.
    ///
    /// # Errors
    ///
    /// Memory.
    pub fn shared(
        plans: &Plans,
        policy: Policy,
        options: &Options,
        owned: &[usize],
        (segment, from, crowded): (Arc<Segment>, usize, bool),
        fence: FenceKind,
    ) -> Result<Arc<Self>, SegmentError> {
        let memory = Where::Shared(segment, from);
        let owned: Vec<bool> = (0..plans.len()).map(|rank| owned.contains(&rank)).collect();
        Self::build(plans, (policy, crowded), options, &owned, memory, fence)
    }

    fn build(
        plans: &Plans,
        (policy, crowded): (Policy, bool),
        options: &Options,
        owned: &[bool],
        memory: Where,
        fence: FenceKind,
    ) -> Result<Arc<Self>, SegmentError> {
        // Looked up now: operations allocate nothing.
        stream::above();
        let n = plans.len();
        let mesh = n <= MESH_RANKS_MAX;
        let edges = edges(plans, mesh);
        let shared = matches!(memory, Where::Shared(..));
        // Between processes each knows its own nodes alone.
        let nodes = options.numa_nodes.as_deref().filter(|_| !shared);
        let layout = Layout::new(plans, &options.algorithms, (nodes, crowded));
        let known = options.numa_nodes.as_deref();
        // Between processes they say when they have come.
        let known = known.filter(|_| owned.iter().all(|&owned| owned));
        let (schedules, groups) = RankSchedule::all(
            plans,
            layout,
            options.algorithms,
            options.deterministic,
            known,
        );
        let sizes = Sizes {
            crowded,
            ..Sizes::new(&edges, &groups, n, options, shared)
        };
        let node = |rank| options.numa_nodes.as_ref().map(|nodes| nodes[rank]);
        let nodes: Vec<Option<u32>> = (0..n)
            .map(|rank| node(rank).filter(|_| owned[rank]))
            .collect();
        let homes = homes(&memory, &nodes, &sizes, 0)?;
        let placement = homes.iter().map(|home| home.placement().clone()).collect();
        let mut diaries = Vec::with_capacity(n);
        let mut parkers: Vec<LineRef<Line<Parker>>> = Vec::with_capacity(n);
        for home in &homes {
            parkers.push(home.lines(1)?.get(0));
            diaries.push(home.lines(1)?.get(0));
        }
        let stopped = homes[0].lines(1)?.get(0);
        let between = match shared {
            true => Some(Between {
                record: Record::new(homes[0].lines(RECORD_LINES)?),
                books: homes
                    .iter()
                    .map(|home| home.lines(SITES).map(Book::new))
                    .collect::<Result<_, _>>()?,
            }),
            false => None,
        };
        let board = Board::new(diaries, parkers, stopped, fence, options, between);
        let frame = Self {
            board: Arc::new(board),
            tables: schedules
                .into_iter()
                .zip(owned)
                .map(|(schedule, &owned)| owned.then(|| Arc::new(schedule)))
                .collect(),
            edges,
            groups,
            sizes,
            placement,
            policy,
            usable: options.usable(),
            backend: options.backend,
            memory,
            nodes,
            stamp: Stamp::now(),
            far: OnceLock::new(),
            lanes: Mutex::new(Vec::new()),
        };
        let first = frame.lane(0, &homes)?;
        *frame.waiting() = vec![first];
        Ok(Arc::new(frame))
    }

    /// Tells all members on which NUMA node each rank is. Before the first of them joins.
    pub fn set_nodes(&self, nodes: Arc<[u32]>) {
        for tables in self.tables.iter().flatten() {
            tables.set_nodes(Arc::clone(&nodes));
        }
    }

    /// Lets members read the memory of the processes of other ranks, and lend without copying from so many
    /// bytes on. Before the first of them joins.
    pub fn set_processes(&self, processes: Processes, lends_from: Option<usize>) {
        let _ = self.far.set((processes, lends_from.unwrap_or(usize::MAX)));
        self.waiting()
            .iter_mut()
            .for_each(|lane| self.introduce(lane));
    }

    /// Tells the desks of a lane whose memory they can read.
    fn introduce(&self, lane: &mut [Option<Lane>]) {
        let Some((processes, lends_from)) = self.far.get() else {
            return;
        };
        for lane in lane.iter_mut().flatten() {
            lane.fabric.reach(processes, *lends_from);
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Vec<Option<Lane>>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.tables.len()
    }

    /// What all members share besides their lines.
    pub fn board(&self) -> &Arc<Board> {
        &self.board
    }

    pub(crate) fn placement(&self, rank: usize) -> &Placement {
        &self.placement[rank]
    }

    /// Whether this process speaks for a rank.
    pub fn is_owned(&self, rank: usize) -> bool {
        self.tables.get(rank).is_some_and(Option::is_some)
    }

    /// In which process the team was made, or attached to.
    pub(crate) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// The lane of a rank's blocking operations, once.
    pub(crate) fn take_first(&self, rank: usize) -> Option<Lane> {
        self.waiting()[0].get_mut(rank)?.take()
    }

    /// The other lanes of a rank, once.
    ///
    /// # Errors
    ///
    /// Memory, when the first member asks.
    pub(crate) fn take_others(&self, rank: usize) -> Result<Vec<Lane>, SegmentError> {
        let mut waiting = self.waiting();
        while waiting.len() <= self.sizes.depth {
            let lane = waiting.len();
            let homes = homes(&self.memory, &self.nodes, &self.sizes, lane)?;
            let mut lane = self.lane(lane, &homes)?;
            self.introduce(&mut lane);
            waiting.push(lane);
        }
        Ok(waiting[1..]
            .iter_mut()
            .filter_map(|lane| lane[rank].take())
            .collect())
    }

    /// Tells those who wait for ranks that nobody has joined, and will not any more.
    pub(crate) fn abandon(&self) {
        if corecast_wire::fork::forked_since(&self.stamp) {
            return;
        }
        let abandoned: Vec<usize> = match self.waiting().first_mut() {
            Some(first) => (0..first.len())
                .filter(|&r| first[r].take().is_some())
                .collect(),
            None => Vec::new(),
        };
        for rank in abandoned {
            self.board.leave(rank, std::thread::panicking());
        }
    }

    /// A rank's pen, where call sites have to be put in words.
    pub(crate) fn pen(&self, rank: usize) -> Option<Pen> {
        self.board.book(rank).map(|book| Pen::new(book.clone()))
    }

    /// The ends of all lines of one lane, for the ranks of this process.
    fn lane(&self, lane: usize, homes: &[Arc<Segment>]) -> Result<Vec<Option<Lane>>, SegmentError> {
        let (board, fence) = (&self.board, self.board.fence());
        let governor = |parker: &LineRef<Line<Parker>>| {
            Governor::with_fence(self.policy, parker.clone(), fence)
        };
        let governors: Vec<Governor> = board.parkers.iter().map(governor).collect();
        let lane_diaries: Option<Arc<[LineRef<Diary>]>> = match lane {
            0 => None,
            _ => Some(
                homes
                    .iter()
                    .map(|home| Ok(home.lines(1)?.get(0)))
                    .collect::<Result<_, SegmentError>>()?,
            ),
        };
        let outboxes: Option<Vec<OutboxMemory>> = match self.memory {
            Where::Private => None,
            Where::Shared(..) => Some(
                homes
                    .iter()
                    .zip(&self.sizes.degrees)
                    .map(|(home, &links)| OutboxMemory::new(home, outbox(links).0))
                    .collect::<Result<_, _>>()?,
            ),
        };
        let shelves: Option<Vec<OutboxMemory>> = match self.sizes.shelf_chunk(lane) {
            0 => None,
            chunk => Some(
                homes
                    .iter()
                    .map(|home| OutboxMemory::new(home, SHELF_CHUNKS * chunk))
                    .collect::<Result<_, _>>()?,
            ),
        };
        let slots = self.sizes.slots(lane);
        let mut ends: Vec<(Vec<Link>, Desk)> = homes
            .iter()
            .map(|_| (Vec::new(), Desk::new(fence)))
            .collect();
        for (number, &(a, b)) in self.edges.iter().enumerate() {
            let forth = 2 * (lane * self.edges.len() + number) as u32;
            let back = forth + 1;
            let to_b = queue::parts(slots, forth, &homes[a], &homes[b])?;
            let to_a = queue::parts(slots, back, &homes[b], &homes[a])?;
            let at_a: LineRef<Exchange> = homes[a].lines(1)?.get(0);
            let at_b: LineRef<Exchange> = homes[b].lines(1)?.get(0);
            // Two alone notify each other at the same time.
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
                    out_parker: board.parkers[peer].clone(),
                    out_token: queue::flag_token(tokens.0),
                    in_flag: flags.1.clone(),
                    in_token: queue::flag_token(tokens.1),
                    out_count: 0,
                    in_count: 0,
                    sender: out.sender(self.backend, &governors[me], &governors[peer]),
                    receiver: into.receiver(self.backend, &governors[me], &governors[peer]),
                    loan_token: queue::loan_token(tokens.0),
                });
            }
            let memory = match &outboxes {
                None => Memory::Address,
                Some(outboxes) => Memory::Outboxes([&outboxes[a], &outboxes[b]]),
            };
            let (left, right) = ends.split_at_mut(b);
            let (a_end, b_end) = (&mut left[a].1, &mut right[0].1);
            bulk::join(
                (
                    a_end,
                    queue::loan_token(forth),
                    (&board.parkers[a], &homes[a]),
                ),
                (
                    b_end,
                    queue::loan_token(back),
                    (&board.parkers[b], &homes[b]),
                ),
                memory,
            )?;
        }
        let lines = hardware::line_ends(
            &self.groups,
            lane,
            |rank| self.tables[rank].is_some(),
            (homes, &board.parkers),
            (fence, self.usable),
        )?;
        type Ends = (((Vec<Link>, Desk), Governor), SharedLines);
        let end = |(rank, (((links, mut desk), governor), lines)): (usize, Ends)| {
            let tables = self.tables[rank].as_ref()?;
            let outbox = outboxes
                .as_ref()
                .map(|outboxes| (&outboxes[rank], outbox(self.sizes.degrees[rank]).1));
            desk.open(outbox);
            if let Some(shelves) = &shelves {
                desk.copy_short_loans(&shelves[rank], self.sizes.shelf_chunk(lane));
            }
            let mut link_of = vec![NO_LINK; self.size()];
            for (index, link) in links.iter().enumerate() {
                link_of[link.peer] = index as u32;
            }
            let fabric = Hardware {
                here: Here {
                    board: Arc::clone(board),
                    lane_diaries: lane_diaries.clone(),
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
                desk,
                lines,
                governor,
                mark: Mark::default(),
            };
            Some(Lane::new(fabric, Arc::clone(tables)))
        };
        let ranks = ends.into_iter().zip(governors).zip(lines).enumerate();
        Ok(ranks.map(end).collect())
    }
}

/// Memory for each rank in one lane.
fn homes(
    memory: &Where,
    nodes: &[Option<u32>],
    sizes: &Sizes,
    lane: usize,
) -> Result<Vec<Arc<Segment>>, SegmentError> {
    let mut at = match (memory, lane) {
        (Where::Private, _) => 0,
        (Where::Shared(_, from), 0) => *from,
        (Where::Shared(_, from), _) => from + sizes.lane(0) + (lane - 1) * sizes.lane(1),
    };
    let home = |(rank, &node): (usize, &Option<u32>)| {
        let bytes = sizes.home(lane, rank);
        match memory {
            Where::Private if lane == 0 => Segment::new(bytes, node),
            Where::Private => {
                let home = Segment::reserve(bytes)?;
                if let Some(node) = node {
                    // What comes of it is as in lane 0, which says so.
                    home.bind(0, home.bytes(), node);
                }
                Ok(home)
            }
            Where::Shared(segment, _) => {
                at += bytes;
                segment.part(at - bytes, bytes, node)
            }
        }
    };
    nodes.iter().enumerate().map(home).collect()
}
