//! The fiber that the caller runs on: whether it is one, and how it returns to its thread until an event has come.

use corosensei::Yielder;
use std::cell::Cell;
use std::ptr::NonNull;
use std::time::Duration;

/// The check that decides whether a suspended fiber goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Checks only whether the event that the fiber waits for has come.
    Quick,
    /// Also checks whether the event can still come, because the thread has waited for this long.
    Long(Duration),
}

/// A closure that says whether a suspended fiber shall go on. The pointer is valid until the fiber goes on or is
/// unwound (Invariant 3 of [`fiber`](super)).
pub(super) type Ready = NonNull<dyn FnMut(Look) -> bool>;

/// What a fiber needs to suspend itself.
pub(super) struct Current {
    /// The closure of the fiber that is suspended here, except while it is being called. While it is here nobody
    /// has a reference to the fiber's coroutine.
    pub(super) ready: Cell<Option<Ready>>,
    /// The yielder of the fiber that runs here, valid until its coroutine has ended.
    pub(super) yielder: Cell<*const Yielder<(), ()>>,
}

impl Current {
    pub(super) fn new() -> Self {
        Self {
            ready: Cell::new(None),
            yielder: Cell::new(std::ptr::null()),
        }
    }
}

#[cfg(not(loom))]
thread_local! {
    /// The fiber that runs on this thread, if one does.
    static CURRENT: Cell<*const Current> = const { Cell::new(std::ptr::null()) };
}

#[cfg(loom)]
loom::thread_local! {
    /// The fiber that runs on this thread of a model, if one does.
    static CURRENT: Cell<*const Current> = Cell::new(std::ptr::null());
}

/// Whether the caller runs on a fiber.
#[inline]
pub fn is_inside() -> bool {
    !CURRENT.with(Cell::get).is_null()
}

/// On a fiber: goes back to the thread, and returns once a call of [`resume`](super::Fibers::resume) has found that
/// `ready` returns true. `ready` runs on the thread's own stack and must not be re-entered. Elsewhere: returns at
/// once and does not call `ready`. Returns whether the caller runs on a fiber.
pub fn suspend_until(mut ready: impl FnMut(Look) -> bool) -> bool {
    let current = CURRENT.with(Cell::get);
    if current.is_null() {
        return false;
    }
    let ready: NonNull<dyn FnMut(Look) -> bool + '_> = NonNull::from(&mut ready);
    // SAFETY: only the lifetime changes. `ready` lives in this frame, which stands still until the
    // fiber is resumed or unwound, and is called by nobody afterwards (Invariant 3).
    let ready =
        unsafe { std::mem::transmute::<NonNull<dyn FnMut(Look) -> bool + '_>, Ready>(ready) };
    // SAFETY: whoever runs the fiber calls `set` for as long as it runs, and its slot outlives it.
    let current = unsafe { &*current };
    current.ready.set(Some(ready));
    // SAFETY: we run on the fiber on whose stack the yielder lies.
    unsafe { &*current.yielder.get() }.suspend(());
    true
}

/// Restores the thread's current fiber, also when a job panics.
pub(super) struct Restore(*const Current);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.0));
    }
}

/// Makes `fiber` the current one, or none, until the result is dropped. The caller keeps the fiber until then.
pub(super) fn set(fiber: Option<&Current>) -> Restore {
    let fiber = fiber.map_or(std::ptr::null(), std::ptr::from_ref);
    Restore(CURRENT.with(|current| current.replace(fiber)))
}

/// Leaves the fiber that runs for a task that runs instead, until the result is dropped.
#[cfg(corecast_simulated)]
pub(crate) fn set_aside() -> impl Drop {
    set(None)
}
