//! What GCC calls: the entry points of GNU OpenMP, and of LLVM's in their place.
//!
//! Each is the one of `libgomp.h`'s public interface with the same name; what it does besides is said there.

#![allow(non_snake_case, reason = "the names are the run-time's")]
#![allow(unreachable_pub, reason = "reached by its name")]

use super::here::{self, call_off, elsewhere, meet, real};
use super::region::Region;
use super::runtime::{Body, Functions, Site, Task, Word, known};
use super::watch::Kind;
use super::{give_up, is_on};
use std::cell::RefCell;
use std::ffi::{c_int, c_long, c_uint, c_void};

/// A function that the run-time must have, as the program calls it.
macro_rules! theirs {
    ($functions:expr, $field:ident) => {
        match $functions.$field {
            Some(function) => function,
            None => give_up(concat!(
                "the run-time has no function for ",
                stringify!($field)
            )),
        }
    };
}
pub(crate) use theirs;

/// What each thread of a region runs instead of its body.
///
/// # Safety
///
/// For the run-time to call, with what `fork` has given to it.
unsafe extern "C-unwind" fn body(data: *mut c_void) {
    // SAFETY: `fork` gave the region, which outlives its threads.
    let region = unsafe { &*data.cast::<Region>() };
    here::within(region, || {
        // SAFETY: the compiler's body, of this type, with its data.
        unsafe { std::mem::transmute::<*const c_void, Body>(region.code())(region.data()) }
    });
}

/// Starts a region whose threads run [`body`].
#[inline(always)]
fn fork(code: Body, data: *mut c_void, call: impl FnOnce(&Functions, Body, *mut c_void)) {
    if !is_on() {
        return call(&known(code as *const c_void).runtime.real, code, data);
    }
    here::start(
        code as *const c_void,
        data,
        &[],
        |runtime, region| match region {
            Some(region) => call(
                &runtime.real,
                body,
                std::ptr::from_ref(region).cast_mut().cast(),
            ),
            None => call(&runtime.real, code, data),
        },
    );
}

macro_rules! forks {
    ($($name:ident => $field:ident ( $($arg:ident : $kind:ty),* );)*) => {$(
        /// Starts a region.
        ///
        /// # Safety
        ///
        /// As compilers call it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(code: Body, data: *mut c_void, threads: c_uint $(, $arg: $kind)*) {
            fork(code, data, |real, code, data| {
                // SAFETY: what the compiler gave, but for the body.
                unsafe { theirs!(real, $field)(code, data, threads $(, $arg)*) }
            });
        }
    )*};
}

forks! {
    GOMP_parallel => parallel(flags: c_uint);
    GOMP_parallel_sections => parallel_sections(count: c_uint, flags: c_uint);
    GOMP_parallel_loop_static => parallel_static(
        start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_dynamic => parallel_dynamic(
        start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_guided => parallel_guided(
        start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_dynamic => parallel_nonmonotonic_dynamic(
        start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_guided => parallel_nonmonotonic_guided(
        start: c_long, end: c_long, step: c_long, chunk: c_long, flags: c_uint);
    GOMP_parallel_loop_runtime => parallel_runtime(
        start: c_long, end: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_loop_nonmonotonic_runtime => parallel_nonmonotonic_runtime(
        start: c_long, end: c_long, step: c_long, flags: c_uint);
    GOMP_parallel_loop_maybe_nonmonotonic_runtime => parallel_maybe_nonmonotonic_runtime(
        start: c_long, end: c_long, step: c_long, flags: c_uint);
}

/// Starts a region whose reductions are over tasks: it keeps the run-time's barriers.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GOMP_parallel_reductions(
    code: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
) -> c_uint {
    let real = &known(code as *const c_void).runtime.real;
    // SAFETY: what the compiler gave.
    elsewhere(|| unsafe { theirs!(real, parallel_reductions)(code, data, threads, flags) })
}

thread_local! {
    /// Where this thread was before the regions of old compilers that it has started: these run their body
    /// between a start and an end.
    static STARTED: RefCell<Vec<here::Place>> = const { RefCell::new(Vec::new()) };
}

macro_rules! starts {
    ($($name:ident => $field:ident ( $($arg:ident : $kind:ty),* );)*) => {$(
        /// Starts a region as GCC up to 4.8 does: it keeps the run-time's barriers.
        ///
        /// # Safety
        ///
        /// As compilers call it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(code: Body, data: *mut c_void, threads: c_uint $(, $arg: $kind)*) {
            let real = &known(code as *const c_void).runtime.real;
            STARTED.with_borrow_mut(|started| started.push(here::leave()));
            // SAFETY: what the compiler gave.
            unsafe { theirs!(real, $field)(code, data, threads $(, $arg)*) }
        }
    )*};
}

starts! {
    GOMP_parallel_start => parallel_start();
    GOMP_parallel_sections_start => parallel_sections_start(count: c_uint);
    GOMP_parallel_loop_static_start => parallel_static_start(
        start: c_long, end: c_long, step: c_long, chunk: c_long);
    GOMP_parallel_loop_dynamic_start => parallel_dynamic_start(
        start: c_long, end: c_long, step: c_long, chunk: c_long);
    GOMP_parallel_loop_guided_start => parallel_guided_start(
        start: c_long, end: c_long, step: c_long, chunk: c_long);
    GOMP_parallel_loop_runtime_start => parallel_runtime_start(
        start: c_long, end: c_long, step: c_long);
}

/// Ends a region of old compilers.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GOMP_parallel_end() {
    // SAFETY: what the compiler called.
    unsafe { theirs!(real(), parallel_end)() };
    if let Some(place) = STARTED.with_borrow_mut(Vec::pop) {
        here::come_back(place);
    }
}

/// The function that compilers call, which goes on to `$on` with its caller's address as the next argument, in
/// `$x86` or `$arm`.
macro_rules! with_site {
    ($name:ident => $on:ident, $x86:literal, $arm:literal) => {
        /// See the function that this goes on to.
        ///
        /// # Safety
        ///
        /// As compilers call it.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $name() {
            #[cfg(target_arch = "x86_64")]
            std::arch::naked_asm!(concat!("mov ", $x86, ", [rsp]"), "jmp {on}", on = sym $on);
            #[cfg(target_arch = "aarch64")]
            std::arch::naked_asm!(concat!("mov ", $arm, ", x30"), "b {on}", on = sym $on);
        }
    };
}
pub(crate) use with_site;

with_site!(GOMP_barrier => barrier, "rdi", "x0");

/// All threads of the region meet.
///
/// # Safety
///
/// As compilers call it.
unsafe extern "C-unwind" fn barrier(site: Site) {
    // SAFETY: what the compiler called.
    meet(site, Kind::Barrier, || unsafe {
        theirs!(real(), barrier)()
    });
}

macro_rules! ends {
    ($($name:ident => $on:ident, $field:ident, $nowait:ident, $kind:ident;)*) => {$(
        with_site!($name => $on, "rdi", "x0");

        /// Ends a shared construct: what the run-time does without a barrier, and one.
        ///
        /// # Safety
        ///
        /// As compilers call it.
        unsafe extern "C-unwind" fn $on(site: Site) {
            let real = real();
            // The same way for all threads of a region, whatever some of them know of its barriers.
            if here::region().is_none() {
                // SAFETY: what the compiler called.
                return unsafe { theirs!(real, $field)() };
            }
            // SAFETY: as for a construct with `nowait`.
            unsafe { theirs!(real, $nowait)() }
            // SAFETY: as at the end of the region.
            meet(site, Kind::$kind, || unsafe { theirs!(real, barrier)() });
        }
    )*};
}

ends! {
    GOMP_loop_end => loop_end, loop_end, loop_end_nowait, For;
    GOMP_sections_end => sections_end, sections_end, sections_end_nowait, Sections;
}

with_site!(GOMP_single_copy_start => single_copy_start, "rdi", "x0");

/// Begins `single` with `copyprivate`: null for the one thread that runs it, what it gives for the others.
///
/// # Safety
///
/// As compilers call it.
unsafe extern "C-unwind" fn single_copy_start(site: Site) -> *mut c_void {
    let real = real();
    let Some(region) = here::region() else {
        // SAFETY: what the compiler called.
        return unsafe { theirs!(real, single_copy_start)() };
    };
    region.copied.give_way();
    // SAFETY: as for `single` without `copyprivate`.
    if unsafe { theirs!(real, single_start)() } {
        region.copied.begin();
        return std::ptr::null_mut();
    }
    // SAFETY: as for a barrier.
    meet(site, Kind::Single, || unsafe { theirs!(real, barrier)() });
    // Relaxed: the barrier came between.
    region.copied.take()
}

with_site!(GOMP_single_copy_end => single_copy_end, "rsi", "x1");

/// Ends `single` with `copyprivate`, of the thread that ran it.
///
/// # Safety
///
/// As compilers call it.
unsafe extern "C-unwind" fn single_copy_end(data: *mut c_void, site: Site) {
    let real = real();
    let Some(region) = here::region() else {
        // SAFETY: what the compiler called.
        return unsafe { theirs!(real, single_copy_end)(data) };
    };
    // Relaxed: the barrier comes between.
    region.copied.give(data);
    // SAFETY: as for a barrier.
    meet(site, Kind::Single, || unsafe { theirs!(real, barrier)() });
}

/// A task, a cancellation: barriers have to do more than to meet.
macro_rules! tasks {
    ($($name:ident => $field:ident ( $($arg:ident : $kind:ty),* ) $(-> $ret:ty)?;)*) => {$(
        /// Something that a barrier has to wait for, or to end by: it calls the region's barriers off.
        ///
        /// # Safety
        ///
        /// As compilers call it. Arguments that older compilers do not give are passed on unread.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $kind),*) $(-> $ret)? {
            call_off();
            // SAFETY: what the compiler gave.
            unsafe { theirs!(real(), $field)($($arg),*) }
        }
    )*};
}
pub(crate) use tasks;

tasks! {
    GOMP_task => task(
        code: Task, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word);
    GOMP_taskloop => taskloop(
        code: Task, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word, j: Word);
    GOMP_taskloop_ull => taskloop_ull(
        code: Task, a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word, j: Word,
        k: Word);
    GOMP_cancel => cancel(which: c_int, does: bool) -> bool;
}

/// A target region: on this machine it runs as an initial thread, outside of the region; `nowait` makes a task.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GOMP_target_ext(
    device: Word,
    code: Task,
    a: Word,
    b: Word,
    c: Word,
    d: Word,
    e: Word,
    f: Word,
    g: Word,
) {
    call_off();
    let real = real();
    // SAFETY: what the compiler gave.
    elsewhere(|| unsafe { theirs!(real, target_ext)(device, code, a, b, c, d, e, f, g) });
}

/// The same of older compilers.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GOMP_target(
    device: Word,
    code: Task,
    a: Word,
    b: Word,
    c: Word,
    d: Word,
    e: Word,
) {
    let real = real();
    // SAFETY: what the compiler gave.
    elsewhere(|| unsafe { theirs!(real, target)(device, code, a, b, c, d, e) });
}

/// A league of teams on this machine: initial threads, outside of the region.
///
/// # Safety
///
/// As compilers call it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GOMP_teams_reg(
    code: Body,
    data: *mut c_void,
    teams: c_uint,
    limit: c_uint,
    flags: c_uint,
) {
    let real = &known(code as *const c_void).runtime.real;
    // SAFETY: what the compiler gave.
    elsewhere(|| unsafe { theirs!(real, teams_reg)(code, data, teams, limit, flags) });
}
