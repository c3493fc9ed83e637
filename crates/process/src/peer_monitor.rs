//! The peer monitor, which notices that another process has ended, and lets others notice the end of this one.
//!
//! One thread in each process, which sleeps in `poll` on a descriptor per watched process and is
//! woken by the kernel when one of them ends; a zombie has ended. It is started with the first
//! [`Watch`] or kept mark and ends with the last.
//!
//! A descriptor tells nothing when a process calls `exec`, and none can be had in another PID namespace. So each process
//! of a team has an [`EndMark`] in the team's memory. Its own monitor's thread keeps the mark, and whatever ends that
//! thread without its consent ends the process, or is an `exec`. The monitors of the others look at the mark every
//! 50 ms. Why not otherwise:
//!
//! | means | what it misses |
//! | --- | --- |
//! | descriptor of the process (pidfd) | `exec`, other PID namespaces |
//! | socket or pipe that hangs up, lock of an open file | the end of a process of which a forked child lives on; teams that are inherited have only their memory in common |
//! | lock of a process (`F_SETLK`) | nothing, but is lost when any descriptor of the memory is closed |
//! | robust futex of the C library | nothing, but the library follows pointers in memory that other processes write |
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
//! under one lock; so an entry and a kept mark always have a thread. **Invariant 2:** an entry is taken out under
//! the lock before it is called, so it is called once at most, and without the lock.
//!
//! A process number may be given to another process. So a watch can give the start time of its process. The
//! descriptor is opened first and `/proc` is read afterwards; if the process behind the descriptor is alive after
//! that, it is the one that was read.

pub use crate::process_stat::born;

use crate::process_stat::life;
use corecast_wire::fork::{ForkDetector, forked_since, without_forks};
use corecast_wire::robust_list::{EndMark, RobustList};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, test_kill_process};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Pause between two looks at a process for which the kernel gives no descriptor.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Pause between two looks at the marks of other processes, of a few loads each. Ends that a descriptor shows too are
/// noticed at once.
const MARKS_EVERY: Duration = Duration::from_millis(50);

/// Longest wait for the watch list. It is locked for microseconds, except in a child that was forked past the C library's
/// handlers at that moment.
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
    /// The process is in another PID namespace, and has no mark that would tell when it ends.
    #[error(
        "cannot keep watch over process {pid} of another PID namespace: the kernel refuses `set_robust_list` to it; allow the call, or run all processes in one PID namespace"
    )]
    OtherNamespace {
        /// The process to watch, by its number there.
        pid: u32,
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
    Look(Pid, Option<u64>),
    /// The process had ended before it was watched.
    Ended,
    /// The number of the process means nothing here, so its mark alone tells.
    Mark,
}

struct Entry {
    means: Means,
    mark: Option<EndMark>,
    on_death: Callback,
}

/// A process of a team.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Its number.
    pub(crate) pid: u32,
    /// Whether the number is one of this process's PID namespace; `None` if that is unknown.
    pub(crate) is_near: Option<bool>,
    /// Its start time, where it is known and means something here.
    pub(crate) born: Option<u64>,
    /// The mark that tells when it has ended.
    pub(crate) mark: EndMark,
}

/// A mark that the thread is to keep.
struct Kept {
    mark: EndMark,
    /// Whoever waits until the thread keeps the mark, or has failed to.
    tell: Option<Sender<()>>,
}

/// The watched processes, and the thread that watches them.
struct WatchList {
    /// Detects a forked copy of the process in which the thread runs.
    fork_detector: Option<ForkDetector>,
    /// Wakes the thread; `Some` exactly while the thread runs.
    bell: Option<Arc<OwnedFd>>,
    next: u64,
    entries: BTreeMap<u64, Entry>,
    kept: BTreeMap<u64, Kept>,
}

static WATCH_LIST: Mutex<WatchList> = Mutex::new(WatchList {
    fork_detector: None,
    bell: None,
    next: 0,
    entries: BTreeMap::new(),
    kept: BTreeMap::new(),
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
/// The callback must be short and must not wait, because all watches of this process share the thread. It must lock no
/// robust mutex of the C library: the kernel would not release that if the thread ended, as the thread has another list of
/// robust futexes. A panic in the callback is contained.
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
    #[cfg(corecast_simulated)]
    if let Some(scheduler) = corecast_wire::simulated::scheduler() {
        let id = scheduler.watch(pid, false, Box::new(on_death));
        let fork_detector = ForkDetector::now();
        return Ok(Watch { id, fork_detector });
    }
    watch_by(pid, born, Box::new(on_death), pidfd_open)
}

fn watch_by(
    pid: u32,
    born: Option<u64>,
    on_death: Callback,
    open: impl FnOnce(Pid, PidfdFlags) -> rustix::io::Result<OwnedFd>,
) -> Result<Watch, WatchError> {
    let entry = Entry {
        means: means(process(pid)?, born, open),
        mark: None,
        on_death,
    };
    add(pid, entry)
}

fn add(pid: u32, entry: Entry) -> Result<Watch, WatchError> {
    let (id, fork_detector) = insert(pid, |watch_list, id| {
        watch_list.entries.insert(id, entry);
    })?;
    Ok(Watch { id, fork_detector })
}

/// Does what [`watch`] does, for a process of a team, which may also call `exec` or be in another PID namespace.
pub(crate) fn watch_peer(
    peer: Peer,
    on_death: impl FnOnce() + Send + 'static,
) -> Result<Watch, WatchError> {
    let Peer { pid, is_near, .. } = peer;
    let mark = Some(peer.mark).filter(EndMark::is_known);
    #[cfg(corecast_simulated)]
    if let Some(scheduler) = corecast_wire::simulated::scheduler() {
        let shows_exec = mark.is_some() && !corecast_wire::sync::mutated!(MarkUnseen);
        let id = scheduler.watch(pid, shows_exec, Box::new(on_death));
        let fork_detector = ForkDetector::now();
        return Ok(Watch { id, fork_detector });
    }
    let means = match (is_near, &mark) {
        (Some(true), _) | (None, None) => means(process(pid)?, peer.born, pidfd_open),
        (_, Some(_)) => Means::Mark,
        (Some(false), None) => return Err(WatchError::OtherNamespace { pid }),
    };
    let on_death = Box::new(on_death);
    let entry = Entry {
        means,
        mark,
        on_death,
    };
    add(pid, entry)
}

/// Lets the end of this process, and an `exec` of it, show in `mark`, from the return of this function until
/// [`Keeping`] is dropped. Where the kernel refuses that, the mark stays as if nobody kept it.
pub(crate) fn keep_mark(mark: EndMark) -> Result<Keeping, WatchError> {
    #[cfg(corecast_simulated)]
    if let Some(scheduler) = corecast_wire::simulated::scheduler() {
        mark.keep_for(scheduler.process());
        let (id, fork_detector) = (u64::MAX, ForkDetector::now());
        return Ok(Keeping { id, fork_detector });
    }
    let (tell, told) = channel();
    let kept = Kept {
        mark,
        tell: Some(tell),
    };
    let (id, fork_detector) = insert(std::process::id(), |watch_list, id| {
        watch_list.kept.insert(id, kept);
    })?;
    // An error tells that the thread has dropped the sender, so it has tried too.
    let _ = told.recv();
    Ok(Keeping { id, fork_detector })
}

/// Keeps a mark until it is dropped.
#[derive(Debug)]
#[must_use = "dropping it gives the mark up"]
pub(crate) struct Keeping {
    id: u64,
    fork_detector: ForkDetector,
}

impl Drop for Keeping {
    fn drop(&mut self) {
        if forked_since(&self.fork_detector) {
            return;
        }
        #[cfg(corecast_simulated)]
        if self.id == u64::MAX {
            return;
        }
        with_own_list(|watch_list| {
            watch_list.kept.remove(&self.id);
            if let Some(bell) = &watch_list.bell {
                ring(bell);
            }
        });
    }
}

fn process(pid: u32) -> Result<Pid, WatchError> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
    number.ok_or(WatchError::NoNumber { pid })
}

/// Calls `add` with the watch list and a number for what it adds, and sees to it that the thread finds it.
fn insert(
    pid: u32,
    add: impl FnOnce(&mut WatchList, u64),
) -> Result<(u64, ForkDetector), WatchError> {
    with_list(LOCKED_MAX, |watch_list| insert_in(watch_list, pid, add))
        .ok_or(WatchError::Forked { pid })?
}

fn insert_in(
    watch_list: &mut WatchList,
    pid: u32,
    add: impl FnOnce(&mut WatchList, u64),
) -> Result<(u64, ForkDetector), WatchError> {
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
        watch_list.kept.clear();
    }
    watch_list.fork_detector = Some(fork_detector);
    let id = watch_list.next;
    watch_list.next += 1;
    add(watch_list, id);
    match &watch_list.bell {
        Some(bell) => ring(bell),
        None => {
            if let Err(source) = start(watch_list) {
                watch_list.entries.remove(&id);
                watch_list.kept.remove(&id);
                return Err(WatchError::Resources { pid, source });
            }
        }
    }
    Ok((id, fork_detector))
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

/// Runs `body` with the watch list, while no thread forks: a child of `fork` never finds it locked. `None` if it stays
/// locked for longer than `within`.
fn with_list<R>(within: Duration, body: impl FnOnce(&mut WatchList) -> R) -> Option<R> {
    without_forks(within, || {
        // No callback runs under the lock, so a panic leaves nothing half written.
        body(&mut WATCH_LIST.lock().unwrap_or_else(PoisonError::into_inner))
    })
}

/// The same in the process whose list it is.
fn with_own_list<R>(body: impl FnOnce(&mut WatchList) -> R) -> R {
    with_list(Duration::MAX, body).expect("it waits for as long as it takes")
}

impl Drop for Watch {
    fn drop(&mut self) {
        if forked_since(&self.fork_detector) {
            return;
        }
        #[cfg(corecast_simulated)]
        if let Some(scheduler) = corecast_wire::simulated::scheduler() {
            return scheduler.unwatch(self.id);
        }
        let entry = with_own_list(|watch_list| {
            let entry = watch_list.entries.remove(&self.id);
            if let (Some(_), Some(bell)) = (&entry, &watch_list.bell) {
                ring(bell);
            }
            entry
        });
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
        Err(_) => Means::Look(
            pid,
            born.or_else(|| self::born(pid.as_raw_pid().unsigned_abs())),
        ),
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

/// The marks that this process keeps, by the thread that runs this.
#[derive(Default)]
struct Marks(Option<io::Result<RobustList>>);

impl Marks {
    /// Keeps the marks of the watch list and no others.
    fn follow(&mut self, kept: &mut BTreeMap<u64, Kept>) {
        if kept.is_empty() && self.0.is_none() {
            return;
        }
        // A filter that refuses stays, so one try is enough. One that is installed later does not matter: the list is
        // there.
        let list = self.0.get_or_insert_with(RobustList::of_this_thread);
        if let Ok(list) = list {
            list.retain(|id| kept.contains_key(&id));
            for (id, kept) in kept.iter() {
                if !list.keeps(*id) {
                    list.add(*id, kept.mark.clone());
                }
            }
        }
        for kept in kept.values_mut() {
            if let Some(tell) = kept.tell.take() {
                let _ = tell.send(());
            }
        }
    }
}

/// Runs the peer monitor's thread until the watch list is empty.
fn keep(bell: &OwnedFd) {
    let mut marks = Marks::default();
    loop {
        let Some(mut looked) = with_own_list(|watch_list| look(watch_list, &mut marks)) else {
            return;
        };
        if looked.dead.is_empty() {
            let ended = wait(bell, &looked.watched, looked.pause);
            looked.dead = with_own_list(|watch_list| {
                let ended = ended.into_iter();
                ended
                    .filter_map(|id| Some((id, watch_list.entries.remove(&id)?)))
                    .collect()
            });
        }
        for (_, entry) in looked.dead {
            // The panic hook has reported a panic; the other processes must still be watched.
            let _ = catch_unwind(AssertUnwindSafe(entry.on_death));
        }
    }
}

/// What the thread has found in the watch list.
struct Looked {
    /// The entries whose processes have ended, which are not in the list any more.
    dead: Vec<(u64, Entry)>,
    /// The descriptors by which the kernel tells that others have.
    watched: Vec<(u64, Arc<OwnedFd>)>,
    /// The time after which to look again.
    pause: Option<Duration>,
}

/// Keeps the marks of the watch list and looks for ends. `None` if nothing is left to watch or to keep: the thread ends.
fn look(watch_list: &mut WatchList, marks: &mut Marks) -> Option<Looked> {
    marks.follow(&mut watch_list.kept);
    let ended = |entry: &mut Entry| {
        let marked = entry.mark.as_ref().is_some_and(EndMark::has_ended);
        match entry.means {
            Means::Ended => true,
            Means::Look(pid, born) => marked || is_gone(pid, born),
            Means::Descriptor(_) | Means::Mark => marked,
        }
    };
    let dead: Vec<_> = watch_list
        .entries
        .extract_if(.., |_, entry| ended(entry))
        .collect();
    if watch_list.entries.is_empty() && watch_list.kept.is_empty() && dead.is_empty() {
        // Invariant 1.
        watch_list.bell = None;
        return None;
    }
    let mut watched = Vec::new();
    let mut pause: Option<Duration> = None;
    for (id, entry) in &watch_list.entries {
        let look = match &entry.means {
            Means::Descriptor(descriptor) => {
                watched.push((*id, Arc::clone(descriptor)));
                None
            }
            Means::Look(..) => Some(LOOK_EVERY),
            Means::Ended | Means::Mark => None,
        };
        let looks = [look, entry.mark.as_ref().map(|_| MARKS_EVERY), pause];
        pause = looks.into_iter().flatten().min();
    }
    Some(Looked {
        dead,
        watched,
        pause,
    })
}

/// Sleeps until the bell rings, a process ends or it is time to look. Returns the entries whose processes have
/// ended.
fn wait(bell: &OwnedFd, watched: &[(u64, Arc<OwnedFd>)], pause: Option<Duration>) -> Vec<u64> {
    let limit = pause.map(|pause| Timespec {
        tv_sec: 0,
        tv_nsec: pause.subsec_nanos().into(),
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
