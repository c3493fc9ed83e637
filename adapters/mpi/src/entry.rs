//! Layer 8: the functions that programs call.
//!
//! Each has two names. `MPI_X` is what programs call; `PMPI_X` is what tools call that have taken `MPI_X`, and what some
//! bindings for Fortran call. If a tool that comes later in the loader's order has taken `MPI_X` too, it goes first, and its
//! call of `PMPI_X` comes back here.

use crate::call::{Taken, is_left, note};
use crate::communicators;
use crate::heap;
use crate::moves::{self, PartsOf, Received, Sent, any, gathered, scattered};
use crate::narrow;
use crate::parts::{Long, Short};
use crate::process;
use crate::race::Kind;
use crate::reductions::{self, By};
use crate::sites::Visit;
use crate::types;
use crate::windows;
use corecast_network::{Handle, Loaded, next_definition};
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

/// Where else a function of MPI is defined.
#[derive(Clone, Copy)]
struct Elsewhere<F> {
    /// The library's own.
    native: Option<F>,
    /// That of a tool which comes later than this library.
    tool: Option<F>,
}

/// Ends the process if it is dropped by a panic, which must not leave a function of C: the other ranks would wait. What a
/// program's own error handler throws may leave it, as it leaves the library's functions.
struct EndsByPanic;

impl Drop for EndsByPanic {
    #[cold]
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// A C string of a name.
macro_rules! c_name {
    ($name:ident) => {
        match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => unreachable!(),
        }
    };
}

type Buffer = *mut c_void;
type Data = *const c_void;

/// Whether a call was left to the library: those of some functions never are.
macro_rules! whether_left {
    () => {
        false
    };
    ($left:expr) => {
        $left
    };
}

/// What is called where the library has no function of the name.
macro_rules! otherwise {
    () => {
        process::missing()
    };
    ($else:expr) => {
        $else
    };
}

/// The library's function for counts of 32 bits.
macro_rules! short {
    ($comm:ident, $group:ident, $short:ident($($argument:expr),*)) => {
        narrow::call($comm, |$group| match functions().$short.native {
            Some(short) => Some(short($($argument),*)),
            None => Some(process::missing()),
        })
    };
}

macro_rules! taken_over {
    ($($mpi:ident $pmpi:ident ($($argument:ident: $type:ty),*) $(unless $left:expr)? => $ours:expr $(, else $else:expr)?;)*) => {
        #[allow(non_snake_case, reason = "names of MPI")]
        struct Functions {
            $($mpi: Elsewhere<unsafe extern "C-unwind" fn($($type),*) -> c_int>,)*
        }

        impl Functions {
            fn find() -> Self {
                let loaded = Loaded::find();
                let symbol = |name: &CStr| loaded.as_ref().and_then(|loaded| loaded.symbol(name));
                Self {
                    $($mpi: {
                        let (own, next) = (symbol(c_name!($mpi)), next_definition(c_name!($mpi)));
                        // SAFETY: the standard says which arguments functions of these names have.
                        let function = |symbol: std::ptr::NonNull<c_void>| unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn($($type),*) -> c_int>(
                                symbol.as_ptr(),
                            )
                        };
                        Elsewhere {
                            native: symbol(c_name!($pmpi)).map(function),
                            tool: next.filter(|_| own.is_some() && next != own).map(function),
                        }
                    },)*
                }
            }
        }

        $(
            /// MPI's function of this name.
            ///
            /// # Safety
            ///
            /// MPI's.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "a name of MPI")]
            pub unsafe extern "C-unwind" fn $mpi($($argument: $type),*) -> c_int {
                // SAFETY: the caller's promise.
                unsafe {
                    match FUNCTIONS.get() {
                        Some(Functions { $mpi: Elsewhere { tool: Some(tool), .. }, .. }) => tool($($argument),*),
                        Some(functions) => either_name::$mpi(functions, $($argument),*),
                        None => at_first::$mpi($($argument),*),
                    }
                }
            }

            /// MPI's function of this name.
            ///
            /// # Safety
            ///
            /// MPI's.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "a name of MPI")]
            pub unsafe extern "C-unwind" fn $pmpi($($argument: $type),*) -> c_int {
                // SAFETY: the caller's promise.
                unsafe {
                    match FUNCTIONS.get() {
                        Some(functions) => either_name::$mpi(functions, $($argument),*),
                        None => unless_left::$mpi($($argument),*),
                    }
                }
            }
        )*

        /// What a function does by either of its names. What a race has left to the library takes little more than a jump there:
        /// nothing that has to be made first is asked for, so no register is saved.
        mod either_name {
            use super::*;

            $(
                /// # Safety
                ///
                /// MPI's.
                #[inline(always)]
                #[allow(non_snake_case, clippy::too_many_arguments, reason = "a function of MPI")]
                pub(super) unsafe fn $mpi(functions: &Functions, $($argument: $type),*) -> c_int {
                    // SAFETY: the caller's promise.
                    unsafe {
                        if whether_left!($($left)?)
                            && let Some(native) = functions.$mpi.native
                        {
                            return native($($argument),*);
                        }
                        unless_left::$mpi($($argument),*)
                    }
                }
            )*
        }

        /// The first call of all, by the name that tools take.
        mod at_first {
            use super::*;

            $(
                /// # Safety
                ///
                /// MPI's.
                #[cold]
                #[inline(never)]
                #[allow(non_snake_case, clippy::too_many_arguments, reason = "a function of MPI")]
                pub(super) unsafe extern "C-unwind" fn $mpi($($argument: $type),*) -> c_int {
                    // SAFETY: the caller's promise.
                    unsafe {
                        match functions().$mpi.tool {
                            Some(tool) => tool($($argument),*),
                            None => unless_left::$mpi($($argument),*),
                        }
                    }
                }
            )*
        }

        /// What is not left to the library. These functions are not inlined, so that what is left needs no room for what they do.
        mod unless_left {
            use super::*;

            $(
                /// # Safety
                ///
                /// MPI's.
                #[inline(never)]
                #[allow(non_snake_case, clippy::too_many_arguments, reason = "a function of MPI")]
                pub(super) unsafe extern "C-unwind" fn $mpi($($argument: $type),*) -> c_int {
                    #[allow(unused_unsafe, reason = "one of them is safe")]
                    // SAFETY: the caller's promise.
                    unsafe {
                        let visit = Visit::begin();
                        let watch = EndsByPanic;
                        let taken = $ours;
                        std::mem::forget(watch);
                        if let Taken::Done(code) = taken {
                            return code;
                        }
                        let native = functions().$mpi.native;
                        // Its short calls notice whatever else is looked at.
                        if let (Taken::Library, None, Some(native)) = (&taken, &visit, native) {
                            return native($($argument),*);
                        }
                        let native = move || match native {
                            Some(native) => native($($argument),*),
                            None => otherwise!($($else)?),
                        };
                        ended(taken, native, visit, stringify!($mpi))
                    }
                }
            )*
        }
    };
}

/// Ends a call that is not the team's alone, by the library's own function where it is the library's.
#[cold]
#[inline(never)]
fn ended(
    taken: Taken,
    native: impl FnOnce() -> c_int,
    mut visit: Option<Visit>,
    name: &'static str,
) -> c_int {
    let is_own = matches!(taken, Taken::DoneBetween(_));
    let code = match taken {
        Taken::Done(code) | Taken::DoneBetween(code) => code,
        Taken::Library => native(),
        Taken::LibraryCallsBack => {
            visit = None;
            native()
        }
        Taken::LibraryFrees(freeing) => {
            visit = None;
            let code = native();
            drop(freeing);
            code
        }
        Taken::LibraryAnd(after) => {
            let code = native();
            // SAFETY: it is the call that the library has just ended.
            unsafe { after.call(code) };
            code
        }
        Taken::LibraryCounted(communicator) => {
            let code = native();
            communicator.counted(code);
            code
        }
        Taken::LibraryTimed(comm, entry, began) => {
            let code = native();
            note(comm, entry, began);
            code
        }
    };
    if let Some(visit) = visit {
        visit.note(name, is_own);
    }
    code
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

#[inline(always)]
fn functions() -> &'static Functions {
    FUNCTIONS.get_or_init(Functions::find)
}

taken_over! {
    MPI_Finalize PMPI_Finalize () => {
        communicators::end();
        Taken::LibraryCallsBack
    };
    MPI_Comm_free PMPI_Comm_free (comm: Buffer) => Taken::freeing(communicators::freeing(comm));
    MPI_Comm_disconnect PMPI_Comm_disconnect (comm: Buffer)
        => Taken::freeing(communicators::freeing(comm));
    MPI_Alloc_mem PMPI_Alloc_mem (bytes: isize, info: Handle, base: Buffer)
        => Taken::of(heap::alloc(bytes, info, base));
    MPI_Free_mem PMPI_Free_mem (base: Buffer) => Taken::of(heap::free(base));
    MPI_Win_allocate_shared PMPI_Win_allocate_shared (
        bytes: isize, unit: c_int, info: Handle, comm: Handle, base: Buffer, window: Buffer
    ) => Taken::before(windows::allocate(comm, window));
    MPI_Win_allocate_shared_c PMPI_Win_allocate_shared_c (
        bytes: isize, unit: isize, info: Handle, comm: Handle, base: Buffer, window: Buffer
    ) => Taken::before(windows::allocate(comm, window)),
        else short!(comm, _group, MPI_Win_allocate_shared(
            bytes, narrow::one(unit)?, info, comm, base, window
        ));
    MPI_Win_free PMPI_Win_free (window: Buffer) => Taken::before(windows::free(window));
    MPI_Type_set_name PMPI_Type_set_name (t: Handle, name: Data) => {
        if let Some(library) = process::library() {
            types::before_name(library, t);
        }
        Taken::Library
    };
    MPI_Barrier PMPI_Barrier (comm: Handle) unless is_left(comm, any(Kind::Barrier))
        => moves::barrier(comm);
    MPI_Bcast PMPI_Bcast (data: Buffer, n: c_int, t: Handle, root: c_int, comm: Handle)
        unless is_left(comm, Received(data, n.into(), t).of(Kind::Broadcast))
        => moves::broadcast(Received(data, n.into(), t), root, comm);
    MPI_Bcast_c PMPI_Bcast_c (data: Buffer, n: i64, t: Handle, root: c_int, comm: Handle)
        unless is_left(comm, Received(data, n, t).of(Kind::Broadcast))
        => moves::broadcast(Received(data, n, t), root, comm),
        else short!(comm, _group, MPI_Bcast(
            data, narrow::one(n)?, t, root, comm
        ));
    MPI_Gather PMPI_Gather (
        s: Data, sn: c_int, st: Handle, r: Buffer, rn: c_int, rt: Handle, root: c_int, comm: Handle
    ) unless is_left(comm, gathered(Sent(s, sn.into(), st), Received(r, rn.into(), rt)))
        => moves::gather(Sent(s, sn.into(), st), Received(r, rn.into(), rt), root, comm);
    MPI_Gather_c PMPI_Gather_c (
        s: Data, sn: i64, st: Handle, r: Buffer, rn: i64, rt: Handle, root: c_int, comm: Handle
    ) unless is_left(comm, gathered(Sent(s, sn, st), Received(r, rn, rt)))
        => moves::gather(Sent(s, sn, st), Received(r, rn, rt), root, comm),
        else short!(comm, group, MPI_Gather(
            s, group.own(root, s, sn)?, st, r, group.at_root(root, rn)?, rt, root, comm
        ));
    MPI_Scatter PMPI_Scatter (
        s: Data, sn: c_int, st: Handle, r: Buffer, rn: c_int, rt: Handle, root: c_int, comm: Handle
    ) unless is_left(comm, scattered(Sent(s, sn.into(), st), Received(r, rn.into(), rt)))
        => moves::scatter(Sent(s, sn.into(), st), Received(r, rn.into(), rt), root, comm);
    MPI_Scatter_c PMPI_Scatter_c (
        s: Data, sn: i64, st: Handle, r: Buffer, rn: i64, rt: Handle, root: c_int, comm: Handle
    ) unless is_left(comm, scattered(Sent(s, sn, st), Received(r, rn, rt)))
        => moves::scatter(Sent(s, sn, st), Received(r, rn, rt), root, comm),
        else short!(comm, group, MPI_Scatter(
            s, group.at_root(root, sn)?, st, r, group.own(root, r, rn)?, rt, root, comm
        ));
    MPI_Allgather PMPI_Allgather (
        s: Data, sn: c_int, st: Handle, r: Buffer, rn: c_int, rt: Handle, comm: Handle
    ) unless is_left(comm, Received(r, rn.into(), rt).of(Kind::Allgather))
        => moves::allgather(Sent(s, sn.into(), st), Received(r, rn.into(), rt), comm);
    MPI_Allgather_c PMPI_Allgather_c (
        s: Data, sn: i64, st: Handle, r: Buffer, rn: i64, rt: Handle, comm: Handle
    ) unless is_left(comm, Received(r, rn, rt).of(Kind::Allgather))
        => moves::allgather(Sent(s, sn, st), Received(r, rn, rt), comm),
        else short!(comm, group, MPI_Allgather(
            s, group.own(0, s, sn)?, st, r, narrow::one(rn)?, rt, comm
        ));
    MPI_Alltoall PMPI_Alltoall (
        s: Data, sn: c_int, st: Handle, r: Buffer, rn: c_int, rt: Handle, comm: Handle
    ) unless is_left(comm, Received(r, rn.into(), rt).of(Kind::Alltoall))
        => moves::alltoall(Sent(s, sn.into(), st), Received(r, rn.into(), rt), comm);
    MPI_Alltoall_c PMPI_Alltoall_c (
        s: Data, sn: i64, st: Handle, r: Buffer, rn: i64, rt: Handle, comm: Handle
    ) unless is_left(comm, Received(r, rn, rt).of(Kind::Alltoall))
        => moves::alltoall(Sent(s, sn, st), Received(r, rn, rt), comm),
        else short!(comm, group, MPI_Alltoall(
            s, group.own(0, s, sn)?, st, r, narrow::one(rn)?, rt, comm
        ));
    MPI_Gatherv PMPI_Gatherv (
        s: Data, sn: c_int, st: Handle, r: Buffer, rn: *const c_int, rd: *const c_int, rt: Handle,
        root: c_int, comm: Handle
    ) unless is_left(comm, any(Kind::Gatherv))
        => moves::gatherv(Sent(s, sn.into(), st), PartsOf(r, Short(rn, rd), rt), root, comm);
    MPI_Gatherv_c PMPI_Gatherv_c (
        s: Data, sn: i64, st: Handle, r: Buffer, rn: *const i64, rd: *const isize, rt: Handle,
        root: c_int, comm: Handle
    ) unless is_left(comm, any(Kind::Gatherv))
        => moves::gatherv(Sent(s, sn, st), PartsOf(r, Long(rn, rd), rt), root, comm),
        else short!(comm, group, MPI_Gatherv(
            s, group.own(root, s, sn)?, st,
            r, narrow::all(rn, group.parts_of_root(root))?.as_ptr(),
            narrow::all(rd, group.parts_of_root(root))?.as_ptr(), rt, root, comm
        ));
    MPI_Scatterv PMPI_Scatterv (
        s: Data, sn: *const c_int, sd: *const c_int, st: Handle, r: Buffer, rn: c_int, rt: Handle,
        root: c_int, comm: Handle
    ) unless is_left(comm, any(Kind::Scatterv))
        => moves::scatterv(PartsOf(s, Short(sn, sd), st), Received(r, rn.into(), rt), root, comm);
    MPI_Scatterv_c PMPI_Scatterv_c (
        s: Data, sn: *const i64, sd: *const isize, st: Handle, r: Buffer, rn: i64, rt: Handle,
        root: c_int, comm: Handle
    ) unless is_left(comm, any(Kind::Scatterv))
        => moves::scatterv(PartsOf(s, Long(sn, sd), st), Received(r, rn, rt), root, comm),
        else short!(comm, group, MPI_Scatterv(
            s, narrow::all(sn, group.parts_of_root(root))?.as_ptr(),
            narrow::all(sd, group.parts_of_root(root))?.as_ptr(), st,
            r, group.own(root, r, rn)?, rt, root, comm
        ));
    MPI_Allgatherv PMPI_Allgatherv (
        s: Data, sn: c_int, st: Handle, r: Buffer, rn: *const c_int, rd: *const c_int, rt: Handle,
        comm: Handle
    ) => moves::allgatherv(Sent(s, sn.into(), st), PartsOf(r, Short(rn, rd), rt), comm);
    MPI_Allgatherv_c PMPI_Allgatherv_c (
        s: Data, sn: i64, st: Handle, r: Buffer, rn: *const i64, rd: *const isize, rt: Handle,
        comm: Handle
    ) => moves::allgatherv(Sent(s, sn, st), PartsOf(r, Long(rn, rd), rt), comm),
        else short!(comm, group, MPI_Allgatherv(
            s, group.own(0, s, sn)?, st,
            r, narrow::all(rn, group.parts())?.as_ptr(), narrow::all(rd, group.parts())?.as_ptr(), rt, comm
        ));
    MPI_Alltoallv PMPI_Alltoallv (
        s: Data, sn: *const c_int, sd: *const c_int, st: Handle,
        r: Buffer, rn: *const c_int, rd: *const c_int, rt: Handle, comm: Handle
    ) unless is_left(comm, any(Kind::Alltoallv))
        => moves::alltoallv(PartsOf(s, Short(sn, sd), st), PartsOf(r, Short(rn, rd), rt), comm);
    MPI_Alltoallv_c PMPI_Alltoallv_c (
        s: Data, sn: *const i64, sd: *const isize, st: Handle,
        r: Buffer, rn: *const i64, rd: *const isize, rt: Handle, comm: Handle
    ) unless is_left(comm, any(Kind::Alltoallv))
        => moves::alltoallv(PartsOf(s, Long(sn, sd), st), PartsOf(r, Long(rn, rd), rt), comm),
        else short!(comm, group, MPI_Alltoallv(
            s, narrow::all(sn, group.parts_of(s))?.as_ptr(), narrow::all(sd, group.parts_of(s))?.as_ptr(), st,
            r, narrow::all(rn, group.parts())?.as_ptr(), narrow::all(rd, group.parts())?.as_ptr(), rt, comm
        ));
    MPI_Reduce PMPI_Reduce (
        s: Data, r: Buffer, n: c_int, t: Handle, op: Handle, root: c_int, comm: Handle
    ) unless is_left(comm, Some(By(n.into(), t, op).of(Kind::Reduce)))
        => reductions::reduce(s, r, By(n.into(), t, op), root, comm);
    MPI_Reduce_c PMPI_Reduce_c (
        s: Data, r: Buffer, n: i64, t: Handle, op: Handle, root: c_int, comm: Handle
    ) unless is_left(comm, Some(By(n, t, op).of(Kind::Reduce)))
        => reductions::reduce(s, r, By(n, t, op), root, comm),
        else short!(comm, _group, MPI_Reduce(
            s, r, narrow::one(n)?, t, op, root, comm
        ));
    MPI_Allreduce PMPI_Allreduce (
        s: Data, r: Buffer, n: c_int, t: Handle, op: Handle, comm: Handle
    ) unless is_left(comm, Some(By(n.into(), t, op).of(Kind::Allreduce)))
        => reductions::allreduce(s, r, By(n.into(), t, op), comm);
    MPI_Allreduce_c PMPI_Allreduce_c (
        s: Data, r: Buffer, n: i64, t: Handle, op: Handle, comm: Handle
    ) unless is_left(comm, Some(By(n, t, op).of(Kind::Allreduce)))
        => reductions::allreduce(s, r, By(n, t, op), comm),
        else short!(comm, _group, MPI_Allreduce(
            s, r, narrow::one(n)?, t, op, comm
        ));
    MPI_Reduce_scatter_block PMPI_Reduce_scatter_block (
        s: Data, r: Buffer, n: c_int, t: Handle, op: Handle, comm: Handle
    ) unless is_left(comm, Some(By(n.into(), t, op).of(Kind::ReduceScatter)))
        => reductions::reduce_scatter_block(s, r, By(n.into(), t, op), comm);
    MPI_Reduce_scatter_block_c PMPI_Reduce_scatter_block_c (
        s: Data, r: Buffer, n: i64, t: Handle, op: Handle, comm: Handle
    ) unless is_left(comm, Some(By(n, t, op).of(Kind::ReduceScatter)))
        => reductions::reduce_scatter_block(s, r, By(n, t, op), comm),
        else short!(comm, _group, MPI_Reduce_scatter_block(
            s, r, narrow::one(n)?, t, op, comm
        ));
    MPI_Reduce_scatter PMPI_Reduce_scatter (
        s: Data, r: Buffer, n: *const c_int, t: Handle, op: Handle, comm: Handle
    ) => reductions::reduce_scatter(s, r, n, By(0, t, op), comm);
    MPI_Reduce_scatter_c PMPI_Reduce_scatter_c (
        s: Data, r: Buffer, n: *const i64, t: Handle, op: Handle, comm: Handle
    ) => reductions::reduce_scatter(s, r, n, By(0, t, op), comm),
        else short!(comm, group, MPI_Reduce_scatter(
            s, r, narrow::all(n, group.members())?.as_ptr(), t, op, comm
        ));
    MPI_Scan PMPI_Scan (
        s: Data, r: Buffer, n: c_int, t: Handle, op: Handle, comm: Handle
    ) unless is_left(comm, Some(By(n.into(), t, op).of(Kind::Scan)))
        => reductions::scan(s, r, By(n.into(), t, op), comm);
    MPI_Scan_c PMPI_Scan_c (
        s: Data, r: Buffer, n: i64, t: Handle, op: Handle, comm: Handle
    ) unless is_left(comm, Some(By(n, t, op).of(Kind::Scan)))
        => reductions::scan(s, r, By(n, t, op), comm),
        else short!(comm, _group, MPI_Scan(
            s, r, narrow::one(n)?, t, op, comm
        ));
    MPI_Exscan PMPI_Exscan (
        s: Data, r: Buffer, n: c_int, t: Handle, op: Handle, comm: Handle
    ) unless is_left(comm, Some(By(n.into(), t, op).of(Kind::Exscan)))
        => reductions::exscan(s, r, By(n.into(), t, op), comm);
    MPI_Exscan_c PMPI_Exscan_c (
        s: Data, r: Buffer, n: i64, t: Handle, op: Handle, comm: Handle
    ) unless is_left(comm, Some(By(n, t, op).of(Kind::Exscan)))
        => reductions::exscan(s, r, By(n, t, op), comm),
        else short!(comm, _group, MPI_Exscan(
            s, r, narrow::one(n)?, t, op, comm
        ));
}
