//! The threads of the replica that writes the log.
//!
//! They are beside the event loop, so that the group goes on while a disk takes its time, and what comes meanwhile is written and synced at
//! once. Where replies need not wait for a sync the event loop writes itself, since waking a thread takes longer than a copy to the kernel's
//! memory; but not amid a sync, when the kernel may keep a write waiting. What they write comes from the replica's tail, and how far they are goes to the words that all replicas see.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use corecast_agree::paxos::processes::ProcessGroup;
use corecast_wire::sync::{AtomicU32, Ordering};

use crate::commands::Databases;
use crate::durability::{
    AppendFsync, Disk, GroupLog, Journal, Persistence, SEGMENT_BYTES, Saver, Tail, reopen,
};

/// How often it is looked what is due.
const TICK: Duration = Duration::from_millis(100);
/// The same while a client waits for a snapshot.
const SAVING_TICK: Duration = Duration::from_millis(5);

/// An event loop writes no more than this itself.
pub(super) const AT_ONCE_BYTES_MAX: usize = 256 << 10;

/// What is written, and where.
#[derive(Clone, Debug)]
pub(super) struct LogContext {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) policy: AppendFsync,
    /// The index in the log of the order's first entry.
    pub(super) base: u64,
    pub(super) tail: Arc<Tail>,
    pub(super) log: Arc<GroupLog>,
    pub(super) group: ProcessGroup,
}

/// The threads of the replica that writes the log.
#[derive(Debug)]
pub(super) struct LogWriter {
    thread: JoinHandle<()>,
    shared: Arc<Shared>,
}

/// What the event loop and these threads share.
#[derive(Debug, Default)]
struct Shared {
    ends: AtomicU32,
    copies: Mutex<Copies>,
    came: Condvar,
    /// What writes, once the log is open.
    persistence: OnceLock<Arc<Persistence>>,
    /// Whoever tells all replicas how far the log is has this, so that no older news come after newer ones.
    telling: Mutex<()>,
}

/// A copy of all databases, which the event loop makes for whoever takes snapshots.
#[derive(Debug, Default)]
struct Copies {
    is_wanted: bool,
    copy: Option<(u64, Databases)>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Copies> {
        // What is in there holds whatever panicked.
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ends(&self) -> bool {
        // Relaxed: whoever sees it only ends.
        self.ends.load(Ordering::Relaxed) != 0
    }

    /// Has the event loop copy all databases.
    fn copy(&self) -> Option<(u64, Databases)> {
        let mut copies = self.lock();
        copies.is_wanted = true;
        while !self.ends() {
            if let Some(copy) = copies.copy.take() {
                return Some(copy);
            }
            let waited = self.came.wait_timeout(copies, TICK);
            copies = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }
}

impl LogWriter {
    /// Begins to write, in threads. Whoever has written before has ended.
    pub(super) fn start(context: LogContext) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        let named = Builder::new().name("log".to_owned());
        let thread = named.spawn(move || {
            let _ends = EndsProcess;
            write(&context, &its);
        })?;
        Ok(Self { thread, shared })
    }

    /// Writes what has come without waiting for the disk, if that can be, and says so to all replicas. Returns whether it was.
    pub(super) fn write_at_once(&self, context: &LogContext, me: usize) -> bool {
        let Some(persistence) = self.shared.persistence.get() else {
            return false;
        };
        let written = persistence.journal.commit_at_once(AT_ONCE_BYTES_MAX);
        if written {
            tell_released(context, &self.shared, persistence);
            let others = context.log.waiting().filter(|it| *it != me);
            others.for_each(|it| context.group.wake(it));
        }
        written
    }

    /// Gives a copy of all databases if one is wanted, and tells up to which entry.
    pub(super) fn give(&self, copy: impl FnOnce() -> (u64, Databases)) {
        let mut copies = self.shared.lock();
        if std::mem::take(&mut copies.is_wanted) {
            copies.copy = Some(copy());
            self.shared.came.notify_all();
        }
    }

    /// Makes all durable that was applied, and ends.
    pub(super) fn close(self, tail: &Tail) {
        // Relaxed: the thread is joined.
        self.shared.ends.store(1, Ordering::Relaxed);
        tail.tell();
        let _ = self.thread.join();
    }
}

/// A thread that cannot go on ends the process: then another replica writes.
struct EndsProcess;

impl Drop for EndsProcess {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

fn write(context: &LogContext, shared: &Shared) {
    let persistence = match open(context) {
        Ok(persistence) => persistence,
        Err(error) => {
            eprintln!("corecast: {error}: writes are refused from now on");
            context.log.set_failed(&error.to_string());
            return wake(context);
        }
    };
    let persistence = Arc::new(persistence);
    let _ = shared.persistence.set(Arc::clone(&persistence));
    let ends = || shared.ends();
    let mut copy = || shared.copy();
    let ended = std::thread::scope(|scope| {
        persistence.spawn(scope, &mut copy, &ends)?;
        while !shared.ends() {
            let _ = persistence.journal.commit(0);
            let is_asked = context.log.asked();
            persistence.saver.ask_until(is_asked);
            let saves = publish(context, shared, &persistence);
            let is_awaited = is_asked > saves;
            context
                .tail
                .wait(if is_awaited { SAVING_TICK } else { TICK });
        }
        Ok::<_, io::Error>(())
    });
    if let Err(error) = ended {
        eprintln!("corecast: {error}: this replica cannot write the log");
        // Another one may.
        std::process::exit(1);
    }
    persistence.journal.close();
    publish(context, shared, &persistence);
    if persistence.journal.failed().is_none() {
        context.log.set_closed();
    }
}

/// Goes on with the log where it ends.
fn open(context: &LogContext) -> io::Result<Persistence> {
    let LogContext {
        disk,
        policy,
        base,
        tail,
        log: words,
        ..
    } = context;
    #[cfg(test)]
    let disk = &crate::durability::FailingDisk::or(Arc::clone(disk));
    let saves = words.saves();
    let log = reopen(disk, SEGMENT_BYTES, saves.log_bytes, words.mark())?;
    let next = log.end().checked_sub(*base);
    let next = next.filter(|it| *it >= words.written());
    let next = next.ok_or_else(|| {
        let shown = disk.shown("");
        io::Error::other(format!("{shown}: the log has lost what was answered"))
    })?;
    let source = Box::new(Arc::clone(tail).follow(next));
    Ok(Persistence {
        journal: Journal::new(log, source, *base, *policy),
        saver: Saver::new(Arc::clone(disk), &saves),
    })
}

/// Says how far all is, and wakes those who wait for it. Returns how many snapshots were asked for and are done.
fn publish(context: &LogContext, shared: &Shared, persistence: &Persistence) -> u64 {
    let log = &context.log;
    let saves = persistence.saves();
    log.set_saves(&saves);
    match persistence.journal.failed() {
        None => tell_released(context, shared, persistence),
        Some(why) if log.failed().is_none() => log.set_failed(why),
        Some(_) => {}
    }
    wake(context);
    saves.done
}

fn tell_released(context: &LogContext, shared: &Shared, persistence: &Persistence) {
    let _telling = shared
        .telling
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let journal = &persistence.journal;
    context
        .log
        .set_released(journal.written(), journal.released());
    if let Some(mark) = journal.mark() {
        context.log.set_mark(mark);
    }
}

fn wake(context: &LogContext) {
    let waiting = context.log.waiting();
    waiting.for_each(|it| context.group.wake(it));
}
