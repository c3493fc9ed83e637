//! The asymmetric fence: the frequent side pays a compiler fence, the rare side a system call.
//!
//! It is needed where each of two threads stores its own word and then loads the other's, and at least one
//! must see the other's store (Dekker). `membarrier(PRIVATE_EXPEDITED)` on the rare side makes every
//! running thread of the process execute a full fence at some point during the call, which orders whatever
//! the frequent side did around that point. Where the kernel refuses, both sides use a full fence.
//!
//! Between processes it is `membarrier(GLOBAL_EXPEDITED)`, which reaches the running threads of
//! every process that has registered. So a process that skips its light fence must have
//! registered, and the others must call: **all processes of a team use one kind**, the symmetric
//! one if any of them has no other.
//!
//! A process may lose `membarrier` after it has registered: a sandbox that it enters late refuses the call. The frequent
//! side, which has no fence then, cannot learn of that in time. So [`heavy`] tells its caller, who relies on time
//! instead: a processor makes a store visible to the others within microseconds, and each switch of threads and each
//! interrupt is a fence. Morrison and Afek, "Temporally Bounding TSO for Fence-Free Asymmetric Synchronization"
//! (ASPLOS 2015), build on such a bound. A sleeper sleeps for at most [`UNORDERED_NAP`] at a time and then looks
//! again; a lender that revokes waits for [`settle`].

use std::sync::OnceLock;
use std::time::Duration;

/// The longest sleep of a thread that [`heavy`] has not ordered with its wakers.
pub const UNORDERED_NAP: Duration = Duration::from_millis(1);

/// The time that [`settle`] waits: thousands of times as long as a store takes, and two to ten ticks of a kernel.
const SETTLED_AFTER: Duration = Duration::from_millis(20);

/// The way in which the two sides of a store-load race are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceKind {
    /// Threads of one process: `membarrier` for the sleeper, nothing for the waker.
    Asymmetric,
    /// Threads of several processes: `membarrier` for the sleeper, nothing for the waker.
    SharedAsymmetric,
    /// Threads of one process: a full fence on both sides, where the kernel refuses `membarrier`.
    Symmetric,
    /// Threads of several processes: a full fence on both sides, where the kernel refuses `membarrier`.
    SharedSymmetric,
}

impl FenceKind {
    /// Whether the fence orders threads of different processes too. Sleepers then use a futex that another
    /// process can wake.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!corecast_wire::fence_kind().is_shared());
    /// assert!(corecast_wire::shared_fence_kind().is_shared());
    /// ```
    #[inline]
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::SharedAsymmetric | Self::SharedSymmetric)
    }

    /// Whether the waker's side is free.
    #[inline(always)]
    pub const fn is_asymmetric(self) -> bool {
        matches!(self, Self::Asymmetric | Self::SharedAsymmetric)
    }
}

/// Which fence this process uses among its own threads. The first call registers with the kernel.
///
/// The environment variable `CORECAST_FENCE=symmetric` makes this and [`shared_fence_kind`] use a full
/// fence on both sides.
pub fn fence_kind() -> FenceKind {
    if cfg!(corecast_simulated) {
        return FenceKind::Asymmetric;
    }
    static KIND: OnceLock<FenceKind> = OnceLock::new();
    *KIND.get_or_init(
        || match registered(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) {
            true => FenceKind::Asymmetric,
            false => FenceKind::Symmetric,
        },
    )
}

/// Which fence this process can use with other processes. The first call registers with the kernel.
///
/// All processes of a team must use the same one: [`FenceKind::SharedSymmetric`] unless each of
/// them can do better.
pub fn shared_fence_kind() -> FenceKind {
    if cfg!(corecast_simulated) {
        return FenceKind::SharedAsymmetric;
    }
    static KIND: OnceLock<FenceKind> = OnceLock::new();
    *KIND.get_or_init(|| {
        // The call itself is tried as well, because a seccomp filter may allow the registration and refuse
        // the call.
        match registered(libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)
            && membarrier(libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED)
        {
            true => FenceKind::SharedAsymmetric,
            false => FenceKind::SharedSymmetric,
        }
    })
}

fn registered(command: libc::c_int) -> bool {
    let forced = std::env::var_os("CORECAST_FENCE").is_some_and(|v| v == "symmetric");
    !forced && membarrier(command)
}

fn membarrier(command: libc::c_int) -> bool {
    // Miri does not know the call.
    if cfg!(miri) {
        return false;
    }
    // SAFETY: membarrier takes three integers and touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Waits until every store of this thread is visible to all others: the write buffer is empty.
///
/// It is for measurements that must not end while a store is still on its way.
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

/// The fence of the frequent side, a waker or a borrower, between its own store and its load of the other
/// side's word.
#[inline(always)]
pub fn light(kind: FenceKind) {
    #[cfg(not(loom))]
    if kind.is_asymmetric() {
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
    } else {
        // SeqCst: the store before must be visible before the load after, which no weaker fence gives.
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    }
    #[cfg(loom)]
    {
        let _ = kind;
        if !crate::sync::mutated!(NoLightFence) {
            loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
        }
    }
}

/// A full fence, for a protocol between two processes that runs so rarely that neither side needs a free
/// one. Models set `left_out` to show that they fail without the fence.
///
/// In the memory model release on the one side and acquire on the other would be enough. But the data may
/// be written by a user's code with non-temporal stores and are read by the kernel, which that model does
/// not cover.
pub fn full(left_out: bool) {
    if left_out {
        return;
    }
    // SeqCst: it also orders non-temporal stores and the kernel's reads, see above.
    #[cfg(not(loom))]
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    #[cfg(loom)]
    loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
}

/// The fence of the rare side, a sleeper or a lender that revokes, between its own store and its load of
/// the other side's word. Returns whether the other side is ordered as well: `false` if the kernel does not let this
/// process call `membarrier` any more, see the module.
#[must_use = "a caller that is not ordered with the other side has to rely on time"]
pub fn heavy(kind: FenceKind) -> bool {
    // Tasks of a simulation take turns, so no store of theirs is on its way.
    #[cfg(corecast_simulated)]
    {
        let _ = kind;
        true
    }
    #[cfg(not(any(loom, corecast_simulated)))]
    {
        // SeqCst: see `light`; with membarrier it orders this thread's own store and load.
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
        match kind {
            FenceKind::Asymmetric => membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED),
            FenceKind::SharedAsymmetric => membarrier(libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED),
            FenceKind::Symmetric | FenceKind::SharedSymmetric => true,
        }
    }
    #[cfg(loom)]
    {
        let _ = kind;
        if !crate::sync::mutated!(NoHeavyFence) {
            loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
        }
        true
    }
}

/// Waits until every store that another thread did before this call is visible, for a caller whom [`heavy`] has not
/// ordered with the other side.
///
/// # Cost
///
/// 20 ms.
#[cold]
pub fn settle() {
    crate::sync::sleep(SETTLED_AFTER);
    full(false);
}

#[cfg(all(test, not(any(loom, corecast_simulated))))]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "it knows no membarrier")]
    fn the_kernel_decides_which_fences_there_are() {
        // SAFETY: three integers, and no memory of ours.
        let known =
            unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_QUERY, 0, 0) };
        let forced = std::env::var_os("CORECAST_FENCE").is_some();
        for (kind, command) in [
            (fence_kind(), libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED),
            (shared_fence_kind(), libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED),
        ] {
            let offered = known > 0 && known as libc::c_int & command != 0;
            assert_eq!(kind.is_asymmetric(), offered && !forced, "{kind:?}");
            assert!(heavy(kind), "{kind:?}");
        }
    }
}
