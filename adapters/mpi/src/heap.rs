//! Layer 3: memory that the program asks MPI for, from a heap that the other processes of its host map. What a collective lends
//! of it is read where it lies, on all teams.

use crate::process;
use corecast::debug::{Level, say};
use corecast::process::{SymmetricBytes, SymmetricHeap};
use corecast_network::{Handle, Library};
use std::collections::HashMap;
use std::ffi::{CStr, c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes of addresses, unless the machine has less memory. So many of each process of a host fit into a process: 1024 of them take
/// half of its addresses.
const BYTES_MAX: usize = 64 << 30;

/// Shorter buffers are the library's: nothing so short is lent, and each takes a page here.
const BYTES_MIN: usize = 4096;

/// The variable that leaves all memory to the library if it is 0.
pub(crate) const SWITCH: &str = "CORECAST_MPI_HEAP";

/// The key of MPI 4 by which a program asks for an alignment.
const ALIGNMENT: &CStr = c"mpi_minimum_memory_alignment";

static HEAP: OnceLock<Option<Arc<SymmetricHeap>>> = OnceLock::new();

/// The buffers that the program has, by address.
static GIVEN: Mutex<Option<HashMap<usize, SymmetricBytes>>> = Mutex::new(None);

/// The heap of this process, which all of its teams lend from; `None` where there is none.
pub(crate) fn heap() -> Option<&'static Arc<SymmetricHeap>> {
    HEAP.get_or_init(make).as_ref()
}

fn make() -> Option<Arc<SymmetricHeap>> {
    if !is_wanted() {
        return None;
    }
    let heap = SymmetricHeap::new(memory().unwrap_or(BYTES_MAX).min(BYTES_MAX));
    let refused = |why: &_| {
        say(Level::Info, || {
            format!("MPI: memory of MPI_Alloc_mem stays the library's: {why}")
        });
    };
    heap.inspect_err(refused).ok().map(Arc::new)
}

/// Whether memory that MPI gives may be lent without a copy.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os(SWITCH).is_none_or(|text| text != "0")
}

/// Bytes of memory that the machine has.
fn memory() -> Option<usize> {
    // SAFETY: a function without conditions.
    let (pages, page) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    let [pages, page] = [pages, page].map(|number| usize::try_from(number).ok());
    pages?.checked_mul(page?).filter(|&bytes| bytes > 0)
}

/// `MPI_Alloc_mem`. `None` if the call is the library's.
///
/// # Safety
///
/// MPI's: `base` is a place for an address.
pub(crate) unsafe fn alloc(bytes: isize, info: Handle, base: *mut c_void) -> Option<c_int> {
    let bytes = usize::try_from(bytes).ok().filter(|&n| n >= BYTES_MIN)?;
    let library = process::library().filter(|_| process::is_on())?;
    if base.is_null() || !library.is_running() {
        return None;
    }
    let align = alignment(library, info)?;
    let buffer = heap()?.alloc(bytes, align).ok()?;
    let address = buffer.as_ptr().cast_mut();
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    given.get_or_insert_default().insert(address.addr(), buffer);
    // SAFETY: the caller's promise; programs give any kind of place for a pointer, so it may be at any address.
    unsafe { base.cast::<*mut u8>().write_unaligned(address) };
    Some(0)
}

/// `MPI_Free_mem`. `None` if the call is the library's.
pub(crate) fn free(base: *mut c_void) -> Option<c_int> {
    let heap = HEAP.get()?.as_ref()?;
    if !heap.addresses().contains(&base.addr()) {
        return None;
    }
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = given.as_mut().and_then(|all| all.remove(&base.addr()));
    drop(given);
    match found {
        Some(_) => Some(0),
        None => Some(no_base(process::library()?)),
    }
}

/// Reports that the address was given for no buffer, as MPI's error handler wants it.
#[cold]
fn no_base(library: &Library) -> c_int {
    let code = library.dialect().no_base();
    if library.is_running() {
        // SAFETY: a predefined communicator. Errors of calls without one are those of this one.
        unsafe { (library.functions().comm_call_errhandler)(library.world(), code) };
    }
    code
}

/// The alignment that the program asks for, 1 if it asks for none; `None` if it is to be asked of the library.
fn alignment(library: &Library, info: Handle) -> Option<usize> {
    let info = library.handle(info);
    if info == library.no_info() {
        return Some(1);
    }
    let (mut value, mut found): ([u8; 32], c_int) = ([0; 32], 0);
    // SAFETY: a key, a place for a text of as many bytes as are said beside its end, and one for a number. What is no info is an
    // error of the call.
    let ended = unsafe {
        (library.functions().info_get)(
            info,
            ALIGNMENT.as_ptr(),
            value.len() as c_int - 1,
            value.as_mut_ptr().cast(),
            &mut found,
        )
    };
    if ended != 0 {
        return None;
    }
    let text = CStr::from_bytes_until_nul(&value).ok()?.to_str().ok()?;
    match (found, text.trim().parse::<usize>()) {
        (0, _) => Some(1),
        (_, Ok(align)) if align.is_power_of_two() => Some(align),
        _ => None,
    }
}
