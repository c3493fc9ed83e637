//! One rank's ends of the lines that groups share.

use corecast_collectives::groups::{Group, Groups};
use corecast_wire::broadcast_ring::{self, Reader, Shape, Writer};
use corecast_wire::{
    ArrivalCounter, CounterBarrier, FenceKind, Line, LineRef, Parker, Segment, SegmentError,
};
use std::sync::Arc;

/// The ends of one rank, by the numbers that [`Groups`] gives out.
#[derive(Debug, Default)]
pub(crate) struct SharedLines {
    pub(super) publishes: Vec<Publish>,
    pub(super) reads: Vec<Read>,
    pub(super) adds: Vec<Add>,
    pub(super) collects: Vec<Collect>,
    pub(super) barrier_ends: Vec<BarrierEnd>,
}

#[derive(Debug)]
pub(super) struct Publish {
    pub(super) writer: Writer,
    pub(super) readers: Box<[usize]>,
    pub(super) room_token: u32,
}

#[derive(Debug)]
pub(super) struct Read {
    pub(super) reader: Reader,
    pub(super) peer: usize,
    pub(super) long: bool,
    pub(super) token: u32,
}

#[derive(Debug)]
pub(super) struct Add {
    pub(super) counter: LineRef<ArrivalCounter>,
    pub(super) bell: LineRef<Line<Parker>>,
    pub(super) token: u32,
    pub(super) members: u64,
    /// Additions of this rank so far.
    pub(super) count: u64,
}

#[derive(Debug)]
pub(super) struct Collect {
    pub(super) counter: LineRef<ArrivalCounter>,
    pub(super) members: Box<[usize]>,
    pub(super) token: u32,
    /// The counter's sum once all members have added as often as this rank has collected.
    pub(super) sum: u64,
}

#[derive(Debug)]
pub(super) struct BarrierEnd {
    pub(super) counter_barrier: CounterBarrier,
    /// The members of the group, without this rank.
    pub(super) others: Box<[usize]>,
    pub(super) token: u32,
    /// The counter's sum once all members have arrived as often as this rank.
    pub(super) sum: u64,
    /// If at most this many ranks are missing, each can have a hardware thread of its own, so they may all be running.
    pub(super) at_once: u64,
}

impl SharedLines {
    /// The reader of the broadcast ring on which `peer` publishes long messages, if there is one.
    pub(super) fn long_ring_of(&self, peer: usize) -> Option<&Reader> {
        let read = self
            .reads
            .iter()
            .find(|read| read.long && read.peer == peer);
        read.map(|read| &read.reader)
    }
}

/// Bytes that each rank's segment needs for shared lines. A line lies with the rank that publishes on it or
/// collects it; the line of a counter barrier lies with the first of its ranks.
pub(crate) fn shared_bytes(
    n: usize,
    groups: &Groups,
    context: usize,
    ring_slots: usize,
) -> Vec<usize> {
    let mut bytes = vec![0; n];
    for group in groups.rings() {
        bytes[group.one] += shape(group, context, ring_slots).bytes();
    }
    for group in groups.counters() {
        bytes[group.one] += Segment::bytes_for::<ArrivalCounter>(1);
    }
    for ranks in groups.counter_barriers() {
        bytes[ranks[0]] += Segment::bytes_for::<ArrivalCounter>(1);
    }
    bytes
}

/// What a broadcast ring holds. Rings for long messages have body lines in context 0, that of blocking operations, and
/// none in the contexts of operations in flight.
fn shape(group: &Group, context: usize, slots: usize) -> Shape {
    let body_lines = match group.long && context == 0 {
        true => BODY_LINES,
        false => 0,
    };
    Shape {
        slots,
        ..Shape::new(group.others.len(), body_lines)
    }
}

/// Lines for a published message of 16 KiB. All bodies of a ring together have 256 KiB: they fit the
/// second-level cache, and a rank that shares a core can publish several broadcasts of 16 to 64 KiB before it
/// waits for the others.
const BODY_LINES: usize = 256;

/// The ends of all ranks in one operation context. The ranks share `usable` hardware threads. Lines lie as
/// [`shared_bytes`] says; ranks that are not `owned` get no ends.
pub(crate) fn line_ends(
    groups: &Groups,
    context: usize,
    owned: impl Fn(usize) -> bool,
    (rank_segments, parkers): (&[Arc<Segment>], &[LineRef<Line<Parker>>]),
    (fence, usable, ring_slots): (FenceKind, usize, usize),
) -> Result<Vec<SharedLines>, SegmentError> {
    let (rings, counters, counter_barriers) =
        (groups.rings(), groups.counters(), groups.counter_barriers());
    let mut all: Vec<SharedLines> = rank_segments
        .iter()
        .map(|_| SharedLines::default())
        .collect();
    let lines = rings.len() + counters.len() + counter_barriers.len();
    let mut number = (context * lines) as u32;
    for group in rings {
        let Group { one, others, .. } = group;
        let shape = shape(group, context, ring_slots);
        let parts = broadcast_ring::parts(number, shape, &rank_segments[*one])?;
        if owned(*one) {
            let bells: Vec<_> = others.iter().map(|&rank| parkers[rank].clone()).collect();
            all[*one].publishes.push(Publish {
                writer: parts.writer(&bells, fence),
                readers: others.as_slice().into(),
                room_token: broadcast_ring::room_token(number),
            });
        }
        for (index, &rank) in others.iter().enumerate() {
            if owned(rank) {
                all[rank].reads.push(Read {
                    reader: parts.reader(index, &parkers[*one], fence),
                    peer: *one,
                    long: group.long,
                    token: broadcast_ring::token(number),
                });
            }
        }
        number += 1;
    }
    for Group { one, others, .. } in counters {
        let counter: LineRef<ArrivalCounter> = rank_segments[*one].lines(1)?.get(0);
        let token = broadcast_ring::token(number);
        if owned(*one) {
            all[*one].collects.push(Collect {
                counter: counter.clone(),
                members: others.as_slice().into(),
                token,
                sum: 0,
            });
        }
        for &rank in others {
            if owned(rank) {
                all[rank].adds.push(Add {
                    counter: counter.clone(),
                    bell: parkers[*one].clone(),
                    token,
                    members: others.len() as u64,
                    count: 0,
                });
            }
        }
        number += 1;
    }
    for ranks in counter_barriers {
        let counter: LineRef<ArrivalCounter> = rank_segments[ranks[0]].lines(1)?.get(0);
        for &rank in ranks.iter().filter(|&&rank| owned(rank)) {
            let others: Box<[usize]> = ranks
                .iter()
                .copied()
                .filter(|&other| other != rank)
                .collect();
            let bells = others.iter().map(|&other| parkers[other].clone()).collect();
            all[rank].barrier_ends.push(BarrierEnd {
                counter_barrier: CounterBarrier::new(number, counter.clone(), bells, fence),
                others,
                token: broadcast_ring::token(number),
                sum: 0,
                at_once: usable.saturating_sub(1) as u64,
            });
        }
        number += 1;
    }
    Ok(all)
}
