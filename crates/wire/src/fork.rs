//! Detects that this process was forked from the one that made a team or queue.
//!
//! After `fork` the child has the parent's memory but none of its other threads, so a team, a queue
//! or a thread that it inherited is unusable. A [`ForkDetector`] taken when such a thing is made tells.
//!
//! The stamp is compared with a word in a page that the kernel clears in every child
//! (`MADV_WIPEONFORK`, Linux 4.14), however the child is made. Where that is refused, a handler of
//! `pthread_atfork` clears the word; it misses children that are made by a bare system call.
//!
//! **Invariant:** the word is 0 in a child until it takes a stamp of its own, and then a number that
//! no process above it has had, because the counter is inherited and only grows.

mod local_fd;

pub use local_fd::{LocalFd, without_forks};

use crate::sync::{Ordering, StaticU32};
use std::sync::OnceLock;

/// A stamp of the process in which something was made.
///
/// # Examples
///
/// ```
/// use corecast_wire::fork::{ForkDetector, forked_since};
/// let fork_detector = ForkDetector::now();
/// assert!(!forked_since(&fork_detector));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ForkDetector {
    word: &'static StaticU32,
    number: u32,
}

/// Whether this process was forked from the one that took `fork_detector`, directly or not.
///
/// # Cost
///
/// One load of a line that nobody writes, and a compare.
#[inline(always)]
pub fn forked_since(fork_detector: &ForkDetector) -> bool {
    // Relaxed: the word changes by a fork, after which there is one thread; nothing else hangs on it.
    fork_detector.word.load(Ordering::Relaxed) != fork_detector.number
}

impl ForkDetector {
    /// A stamp of this process.
    pub fn now() -> Self {
        static WORD: OnceLock<&'static StaticU32> = OnceLock::new();
        Self::of(WORD.get_or_init(|| wiped().unwrap_or_else(handled)))
    }

    fn of(word: &'static StaticU32) -> Self {
        /// Children inherit this counter, so none takes a number of its parent.
        static LAST: StaticU32 = StaticU32::new(0);
        // All accesses are Relaxed: these are numbers, which publish nothing.
        let mut number = word.load(Ordering::Relaxed);
        if number == 0 {
            let fresh = LAST.fetch_add(1, Ordering::Relaxed) + 1;
            number = match word.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => fresh,
                Err(other) => other,
            };
        }
        Self { word, number }
    }
}

/// A word that the kernel clears in children. Never unmapped: stamps are copied freely.
fn wiped() -> Option<&'static StaticU32> {
    // Miri knows neither the advice nor forks.
    if cfg!(miri) {
        return None;
    }
    let bytes = rustix::param::page_size();
    // SAFETY: a new mapping at an address of the kernel's choice.
    let page = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the mapping that was just made.
    if unsafe { libc::madvise(page, bytes, libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: the same mapping, which nobody else knows.
        unsafe { libc::munmap(page, bytes) };
        return None;
    }
    // SAFETY: page-aligned, zeroed (a valid atomic integer), mapped for ever, and accessed by
    // atomic operations alone.
    Some(unsafe { &*page.cast::<StaticU32>() })
}

/// A word that the C library's handler clears in children.
fn handled() -> &'static StaticU32 {
    static WORD: StaticU32 = StaticU32::new(0);
    extern "C" fn in_child() {
        // Relaxed: the child has one thread.
        WORD.store(0, Ordering::Relaxed);
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    if !cfg!(miri) {
        ONCE.call_once(|| {
            // SAFETY: the handler does one atomic store, which is safe at any point of a fork.
            unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        });
    }
    &WORD
}

#[cfg(all(test, not(loom)))]
mod tests;
