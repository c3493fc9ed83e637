//! The memory of a fiber's stack: pages that can be written, and a guard below them that cannot be touched.
//!
//! ```text
//!   limit                          base - bytes                  base
//!     │  guard: every access faults  │  stack, used downwards ◄──  │
//! ```
//!
//! A compiler that probes touches each page of a frame in turn, so one page of guard stops it; Rust's does. C compilers
//! do so only when asked (`-fstack-clash-protection`). A function without probes can leave as many bytes between two
//! accesses as its locals take, and would jump over one page into whatever lies below, which may be another fiber's stack.

use corosensei::stack::valgrind::ValgrindStackRegistration;
use corosensei::stack::{Stack, StackPointer};
use std::io;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// Bytes of guard below a stack on which functions run that may not probe. It is what Linux keeps free below
/// the stack of a program's first thread (`stack_guard_gap`, 256 pages of 4 KiB), for the same reason: larger frames are
/// rare in C, and mostly the mistake that is to be found. A guard takes addresses, but no memory and no page tables.
pub const GUARD_BYTES: usize = 1 << 20;

/// A stack and its guard.
pub(super) struct GuardedStack {
    /// The lowest address, where the guard begins.
    limit: NonNull<u8>,
    /// Bytes of guard and stack.
    mapped: usize,
    /// Tells valgrind that this is a stack.
    valgrind: ManuallyDrop<ValgrindStackRegistration>,
}

impl GuardedStack {
    /// A stack of at least `bytes` above at least `guard` bytes.
    ///
    /// # Errors
    ///
    /// The kernel's error when it has no memory to map.
    pub(super) fn new(bytes: usize, guard: usize) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let pages = |bytes: usize| bytes.max(1).checked_next_multiple_of(page);
        let sizes = pages(bytes).zip(pages(guard));
        let sum = sizes.and_then(|(bytes, guard)| bytes.checked_add(guard));
        let too_long = || io::Error::from(io::ErrorKind::OutOfMemory);
        let mapped = sum.filter(|&sum| sum <= isize::MAX as usize);
        let (mapped, (bytes, guard)) = mapped.zip(sizes).ok_or_else(too_long)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let limit =
            unsafe { libc::mmap(std::ptr::null_mut(), mapped, libc::PROT_NONE, flags, -1, 0) };
        if limit == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let limit = NonNull::new(limit.cast::<u8>()).expect("mmap returned null");
        let valgrind = ManuallyDrop::new(ValgrindStackRegistration::new(limit.as_ptr(), mapped));
        // From here on a drop unmaps it.
        let stack = Self {
            limit,
            mapped,
            valgrind,
        };
        // SAFETY: within the mapping, of which nobody else knows.
        let done = unsafe {
            libc::mprotect(
                limit.add(guard).as_ptr().cast(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        match done {
            0 => Ok(stack),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for GuardedStack {
    fn drop(&mut self) {
        // SAFETY: dropped once, here, while the memory is still mapped.
        unsafe { ManuallyDrop::drop(&mut self.valgrind) };
        // SAFETY: the mapping of `new`, unmapped once. A coroutine that ran on this stack has given it back, and so
        // has ended.
        let done = unsafe { libc::munmap(self.limit.as_ptr().cast(), self.mapped) };
        debug_assert_eq!(done, 0, "{}", io::Error::last_os_error());
    }
}

// SAFETY: the mapping has a guard of at least a page at its lower end, which catches overflows, and above it at least a
// page that can be written, the least that a stack has. Both ends are multiples of the page size.
unsafe impl Stack for GuardedStack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.limit
            .addr()
            .checked_add(self.mapped)
            .expect("a mapping does not wrap around")
    }

    #[inline]
    fn limit(&self) -> StackPointer {
        self.limit.addr()
    }
}
