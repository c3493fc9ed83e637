//! Seeded faults, for models that prove that the check can catch a bug.

#[cfg(not(corecast_simulated))]
use std::sync::atomic::{AtomicU8, Ordering};

/// A fault that can be seeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mutant {
    /// No fault: the code as it is.
    None,
    /// A slot's header is published without release.
    PublishRelaxed,
    /// An acceptor's next process keeps what the former one has not finished.
    UnfinishedKept,
    /// An acceptor that is shared does not see that a promise came between.
    PromiseUnseen,
    /// The stamp of an acceptor's slot stays while the slot is written.
    StampKept,
    /// What an acceptor has not finished is reported to a new leader.
    UnfinishedReported,
    /// A copy of the last configuration is used though another one was appended meanwhile.
    HeadUnchecked,
    /// A member writes its next configuration over its last one.
    OneBuffer,
    /// A slot's header is observed without acquire.
    ObserveRelaxed,
    /// Slots are given back without release.
    GiveBackRelaxed,
    /// Slots are taken back without acquire.
    ReclaimRelaxed,
    /// A broadcast ring is published without release.
    RingPublishRelaxed,
    /// A broadcast ring is seen without acquire.
    RingReadRelaxed,
    /// A broadcast ring's slot is free when the first reader has given it back.
    OneReaderFrees,
    /// A broadcast ring wakes its first reader alone.
    OneReaderWakes,
    /// Additions to an arrival counter do not release.
    CountRelaxed,
    /// An arrival counter is read without acquire.
    TotalRelaxed,
    /// Additions at a counter barrier do not order anything.
    MeetRelaxed,
    /// The last member of a counter barrier does not acquire.
    MeetUnseen,
    /// The last member of a counter barrier wakes the first sleeper alone.
    OneMemberWakes,
    /// A change of a shared line wakes the first of its sleepers alone.
    OneWaiterWakes,
    /// A descriptor is made without release.
    DescriptorRelaxed,
    /// A descriptor is accepted without acquire.
    AcceptRelaxed,
    /// A descriptor is returned without release.
    HandBackRelaxed,
    /// A borrower announces without release that it has finished reading.
    FinishRelaxed,
    /// A lender that revokes sees without acquire that the borrower has finished.
    PastRelaxed,
    /// The count of returned descriptors is read without acquire.
    RegainRelaxed,
    /// A flag is raised without release.
    RaiseRelaxed,
    /// Values beside a flag have one place for all turns.
    OneTurn,
    /// A flag is seen without acquire.
    SeeRelaxed,
    /// An arrival at a phase barrier neither releases nor acquires.
    ComeRelaxed,
    /// A phase barrier's next phase begins without release.
    OpenRelaxed,
    /// A thread that waits at a phase barrier goes on without acquire.
    PassRelaxed,
    /// A phase barrier's bell is rung without release.
    RingRelaxed,
    /// A phase barrier's bell is read without acquire.
    HearRelaxed,
    /// Arrivals for many at a phase barrier are added before it is known whether as many are missing.
    ManyAddFirst,
    /// An arrival at a phase barrier that was too many is taken back from whatever phase there is.
    TakeBackAnyway,
    /// The last thread of a phase does not wait until threads that leave have lowered the number of the next one.
    LeaversUnawaited,
    /// An operation history's call site is noted without release.
    NoteRelaxed,
    /// An operation history's call site is read without acquire.
    RecallRelaxed,
    /// A rank tells without release how far it has come.
    TellRelaxed,
    /// A rank learns without acquire how far another one has come.
    AskRelaxed,
    /// A sleeper does not fence between announcing itself and its last look. A lender that revokes does not fence
    /// either.
    NoHeavyFence,
    /// A waker does not fence between publishing and looking for sleepers, nor a borrower between
    /// announcing that it reads and its last look.
    NoLightFence,
    /// A sleeper goes to sleep without a last look.
    NoLastLook,
    /// A publisher does not wake a thread that sleeps for any event.
    AnyUnheard,
    /// `Parker::wake_any` wakes only a thread whose word says that it sleeps.
    RingTheAnnouncedOnly,
    /// A lender that revokes descriptors also takes back those that were made before.
    RevokesEarlier,
    /// A borrower returns a part that it was to fill and did not, as an operator has panicked.
    ReturnsUnfilled,
    /// A lender that revokes descriptors of kernel copies does not strike them out.
    NoStrike,
    /// A lender does not fence between striking out descriptors and writing the data.
    StrikeUnfenced,
    /// A reader of another process's memory does not check afterwards that the descriptor still stands.
    NoLook,
    /// A reader of another process's memory does not fence between reading and that check.
    LookUnfenced,
    /// A lender offers its memory again to a reader that the kernel has refused.
    ExposedAgain,
    /// A cancellation is written over whatever a stop word says.
    CancelOverwrites,
    /// A sender overwrites slots that were not given back.
    NoFlowControl,
    /// A sender overwrites lines of the body that were not given back.
    NoBodyFlow,
    /// A sender of a message in two slots waits for one of them.
    OneSlotForTwo,
    /// A sender of a message in two slots writes the header of one of them.
    OneHeaderForTwo,
    /// A member whose watch ends its wait does not look once more for what it waited for.
    NoSecondLook,
    /// The news that a process has ended are not passed on.
    DeathUnheard,
    /// A team's first failure is not written for the other processes.
    RecordUnwritten,
    /// A cancellation also ends the operation before its first one.
    CancelTooEarly,
    /// A member that leaves in a panic leaves as any other.
    PanicUntold,
    /// Polls of operations in flight never ask whether what they wait for can still come.
    PollsInVain,
    /// An operation in flight whose operator panics ends without a word.
    PanicInFlightUntold,
    /// A blocking operation whose operator panics ends without a word.
    PanicBlockingUntold,
    /// A cancellation after another one has no effect.
    SecondCancelIgnored,
    /// A process that fails second keeps its own failure.
    SecondFailureKept,
    /// A root outside of the team is found after the operation was counted.
    BadRootCounts,
    /// Operations of a context are compared by the team's numbers.
    TeamsNumbers,
    /// A message in place of a loan between processes does not show by the rest of its sender, nor by stated lengths, which
    /// not all operations have.
    RestUnseen,
    /// A member takes a message behind a loan that its peer has taken back, as the operation was cancelled, for one in place of it.
    CancelUnseen,
    /// A member that waits for one peer does not see that another one, which holds up what it lends to both, has gone.
    BorrowersUnwatched,
    /// A member that waits for long does not compare its length with those of others.
    LengthsUnstated,
    /// A member that waits in flight does not see that its peer has ended the operation.
    EndUnseen,
    /// A member that waits at a line does not see that its peer has ended the round and gone on.
    RoundEndUnseen,
    /// A member that waits at a line does not see that its peer, in the same operation, has other lines.
    OtherLinesUnseen,
    /// A member that waits at a line does not see that its peer has made the lines of another algorithm there.
    OtherSetUnseen,
    /// A mark of a process that runs another program is not looked at.
    MarkUnseen,
    /// Ranks that learn conclude from their own times.
    LearnsAlone,
    /// A member goes on waiting for a rank of its own run that has come to the end of it.
    OwnRestUnseen,
    /// A member that waits for a rank of another process does not see that one of its own run has left both.
    RestChainUnseen,
    /// A rank that begins a further run does not tell the others.
    ResumeUntold,
    /// A process that drops its team, or leaves all its ranks behind, does not tell those that go on.
    LeavesUntold,
    /// A process that hears of the end of another one does not note that its ranks are gone.
    GoneUnnoted,
    /// A reader lock is given back without release.
    UnlockRelaxed,
    /// A reader leaves a reader lock without release.
    LeaveRelaxed,
    /// A writer looks for readers without acquire.
    DrainedRelaxed,
    /// A writer does not fence between taking a reader lock and looking for readers.
    WriterUnfenced,
    /// A reader does not fence between saying that it reads and looking for a writer.
    ReaderUnfenced,
    /// A writer does not wait for readers.
    ReadersUnawaited,
    /// Reservations in a shared log order nothing.
    ReserveRelaxed,
    /// An entry of a shared log is written without release.
    AppendRelaxed,
    /// An entry of a shared log is read without acquire.
    FollowRelaxed,
    /// A replica answers reads without looking how far the log is.
    ReadsAtOnce,
    /// Entries are noted at other replicas when they are written, not before.
    NotedWhenWritten,
    /// Whoever appends does not ask at which replicas entries are to be noted when these have changed.
    JoinerUnknown,
    /// Replicas that come trust in notes as if no entry had been reserved before.
    JoinerUnfenced,
    /// A replica applies writes of its own before they stand in the log.
    AppliedBeforeAppended,
    /// The log is trimmed past entries that a replica has not applied.
    TrimmedEarly,
    /// A replica that was left behind appends as any other.
    LeftBehindAppends,
    /// A combiner does not wake those that wait for its replica.
    ReplicaUnrung,
    /// Whoever appends does not wake those that wait for an entry.
    LogUnrung,
}

#[cfg(not(corecast_simulated))]
static SEEDED: AtomicU8 = AtomicU8::new(0);

/// Seeds one fault in the whole process.
#[cfg(not(corecast_simulated))]
pub fn seed(mutant: Mutant) {
    SEEDED.store(mutant as u8, Ordering::SeqCst);
}

/// Whether this fault is seeded.
#[cfg(not(corecast_simulated))]
pub fn is(mutant: Mutant) -> bool {
    SEEDED.load(Ordering::SeqCst) == mutant as u8
}

#[cfg(corecast_simulated)]
thread_local! {
    static SEEDED: std::cell::Cell<Mutant> = const { std::cell::Cell::new(Mutant::None) };
}

/// Seeds one fault in all simulations of this thread.
#[cfg(corecast_simulated)]
pub fn seed(mutant: Mutant) {
    SEEDED.set(mutant);
}

/// Whether this fault is seeded.
#[cfg(corecast_simulated)]
#[inline]
pub fn is(mutant: Mutant) -> bool {
    SEEDED.get() == mutant
}
