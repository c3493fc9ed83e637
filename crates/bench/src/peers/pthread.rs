//! The C library's barrier.
#![allow(unsafe_code)]

use crate::engine::{Engine, Member};
use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;

/// `pthread_barrier_t`.
///
/// Invariant 1: `barrier` was initialised by `pthread_barrier_init` and stays
/// at its address until `Drop` destroys it.
pub struct PthreadBarrier {
    barrier: Box<UnsafeCell<MaybeUninit<libc::pthread_barrier_t>>>,
    ranks: usize,
}

// SAFETY: POSIX allows a barrier to be initialised, awaited and destroyed by
// different threads of the process.
unsafe impl Send for PthreadBarrier {}

// SAFETY: through `&self` only `pthread_barrier_wait` is called, which any
// number of threads may call at once; the library synchronises its own state.
unsafe impl Sync for PthreadBarrier {}

impl PthreadBarrier {
    /// A barrier of `ranks` ranks.
    ///
    /// # Panics
    ///
    /// If `ranks` is 0 or beyond what the C library takes.
    pub fn new(ranks: usize) -> PthreadBarrier {
        let barrier = Box::new(UnsafeCell::new(MaybeUninit::uninit()));
        let count = libc::c_uint::try_from(ranks).unwrap_or(0);
        // SAFETY: the pointer is valid for writes and holds no barrier yet;
        // null attributes mean defaults.
        let code = unsafe {
            libc::pthread_barrier_init((*barrier.get()).as_mut_ptr(), std::ptr::null(), count)
        };
        assert_eq!(code, 0, "pthread_barrier_init refused {ranks} ranks");
        PthreadBarrier { barrier, ranks }
    }

    fn wait(&self) {
        // SAFETY: Invariant 1: initialised, and not destroyed while `self` is
        // borrowed.
        let code = unsafe { libc::pthread_barrier_wait((*self.barrier.get()).as_mut_ptr()) };
        debug_assert!(code == 0 || code == libc::PTHREAD_BARRIER_SERIAL_THREAD);
    }
}

impl Drop for PthreadBarrier {
    fn drop(&mut self) {
        // SAFETY: Invariant 1, and `&mut self` shows that nobody waits any
        // more; glibc itself delays until the last waiter has left.
        unsafe { libc::pthread_barrier_destroy(self.barrier.get_mut().as_mut_ptr()) };
    }
}

impl fmt::Debug for PthreadBarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PthreadBarrier({})", self.ranks)
    }
}

impl Engine for PthreadBarrier {
    fn name(&self) -> &str {
        "pthread_barrier"
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn member<'a>(&'a self, _rank: usize) -> Box<dyn Member + 'a> {
        Box::new(|operations| {
            for _ in 0..operations {
                self.wait();
            }
        })
    }
}
