//! Layer 7: collectives that combine data.
//!
//! All ranks give the same operator and type, so they agree about what is left to the library.

use crate::buffers::{slice, slice_mut};
use crate::call::{Call, Taken, count, run, run_reduction};
use crate::communicators::Left;
use crate::operators::{Exactness, Operator};
use crate::process;
use crate::race::Kind;
use crate::ranks::{Fault, Ranks};
use corecast::Combine;
use corecast_network::Handle;
use corecast_wire::copy;
use smallvec::SmallVec;
use std::ffi::{c_int, c_void};

/// The number of elements of a reduction, their type, and the operator.
#[derive(Clone, Copy)]
pub(crate) struct By(pub(crate) i64, pub(crate) Handle, pub(crate) Handle);

impl By {
    /// What a reduction is known by.
    #[inline(always)]
    pub(crate) fn of(self, kind: Kind) -> Left {
        let Self(count, datatype, op) = self;
        Left {
            kind,
            count,
            datatype,
            op,
        }
    }
}

/// A reduction of bytes.
struct Reduction {
    operator: Operator<'static>,
    bytes: usize,
    /// Whether every order of reduction gives the same bits.
    is_exact: bool,
}

impl Call<'_> {
    fn reduction(&self, by: By) -> Option<Reduction> {
        let (elements, operator) = self.operator(by.1, by.2)?;
        self.committed(&elements)?;
        let bytes = count(by.0)? * elements.found.stride()?;
        let is_exact = match operator.exactness() {
            Exactness::Exact => true,
            Exactness::Rounded => self.size == 2,
            Exactness::Unknown => false,
        };
        Some(Reduction {
            operator,
            bytes,
            is_exact,
        })
    }

    /// Goes on if results may be written there: what is combined in place is given in place, and not taken.
    fn result(&self, received: *const c_void) -> Option<()> {
        (!self.is_in_place(received)).then_some(())
    }

    /// Goes on if this call runs on the team. Where the library would give other bits, it always does, or never: between hosts
    /// not if it is a scan, whose ranks wait for each other in a row, or if no two ranks share memory.
    #[inline]
    fn take_reduction(&mut self, kind: Kind, reduction: &Reduction) -> Option<()> {
        if reduction.is_exact {
            return self.take(kind, reduction.bytes);
        }
        let is_scan = matches!(kind, Kind::Scan | Kind::Exscan);
        let gains = !(self.ranks.is_each_alone() || self.ranks.is_spread() && is_scan);
        (gains || !process::races()).then_some(())
    }
}

impl Reduction {
    fn is_buffer(&self, buffer: *const c_void) -> bool {
        self.bytes == 0 || !buffer.is_null()
    }

    /// Runs `body` on bytes of the program's that are combined in place, or that it does not write as this rank `has_result` nowhere.
    /// Where they are not aligned as the operator wants it, it is run on a copy.
    ///
    /// # Safety
    ///
    /// The program gave them to be read, and to be written where this rank has a result.
    unsafe fn in_place(
        &self,
        data: *mut c_void,
        has_result: bool,
        body: impl FnOnce(&mut [u8], &dyn Combine) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let operator = self.operator.as_combine();
        if self.is_aligned(data) {
            // SAFETY: the caller's promise.
            return body(unsafe { slice_mut(data, self.bytes) }, operator);
        }
        // SAFETY: the caller's promise.
        let mut copy = aligned(unsafe { slice(data, self.bytes) });
        let copied = &mut bytemuck::cast_slice_mut(&mut copy)[..self.bytes];
        let ran = body(copied, operator);
        if has_result {
            // SAFETY: the caller's promise.
            copy::slice(unsafe { slice_mut(data, self.bytes) }, copied);
        }
        ran
    }

    fn is_aligned(&self, data: *const c_void) -> bool {
        data.addr().is_multiple_of(self.operator.align()) || self.bytes == 0
    }

    /// Copies what a rank gives to where its result will be, unless it lies there.
    ///
    /// # Safety
    ///
    /// The program gave the one to be read and the other to be written.
    unsafe fn copy(&self, from: *const c_void, to: *mut c_void) {
        // See `Call::is_aliased`.
        if from == to.cast_const() {
            return;
        }
        // SAFETY: the caller's promise; MPI forbids that they overlap.
        let (from, to) = unsafe { (slice(from, self.bytes), slice_mut(to, self.bytes)) };
        copy::slice(to, from);
    }
}

/// A copy with the widest alignment of elements. Short data need no memory of their own.
fn aligned(data: &[u8]) -> SmallVec<[u128; 16]> {
    let mut copy = SmallVec::from_elem(0, data.len().div_ceil(size_of::<u128>()));
    bytemuck::cast_slice_mut::<u128, u8>(&mut copy)[..data.len()].copy_from_slice(data);
    copy
}

/// `MPI_Reduce`
///
/// # Safety
///
/// MPI's. So it is for all functions here.
#[inline(always)]
pub(crate) unsafe fn reduce(
    sent: *const c_void,
    received: *mut c_void,
    by: By,
    root: c_int,
    comm: Handle,
) -> Taken {
    run_reduction(comm, by.of(Kind::Reduce), move |call| {
        let (reduction, root) = (call.reduction(by)?, call.root(root)?);
        let in_place = call.is_in_place(sent);
        let data = match call.rank == root {
            true => received,
            false => sent.cast_mut(),
        };
        if !reduction.is_buffer(data) || !reduction.is_buffer(sent) || in_place && call.rank != root
        {
            return None;
        }
        if call.rank == root {
            call.result(received)?;
            call.is_aliased(sent, received, (reduction.bytes, true))?;
        }
        call.take_reduction(Kind::Reduce, &reduction)?;
        // SAFETY: MPI's contract. What ranks other than the root give stays as it is.
        unsafe {
            if call.rank == root && !in_place {
                reduction.copy(sent, received);
            }
            let is_root = call.rank == root;
            Some(reduction.in_place(data, is_root, |data, by| {
                call.ranks.reduce_by(root, data, by)
            }))
        }
    })
}

/// Runs an operation that all ranks do in place, once what they give lies where they want the result.
///
/// # Safety
///
/// See [`reduce`].
#[inline(always)]
unsafe fn everywhere(
    kind: Kind,
    sent: *const c_void,
    received: *mut c_void,
    by: By,
    comm: Handle,
    body: impl FnOnce(&mut Ranks, &mut [u8], &dyn Combine) -> Result<(), Fault>,
) -> Taken {
    run_reduction(comm, by.of(kind), move |call| {
        let reduction = call.reduction(by)?;
        if kind == Kind::Scan && !call.ranks.keeps_order() {
            return None;
        }
        if !reduction.is_buffer(received) || !reduction.is_buffer(sent) {
            return None;
        }
        call.result(received)?;
        call.is_aliased(sent, received, (reduction.bytes, true))?;
        call.take_reduction(kind, &reduction)?;
        // SAFETY: MPI's contract.
        unsafe {
            if !call.is_in_place(sent) {
                reduction.copy(sent, received);
            }
            Some(reduction.in_place(received, true, |data, by| body(call.ranks, data, by)))
        }
    })
}

/// `MPI_Allreduce`
///
/// # Safety
///
/// See [`reduce`].
#[inline(always)]
pub(crate) unsafe fn allreduce(
    sent: *const c_void,
    received: *mut c_void,
    by: By,
    comm: Handle,
) -> Taken {
    // SAFETY: the caller's promise.
    unsafe {
        everywhere(
            Kind::Allreduce,
            sent,
            received,
            by,
            comm,
            |ranks, data, by| ranks.allreduce_by(data, by),
        )
    }
}

/// `MPI_Scan`
///
/// # Safety
///
/// See [`reduce`].
#[inline(always)]
pub(crate) unsafe fn scan(
    sent: *const c_void,
    received: *mut c_void,
    by: By,
    comm: Handle,
) -> Taken {
    // SAFETY: the caller's promise.
    unsafe {
        everywhere(Kind::Scan, sent, received, by, comm, |ranks, data, by| {
            ranks.scan_by(data, by)
        })
    }
}

/// `MPI_Exscan`
///
/// # Safety
///
/// See [`reduce`].
#[inline(always)]
pub(crate) unsafe fn exscan(
    sent: *const c_void,
    received: *mut c_void,
    by: By,
    comm: Handle,
) -> Taken {
    run_reduction(comm, by.of(Kind::Exscan), move |call| {
        let reduction = call.reduction(by)?;
        let in_place = call.is_in_place(sent);
        if !call.ranks.keeps_order() {
            return None;
        }
        // The first rank has no result, and its place for one may be missing.
        let first = call.rank == 0 && !in_place;
        if !reduction.is_buffer(sent) || !first && !reduction.is_buffer(received) {
            return None;
        }
        call.result(received)?;
        call.is_aliased(sent, received, (reduction.bytes, true))?;
        call.take_reduction(Kind::Exscan, &reduction)?;
        // SAFETY: MPI's contract.
        unsafe {
            if first {
                let mut copy = aligned(slice(sent, reduction.bytes));
                let copied = &mut bytemuck::cast_slice_mut(&mut copy)[..reduction.bytes];
                return Some(
                    call.ranks
                        .exscan_by(copied, reduction.operator.as_combine()),
                );
            }
            if !in_place {
                reduction.copy(sent, received);
            }
            Some(reduction.in_place(received, true, |data, by| call.ranks.exscan_by(data, by)))
        }
    })
}

/// `MPI_Reduce_scatter_block`: `by` is of one block.
///
/// # Safety
///
/// See [`reduce`].
#[inline(always)]
pub(crate) unsafe fn reduce_scatter_block(
    sent: *const c_void,
    received: *mut c_void,
    by: By,
    comm: Handle,
) -> Taken {
    run_reduction(comm, by.of(Kind::ReduceScatter), move |call| {
        let counts = vec![count(by.0)?; call.size];
        // SAFETY: the caller's promise.
        unsafe { scattered(call, sent, received, by, &counts) }
    })
}

/// `MPI_Reduce_scatter`; the number in `by` is not used.
///
/// # Safety
///
/// See [`reduce`].
#[inline(always)]
pub(crate) unsafe fn reduce_scatter<N: Copy + TryInto<usize>>(
    sent: *const c_void,
    received: *mut c_void,
    counts: *const N,
    by: By,
    comm: Handle,
) -> Taken {
    run(comm, move |call| {
        if counts.is_null() {
            return None;
        }
        // SAFETY: MPI's contract: there is a number for each rank.
        let counts = unsafe { std::slice::from_raw_parts(counts, call.size) };
        let counts: Option<Vec<usize>> = counts.iter().map(|&number| count(number)).collect();
        // SAFETY: the caller's promise.
        unsafe { scattered(call, sent, received, by, &counts?) }
    })
}

/// # Safety
///
/// See [`reduce`].
unsafe fn scattered(
    call: &mut Call<'_>,
    sent: *const c_void,
    received: *mut c_void,
    by: By,
    counts: &[usize],
) -> Option<Result<(), Fault>> {
    let all: usize = counts.iter().sum();
    let reduction = call.reduction(By(all as i64, by.1, by.2))?;
    let in_place = call.is_in_place(sent);
    let from = match in_place {
        true => received.cast_const(),
        false => sent,
    };
    let block = counts[call.rank] * reduction.bytes.checked_div(all).unwrap_or(0);
    if !reduction.is_buffer(from) || block > 0 && received.is_null() {
        return None;
    }
    call.result(received)?;
    let is_aliased = call.is_aliased(sent, received, (reduction.bytes, true))?;
    call.take_reduction(Kind::ReduceScatter, &reduction)?;
    // SAFETY: MPI's contract.
    let given = unsafe { slice(from, reduction.bytes) };
    // The place of the result is that of what is given, or is not aligned: the one or the other is a copy.
    let copy = match in_place || is_aliased || !reduction.is_aligned(from) {
        true => aligned(given),
        false => SmallVec::new(),
    };
    let given = match copy.is_empty() {
        true => given,
        false => &bytemuck::cast_slice(&copy)[..reduction.bytes],
    };
    let operator = reduction.operator.as_combine();
    if reduction.is_aligned(received) {
        // SAFETY: MPI's contract; what is given in place was copied.
        let block = unsafe { slice_mut(received, block) };
        return Some(
            call.ranks
                .reduce_scatterv_by(given, counts, block, operator),
        );
    }
    let mut result = vec![0_u128; block.div_ceil(size_of::<u128>())];
    let result = &mut bytemuck::cast_slice_mut(&mut result)[..block];
    let ran = call
        .ranks
        .reduce_scatterv_by(given, counts, result, operator);
    // SAFETY: as above.
    copy::slice(unsafe { slice_mut(received, block) }, result);
    Some(ran)
}
