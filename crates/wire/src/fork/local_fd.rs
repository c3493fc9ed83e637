//! Descriptors that forked children do not keep.
//!
//! A child of `fork` has all descriptors of its parent. So a socket at which the parent listens, or a lock of `flock`,
//! lives on in the child after the parent has ended. `O_CLOEXEC` helps only if the child calls `exec`. Descriptors of
//! which others must notice that this process has let go are therefore listed, and a handler of `pthread_atfork` closes
//! the listed ones in each child.
//!
//! **Invariant:** a descriptor is listed under the same lock under which it is opened and closed, and `fork` takes this
//! lock. So a child finds the number of each descriptor in the list, and no number of anything else.
//!
//! Children that are made without the C library's handlers (`_Fork`, a bare `clone`) keep the descriptors until they
//! call `exec`. Those of `posix_spawn` and `vfork` call it at once.

use super::{ForkDetector, forked_since};
use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Once;
use std::time::{Duration, Instant};

/// The list, and its lock, which is one of the C library because a handler unlocks what another one has locked.
struct List {
    lock: UnsafeCell<libc::pthread_mutex_t>,
    open: UnsafeCell<Vec<RawFd>>,
}

// SAFETY: the lock is made to be used by all threads, and `open` is only used under it.
unsafe impl Sync for List {}

static LIST: List = List {
    lock: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
    open: UnsafeCell::new(Vec::new()),
};

extern "C" fn lock() {
    // SAFETY: an initialised mutex that never moves. No thread that has it calls this, see `with_list`.
    unsafe { libc::pthread_mutex_lock(LIST.lock.get()) };
}

extern "C" fn unlock() {
    // SAFETY: as above; this thread has locked it, in a child as its copy in the parent.
    unsafe { libc::pthread_mutex_unlock(LIST.lock.get()) };
}

extern "C" fn close_in_child() {
    // SAFETY: the forking thread has the lock (`lock` ran before the fork), and is the only one in this process.
    let open = unsafe { &mut *LIST.open.get() };
    for fd in open.drain(..) {
        // SAFETY: by the Invariant this is the child's copy of a `LocalFd`, which gives out no reference any more and
        // closes nothing when it is dropped here. `close` may be called after a fork.
        unsafe { libc::close(fd) };
    }
    unlock();
}

/// Unlocks the list when it is dropped.
struct Unlock;

impl Drop for Unlock {
    fn drop(&mut self) {
        unlock();
    }
}

/// Runs `body` with the list while no thread forks. `body` must not fork, and open no other [`LocalFd`].
fn with_list<R>(body: impl FnOnce(&mut Vec<RawFd>) -> R) -> R {
    lock();
    let _unlock = Unlock;
    // SAFETY: under the lock.
    body(unsafe { &mut *LIST.open.get() })
}

/// Lets `fork` take the lock, from the first call on.
fn handle_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers do what may be done around a fork: they lock, close and unlock. If there is no
        // memory for them, children keep the descriptors, and may find locks held.
        unsafe { libc::pthread_atfork(Some(lock), Some(unlock), Some(close_in_child)) };
    });
}

/// Runs `body` while no thread of this process forks, so that no forked child finds locked what `body` locks. `body` must
/// be short, must not fork or call this again, and must open and close no [`LocalFd`].
///
/// `None` if it cannot run within this time: this process was made without the C library's handlers (`_Fork`, a bare
/// `clone`), while a thread of its parent ran a body.
///
/// # Examples
///
/// ```
/// use corecast_wire::fork::without_forks;
/// use std::time::Duration;
/// assert_eq!(without_forks(Duration::MAX, || 1 + 1), Some(2));
/// ```
pub fn without_forks<R>(within: Duration, body: impl FnOnce() -> R) -> Option<R> {
    handle_forks();
    let begin = Instant::now();
    // SAFETY: as in `lock`.
    while unsafe { libc::pthread_mutex_trylock(LIST.lock.get()) } != 0 {
        if begin.elapsed() > within {
            return None;
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    let _unlock = Unlock;
    Some(body())
}

/// A descriptor that forked children do not keep. In a child it is closed, and cannot be used.
///
/// # Examples
///
/// ```
/// use corecast_wire::fork::LocalFd;
/// use std::os::fd::AsFd;
/// let null = LocalFd::open(|| std::fs::File::open("/dev/null").map(Into::into))?;
/// assert!(null.as_fd().try_clone_to_owned().is_ok());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct LocalFd {
    fd: ManuallyDrop<OwnedFd>,
    fork_detector: ForkDetector,
}

impl LocalFd {
    /// Takes the descriptor that `open` opens. `open` runs while no thread can fork, so it must not wait, and must
    /// open no other `LocalFd`.
    ///
    /// # Errors
    ///
    /// Those of `open`.
    pub fn open<E>(open: impl FnOnce() -> Result<OwnedFd, E>) -> Result<Self, E> {
        handle_forks();
        let fork_detector = ForkDetector::now();
        with_list(|list| {
            let fd = open()?;
            list.push(fd.as_raw_fd());
            Ok(Self {
                fd: ManuallyDrop::new(fd),
                fork_detector,
            })
        })
    }
}

impl LocalFd {
    /// The effective user of the process at the other end of a connected Unix socket, by its number in this process's
    /// user namespace. The process may be in another PID namespace, where it has no number here.
    ///
    /// # Errors
    ///
    /// The kernel's error, if this is no such socket.
    pub fn peer_user(&self) -> std::io::Result<u32> {
        let mut user = libc::ucred {
            pid: 0,
            uid: u32::MAX,
            gid: u32::MAX,
        };
        let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
        // SAFETY: writes to the structure, no more bytes than it has.
        let got = unsafe {
            libc::getsockopt(
                self.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut user).cast(),
                &raw mut bytes,
            )
        };
        match got {
            0 => Ok(user.uid),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
}

impl AsFd for LocalFd {
    /// # Panics
    ///
    /// In a forked child.
    fn as_fd(&self) -> BorrowedFd<'_> {
        assert!(
            !forked_since(&self.fork_detector),
            "a descriptor of the parent is used in a forked process: open it anew there"
        );
        self.fd.as_fd()
    }
}

impl Drop for LocalFd {
    fn drop(&mut self) {
        if forked_since(&self.fork_detector) {
            // The handler has closed it, and its number may be another one's.
            return;
        }
        with_list(|list| {
            let fd = self.fd.as_raw_fd();
            list.retain(|&listed| listed != fd);
            // SAFETY: dropped here and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.fd) };
        });
    }
}
