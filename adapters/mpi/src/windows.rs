//! Layer 5: windows of shared memory (`MPI_Win_allocate_shared`). The library makes them and frees them. What lies in one is lent
//! without a copy by the teams whose members all share it, see [`regions`](crate::regions).
//!
//! | when | what the processes of a window do |
//! | --- | --- |
//! | once the library has made it | each finds the mapping; two gathers: it is the same in all, and all have made the region |
//! | before the library frees it | each lends nothing of it any more |
//! | after that | the region goes; the library's barrier in between has all processes where they lend nothing |

use crate::card::{Card, Process};
use crate::heap;
use crate::process;
use crate::regions;
use crate::teams;
use bytemuck::{Pod, Zeroable};
use corecast::debug::{Level, say};
use corecast::process::{SharedMapping, SharedRegion};
use corecast_network::{Handle, Library};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is left to do after the library's call.
pub(crate) enum After {
    /// On this communicator it has made the window whose handle lies at this place.
    Made(Handle, *mut c_void),
    /// It has freed the window of this region.
    Freed(Arc<SharedRegion>),
}

/// What a process has of a new window.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Found {
    process: Process,
    /// Where the window begins: equal in all processes that have mapped the same bytes. 0 if it cannot be lent.
    place: [u64; 3],
    bytes: u64,
    /// A number that no earlier window of this process has had.
    next: u64,
}

static NEXT: AtomicU64 = AtomicU64::new(1);
static SAID: AtomicBool = AtomicBool::new(false);
/// The regions of windows, by handle.
static WINDOWS: Mutex<Option<HashMap<Handle, Arc<SharedRegion>>>> = Mutex::new(None);

fn windows() -> MutexGuard<'static, Option<HashMap<Handle, Arc<SharedRegion>>>> {
    WINDOWS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `MPI_Win_allocate_shared`, before the library's call: what comes after it, if this process is served.
pub(crate) fn allocate(comm: Handle, window: *mut c_void) -> Option<After> {
    let library = process::library().filter(|library| process::is_on() && library.is_running())?;
    Some(After::Made(library.handle(comm), window))
}

/// `MPI_Win_free`, before the library's call.
///
/// # Safety
///
/// MPI's: there is a handle.
pub(crate) unsafe fn free(window: *mut c_void) -> Option<After> {
    let library = process::library().filter(|_| !window.is_null())?;
    // SAFETY: the caller's promise.
    let handle = unsafe { library.handle_at(window) };
    let region = windows().as_mut()?.remove(&handle)?;
    region.close();
    Some(After::Freed(region))
}

impl After {
    /// Does it. The library's call ended with `code`.
    ///
    /// # Safety
    ///
    /// MPI's: if it has made a window there is a handle. All processes of the communicator call it.
    #[cold]
    pub(crate) unsafe fn call(self, code: c_int) {
        match self {
            Self::Made(comm, window) if code == 0 => {
                let Some(library) = process::library() else {
                    return;
                };
                // SAFETY: the caller's promise.
                unsafe { share(library, comm, library.handle_at(window)) };
            }
            Self::Made(..) => {}
            Self::Freed(region) => regions::remove(&region),
        }
    }
}

/// Has teams lend of a window, if all of its processes can.
///
/// # Safety
///
/// A window that was made on this communicator. All of its processes call it.
unsafe fn share(library: &Library, comm: Handle, window: Handle) {
    let Some((true, rank, size)) = process::ask(library, comm) else {
        return;
    };
    // SAFETY: the caller's promise.
    let shared = unsafe { try_to_share(library, (comm, rank, size), window) };
    if rank == 0 && !SAID.swap(true, Ordering::Relaxed) {
        say(Level::Info, || match &shared {
            Ok(()) => {
                "MPI: what lies in windows of shared memory is lent without a copy".to_owned()
            }
            Err(why) => format!("MPI: what lies in a window of shared memory is copied: {why}"),
        });
    }
}

/// # Safety
///
/// As for `share`.
unsafe fn try_to_share(
    library: &Library,
    (comm, rank, size): (Handle, usize, usize),
    window: Handle,
) -> Result<(), String> {
    // SAFETY: the caller's promise.
    let mapping = unsafe { whole(library, window, size) }.and_then(|addresses| {
        let bytes = addresses.len();
        let mapping = SharedMapping::find(addresses).map_err(|error| error.to_string())?;
        Ok((mapping, bytes))
    });
    let own = Found {
        process: Card::of_this_process(true, false, 0).process(),
        place: mapping
            .as_ref()
            .map_or([0; 3], |(mapping, _)| mapping.place()),
        bytes: mapping.as_ref().map_or(0, |&(_, bytes)| bytes as u64),
        // Relaxed: a number that differs from all others.
        next: NEXT.fetch_add(1, Ordering::Relaxed),
    };
    let mut all = vec![own; size];
    teams::gather(library, comm, &own, &mut all).map_err(|refusal| refusal.to_string())?;
    let (first, next) = (all[0], all.iter().map(|found| found.next).max());
    let is_same = |found: &Found| (found.place, found.bytes) == (first.place, first.bytes);
    if first.bytes == 0 || !all.iter().all(is_same) {
        let other = "not all processes have mapped it as one part of one file";
        return Err(mapping.err().unwrap_or_else(|| other.to_owned()));
    }
    let (mapping, _) = mapping?;
    let next = next.unwrap_or_default();
    // So that no other window of this process proposes the number. Relaxed: as above.
    NEXT.fetch_max(next + 1, Ordering::Relaxed);
    let processes = all.iter().map(|found| found.process).collect();
    // SAFETY: the window was just made, and no file of shared memory is made shorter.
    let region = unsafe { mapping.region(next as u16) };
    let region = region.map_err(|error| error.to_string());
    let region = region.and_then(|region| {
        regions::add(processes, region).ok_or_else(|| "too many windows".to_owned())
    });
    let mut reached = vec![0_u8; size];
    let own = u8::from(region.is_ok());
    let told = teams::gather(library, comm, &own, &mut reached);
    let region = region?;
    if told.is_err() || reached.contains(&0) {
        regions::remove(&region);
        return Err(format!(
            "another process than rank {rank} cannot lend of it"
        ));
    }
    region.open();
    windows().get_or_insert_default().insert(window, region);
    Ok(())
}

/// The addresses of all parts of a window.
///
/// # Safety
///
/// A window of shared memory of so many processes.
unsafe fn whole(library: &Library, window: Handle, size: usize) -> Result<Range<usize>, String> {
    if !heap::is_wanted() {
        return Err(format!("{} is 0", heap::SWITCH));
    }
    let (mut start, mut end) = (usize::MAX, 0);
    for rank in 0..size as c_int {
        let (mut bytes, mut unit, mut base) = (0_isize, 0, null_mut());
        // SAFETY: the caller's promise, and places for the results.
        let code = unsafe {
            (library.functions().win_shared_query)(window, rank, &mut bytes, &mut unit, &mut base)
        };
        match usize::try_from(bytes) {
            Ok(bytes) if code == 0 => {
                let first = base.addr();
                if bytes > 0 {
                    (start, end) = (start.min(first), end.max(first + bytes));
                }
            }
            _ => return Err(format!("MPI_Win_shared_query has failed with {code}")),
        }
    }
    match start < end {
        true => Ok(start..end),
        false => Err("it is empty".to_owned()),
    }
}
