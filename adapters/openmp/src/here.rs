//! The region that a thread is in, and its barrier.

use crate::region::Region;
use crate::runtime::{Functions, Runtime, known, standard};
use crate::said;
use corecast::Member;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// Whose barriers the thread's region has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Barriers {
    /// Not asked yet.
    Unknown,
    /// Those of this member's team.
    Own(*mut Member),
    /// The run-time's.
    Theirs,
}

/// Where a thread is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    region: *const Region,
    barriers: Barriers,
}

const NOWHERE: Place = Place {
    region: ptr::null(),
    barriers: Barriers::Theirs,
};

/// Regions that run one within the other and have barriers of ours; deeper ones keep the run-time's.
const DEEPEST: usize = 8;

/// What a thread knows: looked up once for each call, as a library's own thread-local memory takes a call.
struct Here {
    place: Cell<Place>,
    /// Regions of this thread that run, one within the other.
    depth: Cell<usize>,
    regions: [Cell<*const Region>; DEEPEST],
}

thread_local! {
    static HERE: Here = const { Here {
        place: Cell::new(NOWHERE),
        depth: Cell::new(0),
        regions: [const { Cell::new(ptr::null()) }; DEEPEST],
    } };
    /// Frees this thread's regions when it ends.
    static OWNER: Owner = const { Owner };
}

struct Owner;

impl Drop for Owner {
    fn drop(&mut self) {
        HERE.with(|here| {
            for region in &here.regions {
                let region = region.replace(ptr::null()).cast_mut();
                if !region.is_null() {
                    // SAFETY: from a box, and no region of a thread that ends runs.
                    drop(unsafe { Box::from_raw(region) });
                }
            }
        });
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
    HERE.with(|here| {
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
        let back = here.place.get();
        let result = call(region.runtime(), Some(region));
        here.place.set(back);
        here.depth.set(depth);
        region.end();
        result
    })
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
    HERE.with(|here| here.place.get()).region.is_null()
}

/// This thread leaves its region for one that is not ours; with the result it comes back.
pub(crate) fn leave() -> Place {
    HERE.with(|here| here.place.replace(NOWHERE))
}

/// See [`leave`].
pub(crate) fn come_back(place: Place) {
    HERE.with(|here| here.place.set(place));
}

/// Runs `body`, this thread's part of a region.
#[inline(always)]
pub(crate) fn within<R>(region: &Region, body: impl FnOnce() -> R) -> R {
    let barriers = match region.is_own() {
        true => Barriers::Unknown,
        false => Barriers::Theirs,
    };
    HERE.with(|here| {
        let back = here.place.replace(Place { region, barriers });
        let result = body();
        here.place.set(back);
        result
    })
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
    unsafe { HERE.with(|here| here.place.get()).region.as_ref() }
}

/// This thread's member, if its region's barriers are Corecast's.
#[inline(always)]
fn member<'a>(here: &Here) -> Option<&'a mut Member> {
    match here.place.get().barriers {
        // SAFETY: this thread's alone while it is in the region; each call ends its use before the next.
        Barriers::Own(member) => Some(unsafe { &mut *member }),
        Barriers::Theirs => None,
        Barriers::Unknown => ask(here),
    }
}

#[cold]
fn ask<'a>(here: &Here) -> Option<&'a mut Member> {
    let place = here.place.get();
    let found = (|| {
        // SAFETY: a region outlives the threads in it.
        let region = unsafe { place.region.as_ref() }?;
        let real = &region.runtime().real;
        // SAFETY: functions without conditions.
        let (threads, thread) = unsafe { (real.num_threads?(), real.thread_num?()) };
        let threads = usize::try_from(threads).ok()?;
        let thread = usize::try_from(thread).ok()?;
        if threads < 2 || thread >= threads {
            return None;
        }
        Some(region.pool(threads)?.member(thread))
    })();
    here.place.set(Place {
        barriers: found.map_or(Barriers::Theirs, Barriers::Own),
        ..place
    });
    // SAFETY: as in `member`.
    found.map(|member| unsafe { &mut *member })
}

/// A barrier of this thread's region: `true` when all have come, `false` if the run-time's is due, for all.
#[inline(always)]
pub(crate) fn meet() -> bool {
    HERE.with(|here| match member(here) {
        Some(member) => member.barrier().is_ok() || keep_off(here),
        None => false,
    })
}

#[cold]
fn keep_off(here: &Here) -> bool {
    here.place.set(Place {
        barriers: Barriers::Theirs,
        ..here.place.get()
    });
    false
}

/// The region's barriers are the run-time's from this thread's next one on.
pub(crate) fn call_off() {
    let Some(region) = region() else { return };
    HERE.with(|here| {
        if let Some(member) = member(here) {
            member.call_off();
            keep_off(here);
        }
    });
    region.set_off();
}
