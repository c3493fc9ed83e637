//! The operation that a rank is in, and its waits.

use super::context_histories::ContextHistories;
use super::peer_watch::PeerWatch;
use crate::failure::{Failure, Loss, RankActivity, Site};
use crate::operation::{OpFingerprint, Operation};
use crate::team_state::TeamState;
use corecast_collectives::Collective;
use corecast_wire::op_history::Entry;
use corecast_wire::sync::mutated;
use corecast_wire::wait::Watch;
use corecast_wire::{Monitored, WaitStrategy};
use std::cell::Cell;
use std::panic::Location;
use std::sync::Arc;

/// The operation that this rank is in: what a failure reports about this side.
#[derive(Debug)]
pub(crate) struct CallContext {
    pub(crate) state: Arc<TeamState>,
    /// What its ranks have begun in this context, if it is one for operations in flight.
    pub(crate) in_flight: Option<ContextHistories>,
    pub(crate) rank: usize,
    /// What is noted of each operation is in as few words as may be, since two ranks that meet in 40 ns each wait for it.
    noted: Noted,
    /// Its fingerprint.
    pub(crate) fingerprint: OpFingerprint,
    /// The first operation in this context that has failed, and its call site.
    pub(crate) failed: Cell<Option<(Operation, &'static Location<'static>)>>,
}

/// The operation in progress, and where it was called.
#[derive(Clone, Copy, Debug)]
struct Noted {
    operation: Entry,
    site: &'static Location<'static>,
    /// The bytes that it has on each rank; [`ANY_BYTES`] if it may have another number on each.
    bytes: usize,
}

/// More bytes than a slice can have.
const ANY_BYTES: usize = usize::MAX;

impl CallContext {
    /// What a rank is in before its first operation.
    #[track_caller]
    pub(crate) fn new(
        state: Arc<TeamState>,
        rank: usize,
        in_flight: Option<ContextHistories>,
    ) -> Self {
        let none = Operation {
            seq: 0,
            kind: Collective::Barrier,
            root: 0,
            in_flight: false,
        };
        Self {
            state,
            in_flight,
            rank,
            noted: Noted {
                operation: none.entry(),
                site: Location::caller(),
                bytes: ANY_BYTES,
            },
            fingerprint: OpFingerprint::default(),
            failed: Cell::new(None),
        }
    }

    /// Notes what the rank is in, for its waits.
    #[inline(always)]
    pub(crate) fn set(
        &mut self,
        operation: Entry,
        site: &'static Location<'static>,
        bytes: Option<usize>,
    ) {
        self.noted = Noted {
            operation,
            site,
            bytes: bytes.unwrap_or(ANY_BYTES),
        };
    }

    /// The operation in progress.
    pub(super) fn operation(&self) -> Operation {
        Operation::of_entry(self.noted.operation).expect("only operations are noted")
    }

    /// Waits until `look` finds something that `peer` brings about. A failure becomes that of the whole team.
    #[inline(always)]
    pub(super) fn wait<T>(
        &self,
        wait_strategy: &WaitStrategy,
        token: u32,
        peer: usize,
        look: impl FnMut() -> Option<T>,
    ) -> Result<T, Failure> {
        self.wait_watched(wait_strategy, token, || self.watch(peer), look)
    }

    /// Goes on with a wait that has not ended soon, for the word on whose line alone the look depends.
    #[inline(always)]
    pub(super) fn wait_long<T>(
        &self,
        wait_strategy: &WaitStrategy,
        word: Monitored<'_>,
        token: u32,
        watch: impl Watch<Error = Failure>,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T, Failure> {
        let waited = wait_strategy.wait_long(Some(word), token, watch, &mut look);
        self.waited(waited, look)
    }

    /// Like [`wait`](Self::wait), with a watch that can also detect a message of the wrong kind.
    #[inline(always)]
    pub(super) fn wait_watched<T, W: Watch<Error = Failure>>(
        &self,
        wait_strategy: &WaitStrategy,
        token: u32,
        watch: impl FnOnce() -> W,
        look: impl FnMut() -> Option<T>,
    ) -> Result<T, Failure> {
        self.wait_watched_at(wait_strategy, None, token, watch, look)
    }

    /// Like [`wait_watched`](Self::wait_watched), with the word on whose line alone the look depends, if there is one.
    #[inline(always)]
    pub(super) fn wait_watched_at<T, W: Watch<Error = Failure>>(
        &self,
        wait_strategy: &WaitStrategy,
        word: Option<Monitored<'_>>,
        token: u32,
        watch: impl FnOnce() -> W,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T, Failure> {
        let waited = wait_strategy.wait_watched_at(word, token, watch, &mut look);
        self.waited(waited, look)
    }

    /// What a wait has come to. A failure becomes that of the whole team.
    #[inline(always)]
    pub(super) fn waited<T>(
        &self,
        waited: Result<T, Failure>,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T, Failure> {
        // The awaited event may have come together with the one that ended the wait, so look once more.
        let waited = match mutated!(NoSecondLook) {
            true => waited,
            false => waited.or_else(|failure| look().ok_or(failure)),
        };
        waited.map_err(|failure| self.fail(failure))
    }

    /// Fails the team because of what has happened in the operation, and returns the team's first failure.
    #[cold]
    pub(crate) fn fail(&self, failure: Failure) -> Failure {
        self.note_failed();
        self.state.fail(failure)
    }

    /// Notes that the operation has failed, unless an earlier one has.
    #[cold]
    pub(crate) fn note_failed(&self) {
        if self.failed.get().is_none() {
            self.failed.set(Some((self.operation(), self.noted.site)));
        }
    }

    /// Fails the team because this rank has panicked amid the operation.
    #[cold]
    pub(crate) fn lost_in_panic(&self) -> Failure {
        let own = || RankActivity {
            rank: self.rank,
            operation: Some(self.operation()),
            site: Some(Site::Local(self.noted.site)),
        };
        self.fail(Failure::PeerLost {
            local: own(),
            remote: own(),
            how: Loss::Panicked,
        })
    }

    /// The watch over `peer` for the operation in progress.
    pub(super) fn watch(&self, peer: usize) -> PeerWatch<'_> {
        PeerWatch {
            state: &self.state,
            in_flight: self.in_flight.as_ref(),
            rank: self.rank,
            operation: self.operation(),
            site: self.noted.site,
            bytes: Some(self.noted.bytes).filter(|&bytes| bytes != ANY_BYTES),
            number: self.fingerprint.number(),
            peer,
            staging: None,
        }
    }
}
