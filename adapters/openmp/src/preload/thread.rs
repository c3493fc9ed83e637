//! Layer 9: the state of a thread: the levels that it is in, and the regions that it starts.

use super::copyprivate::Receipt;
use super::init;
use super::level::{Barriers, Inside, Level};
use super::objects::Code;
use super::region::Region;
use super::runtime::{Family, Runtime};
use std::arch::{asm, global_asm};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Depth of nested regions that can have teams; deeper ones keep the runtime's barriers.
const DEPTH_MAX: usize = 8;

/// The state of a thread. Zeros are valid, and mean that it is in no region.
#[repr(C, align(64))]
pub(crate) struct Thread {
    /// The innermost level that it is in, or null.
    level: Cell<*const Level>,
    /// Those of that level.
    pub(crate) barriers: Cell<Barriers>,
    /// Number of regions that this thread has started and that run, one within the other.
    pub(crate) depth: Cell<usize>,
    pub(crate) receipt: Receipt,
    /// The regions that it starts, by depth; boxed, and freed when it ends.
    regions: [Cell<*const Region>; DEPTH_MAX],
    /// The box of a level that has ended, for the next one that needs a box; freed when the thread ends.
    spare: Cell<*mut Level>,
    keeps: Cell<Keeps>,
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
    /// The innermost level that the thread is in.
    #[inline(always)]
    pub(crate) fn level<'a>(&self) -> Option<&'a Level> {
        // SAFETY: a level outlives the thread's stay in it.
        unsafe { self.level.get().as_ref() }
    }

    /// The region of that level.
    #[inline(always)]
    pub(crate) fn region<'a>(&self) -> Option<&'a Region> {
        self.level()?.region()
    }

    /// All levels that the thread is in, the innermost one first.
    pub(crate) fn levels<'a>(&self) -> impl Iterator<Item = &'a Level> {
        // SAFETY: as in `level`; a level lies within those around it.
        std::iter::successors(self.level(), |level| unsafe { level.outer.as_ref() })
    }

    #[inline(always)]
    fn enter(&self, level: &Level, barriers: Barriers) {
        if let Some(outer) = self.level() {
            outer.barriers.set(self.barriers.get());
        }
        self.level.set(level);
        self.barriers.set(barriers);
    }

    #[inline(always)]
    fn leave(&self, level: &Level) {
        self.level.set(level.outer);
        // SAFETY: as in `level`.
        let outer = unsafe { level.outer.as_ref() };
        let barriers = outer.map_or(Barriers::Runtime, |outer| outer.barriers.get());
        self.barriers.set(barriers);
    }

    /// Runs `call` in a level of its own, which has these barriers at first. Returns what they are at the end, too.
    #[inline(always)]
    pub(crate) fn within<R>(
        &self,
        inside: Inside,
        barriers: Barriers,
        call: impl FnOnce() -> R,
    ) -> (R, Barriers) {
        /// Also where the thread is unwound, as by `pthread_exit`: the level's memory is gone then.
        struct Stay<'a>(&'a Thread, &'a Level);
        impl Drop for Stay<'_> {
            #[inline(always)]
            fn drop(&mut self) {
                self.0.leave(self.1);
            }
        }

        let level = Level::new(inside, self.level.get());
        self.enter(&level, barriers);
        let stay = Stay(self, &level);
        let result = call();
        let barriers = self.barriers.get();
        drop(stay);
        (result, barriers)
    }

    /// Begins a level of `runtime` that lasts until [`end`](Self::end), for regions that one call begins and another one
    /// ends.
    pub(crate) fn begin(&self, runtime: &'static Runtime) {
        let same = |level: &&Level| level.begun.get() > 0 && ptr::eq(level.runtime(), runtime);
        if let Some(level) = self.level().filter(same) {
            return level.begun.set(level.begun.get() + 1);
        }
        let level = Level::new(Inside::Other(runtime), self.level.get());
        level.begun.set(1);
        let spare = self.spare.replace(ptr::null_mut());
        let place = match spare.is_null() {
            true => Box::into_raw(Box::new(level)),
            false => {
                // SAFETY: from a box, and in no use.
                unsafe { spare.write(level) };
                spare
            }
        };
        // SAFETY: just written, and freed by `end`.
        self.enter(unsafe { &*place }, Barriers::Runtime);
    }

    /// Ends what the last call of [`begin`](Self::begin) has begun.
    pub(crate) fn end(&self) {
        let Some(level) = self.level().filter(|level| level.begun.get() > 0) else {
            return;
        };
        level.begun.set(level.begun.get() - 1);
        if level.begun.get() > 0 {
            return;
        }
        let place = self.level.get().cast_mut();
        self.leave(level);
        match self.spare.get().is_null() && lives_on() {
            true => self.spare.set(place),
            // SAFETY: from a box, and left.
            false => drop(unsafe { Box::from_raw(place) }),
        }
    }

    /// The runtime of the innermost region that [`begin`](Self::begin) has begun, if the thread is in none within.
    pub(crate) fn begun(&self) -> Option<&'static Runtime> {
        let level = self.level().filter(|level| level.begun.get() > 0)?;
        Some(level.runtime())
    }

    /// The region that this thread starts next, with `code`; `None` if it has to keep the runtime's barriers.
    #[inline(always)]
    pub(crate) fn next_region<'a>(&self, family: Family, code: Code) -> Option<&'a Region> {
        let place = self.regions.get(self.depth.get())?;
        // SAFETY: boxed, and freed when this thread ends.
        unsafe { place.get().as_ref() }.or_else(|| first_region(place, family, code))
    }
}

/// Makes the first region of this thread at its depth; `None` if nothing is to be replaced, or the thread is about to
/// end.
#[cold]
fn first_region<'a>(place: &Cell<*const Region>, family: Family, code: Code) -> Option<&'a Region> {
    if !init::is_on() || !lives_on() {
        return None;
    }
    init::note_region();
    place.set(Box::into_raw(Box::new(Region::new(family, code))));
    // SAFETY: just made.
    unsafe { place.get().as_ref() }
}

/// Whether what a thread keeps in boxes will be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Keeps {
    /// Nothing is kept yet.
    Nothing = 0,
    /// [`free`] will be called when the thread ends.
    UntilEnd,
    /// It was called. Destructors of the program that come later may still start regions.
    NoMore,
}

/// Frees what a thread has in boxes. It is called when the thread ends.
extern "C" fn free(_: *mut c_void) {
    let thread = thread();
    thread.keeps.set(Keeps::NoMore);
    for region in &thread.regions {
        let region = region.replace(ptr::null()).cast_mut();
        if !region.is_null() {
            // SAFETY: from a box, and no region of a thread that ends runs.
            drop(unsafe { Box::from_raw(region) });
        }
    }
    let spare = thread.spare.replace(ptr::null_mut());
    if !spare.is_null() {
        // SAFETY: from a box, and in no use.
        drop(unsafe { Box::from_raw(spare) });
    }
}

/// Whether what the calling thread keeps in boxes will be freed.
fn lives_on() -> bool {
    let thread = thread();
    if thread.keeps.get() == Keeps::Nothing && free_at_end(thread) {
        thread.keeps.set(Keeps::UntilEnd);
    }
    thread.keeps.get() == Keeps::UntilEnd
}

/// Lets [`free`] be called when the calling thread ends; returns whether it will be. This is no destructor of a
/// thread-local value, for which the C library would take the loader's lock (Invariant 6).
#[cold]
fn free_at_end(thread: &Thread) -> bool {
    let key = key();
    // SAFETY: a key of this library. The value is not read; the C library calls `free` where it is not null.
    key.is_some_and(|key| unsafe {
        libc::pthread_setspecific(key, ptr::from_ref(thread).cast()) == 0
    })
}

/// The key whose values are given to [`free`] at the ends of threads; `None` if none can be made. There is no lock that a
/// process which is forked meanwhile would find locked for ever.
fn key() -> Option<libc::pthread_key_t> {
    /// The key plus one; 0 if it was not made yet.
    static KEY: AtomicU64 = AtomicU64::new(0);
    // Acquire, here and below: synchronises with the exchange of the thread that has made the key.
    let known = KEY.load(Ordering::Acquire);
    if known > 0 {
        return Some((known - 1) as libc::pthread_key_t);
    }
    let mut key = 0;
    // SAFETY: the key is written here, and the function may be called by any thread that has a value for it.
    if unsafe { libc::pthread_key_create(&mut key, Some(free)) } != 0 {
        return None;
    }
    let fresh = u64::from(key) + 1;
    match KEY.compare_exchange(0, fresh, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Some(key),
        Err(other) => {
            // SAFETY: made above, and no thread has a value for it.
            unsafe { libc::pthread_key_delete(key) };
            Some((other - 1) as libc::pthread_key_t)
        }
    }
}
