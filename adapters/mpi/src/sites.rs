//! Layer 3: where the program calls, if `corecast run --explain` asks for it; and how long calls took that no team has.
//!
//! A team's own record has what runs on one host. What the library runs, and what runs between hosts, is noted here as a
//! whole: nobody knows when the others came.

use crate::process;
use corecast::interception::{note, set_rank};
use corecast::record::{self, Kind};
use corecast_network::Library;
use corecast_wire::arch::cycles;
use corecast_wire::objects::{self, Span};
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::num::NonZeroUsize;
use std::path::Path;
use std::ptr::without_provenance;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// See [`is_asked`].
static IS_ASKED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Where the call that this thread is in returns to.
    static CALLER: Cell<Option<NonZeroUsize>> = const { Cell::new(None) };
}

/// Whether calls are recorded.
#[inline(always)]
pub(crate) fn is_asked() -> bool {
    // Relaxed: set before the program starts.
    IS_ASKED.load(Ordering::Relaxed)
}

/// Decides [`is_asked`]. The loader calls it before the program starts.
pub(crate) fn begin() {
    IS_ASKED.store(record::folder().is_some(), Ordering::Relaxed);
}

/// Where the call that this thread is in returns to, if that is recorded.
#[inline(always)]
pub(crate) fn caller() -> Option<NonZeroUsize> {
    if !is_asked() {
        return None;
    }
    CALLER.get()
}

/// A call of the program's, until it returns.
pub(crate) struct Visit {
    /// Ticks.
    began: u64,
    caller: NonZeroUsize,
}

impl Visit {
    /// The call that begins; `None` if it is not recorded, or is one that the library makes within another.
    #[inline(always)]
    pub(crate) fn begin() -> Option<Self> {
        match is_asked() {
            true => Self::of_caller(),
            false => None,
        }
    }

    #[cold]
    #[inline(never)]
    fn of_caller() -> Option<Self> {
        if CALLER.get().is_some() {
            return None;
        }
        if let Some(library) = process::library().filter(|library| library.is_running()) {
            static RANK: Once = Once::new();
            RANK.call_once(|| set_rank(rank(library)));
        }
        let caller = NonZeroUsize::new(program_above())?;
        CALLER.set(Some(caller));
        Some(Self {
            began: cycles(),
            caller,
        })
    }

    /// The function of that name has run, not on one team: between hosts if that is Corecast's own, else by the library.
    #[cold]
    #[inline(never)]
    pub(crate) fn note(&self, name: &str, is_own: bool) {
        if let Some(kind) = kind(name) {
            note(self.caller, kind, is_own, self.began);
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        CALLER.set(None);
    }
}

/// What a collective of that name is in the record; `None` for any other function.
fn kind(name: &str) -> Option<Kind> {
    let name = name.strip_prefix("MPI_")?.to_lowercase();
    let name = match name.strip_suffix("_c").unwrap_or(&name) {
        "bcast" => "broadcast",
        // As the team calls it.
        "reduce_scatter" | "reduce_scatter_block" => "reduce_scatterv",
        other => other,
    };
    name.parse().ok().map(Kind::Operation)
}

/// This process's rank among all.
fn rank(library: &Library) -> usize {
    let mut rank: c_int = 0;
    // SAFETY: a communicator that exists while the library is running, and a place for the rank.
    unsafe { (library.functions().comm_rank)(library.world(), &mut rank) };
    usize::try_from(rank).unwrap_or(0)
}

/// What the unwinder knows of a frame.
#[repr(C)]
struct Frame {
    opaque: [u8; 0],
}

type Look = extern "C" fn(*mut Frame, *mut c_void) -> c_int;

// SAFETY: functions of the C compiler's runtime, which Rust's own is linked to; these are the types that its ABI gives them.
unsafe extern "C" {
    fn _Unwind_Backtrace(look: Look, given: *mut c_void) -> c_int;
    fn _Unwind_GetIP(frame: *mut Frame) -> usize;
}

/// Go on to the next frame, or end the walk.
const GO_ON: c_int = 0;
const END: c_int = 4;

/// The address to which the innermost call returns that neither this library has made nor one of MPI, as bindings for Fortran
/// do; 0 if there is none.
fn program_above() -> usize {
    /// The objects that the walk has passed, of which there are two or three, and what it has found.
    #[derive(Default)]
    struct Walk {
        passed: Span,
        found: usize,
    }

    extern "C" fn look(frame: *mut Frame, walk: *mut c_void) -> c_int {
        // SAFETY: what the unwinder and `program_above` give, for the time of this call.
        let (at, walk) = unsafe { (_Unwind_GetIP(frame), &mut *walk.cast::<Walk>()) };
        let code = without_provenance(at);
        if walk.passed.contains(code) {
            return GO_ON;
        }
        match objects::find(code) {
            Some((span, path)) if span.contains(look as *const c_void) || is_of_mpi(&path) => {
                walk.passed = span;
                GO_ON
            }
            _ => {
                walk.found = at;
                END
            }
        }
    }

    let mut walk = Walk::default();
    let given: *mut Walk = &mut walk;
    // SAFETY: the function gets what it expects, and does not unwind.
    unsafe { _Unwind_Backtrace(look, given.cast()) };
    walk.found
}

/// Whether an object is part of an MPI library, by its name: all of them begin alike, those for Fortran as well.
fn is_of_mpi(path: &CStr) -> bool {
    let path = path.to_string_lossy();
    let name = Path::new(&*path).file_name();
    name.is_some_and(|name| name.to_string_lossy().starts_with("libmpi"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::model::Collective;

    #[test]
    fn functions_are_told_by_their_names() {
        let operation = |operation| Some(Kind::Operation(operation));
        for (name, expected) in [
            ("MPI_Barrier", operation(Collective::Barrier)),
            ("MPI_Bcast_c", operation(Collective::Broadcast)),
            ("MPI_Exscan", operation(Collective::Exscan)),
            ("MPI_Alltoallv_c", operation(Collective::Alltoallv)),
            (
                "MPI_Reduce_scatter_block",
                operation(Collective::ReduceScatterv),
            ),
            ("MPI_Alloc_mem", None),
            ("PMPI_Barrier", None),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
        assert!(is_of_mpi(c"/usr/lib/libmpi_mpifh.so.40"));
        assert!(is_of_mpi(c"/usr/lib/libmpich.so.12"));
        assert!(!is_of_mpi(c"/usr/lib/mpi4py/MPI.so"));
        assert!(!is_of_mpi(c""));
    }

    /// The test is in the same object as the library, so the frame that is found is the C library's, which started the thread.
    #[test]
    fn the_walk_leaves_this_object() {
        let found = std::thread::spawn(program_above).join().unwrap();
        let (span, path) = objects::find(without_provenance(found)).unwrap();
        assert!(!span.contains(program_above as *const c_void), "{path:?}");
        assert!(path.to_string_lossy().contains("libc"), "{path:?}");
    }
}
