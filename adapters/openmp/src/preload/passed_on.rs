//! Layer 12: the entry points of both runtimes that only pass the call on: regions that keep the runtime's barriers,
//! and calls after which barriers are the runtime's. One more, `__kmpc_fork_teams`, needs the arguments that `llvm.rs`
//! names.

#![allow(non_snake_case, reason = "the names are the runtime's")]
#![allow(unreachable_pub, reason = "reached by its name")]

use super::entry::{
    begin_outside, come_back, exports, outside_with, theirs, with_site, with_tasks,
};
use super::objects::Code;
use super::runtime::Family::{Gnu, Llvm};
use super::runtime::{Data, Runtime, Word};
use std::ffi::{c_int, c_long, c_uint};

// Regions that keep the runtime's barriers: those whose reductions are over tasks, leagues of teams, target regions
// (which on this machine run as an initial thread), and the regions of GCC up to 4.8, which one call begins and another
// one ends.
exports! {
    outside_with(Gnu, code): (code: Code, data: Data, threads: c_uint, flags: c_uint) -> c_uint => GOMP_parallel_reductions;
    outside_with(Gnu, code): (code: Code, data: Data, teams: c_uint, limit: c_uint, flags: c_uint) -> () => GOMP_teams_reg;
    outside_with(Gnu, code): (device: Word, code: Code, a: Word, b: Word, c: Word, d: Word, e: Word) -> () => GOMP_target;
    target_with(code): (device: Word, code: Code, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word) -> ()
        => GOMP_target_ext;

    begin_outside(Gnu, code): (code: Code, data: Data, threads: c_uint) -> () => GOMP_parallel_start;
    begin_outside(Gnu, code): (code: Code, data: Data, threads: c_uint, count: c_uint) -> ()
        => GOMP_parallel_sections_start;
    begin_outside(Gnu, code): (code: Code, data: Data, threads: c_uint, start: c_long, end: c_long, step: c_long) -> ()
        => GOMP_parallel_loop_runtime_start;
    begin_outside(Gnu, code): (code: Code, data: Data, threads: c_uint, start: c_long, end: c_long, step: c_long,
        chunk: c_long) -> () => GOMP_parallel_loop_static_start, GOMP_parallel_loop_dynamic_start,
        GOMP_parallel_loop_guided_start;
    come_back(Gnu, std::ptr::null()): () -> () => GOMP_parallel_end;
}

// After these calls barriers have to complete tasks or see cancellations, so they are the runtime's.
exports! {
    with_tasks(Gnu, code): (code: Code, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word) -> ()
        => GOMP_task;
    with_tasks(Gnu, code): (code: Code, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word,
        j: Word) -> () => GOMP_taskloop;
    with_tasks(Gnu, code): (code: Code, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word,
        j: Word, k: Word) -> () => GOMP_taskloop_ull;
}

/// Calls a target region, which makes a task if it has `nowait`.
fn target_with(code: Code, call: impl FnOnce(&'static Runtime)) {
    with_tasks(Gnu, code, |_| outside_with(Gnu, code, call));
}

with_site!(GOMP_cancel => cancel, "rdx", "x2");

/// Cancels a construct.
///
/// # Safety
///
/// The arguments are those that a compiler gives to the runtime's function.
unsafe extern "C-unwind" fn cancel(which: c_int, does: bool, site: Code) -> bool {
    with_tasks(Gnu, site, |runtime| {
        // SAFETY: what the compiler gave.
        unsafe { theirs!(runtime, GOMP_cancel)(which, does) }
    })
}

// Regions of one thread, and calls after which barriers have to complete tasks or see cancellations.
exports! {
    begin_outside(Llvm, place): (place: Data, number: c_int) -> () => __kmpc_serialized_parallel;
    come_back(Llvm, place): (place: Data, number: c_int) -> () => __kmpc_end_serialized_parallel;
    with_tasks(Llvm, place): (place: Data, number: c_int, flags: c_int, a: Word, b: Word, code: Word) -> Data
        => __kmpc_omp_task_alloc;
    with_tasks(Llvm, place): (place: Data, number: c_int, flags: c_int, a: Word, b: Word, code: Word, device: Word) -> Data
        => __kmpc_omp_target_task_alloc;
    with_tasks(Llvm, place): (place: Data, number: c_int, which: c_int) -> c_int => __kmpc_cancel;
}
