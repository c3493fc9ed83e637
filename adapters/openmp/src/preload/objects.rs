//! Layer 2: the objects of this process, which are the program and its libraries: where each of them lies, what it
//! exports, and whether some were unloaded.
//!
//! Nothing here keeps an object loaded, unless a handle is kept on purpose. So an address means what it did only as
//! long as no object was unloaded, and whoever remembers one remembers [`state`] beside it.

pub(crate) use corecast_wire::objects::{Span, find};
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A function of the program, or another address in one of its objects.
pub(crate) type Code = *const c_void;

/// Whether `code` is in the same object as this library.
pub(crate) fn is_ours(code: Code) -> bool {
    static OURS: OnceLock<Span> = OnceLock::new();
    let ours = || find(is_ours as Code).map_or_else(Span::default, |(span, _)| span);
    OURS.get_or_init(ours).contains(code)
}

/// A handle of an object that is loaded already; closed when it is dropped.
#[derive(Debug)]
pub(crate) struct Handle(*mut c_void);

impl Handle {
    /// Opens the object of that path without loading anything; `None` for the program itself, whose path is empty.
    pub(crate) fn of(path: &CStr) -> Option<Self> {
        if path.is_empty() {
            return None;
        }
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: opens what is loaded already, so that no code of it runs.
        let handle = unsafe { libc::dlopen(path.as_ptr(), flags) };
        (!handle.is_null()).then_some(Self(handle))
    }

    /// The handle for [`symbol`].
    pub(crate) fn get(&self) -> *mut c_void {
        self.0
    }

    /// Keeps the object loaded until the process ends.
    pub(crate) fn keep(self) -> *mut c_void {
        let handle = self.0;
        std::mem::forget(self);
        handle
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: open, and closed once.
        unsafe { close(self.0) };
    }
}

/// What `handle`, which may be `RTLD_NEXT`, finds by that name; null if it finds nothing.
///
/// # Safety
///
/// The handle is open.
pub(crate) unsafe fn symbol(handle: *mut c_void, name: &CStr) -> Code {
    // SAFETY: the caller's, and the name is a string of C.
    unsafe { libc::dlsym(handle, name.as_ptr()) }
}

/// The number of `dlclose` calls that run, in the low bits, and how many have ended, above.
static STATE: AtomicU64 = AtomicU64::new(0);
const ENDED: u64 = 1 << 16;

/// Changes whenever objects may have been unloaded. Where it is [`settled`] and equal to what it was, all addresses
/// mean what they did.
#[inline(always)]
pub(crate) fn state() -> u64 {
    // Acquire: synchronises with the additions in `close`. Code at an address that another object had is there after
    // the loader's lock has passed from the `dlclose` of the other to the `dlopen` of this one. So its thread sees that
    // the call has begun, or ended.
    STATE.load(Ordering::Acquire)
}

/// Whether no `dlclose` runs in that state.
pub(crate) fn settled(state: u64) -> bool {
    state.is_multiple_of(ENDED)
}

/// Closes a handle as the program would without this library.
///
/// # Safety
///
/// As for `dlclose`.
pub(crate) unsafe fn close(handle: *mut c_void) -> c_int {
    type Close = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
    static CLOSE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    // Relaxed: threads that look it up at the same time find the same address of code that is there.
    let mut address = CLOSE.load(Ordering::Relaxed);
    if address.is_null() {
        // No lock is held here: the look-up takes the loader's lock, which another thread may hold for a constructor that
        // closes a handle, and a process that is forked meanwhile would find ours locked for ever.
        // SAFETY: the handle is always open.
        address = unsafe { symbol(libc::RTLD_NEXT, c"dlclose") }.cast_mut();
        CLOSE.store(address, Ordering::Relaxed);
    }
    // SAFETY: the C library's function of that name has this type; null is `None`.
    let close = unsafe { std::mem::transmute::<*mut c_void, Option<Close>>(address) };
    let Some(close) = close else {
        return -1;
    };
    // Release, both: synchronise with the load in `state`.
    STATE.fetch_add(1, Ordering::Release);
    // SAFETY: the caller's.
    let result = unsafe { close(handle) };
    STATE.fetch_add(ENDED - 1, Ordering::Release);
    result
}

/// Locks a mutex. Poisoning is ignored, because no code here panics while it changes the data.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
