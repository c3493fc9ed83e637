//! The peer monitor, which notices that another process has ended.
//!
//! One thread in each process, which sleeps in `poll` on a descriptor per watched process and is
//! woken by the kernel when one of them ends; a zombie has ended. It is started with the first
//! [`Watch`] and ends with the last.
//!
//! ```text
//! watch() ──► watch list ◄── drop(Watch)    monitor's thread
//!              │ │                            read the list ◄─────────┐
//!              │ └─ entries: process, descriptor, callback    │       │
//!              └─── bell ──────────────────────► poll(bell, descriptors)
//!                                                     │ one has ended: take its entry, call it
//! ```
//!
//! **Invariant 1:** the thread ends only after it has found the watch list empty and struck itself out,
//! under one lock; so an entry always has a thread. **Invariant 2:** an entry is taken out under
//! the lock before it is called, so it is called once at most, and without the lock.
//!
//! A process number may be given to another process. So a watch can give the start time of its process. The
//! descriptor is opened first and `/proc` is read afterwards; if the process behind the descriptor is alive after
//! that, it is the one that was read.

pub use crate::process_stat::born;

use crate::process_stat::life;
use corecast_wire::fork::{ForkDetector, forked_since};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, test_kill_process};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Pause between two looks at a process for which the kernel gives no descriptor.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Longest wait for the lock of the watch list. It is held for microseconds, except in a forked child whose parent
/// held it at that moment.
const LOCKED_MAX: Duration = Duration::from_secs(2);

/// Why a process cannot be watched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The number is not that of a process.
    #[error("{pid} is no process number; they are from 1 to 2147483647")]
    NoNumber {
        /// The number that was given.
        pid: u32,
    },
    /// The peer monitor's thread, or the descriptor that wakes it, could not be made.
    #[error(
        "cannot keep watch over process {pid}: {source}; raise the limit on threads or open files"
    )]
    Resources {
        /// The process to watch.
        pid: u32,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// This process was forked while its parent's peer monitor was at work.
    #[error(
        "cannot keep watch over process {pid} in a forked process: start the program anew instead of forking it"
    )]
    Forked {
        /// The process to watch.
        pid: u32,
    },
}

type Callback = Box<dyn FnOnce() + Send>;

/// How the end of a watched process is noticed.
#[derive(Debug)]
enum Means {
    /// The kernel wakes the thread.
    Descriptor(Arc<OwnedFd>),
    /// The thread looks for the process at intervals; with the start time, where it is known.
    Look(Option<u64>),
    /// The process had ended before it was watched.
    Ended,
}

struct Entry {
    pid: Pid,
    means: Means,
    on_death: Callback,
}

/// The watched processes, and the thread that watches them.
struct WatchList {
    /// Detects a forked copy of the process in which the thread runs.
    fork_detector: Option<ForkDetector>,
    /// Wakes the thread; `Some` exactly while the thread runs.
    bell: Option<Arc<OwnedFd>>,
    next: u64,
    entries: BTreeMap<u64, Entry>,
}

static WATCH_LIST: Mutex<WatchList> = Mutex::new(WatchList {
    fork_detector: None,
    bell: None,
    next: 0,
    entries: BTreeMap::new(),
});

/// Ends a watch when it is dropped: the callback is then not called any more, unless it has begun.
#[derive(Debug)]
#[must_use = "dropping it ends the watch"]
pub struct Watch {
    id: u64,
    fork_detector: ForkDetector,
}

/// Calls `on_death` once, from the peer monitor's thread, when process `pid` has ended; at once if it has already.
/// `born`, the start time from [`born`], tells the process apart from a later one with its number.
///
/// The callback must be short and must not wait, because all watches of this process share the thread. A panic in
/// it is contained.
///
/// # Errors
///
/// [`WatchError`]. A process that has already ended is no error.
///
/// # Cost
///
/// A descriptor per watch; no CPU while nothing happens. Where the kernel refuses descriptors of processes (before
/// Linux 5.3, or by a filter), a look at `/proc` every 20 ms.
///
/// # Examples
///
/// ```
/// use corecast_process::peer_monitor::watch;
/// use std::process::Command;
/// use std::sync::mpsc;
///
/// let mut child = Command::new("sleep").arg("60").spawn()?;
/// let (tell, told) = mpsc::channel();
/// let _watch = watch(child.id(), None, move || tell.send("gone").unwrap())?;
/// child.kill()?;
/// assert_eq!(told.recv()?, "gone");
/// child.wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn watch(
    pid: u32,
    born: Option<u64>,
    on_death: impl FnOnce() + Send + 'static,
) -> Result<Watch, WatchError> {
    watch_by(pid, born, Box::new(on_death), pidfd_open)
}

fn watch_by(
    pid: u32,
    born: Option<u64>,
    on_death: Callback,
    open: impl FnOnce(Pid, PidfdFlags) -> rustix::io::Result<OwnedFd>,
) -> Result<Watch, WatchError> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = number.ok_or(WatchError::NoNumber { pid })?;
    let entry = Entry {
        pid: process,
        means: means(process, born, open),
        on_death,
    };
    let resources = |source| WatchError::Resources { pid, source };
    let mut watch_list = lock().ok_or(WatchError::Forked { pid })?;
    let fork_detector = ForkDetector::now();
    if watch_list
        .fork_detector
        .is_some_and(|fork_detector| forked_since(&fork_detector))
    {
        // These are the parent's entries: its thread is not in this process, and its callbacks must not run here.
        watch_list.bell = None;
        let inherited = std::mem::take(&mut watch_list.entries);
        inherited
            .into_values()
            .for_each(|entry| std::mem::forget(entry.on_death));
    }
    watch_list.fork_detector = Some(fork_detector);
    let id = watch_list.next;
    watch_list.next += 1;
    watch_list.entries.insert(id, entry);
    match &watch_list.bell {
        Some(bell) => ring(bell),
        None => {
            if let Err(source) = start(&mut watch_list) {
                watch_list.entries.remove(&id);
                return Err(resources(source));
            }
        }
    }
    Ok(Watch { id, fork_detector })
}

/// Starts the thread. The caller holds the lock of the watch list, so the thread finds all that the caller writes.
fn start(watch_list: &mut WatchList) -> std::io::Result<()> {
    let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let own = Arc::clone(&bell);
    std::thread::Builder::new()
        // The kernel keeps 15 bytes of a name.
        .name("corecast-watch".into())
        .spawn(move || keep(&own))?;
    watch_list.bell = Some(bell);
    Ok(())
}

fn ring(bell: &OwnedFd) {
    // The write fails only if the bell's counter is full, and then the bell wakes the thread already.
    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
}

/// The watch list, or `None` if it stays locked.
fn lock() -> Option<MutexGuard<'static, WatchList>> {
    let begin = Instant::now();
    loop {
        match WATCH_LIST.try_lock() {
            Ok(watch_list) => return Some(watch_list),
            // No callback runs under the lock, so a panic leaves nothing half written.
            Err(TryLockError::Poisoned(watch_list)) => return Some(watch_list.into_inner()),
            Err(TryLockError::WouldBlock) if begin.elapsed() > LOCKED_MAX => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if forked_since(&self.fork_detector) {
            return;
        }
        let mut watch_list = WATCH_LIST.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = watch_list.entries.remove(&self.id);
        if let (Some(_), Some(bell)) = (&entry, &watch_list.bell) {
            ring(bell);
        }
        drop(watch_list);
        // What the callback holds may start or end watches when it is dropped, so the lock is released first.
        drop(entry);
    }
}

/// Chooses how to notice that process `pid` ends; `Means::Ended` if it has ended, or did not start at `born`.
fn means(
    pid: Pid,
    born: Option<u64>,
    open: impl FnOnce(Pid, PidfdFlags) -> rustix::io::Result<OwnedFd>,
) -> Means {
    match open(pid, PidfdFlags::empty()) {
        Ok(descriptor) => {
            let now = life(pid.as_raw_pid().unsigned_abs());
            match (born, now) {
                // Another process has the number, so the one that started at `born` has ended.
                (Some(born), Some(now)) if now.born != born => Means::Ended,
                _ => Means::Descriptor(Arc::new(descriptor)),
            }
        }
        Err(Errno::SRCH) => Means::Ended,
        // This kernel does not know the call, a filter refuses it, or no descriptor is left.
        Err(_) if is_gone(pid, born) => Means::Ended,
        Err(_) => Means::Look(born.or_else(|| self::born(pid.as_raw_pid().unsigned_abs()))),
    }
}

/// Whether process `pid`, which started at `born`, has ended: from `/proc`, or from a test signal without `/proc`.
fn is_gone(pid: Pid, born: Option<u64>) -> bool {
    match life(pid.as_raw_pid().unsigned_abs()) {
        Some(now) => now.ended || born.is_some_and(|born| born != now.born),
        // There is no such process, or no `/proc`: a process that can be signalled has not ended.
        None => test_kill_process(pid) == Err(Errno::SRCH),
    }
}

/// Runs the peer monitor's thread until the watch list is empty.
fn keep(bell: &OwnedFd) {
    loop {
        let mut dead = Vec::new();
        let mut watched = Vec::new();
        let mut looks = false;
        {
            let mut watch_list = WATCH_LIST.lock().unwrap_or_else(PoisonError::into_inner);
            let ended = |entry: &mut Entry| match entry.means {
                Means::Ended => true,
                Means::Look(born) => is_gone(entry.pid, born),
                Means::Descriptor(_) => false,
            };
            dead.extend(watch_list.entries.extract_if(.., |_, entry| ended(entry)));
            if watch_list.entries.is_empty() && dead.is_empty() {
                // Invariant 1.
                watch_list.bell = None;
                return;
            }
            for (id, entry) in &watch_list.entries {
                match &entry.means {
                    Means::Descriptor(descriptor) => watched.push((*id, Arc::clone(descriptor))),
                    Means::Look(_) => looks = true,
                    Means::Ended => {}
                }
            }
        }
        if dead.is_empty() {
            let ended = wait(bell, &watched, looks);
            let mut watch_list = WATCH_LIST.lock().unwrap_or_else(PoisonError::into_inner);
            dead.extend(
                ended
                    .into_iter()
                    .filter_map(|id| Some((id, watch_list.entries.remove(&id)?))),
            );
        }
        for (_, entry) in dead {
            // The panic hook has reported a panic; the other processes must still be watched.
            let _ = catch_unwind(AssertUnwindSafe(entry.on_death));
        }
    }
}

/// Sleeps until the bell rings, a process ends or it is time to look. Returns the entries whose processes have
/// ended.
fn wait(bell: &OwnedFd, watched: &[(u64, Arc<OwnedFd>)], looks: bool) -> Vec<u64> {
    let limit = looks.then_some(Timespec {
        tv_sec: 0,
        tv_nsec: LOOK_EVERY.subsec_nanos().into(),
    });
    let descriptors = watched.iter().map(|(_, descriptor)| descriptor.as_fd());
    let mut fds: Vec<PollFd<'_>> = std::iter::once(bell.as_fd())
        .chain(descriptors)
        .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
        .collect();
    match poll(&mut fds, limit.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Vec::new(),
        Err(_) => {
            // There are more descriptors than the limit, which was lowered since, or no memory: poll them one by
            // one.
            std::thread::sleep(LOOK_EVERY);
            let at_once = Timespec::default();
            let ended = |fd: &OwnedFd| {
                let mut fd = [PollFd::new(fd, PollFlags::IN)];
                poll(&mut fd, Some(&at_once)) == Ok(1)
            };
            let watched = watched.iter().filter(|(_, fd)| ended(fd));
            return watched.map(|(id, _)| *id).collect();
        }
    }
    let mut count = [0; 8];
    if !fds[0].revents().is_empty() {
        let _ = rustix::io::read(bell, &mut count);
    }
    let ended = fds[1..].iter().zip(watched);
    ended
        .filter(|(fd, _)| !fd.revents().is_empty())
        .map(|(_, (id, _))| *id)
        .collect()
}

#[cfg(test)]
mod tests;
