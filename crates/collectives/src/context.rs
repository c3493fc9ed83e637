//! The operation context, in which one operation at a time runs: a fabric, the rank's schedule, and memory for partial
//! results.

pub use crate::layout::RankSchedule;

use crate::combine::Combine;
use crate::layout::has_rings;
use crate::learning::learner::Learner;
use crate::pipeline::PipelineSegments;
use crate::plans::MESH_RANKS_MAX;
use crate::preferences::Algorithms;
use crate::registry::{Request, TeamTraits};
use crate::{allreduce, broadcast, scan};
use corecast_model::Collective;
use corecast_wire::{Fabric, LINE_BYTES};
use std::ops::Range;
use std::sync::Arc;

/// All that one operation at a time needs, on one rank and over any fabric.
#[derive(Debug)]
pub struct OpContext<F> {
    /// The rank's fabric, with lines to the other ranks.
    pub fabric: F,
    pub(crate) schedule: Arc<RankSchedule>,
    /// Memory for partial results and incoming messages, aligned for any element.
    scratch: Vec<u128>,
    /// The length of the scratch at first.
    scratch_words: usize,
    traits: TeamTraits,
    /// Bytes that fit one message: a multiple of [`ALIGN_MAX`], unless messages are shorter than that.
    pub(crate) message_bytes: usize,
    /// Bytes of the longest message that is published for all other ranks; 0 without a line for them.
    pub(crate) publish_bytes: usize,
    /// Lengths in bytes of broadcasts that go in such published messages; no algorithm was asked for there.
    pub(crate) published: Range<usize>,
    pub(crate) short: Short,
    /// What the rank learns while it runs; `None` if it learns nothing, and within an operation by which it learns.
    pub(crate) learner: Option<Box<Learner>>,
}

/// Lengths in bytes from which on an operation has to choose its algorithm: shorter data fit one message, and no
/// algorithm was asked for at their length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Short {
    pub(crate) broadcast: usize,
    pub(crate) reduce: usize,
    pub(crate) allreduce: usize,
    /// Scans by [`chain`](crate::scan::chain).
    pub(crate) scan: usize,
    /// Allgathers and alltoalls of two ranks.
    pub(crate) allgather: usize,
    pub(crate) alltoall: usize,
}

impl Short {
    /// `most` are the bytes of the longest data that go in messages without a choice.
    fn of(asked: &Algorithms, traits: &TeamTraits, most: usize) -> Self {
        let short = |free: usize| free.min(most + 1);
        let one_way = traits.one_message_bytes() + 1;
        let of_two = |free: usize| if traits.ranks == 2 { short(free) } else { 0 };
        Self {
            allgather: of_two(asked.allgather.free()),
            alltoall: of_two(asked.alltoall.free()),
            broadcast: short(asked.broadcast.free()).min(one_way),
            reduce: short(asked.reduce.free()).min(one_way),
            allreduce: short(asked.allreduce.free()).min(allreduce::short(traits)),
            scan: match scan::is_chain(traits) {
                true => short(asked.scan.free()),
                false => 0,
            },
        }
    }
}

/// Largest alignment of an element.
pub const ALIGN_MAX: usize = align_of::<u128>();

/// Bytes of scratch, enough for all but very long elements. Pages that no operation has used take no memory.
pub(crate) const SCRATCH_BYTES: usize = 256 * 1024;

/// Bytes of the longest scratch that is kept for the next operation: 16 MiB, as in Taboada et al. §3.2.
pub const SCRATCH_KEPT_BYTES: usize = 16 << 20;

/// Returns `bytes` of `memory`, which is aligned for any element. Allocates if `memory` is shorter.
#[inline]
pub fn aligned_room(memory: &mut Vec<u128>, bytes: usize) -> &mut [u8] {
    let words = bytes.div_ceil(ALIGN_MAX);
    if memory.len() < words {
        memory.resize(words, 0);
    }
    let memory: &mut [u8] = bytemuck::cast_slice_mut(memory);
    &mut memory[..bytes]
}

impl<F: Fabric> OpContext<F> {
    /// A context over the fabric of one rank, which has its links and shared lines.
    pub fn new(fabric: F, schedule: Arc<RankSchedule>) -> Self {
        Self::with_scratch_bytes(fabric, schedule, SCRATCH_BYTES)
    }

    /// A context whose scratch has `bytes` beside two messages at first, and grows when an operation needs more.
    /// Suits a thread that has the contexts of thousands of ranks, such as a simulator's.
    pub fn with_scratch_bytes(fabric: F, schedule: Arc<RankSchedule>, bytes: usize) -> Self {
        let message_bytes = match fabric.message_bytes_max() {
            short if short < ALIGN_MAX => short,
            long => long / ALIGN_MAX * ALIGN_MAX,
        };
        let lines = schedule.all_lines.as_ref();
        let publish_bytes = match lines.map_or(0, |lines| fabric.publish_bytes_max(lines.own())) {
            short if short < LINE_BYTES => short,
            long => long / LINE_BYTES * LINE_BYTES,
        };
        let traits = TeamTraits {
            ranks: fabric.size(),
            sharing: schedule.sharing,
            mesh: fabric.size() <= MESH_RANKS_MAX,
            message_bytes,
            copies: fabric.lends_copies(),
            limits: schedule.asked.limits(fabric.size(), schedule.sharing),
            segments: schedule
                .asked
                .segments(schedule.sharing, fabric.lends_copies()),
            lines: publish_bytes > 0,
            publishes: has_rings(fabric.size(), schedule.sharing) && publish_bytes >= LINE_BYTES,
            groups_root: schedule.fan_out.as_ref().map(|_| schedule.broadcast.root()),
            deterministic: schedule.deterministic,
        };
        let published = broadcast::published(&traits);
        let published = published.start..published.end.min(schedule.asked.broadcast.free());
        let short = Short::of(&schedule.asked, &traits, message_bytes);
        let scratch_words = (bytes + 2 * message_bytes.next_multiple_of(ALIGN_MAX)) / ALIGN_MAX + 1;
        Self {
            publish_bytes,
            published,
            short,
            learner: None,
            fabric,
            schedule,
            scratch: vec![0; scratch_words],
            scratch_words,
            traits,
            message_bytes,
        }
    }

    /// The traits of the team, on which the choice of an algorithm depends.
    #[inline(always)]
    pub fn traits(&self) -> &TeamTraits {
        &self.traits
    }

    /// From now on data of an operation of up to `most` bytes, if they fit a message, go in messages without a choice.
    pub(crate) fn no_choice_for_short(&mut self, collective: Collective, most: usize) {
        let short = Short::of(
            &self.schedule.asked,
            &self.traits,
            self.message_bytes.min(most),
        );
        match collective {
            Collective::Broadcast => self.short.broadcast = short.broadcast,
            Collective::Reduce => self.short.reduce = short.reduce,
            Collective::Allreduce => self.short.allreduce = short.allreduce,
            Collective::Scan => self.short.scan = short.scan,
            Collective::Allgather => self.short.allgather = short.allgather,
            Collective::Alltoall => self.short.alltoall = short.alltoall,
            // The others choose at every length.
            _ => {}
        }
    }

    /// The request of a reduction of `bytes`, by which its algorithm is chosen.
    #[inline(always)]
    pub(crate) fn reduction(&self, bytes: usize, combine: &impl Combine) -> Request {
        Request {
            element: combine.element_size(),
            keeps_order: self.schedule.keeps_order(combine),
            ..Request::of_bytes(bytes)
        }
    }

    /// Returns the fabric, the schedule, and two buffers of `bytes`, which are at most
    /// [`message_bytes`](Self::message_bytes).
    #[inline(always)]
    pub(crate) fn for_messages(
        &mut self,
        bytes: usize,
    ) -> (&mut F, &RankSchedule, &mut [u8], &mut [u8]) {
        let scratch: &mut [u8] = bytemuck::cast_slice_mut(&mut self.scratch);
        let (first, second) = scratch.split_at_mut(self.message_bytes.next_multiple_of(ALIGN_MAX));
        let (first, second) = (&mut first[..bytes], &mut second[..bytes]);
        (&mut self.fabric, &self.schedule, first, second)
    }

    /// Returns the fabric, the schedule, a buffer for one message, and `bytes` of scratch.
    ///
    /// # Cost
    ///
    /// Allocates if the scratch is shorter.
    #[inline]
    pub(crate) fn rooms(&mut self, bytes: usize) -> (&mut F, &RankSchedule, &mut [u8], &mut [u8]) {
        let message = self.message_bytes.next_multiple_of(ALIGN_MAX);
        let scratch = aligned_room(&mut self.scratch, message + bytes);
        let (message, rest) = scratch.split_at_mut(message);
        let message = &mut message[..self.message_bytes];
        (&mut self.fabric, &self.schedule, message, rest)
    }

    /// Runs `body` with the fabric, the schedule, a buffer for one message, and a window over `bytes` of scratch, whose
    /// elements have `element` bytes. A scratch of more than [`SCRATCH_KEPT_BYTES`] is freed afterwards.
    ///
    /// # Cost
    ///
    /// Allocates if the scratch is shorter.
    pub(crate) fn with_scratch<R>(
        &mut self,
        bytes: usize,
        element: usize,
        body: impl FnOnce(&mut F, &RankSchedule, &mut [u8], &mut F::Window<'_>) -> R,
    ) -> R {
        self.with_room(bytes, |fabric, schedule, incoming, scratch| {
            fabric.with_window(scratch, element, false, |fabric, window| {
                body(fabric, schedule, incoming, window)
            })
        })
    }

    /// [`with_scratch`](Self::with_scratch) without a window, for algorithms that do not always lend from the scratch.
    #[inline]
    pub(crate) fn with_room<R>(
        &mut self,
        bytes: usize,
        body: impl FnOnce(&mut F, &RankSchedule, &mut [u8], &mut [u8]) -> R,
    ) -> R {
        let (fabric, schedule, incoming, scratch) = self.rooms(bytes);
        let result = body(fabric, schedule, incoming, scratch);
        if self.scratch_bytes() > SCRATCH_KEPT_BYTES {
            self.scratch = vec![0; self.scratch_words];
        }
        result
    }

    /// Bytes of the scratch that the context keeps for its next operation.
    pub fn scratch_bytes(&self) -> usize {
        size_of_val(&self.scratch[..])
    }

    /// The ranges of the messages that carry `len` bytes. An element has `element` bytes and fits a message. For no
    /// bytes there is one empty message, so that members still meet.
    pub(crate) fn messages(
        &self,
        len: usize,
        element: usize,
    ) -> impl Iterator<Item = Range<usize>> + use<F> {
        PipelineSegments::Fixed(self.message_bytes).of(len, element)
    }
}
