//! Faults that tests seed, to show that a check finds them. Outside of the tests of this crate there are none.

/// A rule that is broken.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// 1Paxos: an acceptor change carries nothing.
    NothingCarried,
    /// 1Paxos: a new leader ignores what the last entry carries.
    CarriedIgnored,
    /// 1Paxos: a leader whose prepare has not been answered changes the acceptor.
    ChangedBeforePromise,
    /// 1Paxos: the configuration log appends without comparing positions.
    AppendUncompared,
    /// 1Paxos: proposals still go to the old acceptor once the acceptor change is built.
    StillToOldAcceptor,
    /// 1Paxos: a new leader ignores what the acceptor has accepted.
    ReportIgnored,
    /// 1Paxos: a new leader takes for the acceptor whom it began with, the first leader, instead of asking the log.
    AcceptorFromStart,
    /// 1Paxos: the acceptor accepts whatever the ballot.
    BallotIgnored,
    /// 1Paxos: a leader change drops what the entry before carried.
    LeaderChangeDropsCarried,
    /// 1Paxos: an acceptor that has lost its memory answers, as if it had accepted nothing.
    AcceptorRestartsEmpty,
    /// 1Paxos: a leader carries only what it does not know to be chosen.
    ChosenNotCarried,
    /// 1Paxos: what the leader has learned is dropped, whether the others have learned it or not.
    FloorOfLeader,
    /// 1Paxos: a leader that is not waited for drops what it has not learned itself.
    LeaderUnawaited,
    /// 1Paxos: a member has room for entries that were dropped before it came.
    RoomForDropped,
    /// 1Paxos: a member that restarts goes on as the leader that the log names.
    RestartedLeads,
    /// 1Paxos: a deposed leader does not notice.
    DeposedLeads,
    /// 1Paxos: the entry of an acceptor change does not tell up to where the log has been dropped.
    FloorNotCarried,
    /// The driver of 1Paxos: a command is told to be chosen when it is submitted.
    ToldUnchosen,
    /// The driver of 1Paxos: commands that were submitted twice are delivered twice.
    DuplicatesDelivered,
    /// The driver of 1Paxos: a member does not pass on what comes down a tree.
    NotPassedOn,
    /// The driver of 1Paxos: a tree does not leave out the members that are silent.
    SilentKept,
    /// The driver of 1Paxos: a leader proposes whether or not a member that is alive can follow.
    NobodyAwaited,
    /// The driver of 1Paxos: a leader proposes what is submitted again.
    ProposedAgain,
    /// The driver of 1Paxos: a member that waits for a CPU is replaced as soon as one that is stopped.
    StarvedReplaced,
    /// The driver of 1Paxos: a member that waits for a CPU is never replaced.
    StarvedAwaited,
    /// 1Paxos over processes: the pieces of a member's former start are kept for its next one.
    FormerPiecesKept,
    /// 1Paxos over processes: pieces of a member's former start count after its next one has begun.
    FormerStartsHeard,
    /// 1Paxos over processes: the watermark is not raised before an entry is delivered.
    WatermarkUnraised,
    /// Two-phase commit: a participant votes before its record is durable.
    VoteUnforced,
    /// Two-phase commit: a participant acknowledges a commit before its record is durable.
    AcknowledgedUnforced,
    /// Two-phase commit: a participant that waits too long for the outcome aborts.
    PreparedAbortsAlone,
    /// Two-phase commit: a participant that restarts aborts what it was prepared for.
    PreparedForgotten,
    /// Two-phase commit: a participant votes on what has ended.
    FloorIgnored,
    /// Two-phase commit: the coordinator tells a commit before its record is durable.
    CommitToldUnforced,
    /// Two-phase commit: the first yes is enough.
    OneVoteEnough,
    /// Two-phase commit: a no does not abort, and the participant that said it is not waited for either.
    NoIgnored,
    /// Two-phase commit: the coordinator forgets a commit when the first participant has acknowledged it.
    OneAcknowledgementEnough,
    /// Two-phase commit: who asks for a transaction that is not decided is told that it was aborted.
    UndecidedPresumed,
    /// Two-phase commit: who asks for a transaction that is not known is told that it was committed.
    CommitPresumed,
    /// Two-phase commit: a coordinator that restarts does not read what it has committed.
    CommitsForgotten,
    /// Two-phase commit: a coordinator that restarts numbers transactions as before.
    NumbersReused,
    /// Stable reads: a read does not wait for what is noted of its key.
    NotesIgnored,
    /// Stable reads: a read looks at what is noted of its key alone, not at entries that touch everything.
    EverythingIgnored,
    /// Stable reads: a read of everything looks at entries that touch everything alone, not at those of keys.
    KeysIgnored,
    /// Stable reads: a writer does not ask again who must be told when replicas have come.
    JoinerUnknown,
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

/// Whether no fault is seeded.
#[cfg(test)]
pub(crate) fn none() -> bool {
    SEEDED.get().is_none()
}

#[cfg(test)]
pub(crate) fn is_seeded(fault: Fault) -> bool {
    SEEDED.get() == Some(fault)
}

/// Whether a fault is seeded.
#[cfg(test)]
macro_rules! seeded {
    ($fault:ident) => {
        crate::fault::is_seeded(crate::fault::Fault::$fault)
    };
}

/// Whether a fault is seeded: outside of tests none is.
#[cfg(not(test))]
macro_rules! seeded {
    ($fault:ident) => {
        false
    };
}
