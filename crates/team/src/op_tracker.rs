//! The operations that a member has begun, for the member itself and for the members that wait for it.

use crate::OpContext;
use crate::call_sites::CallSiteWriter;
use crate::failure::Failure;
use crate::hardware::{CallContext, ExchangeStage, Hardware, Word};
use crate::operation::Operation;
use crate::recording::Recorder;
use corecast_collectives::Collective;
use corecast_wire::LineRef;
use corecast_wire::fork::{ForkDetector, forked_since};
use corecast_wire::op_history::OpHistory;
use std::num::NonZeroUsize;
use std::panic::Location;

/// Counts a member's operations and enters them in its operation history.
#[derive(Debug)]
pub(crate) struct OpTracker {
    /// Operations begun.
    seq: u64,
    history: LineRef<OpHistory>,
    /// `None` if there is neither, so that most teams ask once.
    notes: Option<Notes>,
    fork_detector: ForkDetector,
}

/// What is noted of operations besides their history.
#[derive(Debug)]
struct Notes {
    /// Writes call sites as text; `None` if all ranks are in one process.
    site_writer: Option<CallSiteWriter>,
    /// `None` unless the team is recorded.
    recorder: Option<Recorder>,
}

impl OpTracker {
    /// Goes on after operation number `seq`, as `history` does.
    pub(crate) fn new(
        history: LineRef<OpHistory>,
        site_writer: Option<CallSiteWriter>,
        recorder: Option<Recorder>,
        fork_detector: ForkDetector,
        seq: u64,
    ) -> Self {
        let notes = Notes {
            site_writer,
            recorder,
        };
        Self {
            seq,
            history,
            notes: Some(notes)
                .filter(|notes| notes.site_writer.is_some() || notes.recorder.is_some()),
            fork_detector,
        }
    }

    /// Operations begun.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Counts operations that nobody called, and enters the last of them in the history.
    #[cfg(corecast_simulated)]
    pub(crate) fn skip(&mut self, count: u64) {
        let what = self.history.now().what;
        self.seq += count;
        let seq = self.seq as u32;
        let entry = corecast_wire::op_history::Entry { seq, what };
        self.history.enter(entry, Location::caller());
    }

    /// Tells whoever waits for this rank that it has ended all that it has begun.
    pub(crate) fn tell_ended(&self) {
        self.history.note_ended(self.seq as u32);
    }

    /// Whether this process was forked from the one that the member belongs to.
    #[inline(always)]
    pub(crate) fn is_forked(&self) -> bool {
        forked_since(&self.fork_detector)
    }

    /// Begins an operation that blocks on `context`, on `bytes` that are the same number on all ranks if it is given: enters it in
    /// the history that members which wait for this rank read.
    ///
    /// # Errors
    ///
    /// The team's failure, if it has failed; [`Failure::Cancelled`]; [`Failure::Forked`].
    ///
    /// # Panics
    ///
    /// If `root` is outside of the team.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        context: &mut OpContext,
        operation: (Collective, usize, Option<usize>),
        site: &'static Location<'static>,
    ) -> Result<(), Failure> {
        self.begin_as::<false>(context, operation, site)
    }

    /// [`begin`](Self::begin) for an operation in flight, on a context for these.
    ///
    /// # Errors
    ///
    /// As [`begin`](Self::begin).
    ///
    /// # Panics
    ///
    /// As [`begin`](Self::begin).
    pub(crate) fn begin_in_flight(
        &mut self,
        context: &mut OpContext,
        operation: (Collective, usize, Option<usize>),
        site: &'static Location<'static>,
    ) -> Result<(), Failure> {
        self.begin_as::<true>(context, operation, site)
    }

    /// Which it is need not be asked in each operation.
    #[inline(always)]
    fn begin_as<const IN_FLIGHT: bool>(
        &mut self,
        context: &mut OpContext,
        (kind, root, bytes): (Collective, usize, Option<usize>),
        site: &'static Location<'static>,
    ) -> Result<(), Failure> {
        let call = &mut context.fabric.call;
        debug_assert_eq!(IN_FLIGHT, call.in_flight.is_some(), "another context");
        check_root(root, context.fabric.link_of.len());
        if forked_since(&self.fork_detector) {
            return Err(Failure::Forked { rank: call.rank });
        }
        self.seq += 1;
        let operation = Operation {
            in_flight: IN_FLIGHT,
            ..Operation::blocking(self.seq, kind, root)
        };
        let entry = operation.entry();
        call.fingerprint.advance(entry, self.seq);
        if let Some(notes) = &mut self.notes {
            notes.begin(self.seq, operation, site);
        }
        self.history.enter(entry, site);
        if IN_FLIGHT && let Some(in_flight) = &mut call.in_flight {
            in_flight.enter(call.rank, entry, site);
        }
        call.set(entry, site, bytes);
        let stops = call.state.stops(call.rank, operation.seq);
        if stops.is_err() {
            call.note_failed();
        }
        stops
    }

    /// Begins and mostly ends a barrier of two ranks in one line, whose team is not recorded. `None` if it has not begun: what is due
    /// as well is left to [`begin`](Self::begin).
    #[inline(always)]
    pub(crate) fn exchange_flags(
        &mut self,
        fabric: &mut Hardware,
        site: &'static Location<'static>,
    ) -> Option<ExchangeStage> {
        if !self.may_exchange(fabric, site) {
            return None;
        }
        let seq = self.seq + 1;
        let met = fabric.exchange_flags(seq, &self.history, site)?;
        self.seq = seq;
        Some(met)
    }

    /// [`exchange_flags`](Self::exchange_flags) for an operation without a root in which both give each other a word.
    #[inline(always)]
    pub(crate) fn exchange_words(
        &mut self,
        fabric: &mut Hardware,
        kind: Collective,
        site: &'static Location<'static>,
        word: &mut Word<'_, '_>,
    ) -> Option<ExchangeStage> {
        if !self.may_exchange(fabric, site) {
            return None;
        }
        let seq = self.seq + 1;
        let met = fabric.exchange_words((seq, kind), &self.history, site, word)?;
        self.seq = seq;
        Some(met)
    }

    /// Ends what [`exchange_flags`](Self::exchange_flags) or [`exchange_words`](Self::exchange_words) has begun, with the same word.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    pub(crate) fn end_exchange(
        &self,
        fabric: &mut Hardware,
        kind: Collective,
        site: &'static Location<'static>,
        (met, word): (ExchangeStage, Option<&mut Word<'_, '_>>),
    ) -> Result<(), Failure> {
        let bytes = word.as_ref().map(|word| word.mine.len());
        self.note_exchange(&mut fabric.call, kind, site, bytes);
        fabric.end_exchange(met, word)
    }

    /// Notes the exchange that was begun last, for waits and failures.
    pub(crate) fn note_exchange(
        &self,
        call: &mut CallContext,
        kind: Collective,
        site: &'static Location<'static>,
        bytes: Option<usize>,
    ) {
        call.set(Operation::blocking(self.seq, kind, 0).entry(), site, bytes);
    }

    /// Whether nothing has to be done before an operation, or noted of it but in the history.
    #[inline(always)]
    fn may_exchange(&self, fabric: &Hardware, site: &'static Location<'static>) -> bool {
        let told = match &self.notes {
            None => true,
            Some(notes) => notes.site_writer.as_ref().is_none_or(|it| it.has(site)),
        };
        told && !self.is_forked() && !fabric.call.state.is_stopped()
    }

    /// The operation that blocks has ended, well or not.
    #[inline(always)]
    pub(crate) fn end(&mut self, well: bool) {
        if let Some(notes) = &mut self.notes
            && let Some(recorder) = &mut notes.recorder
        {
            recorder.leave(well);
        }
    }

    /// Whether the member's calls are recorded.
    #[inline(always)]
    pub(crate) fn is_recorded(&self) -> bool {
        self.recorder().is_some()
    }

    /// Says where the calls come from that are recorded from now on, if they are.
    pub(crate) fn set_caller(&mut self, caller: Option<NonZeroUsize>) {
        if let Some(notes) = &mut self.notes
            && let Some(recorder) = &mut notes.recorder
        {
            recorder.set_caller(caller);
        }
    }

    /// The recorder of the member's calls, if they are recorded.
    #[inline(always)]
    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.notes.as_ref()?.recorder.as_ref()
    }
}

impl Notes {
    #[inline(always)]
    fn begin(&mut self, seq: u64, operation: Operation, site: &'static Location<'static>) {
        if let Some(site_writer) = &self.site_writer {
            site_writer.note(site);
        }
        if let Some(recorder) = &mut self.recorder
            && !operation.in_flight
        {
            recorder.arrive(seq, operation.kind, operation.root, site);
        }
    }
}

/// Panics if `root` is outside of a team of `size`.
#[inline(always)]
#[track_caller]
pub(crate) fn check_root(root: usize, size: usize) {
    if root >= size {
        root_outside(root, size);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn root_outside(root: usize, size: usize) -> ! {
    panic!(
        "root {root} is outside of the team, whose ranks are 0 to {}",
        size - 1
    )
}
