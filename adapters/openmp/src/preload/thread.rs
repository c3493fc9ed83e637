//! Layer 7: the state of a thread: the region that it is in, who runs that region's barriers, and the regions that it
//! starts.
//!
//! | [`Barriers`] | the thread's next barrier | becomes |
//! | --- | --- | --- |
//! | `Runtime` | is the runtime's: outside of regions, after a cancellation, or without a team | – |
//! | `Unknown` | looks for the region's team first | `Team`, or `Runtime` if there is none |
//! | `Team` | is Corecast's | `Runtime` once the team is cancelled |
//! | `Timed` | is that of [`Timed::barriers`], and its wait is recorded | stays; [`Timed::barriers`] changes as above |
//!
//! A thread enters a region as `Unknown`, or as `Runtime` if the region's code has made tasks before.

use super::copyprivate::Receipt;
use super::init;
use super::region::Region;
use super::runtime::{Code, Runtime, standard};
use super::waits::Stay;
use corecast::Member;
use std::arch::{asm, global_asm};
use std::cell::{Cell, RefCell};
use std::ptr;

/// Who runs the barriers of the thread's region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Barriers {
    /// The runtime.
    Runtime = 0,
    /// The thread has not looked for the region's team yet.
    Unknown,
    /// The team of this member.
    Team(*mut Member),
    /// The one that [`Timed::barriers`] says; the waits are recorded.
    Timed(*const Timed),
}

/// A stay in a region whose waits are recorded; `timed.rs` makes and uses it.
#[derive(Debug)]
pub(crate) struct Timed {
    pub(crate) stay: Stay,
    pub(crate) barriers: Cell<Barriers>,
}

/// Depth of nested regions that can have teams; deeper ones keep the runtime's barriers.
const DEPTH_MAX: usize = 8;

/// The state of a thread. Zeros are valid, and mean that it is in no region.
#[repr(C, align(64))]
pub(crate) struct Thread {
    region: Cell<*const Region>,
    pub(crate) barriers: Cell<Barriers>,
    /// Number of regions that this thread has started and that run, one within the other.
    pub(crate) depth: Cell<usize>,
    pub(crate) receipt: Receipt,
    /// The regions that it starts, by depth; boxed, and freed when it ends.
    regions: [Cell<*const Region>; DEPTH_MAX],
}

/// The region that a thread has left for another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    region: *const Region,
    barriers: Barriers,
}

// In a library each use of `thread_local!` takes a call, since a library may be loaded after threads were started.
// This one is loaded before the program, so its memory lies beside the thread pointer, at a distance that the loader
// knows (ELF's *initial-exec* model). If it is opened later it takes space that the C library keeps free for such
// libraries.
global_asm!(
    ".pushsection .tbss.corecast_openmp_thread,\"awT\",%nobits",
    ".globl corecast_openmp_thread",
    ".hidden corecast_openmp_thread",
    ".type corecast_openmp_thread,%object",
    ".size corecast_openmp_thread,{size}",
    ".p2align 6",
    "corecast_openmp_thread:",
    ".zero {size}",
    ".popsection",
    size = const size_of::<Thread>(),
);

/// The state of the calling thread.
#[inline(always)]
pub(crate) fn thread<'a>() -> &'a Thread {
    let at: *const Thread;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the thread pointer and a word that the loader has written.
    unsafe {
        asm!(
            "mov {at}, fs:[0]",
            "add {at}, qword ptr [rip + corecast_openmp_thread@GOTTPOFF]",
            at = out(reg) at,
            options(pure, nomem, nostack)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads the thread pointer and a word that the loader has written.
    unsafe {
        asm!(
            "mrs {at}, tpidr_el0",
            "adrp {way}, :gottprel:corecast_openmp_thread",
            "ldr {way}, [{way}, :gottprel_lo12:corecast_openmp_thread]",
            "add {at}, {at}, {way}",
            at = out(reg) at,
            way = out(reg) _,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    // SAFETY: as large and aligned as `Thread`, for which zeros are valid, and there as long as the thread, which keeps
    // it to itself.
    unsafe { &*at }
}

impl Thread {
    /// The region that the thread is in.
    #[inline(always)]
    pub(crate) fn region<'a>(&self) -> Option<&'a Region> {
        // SAFETY: a region outlives the threads in it.
        unsafe { self.region.get().as_ref() }
    }

    /// The runtime of that region, or the one of code outside of regions.
    pub(crate) fn runtime(&self) -> &'static Runtime {
        self.region().map_or_else(standard, Region::runtime)
    }

    /// Enters a region, or leaves all regions known here if it is `None`. Returns the state to restore.
    #[inline(always)]
    pub(crate) fn enter(&self, region: Option<&Region>, barriers: Barriers) -> Saved {
        // The words are read one by one, as they were written, because a read that spans two stores stalls.
        Saved {
            region: self
                .region
                .replace(region.map_or(ptr::null(), ptr::from_ref)),
            barriers: self.barriers.replace(barriers),
        }
    }

    /// Goes back to the region that `saved` tells.
    #[inline(always)]
    pub(crate) fn restore(&self, saved: Saved) {
        self.region.set(saved.region);
        self.barriers.set(saved.barriers);
    }

    /// The region that this thread starts next, with `code`; `None` if it has to keep the runtime's barriers.
    #[inline(always)]
    pub(crate) fn next_region<'a>(&self, code: Code) -> Option<&'a Region> {
        let place = self.regions.get(self.depth.get())?;
        // SAFETY: boxed, and freed when this thread ends.
        unsafe { place.get().as_ref() }.or_else(|| first_region(place, code))
    }
}

/// Makes the first region of this thread at its depth; `None` if nothing is to be replaced, or the thread is about to
/// end.
#[cold]
fn first_region<'a>(place: &Cell<*const Region>, code: Code) -> Option<&'a Region> {
    if !init::is_on() || OWNER.try_with(|_| ()).is_err() {
        return None;
    }
    init::note_region();
    place.set(Box::into_raw(Box::new(Region::new(code))));
    // SAFETY: just made.
    unsafe { place.get().as_ref() }
}

thread_local! {
    static OWNER: Owner = const { Owner };
    /// See [`leave_until_end`].
    static LEFT: RefCell<Vec<(Saved, &'static Runtime)>> = const { RefCell::new(Vec::new()) };
}

/// Frees this thread's regions when it ends.
struct Owner;

impl Drop for Owner {
    fn drop(&mut self) {
        for region in &thread().regions {
            let region = region.replace(ptr::null()).cast_mut();
            if !region.is_null() {
                // SAFETY: from a box, and no region of a thread that ends runs.
                drop(unsafe { Box::from_raw(region) });
            }
        }
    }
}

/// Runs `call`, during which this thread is in no region that is known here.
pub(crate) fn outside<R>(call: impl FnOnce() -> R) -> R {
    let saved = thread().enter(None, Barriers::Runtime);
    let result = call();
    thread().restore(saved);
    result
}

/// Leaves all regions known here until [`come_back`], for regions that one call begins and another ends.
pub(crate) fn leave_until_end(runtime: &'static Runtime) {
    let saved = thread().enter(None, Barriers::Runtime);
    LEFT.with_borrow_mut(|left| left.push((saved, runtime)));
}

/// Ends a region by `end`, which gets the runtime that began it, and goes back to the region around it.
pub(crate) fn come_back(end: impl FnOnce(&'static Runtime)) {
    match LEFT.with_borrow_mut(Vec::pop) {
        Some((saved, runtime)) => {
            end(runtime);
            thread().restore(saved);
        }
        None => end(thread().runtime()),
    }
}
