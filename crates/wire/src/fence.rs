//! The asymmetric fence: the frequent side pays a compiler fence, the rare side a system call.
//!
//! Needed where each of two threads stores its own word and then loads the other's, and at least
//! one must see the other's store (Dekker). `membarrier(PRIVATE_EXPEDITED)` on the rare side makes
//! every running thread of the process execute a full fence at some point during the call, which
//! orders whatever the frequent side did around that point. Where the kernel refuses, both sides
//! use a full fence.

use std::sync::OnceLock;

/// How the two sides of a store-load race are ordered in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceKind {
    /// `membarrier` for the sleeper, nothing for the waker.
    Asymmetric,
    /// A full fence on both sides: the kernel refuses `membarrier`.
    Symmetric,
}

/// Which fence this process uses. The first call registers with the kernel.
pub fn fence_kind() -> FenceKind {
    static KIND: OnceLock<FenceKind> = OnceLock::new();
    *KIND.get_or_init(|| {
        let forced = std::env::var_os("CORECAST_FENCE").is_some_and(|v| v == "symmetric");
        if !forced && membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) {
            FenceKind::Asymmetric
        } else {
            FenceKind::Symmetric
        }
    })
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: membarrier takes three integers and touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Waits until every store of this thread is visible to all others: the write buffer is empty.
///
/// For measurements that must not end while a store is still on its way.
///
/// # Examples
///
/// ```
/// corecast_wire::drain_stores();
/// ```
#[inline(always)]
pub fn drain_stores() {
    // SeqCst: only a full fence orders stores before what comes after.
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}

/// The waker's side: after its store, before its load of the sleeper's word.
#[inline(always)]
pub(crate) fn light(kind: FenceKind) {
    #[cfg(not(loom))]
    match kind {
        FenceKind::Asymmetric => {
            core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
        }
        // SeqCst: the store before must be visible before the load after, which no weaker fence gives.
        FenceKind::Symmetric => core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst),
    }
    #[cfg(loom)]
    {
        let _ = kind;
        if !crate::sync::mutated!(NoLightFence) {
            loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
        }
    }
}

/// The sleeper's side: after its store, before its load of the waker's word.
pub(crate) fn heavy(kind: FenceKind) {
    #[cfg(not(loom))]
    {
        // SeqCst: see `light`; with membarrier it orders this thread's own store and load.
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
        if kind == FenceKind::Asymmetric {
            let done = membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
            assert!(
                done,
                "membarrier failed after it was registered: {}",
                std::io::Error::last_os_error()
            );
        }
    }
    #[cfg(loom)]
    {
        let _ = kind;
        if !crate::sync::mutated!(NoHeavyFence) {
            loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
        }
    }
}
