//! Layer 5: what is known of communicators, by their handles.
//!
//! Libraries use handles again once a communicator is freed. So each communicator that was met has an attribute, whose
//! deletion tells that the handle is free. Entries are used again too, and never given back: whoever reads one that
//! another thread has just freed finds another handle in it, or none.

use crate::process;
use crate::race::{KINDS, Kind};
use crate::slots::{SLOTS, slot};
use crate::teams::{self, Refusal, Shared};
use corecast::debug::{Level, say};
use corecast_network::{Handle, Library};
use corecast_wire::exclusive::Exclusive;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

/// Collectives on a communicator that the library runs before its members make a team. Programs make many communicators
/// that they hardly use, and a team takes milliseconds.
const CALLS_BEFORE: u32 = 2;

/// What is known of a communicator.
pub(crate) struct Communicator {
    /// 0 while the entry is free.
    handle: AtomicUsize,
    /// Whether it has a team or may get one.
    is_served: AtomicBool,
    /// Of each kind the last collective that a race has left to the library.
    left: [Leaving; KINDS.len()],
    inner: Exclusive<Inner>,
}

// SAFETY: `inner` is used by the calls of collectives on the communicator, of which MPI allows one at a time, and by its
// deletion, which no call runs beside.
unsafe impl Sync for Communicator {}

/// What a call may change.
struct Inner {
    rank: usize,
    size: usize,
    /// Calls before there was a team.
    calls: u32,
    shared: Option<Arc<Shared>>,
}

/// Calls that are left to the library for good.
pub(crate) const FOR_GOOD: u32 = u32::MAX;

/// A collective of predefined elements, of reductions by a predefined operator: handles that always mean the same. What a kind
/// does not have, or has no say in its race, is 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) kind: Kind,
    pub(crate) count: i64,
    pub(crate) datatype: Handle,
    pub(crate) op: Handle,
}

/// A collective that is left to the library, and for how many calls. It is no part of [`Inner`]: short calls notice what it costs to
/// have that for oneself.
///
/// All accesses are relaxed: only calls on the communicator make them, of which MPI allows one at a time, and the program itself orders
/// them.
#[derive(Default)]
struct Leaving {
    count: AtomicI64,
    datatype: AtomicUsize,
    op: AtomicUsize,
    calls: AtomicU32,
}

impl Leaving {
    /// Whether this call is one of them, which then is taken off.
    #[inline(always)]
    fn take(&self, left: &Left) -> bool {
        let is_same = self.count.load(Ordering::Relaxed) == left.count
            && self.datatype.load(Ordering::Relaxed) == left.datatype
            && self.op.load(Ordering::Relaxed) == left.op;
        if !is_same {
            return false;
        }
        match self.calls.load(Ordering::Relaxed) {
            FOR_GOOD => true,
            0 => false,
            calls => {
                self.calls.store(calls - 1, Ordering::Relaxed);
                true
            }
        }
    }

    fn set(&self, left: &Left, calls: u32) {
        self.count.store(left.count, Ordering::Relaxed);
        self.datatype.store(left.datatype, Ordering::Relaxed);
        self.op.store(left.op, Ordering::Relaxed);
        self.calls.store(calls, Ordering::Relaxed);
    }
}

/// The entries of handles that were met last, so that most calls take no lock.
static RECENT: [AtomicPtr<Communicator>; SLOTS] = [const { AtomicPtr::new(null_mut()) }; SLOTS];

#[derive(Default)]
struct Known {
    by_handle: HashMap<Handle, &'static Communicator>,
    free: Vec<&'static Communicator>,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
/// The key of the attribute, for a process that has made it.
static KEY: OnceLock<Option<c_int>> = OnceLock::new();
/// The bits of a handle that count, 0 before there is an entry. The library has them too, but has to be found first.
static HANDLE_MASK: AtomicUsize = AtomicUsize::new(0);
static SAID: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The communicator that this thread frees.
    static FREEING: Cell<Handle> = const { Cell::new(0) };
}

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[inline]
fn recent(handle: Handle) -> &'static AtomicPtr<Communicator> {
    &RECENT[slot(handle)]
}

/// The entry of a communicator; `None` if its collectives are the library's.
#[inline]
pub(crate) fn served(library: &Library, raw: Handle) -> Option<&'static Communicator> {
    let handle = library.handle(raw);
    // Acquire: with the release in `meet`, so that the entry is whole.
    let recent = recent(handle).load(Ordering::Acquire);
    // SAFETY: entries are never given back.
    let entry = match unsafe { recent.as_ref() } {
        // Acquire: with the release in `meet`.
        Some(entry) if entry.handle.load(Ordering::Acquire) == handle => entry,
        _ => meet(library, handle)?,
    };
    // Relaxed: only calls on the communicator change it.
    entry.is_served.load(Ordering::Relaxed).then_some(entry)
}

/// Whether this call was [left](Communicator::leave) to the library, so that nothing else has to be looked up. Of a communicator that
/// was not met lately it is not known. One that is served no more has all its calls there.
#[inline(always)]
pub(crate) fn has_left(raw: Handle, left: &Left) -> bool {
    // Relaxed: whoever reads 0 finds no entry, or a free one, which leaves nothing.
    let handle = raw & HANDLE_MASK.load(Ordering::Relaxed);
    // Acquire: with the release in `meet`, so that the entry is whole.
    let recent = recent(handle).load(Ordering::Acquire);
    // SAFETY: entries are never given back.
    let entry = unsafe { recent.as_ref() };
    // Acquire: with the release in `meet`.
    let entry = entry.filter(|entry| entry.handle.load(Ordering::Acquire) == handle);
    entry.is_some_and(|entry| entry.has_left(left))
}

/// The entry of a communicator that was not met lately.
#[cold]
fn meet(library: &Library, handle: Handle) -> Option<&'static Communicator> {
    if let Some(&entry) = known().by_handle.get(&handle) {
        recent(handle).store(std::ptr::from_ref(entry).cast_mut(), Ordering::Release);
        return Some(entry);
    }
    if !library.is_running() || FREEING.get() == handle {
        return None;
    }
    // Before there are communicators of our own, which libraries give handles that were freed.
    let (is_served, rank, size) = process::ask(library, handle)?;
    let key = (*KEY.get_or_init(|| begin(library)))?;
    let inner = Inner {
        rank,
        size,
        calls: 0,
        shared: None,
    };
    let entry = known().free.pop();
    let entry = match entry {
        Some(entry) => {
            // SAFETY: a free entry, which nobody else has.
            let _: Result<(), ()> = unsafe {
                entry.inner.with(
                    |_| (),
                    |old| {
                        *old = inner;
                        Ok(())
                    },
                )
            };
            entry
        }
        None => Box::leak(Box::new(Communicator {
            handle: AtomicUsize::new(0),
            is_served: AtomicBool::new(false),
            left: Default::default(),
            inner: Exclusive::new(inner),
        })),
    };
    entry.is_served.store(is_served, Ordering::Relaxed);
    let attribute = std::ptr::from_ref(entry).cast_mut();
    // SAFETY: the key was made in `begin`, and the entry lives for ever.
    if unsafe { (library.functions().comm_set_attr)(handle, key, attribute.cast()) } != 0 {
        known().free.push(entry);
        return None;
    }
    // Release: with the acquires in `served`.
    entry.handle.store(handle, Ordering::Release);
    known().by_handle.insert(handle, entry);
    recent(handle).store(attribute, Ordering::Release);
    Some(entry)
}

/// Makes the key of the attribute, hears of the end of MPI if [`end`] does not, and prepares what waits call.
fn begin(library: &Library) -> Option<c_int> {
    // Relaxed: as where it is read.
    HANDLE_MASK.store(library.handle(Handle::MAX), Ordering::Relaxed);
    let functions = library.functions();
    let (mut key, mut last): (c_int, c_int) = (0, 0);
    // SAFETY: functions that do what MPI says, and places for numbers. The callbacks stay loaded: nothing closes a
    // library that was preloaded.
    let made = unsafe {
        (functions.comm_create_keyval)(copy_nothing, freed, &mut key, null_mut())
            | (functions.comm_create_keyval)(copy_nothing, finalizing, &mut last, null_mut())
            | (functions.comm_set_attr)(library.alone(), last, null_mut())
    };
    process::watch_for_progress(library);
    (made == 0).then_some(key)
}

/// A copy of a communicator is another one, and not known yet.
///
/// # Safety
///
/// MPI's: `flag` is a place for a number.
unsafe extern "C" fn copy_nothing(
    _: Handle,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { *flag = 0 };
    0
}

/// Is told that a communicator is freed.
///
/// # Safety
///
/// MPI's: `attribute` is the entry that was set.
unsafe extern "C" fn freed(_: Handle, _: c_int, attribute: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: the caller's promise, and entries are never given back.
    let entry: &'static Communicator = unsafe { &*attribute.cast::<Communicator>() };
    // Relaxed: who reads the handle later compares it, and the program itself orders the free before its next use.
    let handle = entry.handle.swap(0, Ordering::Relaxed);
    for left in &entry.left {
        left.calls.store(0, Ordering::Relaxed);
    }
    known().by_handle.remove(&handle);
    // SAFETY: nobody calls on a communicator that is freed.
    let _: Result<(), ()> = unsafe {
        entry.inner.with(
            |_| (),
            |inner| {
                inner.shared = None;
                Ok(())
            },
        )
    };
    known().free.push(entry);
    0
}

/// Is told that MPI ends, also if the program has found the library's `MPI_Finalize` past this one.
///
/// # Safety
///
/// None is asked for.
unsafe extern "C" fn finalizing(_: Handle, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    leave();
    0
}

/// While it lives, collectives of this thread on one communicator are the library's.
pub(crate) struct Freeing {
    /// The communicator that was being freed before, where a callback of the program's frees another one.
    before: Handle,
}

impl Drop for Freeing {
    fn drop(&mut self) {
        FREEING.set(self.before);
    }
}

/// Before a communicator is freed. There the library calls what the program has attached to it, which may call collectives on it, also
/// when the attribute of this file is deleted already: an entry that was made then would stay when the handle is used again.
///
/// # Safety
///
/// MPI's: there is a handle.
pub(crate) unsafe fn freeing(place: *mut c_void) -> Option<Freeing> {
    let library = process::library().filter(|_| !place.is_null())?;
    // SAFETY: the caller's promise.
    let handle = unsafe { library.handle_at(place) };
    if let Some(&entry) = known().by_handle.get(&handle) {
        // Relaxed: only calls on the communicator read it.
        entry.is_served.store(false, Ordering::Relaxed);
    }
    Some(Freeing {
        before: FREEING.replace(handle),
    })
}

/// Before `MPI_Finalize`. There the library calls what the program has attached to `MPI_COMM_SELF`, which may call collectives, from
/// the last one to the first one: so the attribute of this file would be deleted before them on one rank and after them on another.
pub(crate) fn end() {
    if process::is_on() && process::library().is_some_and(Library::is_running) {
        leave();
    }
}

/// Leaves all collectives to the library from now on.
fn leave() {
    process::end();
    let entries: Vec<_> = known().by_handle.values().copied().collect();
    for entry in entries {
        // SAFETY: all collectives have ended before MPI does.
        let _: Result<(), ()> = unsafe {
            entry.inner.with(
                |_| (),
                |inner| {
                    inner.shared = None;
                    Ok(())
                },
            )
        };
    }
    teams::leave_all();
}

impl Communicator {
    /// Whether this call was [left](Self::leave) to the library. It then counts as made: only who hears no may ask again.
    #[inline(always)]
    pub(crate) fn has_left(&self, left: &Left) -> bool {
        self.left[left.kind as usize].take(left)
    }

    /// Leaves a collective to the library for so many calls. All members do.
    #[cold]
    pub(crate) fn leave(&self, left: &Left, calls: u32) {
        self.left[left.kind as usize].set(left, calls);
    }

    /// Whether calls are counted, as the communicator has no team yet and may get one.
    #[cold]
    pub(crate) fn is_counting(&self) -> bool {
        // SAFETY: MPI allows one collective at a time on a communicator.
        let found = unsafe { self.inner.with(|_| (), |inner| Ok(inner.shared.is_none())) };
        // Relaxed: only calls on the communicator change it.
        found == Ok(true) && self.is_served.load(Ordering::Relaxed)
    }

    /// Counts a call that the library has ended with this code. One whose arguments it has refused is none: it may be this
    /// rank's alone, which makes it again.
    #[cold]
    pub(crate) fn counted(&self, code: c_int) {
        if code != 0 && process::library().is_none_or(|library| library.has_refused(code)) {
            return;
        }
        // SAFETY: as above.
        let _: Result<(), ()> = unsafe {
            self.inner.with(
                |_| (),
                |inner| {
                    inner.calls += 1;
                    Ok(())
                },
            )
        };
    }

    /// Runs `body` with the team of the communicator, this process's rank and the number of ranks; `None` if this call is
    /// the library's. A communicator that has no team yet makes one when [enough](Self::counted) calls were counted. All
    /// members do it in the same call.
    #[inline]
    pub(crate) fn with<R>(
        &self,
        library: &'static Library,
        body: impl FnOnce(&Shared, usize, usize) -> Option<R>,
    ) -> Option<R> {
        // SAFETY: MPI allows one collective at a time on a communicator.
        let ran = unsafe {
            self.inner.with(
                |_| (),
                |inner| {
                    if inner.shared.is_none() && !self.meet(library, inner) {
                        return Ok(None);
                    }
                    let shared = inner.shared.as_deref();
                    Ok(shared.and_then(|shared| body(shared, inner.rank, inner.size)))
                },
            )
        };
        ran.ok().flatten()
    }

    #[cold]
    fn meet(&self, library: &'static Library, inner: &mut Inner) -> bool {
        if inner.calls < CALLS_BEFORE {
            return false;
        }
        let handle = self.handle.load(Ordering::Relaxed);
        let (rank, size) = (inner.rank, inner.size);
        match teams::agree(library, handle, rank, size) {
            Ok(shared) => {
                if rank == 0 && !SAID.swap(true, Ordering::Relaxed) {
                    let (name, line) = (library.dialect().name(), shared.line());
                    say(Level::Info, || {
                        format!("MPI: collectives of {size} ranks on {name} are taken over: {line}")
                    });
                    say(Level::Info, || {
                        "MPI: nonblocking and persistent collectives stay with the library"
                            .to_owned()
                    });
                }
                inner.shared = Some(shared);
                true
            }
            Err(why) => {
                // The others do not know why this one has failed.
                if rank == 0 || matches!(why, Refusal::Failed(_)) {
                    say(Level::Info, || {
                        format!(
                            "MPI: collectives of {size} ranks stay with the library, says rank {rank}: {why}"
                        )
                    });
                }
                self.is_served.store(false, Ordering::Relaxed);
                false
            }
        }
    }
}

/// Says at the end of the process that nothing was taken over, if it was an MPI program.
pub(crate) fn say_if_nothing_was_gained() {
    if KEY.get().is_some() {
        return;
    }
    if Library::find().is_ok() {
        say(Level::Info, || {
            "MPI: nothing was intercepted, and nothing is gained: the program called no collective operation that is taken over"
                .to_owned()
        });
    }
}
