//! What one operation at a time runs on: a fabric, routes, and room for partial results.

use crate::algorithms::Algorithms;
use crate::barrier;
use crate::broadcast::{self, AllLines};
use crate::combine::Combine;
use crate::fragments::Fragments;
use crate::groups::GroupRoute;
use crate::hardware::Hardware;
use crate::route::Route;
use corecast_wire::bulk::{self, Window};
use corecast_wire::{Fabric, LINE_BYTES};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A rank's part of all plans of its team.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) barrier: barrier::Part,
    pub(crate) broadcast: Route,
    /// Its groups, if it has some.
    pub(crate) fan_out: Option<GroupRoute>,
    /// A line of each rank for all others, if there are such.
    pub(crate) all_lines: Option<AllLines>,
    /// Whether broadcasts go there by Corecast's own choice.
    pub(crate) posts: bool,
    pub(crate) reduce: Route,
    /// Keeps the order of ranks, and sets the brackets in the same way for every plan.
    pub(crate) ordered: Route,
    /// Whether all pairs of ranks have links.
    pub(crate) mesh: bool,
    /// Whether reductions give the same bits whatever the plan.
    pub(crate) deterministic: bool,
    /// Algorithms that were asked for.
    pub(crate) asked: Algorithms,
    /// The operating system's number of each rank's NUMA node, where it is known.
    pub(crate) nodes: OnceLock<Arc<[u32]>>,
}

impl Tables {
    /// Whether a reduction keeps the order of ranks, and sets the same brackets each time.
    #[inline(always)]
    pub(crate) fn keeps_order(&self, combine: &impl Combine) -> bool {
        combine.ordered() || self.deterministic
    }

    /// Whether two ranks are on one NUMA node; all are, unless somebody knows better.
    pub(crate) fn near(&self, a: usize, b: usize) -> bool {
        let nodes = self.nodes.get();
        nodes.is_none_or(|nodes| nodes[a] == nodes[b])
    }
}

/// What the choice of an algorithm depends on beside lengths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    pub(crate) ranks: usize,
    /// Whether all pairs of ranks have links.
    pub(crate) mesh: bool,
    /// Bytes that fit one message.
    pub(crate) message_bytes: usize,
    /// Whether the order of ranks counts.
    pub(crate) keeps_order: bool,
}

/// One operation at a time.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) fabric: Hardware,
    pub(crate) tables: Arc<Tables>,
    /// For partial results and for what comes in, aligned for any element.
    scratch: Vec<u128>,
    /// Bytes that fit one message, a multiple of [`ALIGN_MAX`].
    pub(crate) message_bytes: usize,
    /// And one post for all other ranks; 0 if there is no line for them.
    pub(crate) post_bytes: usize,
    /// Lengths of broadcasts that go in such posts without a look at what was asked for.
    pub(crate) posted: Range<usize>,
    /// And those that do where nothing was.
    pub(crate) unasked_posted: Range<usize>,
    pub(crate) short: Short,
}

/// Lengths from which on, in bytes, an operation has to look which way it takes: shorter data are one
/// message, and nothing was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short {
    pub(crate) broadcast: usize,
    pub(crate) reduce: usize,
    pub(crate) allreduce: usize,
}

/// Largest alignment of an element.
pub(crate) const ALIGN_MAX: usize = align_of::<u128>();

/// Bytes of scratch, enough for all but extraordinary elements. Pages that no operation has used
/// take no memory.
pub(crate) const SCRATCH_BYTES: usize = 256 * 1024;

fn whole_lines(bytes: usize) -> usize {
    bytes / LINE_BYTES * LINE_BYTES
}

/// `bytes` of memory that is aligned for any element. Allocates where there was never as much.
#[inline]
pub(crate) fn room(memory: &mut Vec<u128>, bytes: usize) -> &mut [u8] {
    let words = bytes.div_ceil(ALIGN_MAX);
    if memory.len() < words {
        memory.resize(words, 0);
    }
    let memory: &mut [u8] = bytemuck::cast_slice_mut(memory);
    &mut memory[..bytes]
}

impl Lane {
    pub(crate) fn new(fabric: Hardware, tables: Arc<Tables>) -> Self {
        let longest = fabric
            .links
            .iter()
            .map(|link| link.sender.message_bytes_max());
        let message_bytes = longest.min().unwrap_or(ALIGN_MAX) / ALIGN_MAX * ALIGN_MAX;
        let lines = tables.all_lines.as_ref();
        let post_bytes = lines.map_or(0, |lines| fabric.post_bytes_max(lines.own()));
        let asked = &tables.asked;
        let (post_bytes, unasked_posted) = match post_bytes {
            0..LINE_BYTES => (post_bytes, 0..0),
            _ => (
                whole_lines(post_bytes),
                match tables.posts {
                    true => broadcast::posted(fabric.size(), fabric.lends_copies(), message_bytes),
                    false => 0..0,
                },
            ),
        };
        let posted = unasked_posted.start..unasked_posted.end.min(asked.broadcast.free());
        let short = |free: usize| free.min(message_bytes + 1);
        let short = Short {
            broadcast: short(asked.broadcast.free()),
            reduce: short(asked.reduce.free()),
            allreduce: short(asked.allreduce.free()),
        };
        Self {
            post_bytes,
            posted,
            unasked_posted,
            short,
            fabric,
            tables,
            scratch: vec![0; (SCRATCH_BYTES + 2 * message_bytes) / ALIGN_MAX],
            message_bytes,
        }
    }

    /// What the choice of an algorithm depends on.
    #[inline(always)]
    pub(crate) fn traits(&self, keeps_order: bool) -> Traits {
        Traits {
            ranks: self.fabric.size(),
            mesh: self.tables.mesh,
            message_bytes: self.message_bytes,
            keeps_order,
        }
    }

    /// Fabric, routes, and two buffers of `bytes`, at most [`message_bytes`](Self::message_bytes).
    #[inline(always)]
    pub(crate) fn for_messages(
        &mut self,
        bytes: usize,
    ) -> (&mut Hardware, &Tables, &mut [u8], &mut [u8]) {
        let scratch: &mut [u8] = bytemuck::cast_slice_mut(&mut self.scratch);
        let (first, second) = scratch.split_at_mut(self.message_bytes);
        let (first, second) = (&mut first[..bytes], &mut second[..bytes]);
        (&mut self.fabric, &self.tables, first, second)
    }

    /// Fabric, routes, room for a message, and `bytes` of scratch.
    ///
    /// # Cost
    ///
    /// Allocates where the scratch was never as long.
    #[inline]
    pub(crate) fn rooms(&mut self, bytes: usize) -> (&mut Hardware, &Tables, &mut [u8], &mut [u8]) {
        let scratch = room(&mut self.scratch, self.message_bytes + bytes);
        let (message, rest) = scratch.split_at_mut(self.message_bytes);
        (&mut self.fabric, &self.tables, message, rest)
    }

    /// Runs `body` with a window over `bytes` of scratch, whose elements have `grain` bytes.
    ///
    /// # Cost
    ///
    /// Allocates for elements that are longer than a fragment.
    pub(crate) fn with_scratch<R>(
        &mut self,
        bytes: usize,
        grain: usize,
        body: impl FnOnce(&mut Hardware, &Tables, &mut Window<'_>) -> R,
    ) -> R {
        let (fabric, tables, _, scratch) = self.rooms(bytes);
        bulk::scope(fabric, scratch, grain, |fabric, window| {
            body(fabric, tables, window)
        })
    }

    /// `len` bytes of elements of `grain` bytes, which fit a message, as messages: one empty one for no
    /// bytes, so that members still meet.
    pub(crate) fn messages(
        &self,
        len: usize,
        grain: usize,
    ) -> impl Iterator<Item = Range<usize>> + use<> {
        Fragments::Fixed(self.message_bytes).of(len, grain)
    }
}
