//! Layer 9: the entry points of GNU OpenMP, which GCC calls. Each is that of the same name in libgomp's public
//! interface. LLVM's runtime exports most of them too, and serves them in the same way.

#![allow(non_snake_case, reason = "the names are the runtime's")]
#![allow(unreachable_pub, reason = "reached by its name")]

use super::entry::{
    barrier, cancel_team, exports, outside_with, run_body, start_region, theirs, with_site,
    with_tasks,
};
use super::region::Region;
use super::runtime::{Code, Data, Runtime, Word, outlined};
use super::thread::{come_back, leave_until_end, thread};
use crate::record::Kind;
use std::ffi::{c_int, c_long, c_uint};

/// The body that each thread of a region runs; it runs the compiler's body.
///
/// # Safety
///
/// Only the runtime calls it, with the region that `forks!` gave to it.
unsafe extern "C-unwind" fn body(region: Data) {
    // SAFETY: the caller's; a region outlives its threads.
    let region = unsafe { &*region.cast::<Region>() };
    let data = region.arguments().next().unwrap_or(std::ptr::null_mut());
    run_body(region, || {
        type Body = unsafe extern "C-unwind" fn(Data);
        // SAFETY: the compiler's body, of this type, with its data.
        unsafe { std::mem::transmute::<Code, Body>(region.code())(data) }
    });
}

macro_rules! forks {
    ($( $args:tt => $($name:ident),+; )*) => { $($( forks!(@one $name $args); )+)* };
    (@one $name:ident ($($arg:ident: $kind:ty),*)) => {
        /// Starts a region.
        ///
        /// # Safety
        ///
        /// The arguments are those that a compiler gives to the runtime's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(code: Code, data: Data, threads: c_uint $(, $arg: $kind)*) {
            start_region(code, &[data], |runtime, region| {
                let (code, data) = match region {
                    Some(region) => (body as Code, std::ptr::from_ref(region).cast_mut().cast()),
                    None => (code, data),
                };
                // SAFETY: what the compiler gave, or our body with its region.
                unsafe { theirs!(runtime, $name)(code, data, threads $(, $arg)*) }
            });
        }
    };
}

forks! {
    (flags: c_uint) => GOMP_parallel;
    (count: c_uint, flags: c_uint) => GOMP_parallel_sections;
    (start: c_long, end: c_long, step: c_long, flags: c_uint) => GOMP_parallel_loop_runtime,
        GOMP_parallel_loop_nonmonotonic_runtime, GOMP_parallel_loop_maybe_nonmonotonic_runtime;
    (start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint) => GOMP_parallel_loop_static,
        GOMP_parallel_loop_dynamic, GOMP_parallel_loop_guided, GOMP_parallel_loop_nonmonotonic_dynamic,
        GOMP_parallel_loop_nonmonotonic_guided;
}

// Regions that keep the runtime's barriers: those whose reductions are over tasks, leagues of teams, target regions
// (which on this machine run as an initial thread), and the regions of GCC up to 4.8, which one call begins and another
// one ends.
exports! {
    outside_with(code): (code: Code, data: Data, threads: c_uint, flags: c_uint) -> c_uint => GOMP_parallel_reductions;
    outside_with(code): (code: Code, data: Data, teams: c_uint, limit: c_uint, flags: c_uint) -> () => GOMP_teams_reg;
    outside_with(code): (device: Word, code: Code, a: Word, b: Word, c: Word, d: Word, e: Word) -> () => GOMP_target;
    target_with(code): (device: Word, code: Code, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word) -> ()
        => GOMP_target_ext;

    begin_outside(code): (code: Code, data: Data, threads: c_uint) -> () => GOMP_parallel_start;
    begin_outside(code): (code: Code, data: Data, threads: c_uint, count: c_uint) -> ()
        => GOMP_parallel_sections_start;
    begin_outside(code): (code: Code, data: Data, threads: c_uint, start: c_long, end: c_long, step: c_long) -> ()
        => GOMP_parallel_loop_runtime_start;
    begin_outside(code): (code: Code, data: Data, threads: c_uint, start: c_long, end: c_long, step: c_long,
        chunk: c_long) -> () => GOMP_parallel_loop_static_start, GOMP_parallel_loop_dynamic_start,
        GOMP_parallel_loop_guided_start;
    come_back(): () -> () => GOMP_parallel_end;
}

// After these calls barriers have to complete tasks or see cancellations, so they are the runtime's.
exports! {
    with_tasks(): (code: Code, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word) -> ()
        => GOMP_task;
    with_tasks(): (code: Code, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word,
        j: Word) -> () => GOMP_taskloop;
    with_tasks(): (code: Code, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word,
        j: Word, k: Word) -> () => GOMP_taskloop_ull;
    with_tasks(): (which: c_int, does: bool) -> bool => GOMP_cancel;
}

/// Calls a target region, which makes a task if it has `nowait`.
fn target_with(code: Code, call: impl FnOnce(&'static Runtime)) {
    cancel_team();
    outside_with(code, call);
}

fn begin_outside(code: Code, call: impl FnOnce(&'static Runtime)) {
    let runtime = outlined(code).runtime;
    leave_until_end(runtime);
    call(runtime);
}

with_site!(GOMP_barrier => meet, "rdi", "x0");

/// A barrier of all threads of the region.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
unsafe extern "C-unwind" fn meet(site: Code) {
    // SAFETY: what the compiler called.
    barrier(site, || Kind::Barrier, || unsafe { their_barrier() });
}

/// The runtime's barrier.
///
/// # Safety
///
/// As for `GOMP_barrier`.
#[inline(always)]
unsafe fn their_barrier() {
    // SAFETY: the caller's.
    unsafe { theirs!(thread().runtime(), GOMP_barrier)() }
}

macro_rules! ends {
    ($($name:ident => $on:ident, $nowait:ident, $kind:ident;)*) => {$(
        with_site!($name => $on, "rdi", "x0");

        /// Ends a shared construct: calls the runtime's end without a barrier, and then runs a barrier. All threads
        /// of a region do so, whatever the state of their barriers is.
        ///
        /// # Safety
        ///
        /// The arguments are those that a compiler gives to the runtime's function.
        unsafe extern "C-unwind" fn $on(site: Code) {
            let runtime = thread().runtime();
            if thread().region().is_none() {
                // SAFETY: what the compiler called.
                return unsafe { theirs!(runtime, $name)() };
            }
            // SAFETY: as for a construct with `nowait`.
            unsafe { theirs!(runtime, $nowait)() }
            // SAFETY: as at the end of the construct.
            barrier(site, || Kind::$kind, || unsafe { their_barrier() });
        }
    )*};
}

ends! {
    GOMP_loop_end => end_loop, GOMP_loop_end_nowait, For;
    GOMP_sections_end => end_sections, GOMP_sections_end_nowait, Sections;
}

with_site!(GOMP_single_copy_start => start_single_copy, "rdi", "x0");

/// Begins `single` with `copyprivate`. Returns null to the one thread that runs it, and the data that it gives to all
/// others.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
unsafe extern "C-unwind" fn start_single_copy(site: Code) -> Data {
    let (thread, runtime) = (thread(), thread().runtime());
    let Some(region) = thread.region() else {
        // SAFETY: what the compiler called.
        return unsafe { theirs!(runtime, GOMP_single_copy_start)() };
    };
    region.copied.give_way(&thread.receipt);
    // SAFETY: as for `single` without `copyprivate`.
    if unsafe { theirs!(runtime, GOMP_single_start)() } {
        region.copied.begin();
        return std::ptr::null_mut();
    }
    // SAFETY: the thread that runs the construct meets the others at its end.
    barrier(site, || Kind::Single, || unsafe { their_barrier() });
    region.copied.take(&thread.receipt)
}

with_site!(GOMP_single_copy_end => end_single_copy, "rsi", "x1");

/// Ends `single` with `copyprivate`, for the thread that ran it.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
unsafe extern "C-unwind" fn end_single_copy(data: Data, site: Code) {
    let thread = thread();
    let Some(region) = thread.region() else {
        // SAFETY: what the compiler called.
        return unsafe { theirs!(thread.runtime(), GOMP_single_copy_end)(data) };
    };
    region.copied.give(data, &thread.receipt);
    // SAFETY: the others meet this thread before they take what is given.
    barrier(site, || Kind::Single, || unsafe { their_barrier() });
}
