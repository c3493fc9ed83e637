//! Layer 2: whether this process is served, its MPI library, and the progress that others may depend on.

use corecast_network::{Handle, Library, Status};
use corecast_wire::objects::is_in_the_program;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// See [`is_on`].
static IS_ON: AtomicBool = AtomicBool::new(false);
static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
/// A receive of a message that nobody sends, in a communicator of this process alone. To test it is the one call that has
/// every library make progress with all that it does: probes do not in MPICH.
static IDLE: Mutex<Option<Idle>> = Mutex::new(None);

/// The communicator of that message, 0 before there is one.
static QUIET: AtomicUsize = AtomicUsize::new(0);

struct Idle {
    request: Handle,
    comm: Handle,
}

/// Whether collectives are taken over at all. They are if this library is not linked into the program and
/// `CORECAST_DISABLE` is unset, empty or 0.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    // Relaxed: set before the program starts, and again at its end, where it publishes nothing.
    IS_ON.load(Ordering::Relaxed)
}

/// Decides [`is_on`]. The loader calls it before the program starts.
pub(crate) fn begin() -> bool {
    // It is linked into `corecast` as well, where nothing is taken over.
    let own = begin as fn() -> bool as *const c_void;
    let on = !corecast::interception::is_disabled() && !is_in_the_program(own);
    IS_ON.store(on, Ordering::Relaxed);
    on
}

/// Whether the library may win an operation at a length, see [`race`](crate::race). `CORECAST_MPI_RACE=0` has all run on
/// teams that can.
pub(crate) fn races() -> bool {
    static RACES: OnceLock<bool> = OnceLock::new();
    *RACES.get_or_init(|| std::env::var_os("CORECAST_MPI_RACE").is_none_or(|text| text != "0"))
}

/// Takes nothing over any more.
pub(crate) fn end() {
    IS_ON.store(false, Ordering::Relaxed);
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Some(library), Some(mut idle)) = (library(), idle) {
        let mut status = Status::default();
        // SAFETY: a request and a communicator that `watch_for_progress` made, which nobody uses any more.
        unsafe {
            (library.functions().cancel)(&mut idle.request);
            (library.functions().wait)(&mut idle.request, status.as_mut_ptr().cast());
            (library.functions().comm_free)(&mut idle.comm);
        }
    }
}

/// The library of this process; `None` if it has none that can be used, which was said then.
#[inline(always)]
pub(crate) fn library() -> Option<&'static Library> {
    match LIBRARY.get() {
        Some(found) => found.as_ref(),
        None => find(),
    }
}

/// [`library`], if it was asked for before.
#[inline(always)]
pub(crate) fn library_found() -> Option<&'static Library> {
    LIBRARY.get()?.as_ref()
}

#[cold]
fn find() -> Option<&'static Library> {
    let found = || {
        let found = Library::find();
        let say = |error: &_| {
            corecast::debug::say(corecast::debug::Level::Warn, || {
                format!("MPI: nothing is intercepted: {error}")
            });
        };
        found.inspect_err(say).ok()
    };
    LIBRARY.get_or_init(found).as_ref()
}

/// The program calls a function of MPI that no library of it defines, as if it were not linked.
#[cold]
pub(crate) fn missing() -> c_int {
    library().map_or(16, |library| library.dialect().other_error())
}

/// Whether a communicator can be served, this process's rank, and their number; `None` if it is no communicator.
pub(crate) fn ask(library: &Library, handle: Handle) -> Option<(bool, usize, usize)> {
    if handle == library.no_communicator() {
        return None;
    }
    let functions = library.functions();
    let (mut inter, mut rank, mut size): (c_int, c_int, c_int) = (0, 0, 0);
    // SAFETY: places for numbers. A handle that is no communicator is an error of the calls.
    let ended = unsafe {
        (functions.comm_test_inter)(handle, &mut inter)
            | (functions.comm_rank)(handle, &mut rank)
            | (functions.comm_size)(handle, &mut size)
    };
    let (rank, size) = (usize::try_from(rank).ok()?, usize::try_from(size).ok()?);
    let can = inter == 0 && size > 1 && size <= corecast::process::RANKS_MAX;
    // Others may not have loaded this library.
    let can = can && library.is_within_world(handle, size);
    (ended == 0).then_some((can, rank, size))
}

/// Makes what [`progress`] tests. The library must be running.
pub(crate) fn watch_for_progress(library: &Library) {
    let Some(comm) = library.make_quiet() else {
        return;
    };
    let mut request: Handle = 0;
    // SAFETY: the communicator that was just made, and a place for a handle. No byte is ever received.
    let made = unsafe {
        (library.functions().irecv)(null_mut(), 0, library.byte(), 0, 0, comm, &mut request)
    };
    if made == 0 {
        *IDLE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Idle { request, comm });
        // Relaxed: a handle of the library's, which publishes nothing.
        QUIET.store(comm, Ordering::Relaxed);
    }
}

/// A communicator of this process alone, which returns errors, for calls that are no collectives; `None` where it could not be made.
pub(crate) fn quiet() -> Option<Handle> {
    // Relaxed: as where it is stored.
    Some(QUIET.load(Ordering::Relaxed)).filter(|&comm| comm != 0)
}

/// Calls `ask` with a communicator of this process alone, which returns errors; `None` where it could not be made. MPI allows one
/// collective at a time on a communicator, and threads come here for several.
pub(crate) fn on_quiet<R>(ask: impl FnOnce(Handle) -> R) -> Option<R> {
    static ASKING: Mutex<()> = Mutex::new(());
    let comm = quiet()?;
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    Some(ask(comm))
}

/// Has the library make progress: a peer may wait for it, in the middle of a long message to this rank or from it, while
/// this rank waits in a collective of Corecast.
pub(crate) fn progress() {
    // Another thread that is here does the same.
    let (Some(library), Ok(mut idle)) = (library(), IDLE.try_lock()) else {
        return;
    };
    if let Some(idle) = &mut *idle {
        let (mut flag, mut status): (c_int, _) = (0, Status::default());
        // SAFETY: a request that never completes, and places for the results. The thread is one that has called a
        // collective, so it may call the library.
        unsafe {
            (library.functions().test)(&mut idle.request, &mut flag, status.as_mut_ptr().cast());
        }
    }
}
