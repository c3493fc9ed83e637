//! The common part of an operation's blocking form and its form in flight: each function checks the arguments
//! and runs the collective on an operation context.

use super::element_size::{assert_fits, element_size};
use crate::OpContext;
use crate::failure::Failure;
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use corecast_collectives::Parts;
use corecast_collectives::combine::{Combine, On};
use corecast_collectives::operator::Operator;
use corecast_collectives::pipeline::block;
use corecast_collectives::scan::Upto;
use corecast_collectives::{allgather, alltoall, gather, reduce_scatter, scan, scatter};
use corecast_wire::Fabric;
use std::ops::Range;

#[inline(always)]
#[track_caller]
pub(super) fn scatter<T: Pod>(
    context: &mut OpContext,
    root: usize,
    send: Option<&[T]>,
    recv: &mut [T],
) -> Result<(), Failure> {
    let send = if context.fabric.rank() == root {
        let send = send.unwrap_or_else(|| no_buffer("send"));
        same("send", send.len(), recv.len(), context.fabric.size());
        send
    } else {
        &[]
    };
    let (send, recv) = (cast_slice(send), cast_slice_mut(recv));
    scatter::start(context, root, send, recv, element_size::<T>())
}

#[inline(always)]
#[track_caller]
pub(super) fn scatterv<T: Pod>(
    context: &mut OpContext,
    root: usize,
    send: Option<(&[T], Parts<'_>)>,
    recv: &mut [T],
) -> Result<(), Failure> {
    let (send, parts): (&[T], _) = if context.fabric.rank() == root {
        let (send, parts) = send.unwrap_or_else(|| no_buffer("send"));
        parts.check(context.fabric.size(), send.len());
        same_part("recv", recv.len(), parts.of(root).len());
        (send, parts)
    } else {
        (&[], Parts::new(&[], &[]))
    };
    let part = parts.bytes(element_size::<T>());
    let (send, recv) = (cast_slice(send), cast_slice_mut(recv));
    scatter::start_parts(context, root, send, part, recv, element_size::<T>())
}

#[inline(always)]
#[track_caller]
pub(super) fn gather<T: Pod>(
    context: &mut OpContext,
    root: usize,
    send: &[T],
    recv: Option<&mut [T]>,
) -> Result<(), Failure> {
    let recv = if context.fabric.rank() == root {
        let recv = recv.unwrap_or_else(|| no_buffer("recv"));
        same("recv", recv.len(), send.len(), context.fabric.size());
        recv
    } else {
        &mut []
    };
    let (send, recv) = (cast_slice(send), cast_slice_mut(recv));
    gather::start(context, root, send, recv, element_size::<T>())
}

#[inline(always)]
#[track_caller]
pub(super) fn gatherv<T: Pod>(
    context: &mut OpContext,
    root: usize,
    send: &[T],
    recv: Option<(&mut [T], Parts<'_>)>,
) -> Result<(), Failure> {
    let (recv, parts): (&mut [T], _) = if context.fabric.rank() == root {
        let (recv, parts) = recv.unwrap_or_else(|| no_buffer("recv"));
        parts.check_to_write(context.fabric.size(), recv.len());
        same_part("send", send.len(), parts.of(root).len());
        (recv, parts)
    } else {
        (&mut [], Parts::new(&[], &[]))
    };
    let part = parts.bytes(element_size::<T>());
    let (send, recv) = (cast_slice(send), cast_slice_mut(recv));
    gather::start_parts(context, root, send, recv, part, element_size::<T>())
}

#[inline(always)]
#[track_caller]
pub(super) fn allgather<T: Pod>(
    context: &mut OpContext,
    send: &[T],
    recv: &mut [T],
) -> Result<(), Failure> {
    same("recv", recv.len(), send.len(), context.fabric.size());
    let (send, recv) = (cast_slice(send), cast_slice_mut(recv));
    allgather::start(context, send, recv, element_size::<T>())
}

#[inline(always)]
#[track_caller]
pub(super) fn allgatherv<T: Pod>(
    context: &mut OpContext,
    send: &[T],
    recv: &mut [T],
    parts: Parts<'_>,
) -> Result<(), Failure> {
    parts.check_to_write(context.fabric.size(), recv.len());
    same_part("send", send.len(), parts.of(context.fabric.rank()).len());
    let part = parts.bytes(element_size::<T>());
    let (send, recv) = (cast_slice(send), cast_slice_mut(recv));
    allgather::start_parts(context, send, recv, part, element_size::<T>())
}

#[inline(always)]
#[track_caller]
pub(super) fn alltoall<T: Pod>(
    context: &mut OpContext,
    send: &[T],
    recv: &mut [T],
) -> Result<(), Failure> {
    let n = context.fabric.size();
    let (given, len) = (send.len(), recv.len());
    assert!(
        given == len && len.is_multiple_of(n),
        "an all-to-all of {given} elements into {len} on {n} ranks: give as many, one part for each rank"
    );
    let (send, recv) = (cast_slice(send), cast_slice_mut(recv));
    let part = len / n * size_of::<T>();
    alltoall::start(context, send, recv, part, element_size::<T>())
}

#[inline(always)]
#[track_caller]
pub(super) fn alltoallv<T: Pod>(
    context: &mut OpContext,
    (send, give): (&[T], Parts<'_>),
    (recv, take): (&mut [T], Parts<'_>),
) -> Result<(), Failure> {
    let (n, rank) = (context.fabric.size(), context.fabric.rank());
    give.check(n, send.len());
    take.check_to_write(n, recv.len());
    same_part("recv", take.of(rank).len(), give.of(rank).len());
    let (give, take) = (
        give.bytes(element_size::<T>()),
        take.bytes(element_size::<T>()),
    );
    let (send, recv) = (cast_slice(send), cast_slice_mut(recv));
    alltoall::start_parts(context, send, give, recv, take, element_size::<T>())
}

#[inline(always)]
#[track_caller]
pub(super) fn reduce_scatter<T: Pod>(
    context: &mut OpContext,
    send: &[T],
    recv: &mut [T],
    operator: &impl Operator<T>,
) -> Result<(), Failure> {
    assert_fits::<T>();
    let combine = On::<T, _>::new(operator);
    let (element_size, n, rank) = (
        combine.element_size(),
        context.fabric.size(),
        context.fabric.rank(),
    );
    let send: &[u8] = cast_slice(send);
    let len = send.len();
    let part = |rank: usize| block(len, element_size, n, rank);
    let (expected, given) = (part(rank).len() / element_size, recv.len());
    assert!(
        size_of::<T>() == 0 || given == expected,
        "`recv` has {given} elements, the block of rank {rank} {expected}"
    );
    reduce_scatter::start(context, send, part, cast_slice_mut(recv), &combine)
}

/// Asserts that there is a count for each of `n` ranks and that their sum is `elements`.
#[inline(always)]
#[track_caller]
pub(super) fn assert_counts(counts: &[usize], n: usize, elements: usize) {
    let ranks = counts.len();
    assert!(ranks == n, "counts for {ranks} ranks in a team of {n}");
    let mut counted = counts.iter();
    let all = counted.try_fold(0usize, |sum, &count| sum.checked_add(count));
    assert!(
        all == Some(elements),
        "blocks of {counts:?} of {elements} elements"
    );
}

/// The range of each rank's block in bytes, where elements have `bytes` bytes and blocks lie one after the
/// other.
#[inline(always)]
pub(super) fn block_of(counts: &[usize], bytes: usize) -> impl Fn(usize) -> Range<usize> + Copy {
    move |rank| {
        let start: usize = counts[..rank].iter().sum();
        start * bytes..(start + counts[rank]) * bytes
    }
}

#[inline(always)]
#[track_caller]
pub(super) fn reduce_scatterv<T: Pod>(
    context: &mut OpContext,
    send: &[T],
    counts: &[usize],
    recv: &mut [T],
    operator: &impl Operator<T>,
) -> Result<(), Failure> {
    assert_fits::<T>();
    let (rank, given) = (context.fabric.rank(), recv.len());
    assert_counts(counts, context.fabric.size(), send.len());
    assert!(
        given == counts[rank],
        "`recv` has {given} elements, the block of rank {rank} {}",
        counts[rank]
    );
    let part = block_of(counts, size_of::<T>());
    let combine = On::<T, _>::new(operator);
    let (send, recv) = (cast_slice(send), cast_slice_mut(recv));
    reduce_scatter::start(context, send, part, recv, &combine)
}

#[inline(always)]
#[track_caller]
pub(super) fn scan<T: Pod>(
    context: &mut OpContext,
    data: &mut [T],
    upto: Upto,
    operator: &impl Operator<T>,
) -> Result<(), Failure> {
    assert_fits::<T>();
    let combine = On::<T, _>::new(operator);
    scan::start(context, cast_slice_mut(data), upto, &combine)
}

#[cold]
#[track_caller]
fn no_buffer(name: &str) -> ! {
    panic!("the root gives no `{name}`: give its buffer, others give None")
}

#[track_caller]
#[inline(always)]
fn same(name: &str, len: usize, part: usize, n: usize) {
    assert!(
        part.checked_mul(n) == Some(len),
        "`{name}` has {len} elements: {n} ranks need {part} each"
    );
}

#[track_caller]
#[inline(always)]
fn same_part(name: &str, len: usize, part: usize) {
    assert!(
        len == part,
        "this rank's `{name}` has {len} elements, its part {part}"
    );
}
