//! The façade's items in a simulation: those of the standard library, with a scheduling point before each access.

use crate::simulated::{self, Point, point};
use core::sync::atomic::Ordering;
use std::sync::{LockResult, TryLockError};
use std::time::Duration;

pub use std::sync::MutexGuard;

macro_rules! atomic {
    ($name:ident, $value:ty: $($change:ident),*) => {
        /// An atomic integer with a scheduling point before each access.
        #[derive(Debug, Default)]
        #[repr(transparent)]
        pub struct $name(core::sync::atomic::$name);

        #[allow(missing_docs, reason = "as in the standard library")]
        impl $name {
            pub const fn new(value: $value) -> Self {
                Self(core::sync::atomic::$name::new(value))
            }
            /// The integer itself, whose accesses are no scheduling points.
            pub const fn bare(&self) -> &core::sync::atomic::$name {
                &self.0
            }
            #[inline]
            pub fn load(&self, order: Ordering) -> $value {
                point(Point::Access);
                self.0.load(order)
            }
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                point(Point::Access);
                self.0.store(value, order);
            }
            $(
                #[inline]
                pub fn $change(&self, value: $value, order: Ordering) -> $value {
                    point(Point::Access);
                    self.0.$change(value, order)
                }
            )*
            /// # Errors
            ///
            /// The value that was there instead of `current`.
            #[inline]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                point(Point::Access);
                self.0.compare_exchange(current, new, success, failure)
            }
        }
    };
}

atomic!(AtomicU32, u32: swap, fetch_add, fetch_sub, fetch_max);
atomic!(AtomicU64, u64: swap, fetch_add, fetch_sub, fetch_max);

/// A mutex for which a task waits by scheduling points, as the thread of all tasks must not block.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A mutex that nobody holds.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// As in the standard library.
    ///
    /// # Errors
    ///
    /// If a task panicked while it held the mutex.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        loop {
            point(Point::Access);
            match self.0.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Err(poisoned),
                Err(TryLockError::WouldBlock) if simulated::scheduler().is_none() => {
                    return self.0.lock();
                }
                Err(TryLockError::WouldBlock) => point(Point::Blocked),
            }
        }
    }
}

/// A moment of virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

impl Instant {
    /// The present.
    pub fn now() -> Self {
        Self(simulated::now())
    }

    /// Virtual time since then.
    pub fn elapsed(&self) -> Duration {
        simulated::now().saturating_sub(self.0)
    }
}

/// Sleeps for some virtual time.
pub fn sleep(time: Duration) {
    match simulated::scheduler() {
        Some(scheduler) => scheduler.sleep(None, Some(time)),
        None => std::thread::sleep(time),
    }
}

/// Gives the turn away.
pub fn yield_now() {
    match simulated::scheduler() {
        Some(_) => point(Point::Yield),
        None => std::thread::yield_now(),
    }
}

/// Whether the running task panics.
pub fn panicking() -> bool {
    match simulated::scheduler() {
        Some(scheduler) => scheduler.is_panicking(),
        None => std::thread::panicking(),
    }
}

/// The number of this process.
pub fn process_id() -> u32 {
    simulated::process_id()
}
