//! The region that a thread is in, and its barrier.

use super::local::here;
use super::region::Region;
use super::runtime::{Functions, Runtime, known, standard};
use super::said;
use super::watch::{self, Frame, Kind};
use corecast::Member;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// Whose barriers the thread's region has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Barriers {
    /// The run-time's.
    Theirs = 0,
    /// Not asked yet.
    Unknown,
    /// Those of this member's team.
    Own(*mut Member),
    /// What the frame says, and how long it takes.
    Watched(*const Frame<'static>),
}

/// Where a thread is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    region: *const Region,
    barriers: Barriers,
}

/// Regions that run one within the other and have barriers of ours; deeper ones keep the run-time's.
const DEEPEST: usize = 8;

/// What a thread knows; zeros at first, which is to be nowhere.
#[repr(C, align(64))]
pub(crate) struct Here {
    region: Cell<*const Region>,
    barriers: Cell<Barriers>,
    /// Regions of this thread that run, one within the other.
    depth: Cell<usize>,
    copied: Cell<u32>,
    regions: [Cell<*const Region>; DEEPEST],
}

impl Here {
    /// Which of its region's gifts this thread has taken last.
    pub(crate) fn copied(&self) -> u32 {
        self.copied.get()
    }

    pub(crate) fn set_copied(&self, number: u32) {
        self.copied.set(number);
    }
}

thread_local! {
    /// Frees this thread's regions when it ends.
    static OWNER: Owner = const { Owner };
}

struct Owner;

impl Drop for Owner {
    fn drop(&mut self) {
        for region in &here().regions {
            let region = region.replace(ptr::null()).cast_mut();
            if !region.is_null() {
                // SAFETY: from a box, and no region of a thread that ends runs.
                drop(unsafe { Box::from_raw(region) });
            }
        }
    }
}

/// Runs `call` with a region of this thread's, or without one.
#[inline(always)]
pub(crate) fn start<R>(
    code: *const c_void,
    data: *mut c_void,
    arguments: &[*mut c_void],
    call: impl FnOnce(&'static Runtime, Option<&Region>) -> R,
) -> R {
    let here = here();
    let depth = here.depth.get();
    let slot = here.regions.get(depth);
    // SAFETY: boxed, and freed when this thread ends.
    let region = slot.and_then(|slot| unsafe { slot.get().as_ref() });
    let Some(region) = region.or_else(|| first(slot?, code)) else {
        let runtime = known(code).runtime;
        return elsewhere(|| call(runtime, None));
    };
    region.prepare(code, data, arguments);
    here.depth.set(depth + 1);
    let result = call(region.runtime(), Some(region));
    here.depth.set(depth);
    if watch::is_on() {
        watch::end(region);
    }
    region.end();
    result
}

/// The first region of this thread at its depth; none if the thread is about to end.
#[cold]
fn first<'a>(slot: &Cell<*const Region>, code: *const c_void) -> Option<&'a Region> {
    OWNER.try_with(|_| ()).ok()?;
    said::region();
    slot.set(Box::into_raw(Box::new(Region::new(known(code)))));
    // SAFETY: just made.
    unsafe { slot.get().as_ref() }
}

/// Runs `call`, in which this thread is in no region of ours.
pub(crate) fn elsewhere<R>(call: impl FnOnce() -> R) -> R {
    let back = leave();
    let result = call();
    come_back(back);
    result
}

/// Whether this thread is in no region, or in one that is not ours.
pub(crate) fn is_nowhere() -> bool {
    here().region.get().is_null()
}

/// This thread leaves its region for one that is not ours; with the result it comes back.
pub(crate) fn leave() -> Place {
    go(ptr::null(), Barriers::Theirs)
}

/// See [`leave`].
pub(crate) fn come_back(place: Place) {
    go(place.region, place.barriers);
}

/// This thread is in that region; where it was.
#[inline(always)]
fn go(region: *const Region, barriers: Barriers) -> Place {
    let here = here();
    // One word after the other, as they were written: a processor waits where a read spans two writes.
    Place {
        region: here.region.replace(region),
        barriers: here.barriers.replace(barriers),
    }
}

/// Runs `body`, this thread's part of a region.
#[inline(always)]
pub(crate) fn within<R>(region: &Region, body: impl FnOnce() -> R) -> R {
    let barriers = match region.is_own() {
        true => Barriers::Unknown,
        false => Barriers::Theirs,
    };
    let here_with = |barriers| {
        let back = go(region, barriers);
        let result = body();
        come_back(back);
        result
    };
    match watch::is_on() {
        false => here_with(barriers),
        true => watch::within(region, barriers, here_with),
    }
}

/// The run-time of this thread's region.
pub(crate) fn real() -> &'static Functions {
    match region() {
        Some(region) => &region.runtime().real,
        None => &standard().real,
    }
}

pub(crate) fn region<'a>() -> Option<&'a Region> {
    // SAFETY: a region outlives the threads in it.
    unsafe { here().region.get().as_ref() }
}

/// This thread's number in its region, and how many there are.
pub(crate) fn rank_and_size(region: &Region) -> Option<(usize, usize)> {
    let real = &region.runtime().real;
    // SAFETY: functions without conditions.
    let (threads, thread) = unsafe { (real.num_threads?(), real.thread_num?()) };
    let (threads, thread) = (
        usize::try_from(threads).ok()?,
        usize::try_from(thread).ok()?,
    );
    (thread < threads).then_some((thread, threads))
}

/// Asks whose barriers the region has.
#[cold]
fn ask() -> Barriers {
    let found = (|| {
        let region = region()?;
        let (thread, threads) = rank_and_size(region).filter(|(_, threads)| *threads > 1)?;
        Some(region.pool(threads)?.member(thread))
    })();
    let barriers = found.map_or(Barriers::Theirs, Barriers::Own);
    here().barriers.set(barriers);
    barriers
}

/// A barrier of this thread's region, by way of `theirs` if it is the run-time's. `site` is where the program
/// called it.
#[inline(always)]
pub(crate) fn meet(site: *const c_void, kind: Kind, theirs: impl FnOnce()) {
    let barriers = here().barriers.get();
    // Before the others: it is the one in a hurry.
    if let Barriers::Own(member) = barriers
        // SAFETY: this thread's alone while it is in the region; each call ends its use before the next.
        && unsafe { &mut *member }.barrier().is_ok()
    {
        return;
    }
    match barriers {
        Barriers::Theirs => theirs(),
        Barriers::Watched(frame) => meet_watched(frame, site, kind, theirs),
        Barriers::Own(_) | Barriers::Unknown => meet_first_or_last(barriers, theirs),
    }
}

/// The first barrier of a region; the first after its barriers were called off.
#[cold]
#[inline(never)]
fn meet_first_or_last(barriers: Barriers, theirs: impl FnOnce()) {
    if barriers == Barriers::Unknown
        && let Barriers::Own(member) = ask()
        // SAFETY: as in `meet`.
        && unsafe { &mut *member }.barrier().is_ok()
    {
        return;
    }
    here().barriers.set(Barriers::Theirs);
    theirs();
}

#[cold]
#[inline(never)]
fn meet_watched(
    frame: *const Frame<'static>,
    site: *const c_void,
    kind: Kind,
    theirs: impl FnOnce(),
) {
    // SAFETY: a frame outlives its thread's stay in the region.
    let frame = unsafe { &*frame };
    frame.time(site, kind, || {
        unwatched(frame, || meet(site, kind, theirs));
    });
}

/// Runs `call` with the barriers of `frame`, and keeps what becomes of them.
fn unwatched(frame: &Frame<'static>, call: impl FnOnce()) {
    let barriers = &here().barriers;
    barriers.set(frame.barriers.get());
    call();
    frame
        .barriers
        .set(barriers.replace(Barriers::Watched(frame)));
}

/// The region's barriers are the run-time's from this thread's next one on.
pub(crate) fn call_off() {
    let Some(region) = region() else { return };
    let call_off = || {
        let known = match here().barriers.get() {
            Barriers::Unknown => ask(),
            known => known,
        };
        if let Barriers::Own(member) = known {
            // SAFETY: as in `meet`.
            unsafe { &mut *member }.call_off();
        }
        here().barriers.set(Barriers::Theirs);
    };
    match here().barriers.get() {
        // SAFETY: as in `meet_watched`.
        Barriers::Watched(frame) => unwatched(unsafe { &*frame }, call_off),
        _ => call_off(),
    }
    region.set_off();
}
