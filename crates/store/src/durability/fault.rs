//! Faults that tests seed, to show that a check finds them. Outside of this crate's tests there are none.

/// A rule that is broken.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// What was written is told to be durable without a sync.
    ToldUnsynced,
    /// A sync that has failed is tried again.
    SyncRetried,
    /// A record whose checksum is wrong is taken for whole.
    ChecksumIgnored,
    /// The length of a new segment is not durable when records are written there.
    LengthUnsynced,
    /// The name of a new segment is not durable when records are written there.
    NameUnsynced,
    /// A new segment is begun while the one before it is not durable.
    OldSegmentUnsynced,
    /// A segment is ended while a sync beside the log has not told how it has ended.
    EndedAmidSync,
    /// An event loop writes to the log while it is synced.
    WroteAmidSync,
    /// A snapshot gets its name before it is durable.
    SnapshotUnsynced,
    /// Segments are removed before the name of the snapshot is durable.
    RemovedBeforeSnapshot,
    /// The log goes on in the file that it was recovered from, behind a torn tail.
    TailKept,
    /// A broken record is taken for a torn tail although later ones tell that it was durable.
    DurableCutOff,
    /// Entries that a snapshot has are applied again.
    AppliedTwice,
    /// Replies go out before what they depend on is in the log.
    ReleasedUnwritten,
    /// A replica forgets what it has applied before that is in the log.
    TrimmedUnreleased,
    /// A replica that takes the state of another one does not take what is not in the log.
    TailNotTaken,
    /// Whoever goes on with the log does not write anew what may not have reached the disk.
    TakenUnwritten,
    /// Nor makes the name of a new segment durable.
    TakenUnnamed,
    /// The log goes on behind a snapshot whose name may not be durable.
    SnapshotUnnamed,
    /// Requests of a connection run before its writes, which were left to be agreed on, are answered.
    RanUnanswered,
    /// Of those whose writes were agreed on together each is answered what is for the first one too.
    RepliesOfOthers,
}

#[cfg(test)]
thread_local! {
    static SEEDED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Runs with a fault, in this thread.
#[cfg(test)]
pub(crate) fn with<T>(fault: Option<Fault>, run: impl FnOnce() -> T) -> T {
    SEEDED.set(fault);
    let result = run();
    SEEDED.set(None);
    result
}

#[cfg(test)]
pub(crate) fn is_seeded(fault: Fault) -> bool {
    SEEDED.get() == Some(fault) || of_process() == Some(format!("{fault:?}").as_str())
}

/// The fault of all threads of this process, which a test has started as another one.
#[cfg(test)]
fn of_process() -> Option<&'static str> {
    static FAULT: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let fault = FAULT.get_or_init(|| std::env::var(OF_PROCESS).ok());
    fault.as_deref()
}

/// What names the fault of a process that a test starts.
#[cfg(test)]
pub(crate) const OF_PROCESS: &str = "STORE_TEST_FAULT";

/// Whether a fault is seeded.
#[cfg(test)]
macro_rules! seeded {
    ($fault:ident) => {
        crate::durability::fault::is_seeded(crate::durability::fault::Fault::$fault)
    };
}

/// Whether a fault is seeded: outside of tests none is.
#[cfg(not(test))]
macro_rules! seeded {
    ($fault:ident) => {
        false
    };
}

pub(crate) use seeded;
