//! How much memory each rank of a team takes in each operation context, and the segments that hold it.

use crate::call_sites::SITES;
use crate::error::TeamError;
use crate::hardware;
use crate::options::Options;
use crate::record::RECORD_LINES;
use crate::recording::STAMP_LINES;
use corecast_collectives::groups::Groups;
use corecast_collectives::layout::Layout;
use corecast_collectives::plans::Plans;
use corecast_collectives::{MESH_RANKS_MAX, edges};
use corecast_transfer as bulk;
use corecast_wire::broadcast_ring::RING_SLOTS;
use corecast_wire::cache_lines::PayloadLine;
use corecast_wire::op_history::OpHistory;
use corecast_wire::queue::{self, Capacity, DEFAULT_SLOTS};
use corecast_wire::{Exchange, Line, Parker, Segment, SegmentError, StopWord, Words};
use std::sync::Arc;

/// Where the lines of a team lie.
#[derive(Debug)]
pub(super) enum MemoryKind {
    /// In this process's own memory.
    Private,
    /// In a segment of all processes, from this offset on.
    Shared(Arc<Segment>, usize),
}

/// Bytes of memory of each rank in each operation context.
#[derive(Debug)]
pub(super) struct MemorySizes {
    pub(super) degrees: Vec<usize>,
    /// Slots of queues, where the program says how many.
    slots: Option<usize>,
    /// Whether ranks share cores.
    pub(super) oversubscribed: bool,
    /// Bytes of the lines that groups share, by kind of context (blocking, in flight) and rank.
    lines: [Vec<usize>; 2],
    shared: bool,
    /// Whether calls are recorded.
    recorded: bool,
    pub(super) depth: usize,
    /// Bytes near each rank for the lines of algorithms, in a team of processes.
    line_room: usize,
}

impl MemorySizes {
    pub(super) fn new(
        edges: &[(usize, usize)],
        groups: &Groups,
        n: usize,
        (options, sharing): (&Options, usize),
        shared: bool,
    ) -> Self {
        let oversubscribed = sharing > 1;
        let lines = |context| {
            let slots = ring_slots(context, oversubscribed);
            hardware::shared_bytes(n, groups, context, slots)
        };
        let mut degrees = vec![0; n];
        for &(a, b) in edges {
            degrees[a] += 1;
            degrees[b] += 1;
        }
        Self {
            degrees,
            slots: options.slots,
            oversubscribed,
            lines: [0, 1].map(lines),
            shared,
            recorded: options.record,
            depth: options.depth,
            line_room: page_aligned(Segment::bytes_for::<PayloadLine>(options.lines)),
        }
    }

    /// What is kept near each rank for the lines of algorithms, and its bytes.
    pub(super) fn near_ranks(
        &self,
        segment: &Arc<Segment>,
        from: usize,
        nodes: &[Option<u32>],
    ) -> Result<Vec<(Arc<Segment>, usize)>, SegmentError> {
        let first = from.saturating_add(self.before(self.depth + 1));
        let near = |(rank, &node): (usize, &Option<u32>)| {
            let at = first.saturating_add(self.line_room.saturating_mul(rank));
            Ok((segment.part(at, self.line_room, node)?, self.line_room))
        };
        nodes.iter().enumerate().map(near).collect()
    }

    /// What each queue in one operation context holds.
    pub(super) fn queues(&self, context: usize) -> Capacity {
        let slots = self.slots.unwrap_or(DEFAULT_SLOTS);
        match (context, self.slots, self.oversubscribed) {
            (0, None, true) => Capacity::of(slots).with_slots(SLOTS_OVERSUBSCRIBED),
            (0, ..) => Capacity::of(slots),
            _ => Capacity::of(slots.min(IN_FLIGHT_SLOTS)),
        }
    }

    /// Slots of the broadcast rings in one operation context.
    pub(super) fn ring_slots(&self, context: usize) -> usize {
        ring_slots(context, self.oversubscribed)
    }

    /// Bytes for one rank in one operation context.
    fn rank_segment(&self, context: usize, rank: usize) -> usize {
        // Callers choose the slots, so whatever is made of them saturates, and no memory is that long.
        let link = queue::receiver_bytes(self.queues(context)).saturating_add(
            queue::sender_bytes() + 2 * Segment::bytes_for::<Exchange>(1) + bulk::link_bytes(),
        );
        let mut bytes = Segment::bytes_for::<OpHistory>(1) + self.lines[context.min(1)][rank];
        if context == 0 {
            bytes += Segment::bytes_for::<Line<Parker>>(1);
            if rank == 0 {
                bytes += Segment::bytes_for::<StopWord>(1);
            }
            if self.recorded {
                bytes += Segment::bytes_for::<Words>(STAMP_LINES);
            }
            if self.shared {
                bytes += Segment::bytes_for::<Words>(SITES);
                if rank == 0 {
                    bytes += Segment::bytes_for::<Words>(RECORD_LINES);
                }
            }
        }
        bytes += match self.shared {
            true => bounce_buffer(self.degrees[rank]).0,
            false => EAGER_CHUNKS * self.eager_chunk(context),
        };
        let bytes = bytes.saturating_add(self.degrees[rank].saturating_mul(link));
        match self.shared {
            true => page_aligned(bytes),
            false => bytes,
        }
    }

    /// Bytes of a chunk of a rank's eager buffer in one operation context; 0 if there is no eager buffer.
    pub(super) fn eager_chunk(&self, context: usize) -> usize {
        match context {
            _ if self.shared || self.degrees.len() > EAGER_RANKS_MAX => 0,
            0 if !self.oversubscribed => 0,
            0 => EAGER_CHUNK_OVERSUBSCRIBED,
            _ => EAGER_CHUNK_IN_FLIGHT,
        }
    }

    /// Bytes for all ranks in one operation context.
    fn context(&self, context: usize) -> usize {
        (0..self.degrees.len())
            .map(|rank| self.rank_segment(context, rank))
            .fold(0, usize::saturating_add)
    }

    /// Bytes of all that the segment of a team of processes has memory for.
    pub(super) fn all(&self) -> usize {
        let lines = self.line_room.saturating_mul(self.degrees.len());
        self.before(self.depth + 1).saturating_add(lines)
    }

    /// Bytes of all operation contexts before this one.
    fn before(&self, context: usize) -> usize {
        match context.checked_sub(1) {
            None => 0,
            Some(in_flight) => self
                .context(1)
                .saturating_mul(in_flight)
                .saturating_add(self.context(0)),
        }
    }
}

/// Simulated buffers are small, so that their short data wait for room too.
const BOUNCE_SCALE: usize = if cfg!(corecast_simulated) { 64 } else { 1 };
/// Bytes of a chunk of a bounce buffer with few links: two of them fit the first cache of both sides.
const CHUNK_BYTES: usize = 32 * 1024 / BOUNCE_SCALE;
/// Bytes of a chunk where a rank has many links.
const CHUNK_BYTES_MIN: usize = 4 * 1024 / BOUNCE_SCALE;
/// Bytes of a bounce buffer, unless its links need more.
const BOUNCE_BYTES: usize = 256 * 1024 / BOUNCE_SCALE;

/// Bytes of the bounce buffer of a rank with this many links, and of its chunks. Each link must find a chunk of
/// its own; twice as many let it fill one while the peer reads another.
pub(super) fn bounce_buffer(links: usize) -> (usize, usize) {
    let mut chunk = CHUNK_BYTES;
    while chunk > CHUNK_BYTES_MIN && 2 * links * chunk > BOUNCE_BYTES {
        chunk /= 2;
    }
    (BOUNCE_BYTES.max(2 * links * chunk), chunk)
}

/// Bytes of a piece of a long loan that is combined, where each rank has a core: copied and combined it stays in the first cache.
/// Reductions of 512 KiB to 4 MiB of two processes take 0.71 to 1.02 of the time with whole chunks if they use the same data again,
/// and 0.87 to 1.11 where other data come in between; pieces of 8 KiB gain half of it (AMD EPYC, Zen 4, December 2026, `--example
/// settings`).
pub(super) const COMBINE_PIECE: usize = 4 * 1024 / BOUNCE_SCALE;

/// Chunks of a rank's eager buffer.
pub(super) const EAGER_CHUNKS: usize = 4;

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

/// Slots of queues and broadcast rings where ranks share cores: whoever sends goes on until it has filled them, and the
/// receiver then takes as many in its turn. Among four and eight processes on two cores with 64 slots of queues, scans of 8
/// bytes take 1.3 and 1.4 times as long, gathers to one rank 1.3, and with 16 slots of rings broadcasts from one rank 1.7 and
/// 2.1 times; 512 gain 3 to 8 % more (2-core KVM guest, AMD EPYC, 29 November 2026).
const SLOTS_OVERSUBSCRIBED: usize = 256;

fn ring_slots(context: usize, oversubscribed: bool) -> usize {
    match (context, oversubscribed) {
        (0, true) => SLOTS_OVERSUBSCRIBED,
        _ => RING_SLOTS,
    }
}

/// Alignment of each rank's part of a shared segment. It is the largest page size of supported machines, so that all
/// processes compute the same offsets.
pub(super) const PAGE_BYTES: usize = 64 * 1024;

fn page_aligned(bytes: usize) -> usize {
    let aligned = bytes.checked_next_multiple_of(PAGE_BYTES);
    aligned.unwrap_or(usize::MAX)
}

/// Bytes that a team of processes takes in its segment, without the segment header; `usize::MAX` if they are more than
/// that, which no segment has.
///
/// # Errors
///
/// [`TeamError::Depth`].
pub fn shared_bytes(plans: &Plans, options: &Options, sharing: usize) -> Result<usize, TeamError> {
    let n = plans.len();
    let edges = edges(plans, n <= MESH_RANKS_MAX);
    let layout = Layout::new(plans, &options.algorithms, (None, sharing));
    check_numbers(&edges, &layout.groups, options.depth)?;
    let sizes = MemorySizes::new(&edges, &layout.groups, n, (options, sharing), true);
    Ok(sizes.all())
}

/// Bytes of the spare part of the segment of a team of `n` ranks: their symmetric memory.
pub fn spare_bytes(n: usize, options: &Options) -> usize {
    page_aligned(options.symmetric).saturating_mul(n)
}

/// Largest number of links in each direction, and of shared lines, of all operation contexts: each has tokens of its
/// own, see [`queue::parts`].
const NUMBERS_MAX: usize = 1 << 28;

/// Checks that all links and shared lines of a team have numbers, where `depth` operations can be in flight.
pub(super) fn check_numbers(
    edges: &[(usize, usize)],
    groups: &Groups,
    depth: usize,
) -> Result<(), TeamError> {
    let lines = groups.rings().len() + groups.counters().len() + groups.counter_barriers().len();
    let most = NUMBERS_MAX / (2 * edges.len()).max(lines).max(1);
    match depth < most {
        true => Ok(()),
        false => Err(TeamError::Depth {
            depth,
            most: most.saturating_sub(1),
        }),
    }
}

/// Memory for each rank in one operation context.
pub(super) fn rank_segments(
    memory: &MemoryKind,
    nodes: &[Option<u32>],
    sizes: &MemorySizes,
    context: usize,
) -> Result<Vec<Arc<Segment>>, SegmentError> {
    let mut at = match memory {
        MemoryKind::Private if context == 0 => {
            // Each segment may be small, and takes its memory later.
            Segment::check_room(sizes.context(0))?;
            0
        }
        MemoryKind::Private => 0,
        MemoryKind::Shared(_, from) => from.saturating_add(sizes.before(context)),
    };
    let rank_segment = |(rank, &node): (usize, &Option<u32>)| {
        let bytes = sizes.rank_segment(context, rank);
        match memory {
            // Of links and buffers a program uses few, so whichever it uses take memory then.
            MemoryKind::Private => Segment::reserve(bytes, node),
            MemoryKind::Shared(segment, _) => {
                at = at.saturating_add(bytes);
                segment.part(at - bytes, bytes, node)
            }
        }
    };
    nodes.iter().enumerate().map(rank_segment).collect()
}
