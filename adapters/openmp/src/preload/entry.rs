//! Layer 9: the common part of both runtimes' entry points. They begin a region, run a barrier, or cancel the
//! region's team; the macros at the end export them under the runtimes' names.

use super::region::Region;
use super::runtime::{Code, Data, Runtime, outlined};
use super::thread::{Barriers, Thread, outside, thread};
use super::timed;
use super::waits;
use crate::record::Kind;
use corecast::Member;

/// Starts a region by `call`, which lets the runtime start it: with a body that calls [`run_body`] if `call` gets a
/// region, and as the program called it if `call` gets `None`.
#[inline(always)]
pub(crate) fn start_region(
    code: Code,
    arguments: &[Data],
    call: impl FnOnce(&'static Runtime, Option<&Region>),
) {
    let thread = thread();
    let Some(region) = thread.next_region(code) else {
        return outside(|| call(outlined(code).runtime, None));
    };
    region.prepare(code, arguments);
    let depth = thread.depth.get();
    thread.depth.set(depth + 1);
    call(region.runtime(), Some(region));
    thread.depth.set(depth);
    if waits::is_on() {
        region.end_times();
    }
    region.end();
}

/// Runs `body`, the calling thread's part of a region.
#[inline(always)]
pub(crate) fn run_body(region: &Region, body: impl FnOnce()) {
    let barriers = match region.is_own() {
        true => Barriers::Unknown,
        false => Barriers::Runtime,
    };
    let run = |barriers| {
        let saved = thread().enter(Some(region), barriers);
        body();
        thread().restore(saved);
    };
    match waits::is_on() {
        false => run(barriers),
        true => timed::run(region, barriers, run),
    }
}

/// A barrier of the calling thread's region, which the program called at `site`. `theirs` runs it if it is the
/// runtime's.
#[inline(always)]
pub(crate) fn barrier(site: Code, kind: impl FnOnce() -> Kind, theirs: impl FnOnce()) {
    // This is the fast path (Invariant 4).
    let Barriers::Team(member) = thread().barriers.get() else {
        return other_barrier(site, kind, theirs);
    };
    if !is_met(member) {
        their_barrier(theirs);
    }
}

/// Runs the team's barrier; returns `false` once the team is cancelled.
#[inline(always)]
fn is_met(member: *mut Member) -> bool {
    // SAFETY: the member is this thread's alone while it is in the region (Invariant 3), and each call ends its use
    // before the next.
    unsafe { &mut *member }.barrier().is_ok()
}

/// Runs the runtime's barrier, and lets it run this thread's later barriers of the region.
#[cold]
#[inline(never)]
fn their_barrier(theirs: impl FnOnce()) {
    thread().barriers.set(Barriers::Runtime);
    theirs();
}

/// A barrier off the fast path: the first one of a region, one of the runtime's, or one whose waits are recorded.
#[cold]
#[inline(never)]
fn other_barrier(site: Code, kind: impl FnOnce() -> Kind, theirs: impl FnOnce()) {
    let thread = thread();
    match thread.barriers.get() {
        Barriers::Timed(timed) => {
            timed::barrier(thread, timed, site, kind(), || {
                untimed_barrier(thread, theirs)
            });
        }
        _ => untimed_barrier(thread, theirs),
    }
}

fn untimed_barrier(thread: &Thread, theirs: impl FnOnce()) {
    let barriers = match thread.barriers.get() {
        Barriers::Unknown => find_team(thread),
        known => known,
    };
    match barriers {
        Barriers::Team(member) if is_met(member) => {}
        _ => their_barrier(theirs),
    }
}

/// Finds the team of the thread's region, if it has one, and sets the thread's barriers.
#[cold]
fn find_team(thread: &Thread) -> Barriers {
    let member = thread.region().and_then(|region| {
        let (number, threads) = region.number_of_several()?;
        region.team(threads).member(number)
    });
    let barriers = member.map_or(Barriers::Runtime, Barriers::Team);
    thread.barriers.set(barriers);
    barriers
}

/// Makes the region's barriers the runtime's, from the calling thread's next one on. Call it before a task is made or
/// a construct is cancelled, since those barriers have to complete the task or see the cancellation (Invariant 1).
pub(crate) fn cancel_team() {
    let thread = thread();
    let Some(region) = thread.region() else {
        return;
    };
    let cancel = || {
        let barriers = match thread.barriers.get() {
            Barriers::Unknown => find_team(thread),
            known => known,
        };
        if let Barriers::Team(member) = barriers {
            // SAFETY: as in `is_met`.
            unsafe { &mut *member }.cancel();
            region.note_cancelled();
        }
        thread.barriers.set(Barriers::Runtime);
    };
    match thread.barriers.get() {
        Barriers::Timed(timed) => {
            timed::untimed(thread, timed, cancel);
        }
        _ => cancel(),
    }
    region.note_tasks();
}

/// Calls a runtime's function that makes a task or cancels a construct.
pub(crate) fn with_tasks<R>(call: impl FnOnce(&'static Runtime) -> R) -> R {
    cancel_team();
    call(thread().runtime())
}

/// Calls a runtime's function that runs `code` on initial threads, outside of the region.
pub(crate) fn outside_with<R>(code: Code, call: impl FnOnce(&'static Runtime) -> R) -> R {
    let runtime = outlined(code).runtime;
    outside(|| call(runtime))
}

/// The runtime's function of that name, as the program calls it.
macro_rules! theirs {
    ($runtime:expr, $name:ident) => {
        match $runtime.real.$name {
            Some(function) => function,
            None => $crate::preload::runtime::give_up(concat!(
                "the runtime does not export ",
                stringify!($name)
            )),
        }
    };
}
pub(crate) use theirs;

/// Exports functions that pass a call on to the runtime. Each line names the function that gets the call as a closure
/// and has to make it. Older compilers give fewer arguments than are named; the others are passed on unread.
macro_rules! exports {
    ($( $how:ident $given:tt: $args:tt -> $ret:ty => $($name:ident),+; )*) => {
        $($( $crate::preload::entry::exports!(@one $how $given $name $args -> $ret); )+)*
    };
    (@one $how:ident ($($given:ident)?) $name:ident ($($arg:ident: $kind:ty),*) -> $ret:ty) => {
        #[doc = concat!("Passes the call on, by way of `", stringify!($how), "`.")]
        ///
        /// # Safety
        ///
        /// The arguments are those that a compiler gives to the runtime's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $kind),*) -> $ret {
            $how($($given,)? |runtime: &Runtime| {
                // SAFETY: what the compiler gave.
                unsafe { $crate::preload::entry::theirs!(runtime, $name)($($arg),*) }
            })
        }
    };
}
pub(crate) use exports;

/// Exports a function that goes on to `$on` with its caller's address as the next argument, in `$x86` or `$arm`.
macro_rules! with_site {
    ($name:ident => $on:ident, $x86:literal, $arm:literal) => {
        /// See the function that this goes on to.
        ///
        /// # Safety
        ///
        /// The arguments are those that a compiler gives to the runtime's function.
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
