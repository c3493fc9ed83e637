//! One operation context of a team: each rank's ends of all its links and shared lines.

use super::sizes::{COMBINE_PIECE, EAGER_CHUNKS, MemoryKind, bounce_buffer};
use super::{TeamMemory, history};
use crate::OpContext;
use crate::element::Element;
use crate::hardware::{
    self, COMBINE_BYTES, CallContext, ContextHistories, Hardware, Link, NO_LINK, SharedLines,
};
use corecast_collectives::RankSchedule;
use corecast_transfer::{self as bulk, BounceMemory, Endpoint, Memory};
use corecast_wire::claim_pause::ClaimPause;
use corecast_wire::op_history::OpHistory;
use corecast_wire::queue;
use corecast_wire::{
    Exchange, Line, LineRef, Parker, Segment, SegmentError, Signal, Swaps, WaitStrategy,
};
use std::sync::Arc;

impl TeamMemory {
    /// One operation context: the ends of all its lines, for the ranks of this process.
    pub(super) fn context(
        &self,
        context: usize,
        rank_segments: &[Arc<Segment>],
    ) -> Result<Vec<Option<OpContext>>, SegmentError> {
        let (state, fence) = (&self.state, self.state.fence());
        let wait_strategy = |parker: &LineRef<Line<Parker>>| {
            WaitStrategy::with_fence(self.wait_config, parker.clone(), fence)
                .calling(self.meanwhile)
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
            (fence, self.usable, self.sizes.ring_slots(context)),
        )?;
        let ranks = links.into_iter().zip(wait_strategies).zip(lines);
        let ends = ranks.enumerate().map(|(rank, ((links, waits), lines))| {
            let schedule = self.schedules[rank].as_ref()?;
            let in_flight = context_histories.clone().map(|ranks| ContextHistories {
                ranks,
                seq: self.begun[1] as u32,
            });
            let call = CallContext::new(Arc::clone(state), rank, in_flight);
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
                    .enumerate()
                    .map(|(rank, (rank_segment, &links))| {
                        let bounce = BounceMemory::new(rank_segment, bounce_buffer(links).0)?;
                        self.beside_symmetric(rank, bounce)
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

    /// A rank's bounce buffer, with its symmetric memory if it has any.
    fn beside_symmetric(
        &self,
        rank: usize,
        bounce: BounceMemory,
    ) -> Result<BounceMemory, SegmentError> {
        #[cfg(not(loom))]
        if let Some(memory) = self.symmetric.get(rank) {
            return memory.beside(bounce);
        }
        let _ = rank;
        Ok(bounce)
    }

    /// Each rank's ends of its links in an operation context, and the endpoint of its loans.
    fn links(
        &self,
        context: usize,
        rank_segments: &[Arc<Segment>],
        wait_strategies: &[WaitStrategy],
        buffers: &Buffers,
    ) -> Result<Vec<(Vec<Link>, Endpoint)>, SegmentError> {
        let (state, capacity) = (&self.state, self.sizes.queues(context));
        let mut ends: Vec<(Vec<Link>, Endpoint)> = rank_segments
            .iter()
            .map(|_| (Vec::new(), Endpoint::new(state.fence())))
            .collect();
        for (number, &(a, b)) in self.edges.iter().enumerate() {
            let forth = 2 * (context * self.edges.len() + number) as u32;
            let back = forth + 1;
            let to_b = queue::parts(capacity, forth, &rank_segments[a], &rank_segments[b])?;
            let to_a = queue::parts(capacity, back, &rank_segments[b], &rank_segments[a])?;
            let at_a: LineRef<Exchange> = rank_segments[a].lines(1)?.get(0);
            let at_b: LineRef<Exchange> = rank_segments[b].lines(1)?.get(0);
            let for_swaps: LineRef<Exchange> = rank_segments[a].lines(1)?.get(0);
            let meet = |of: &Arc<RankSchedule>| of.meet([a, b]);
            let one_line = self.schedules.iter().flatten().any(meet);
            let (for_a, for_b) = match one_line {
                true => (Signal::new(at_a.clone(), 0), Signal::new(at_a, 1)),
                false => (Signal::new(at_a, 0), Signal::new(at_b, 0)),
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
                    swaps: Swaps::new(&for_swaps, usize::from(me == b)),
                    flag_pause: ClaimPause::new(),
                    swap_pause: ClaimPause::new(),
                    one_line,
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
        if !self.sizes.oversubscribed {
            endpoint.combine_in_pieces_of(COMBINE_PIECE);
        }
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
