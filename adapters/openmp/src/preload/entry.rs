//! Layer 11: the common part of both runtimes' entry points. They begin a region, run a barrier, or cancel the
//! region's team; the macros at the end export them under the runtimes' names.

use super::init;
use super::level::{Barriers, Inside, Level};
use super::objects::Code;
use super::region::Region;
use super::runtime::{Data, Family, Runtime, known, standard};
use super::thread::{Thread, thread};
use super::timed;
use crate::record::Kind;
use corecast::Member;

/// Starts a region by `call`, which lets the runtime start it: with a body that calls [`run_body`] if `call` gets a
/// region, and as the program called it if `call` gets `None`.
#[inline(always)]
pub(crate) fn start_region(
    family: Family,
    code: Code,
    arguments: &[Data],
    call: impl FnOnce(&'static Runtime, Option<&Region>),
) {
    let thread = thread();
    let Some(region) = thread.next_region(family, code) else {
        return outside_with(family, code, |runtime| call(runtime, None));
    };
    region.prepare(family, code, arguments);
    let depth = thread.depth.get();
    thread.depth.set(depth + 1);
    call(region.runtime(), Some(region));
    thread.depth.set(depth);
    if init::records_waits() {
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
        thread().within(Inside::Region(region), barriers, body);
    };
    match init::records_waits() {
        false => run(barriers),
        true => timed::run(region, barriers, run),
    }
}

/// Runs `call` in the innermost level of the runtime that a call at `at`, of a name of `family`, would have reached.
/// `call` gets that runtime, and the level's region if it is one that is known here.
#[inline(always)]
pub(crate) fn in_level<R>(
    family: Family,
    at: Code,
    call: impl FnOnce(&'static Runtime, Option<&Region>) -> R,
) -> R {
    match thread().region().filter(|region| region.has(family, at)) {
        Some(region) => call(region.runtime(), Some(region)),
        None => in_other_level(family, at, call),
    }
}

/// [`in_level`] where the call comes from another object than the region's code, or from outside of regions.
#[cold]
fn in_other_level<R>(
    family: Family,
    at: Code,
    call: impl FnOnce(&'static Runtime, Option<&Region>) -> R,
) -> R {
    let thread = thread();
    let runtime = called(thread, family, at);
    let is_its = |level: &&Level| std::ptr::eq(level.runtime(), runtime);
    let innermost = thread.level();
    let Some(level) = thread.levels().find(is_its) else {
        let run = || call(runtime, None);
        return thread
            .within(Inside::Other(runtime), Barriers::Runtime, run)
            .0;
    };
    if innermost.is_some_and(|innermost| std::ptr::eq(innermost, level)) {
        return call(runtime, level.region());
    }
    // The thread stays in the levels within that one: what runs meanwhile may ask for theirs.
    let run = || call(runtime, level.region());
    let (result, barriers) = thread.within(level.inside, level.barriers.get(), run);
    level.barriers.set(barriers);
    result
}

/// The runtime that a call at `at` of a name of `family` would have reached.
fn called(thread: &Thread, family: Family, at: Code) -> &'static Runtime {
    // Where a function ends with a barrier, compilers make a jump of the call, so GNU's names may seem to be called by
    // the code that called that function: the runtime's, this library's, or that of another library.
    let innermost = || {
        let mut runtimes = thread.levels().map(Level::runtime);
        runtimes.find(|runtime| runtime.serves(family))
    };
    let reached = known(at, family).reached();
    reached
        .or_else(innermost)
        .unwrap_or_else(|| standard(family))
}

/// A barrier that the program called, of the calling thread's innermost region of the runtime that this call reaches.
/// `at` is an address in the object that calls, `site` the one to which the call returns. `theirs` runs the barrier if it
/// is the runtime's.
#[inline(always)]
pub(crate) fn barrier(
    family: Family,
    at: Code,
    site: Code,
    kind: impl FnOnce() -> Kind,
    theirs: impl FnOnce(&'static Runtime),
) {
    // This is the fast path (Invariant 4).
    let thread = thread();
    let is_here = || thread.region().is_some_and(|region| region.has(family, at));
    match thread.barriers.get() {
        Barriers::Team(member) if is_here() => {
            if !is_met(member) {
                their_barrier(theirs);
            }
        }
        _ => other_barrier(family, at, site, kind, theirs),
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
fn their_barrier(theirs: impl FnOnce(&'static Runtime)) {
    let thread = thread();
    thread.barriers.set(Barriers::Runtime);
    if let Some(level) = thread.level() {
        theirs(level.runtime());
    }
}

/// A barrier off the fast path: the first one of a region, one of the runtime's, one whose waits are recorded, or one
/// of another level.
#[cold]
#[inline(never)]
fn other_barrier(
    family: Family,
    at: Code,
    site: Code,
    kind: impl FnOnce() -> Kind,
    theirs: impl FnOnce(&'static Runtime),
) {
    in_level(family, at, |_, _| {
        let thread = thread();
        match thread.barriers.get() {
            Barriers::Timed(timed) => {
                timed::barrier(thread, timed, site, kind(), || {
                    untimed_barrier(thread, theirs)
                });
            }
            _ => untimed_barrier(thread, theirs),
        }
    });
}

fn untimed_barrier(thread: &Thread, theirs: impl FnOnce(&'static Runtime)) {
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

/// Calls a runtime's function that makes a task or cancels a construct. `at` is an address in the object that calls it.
pub(crate) fn with_tasks<R>(
    family: Family,
    at: Code,
    call: impl FnOnce(&'static Runtime) -> R,
) -> R {
    in_level(family, at, |runtime, _| {
        cancel_team();
        call(runtime)
    })
}

/// Calls a runtime's function that runs `code`, which keeps the runtime's barriers.
pub(crate) fn outside_with<R>(
    family: Family,
    code: Code,
    call: impl FnOnce(&'static Runtime) -> R,
) -> R {
    let runtime = known(code, family).runtime();
    let run = || call(runtime);
    thread()
        .within(Inside::Other(runtime), Barriers::Runtime, run)
        .0
}

/// Calls a runtime's function that begins a region for which [`come_back`] is called at its end. `at` is an address in
/// the object that calls it.
pub(crate) fn begin_outside(family: Family, at: Code, call: impl FnOnce(&'static Runtime)) {
    let runtime = called(thread(), family, at);
    // A runtime that calls itself ends such a region in another way.
    if !runtime.span.contains(at) {
        thread().begin(runtime);
    }
    call(runtime);
}

/// Calls a runtime's function that ends such a region, and goes back to the region around it.
pub(crate) fn come_back(family: Family, at: Code, call: impl FnOnce(&'static Runtime)) {
    let thread = thread();
    let begun = thread.begun().filter(|runtime| !runtime.span.contains(at));
    match begun {
        Some(runtime) => {
            call(runtime);
            thread.end();
        }
        None => call(called(thread, family, at)),
    }
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
/// and has to make it, and what else that function gets. Older compilers give fewer arguments than are named; the others are passed on unread.
macro_rules! exports {
    ($( $how:ident $given:tt: $args:tt -> $ret:ty => $($name:ident),+; )*) => {
        $($( $crate::preload::entry::exports!(@one $how $given $name $args -> $ret); )+)*
    };
    (@one $how:ident ($($given:expr),*) $name:ident ($($arg:ident: $kind:ty),*) -> $ret:ty) => {
        #[doc = concat!("Passes the call on, by way of `", stringify!($how), "`.")]
        ///
        /// # Safety
        ///
        /// The arguments are those that a compiler gives to the runtime's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $kind),*) -> $ret {
            $how($($given,)* |runtime: &Runtime| {
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
