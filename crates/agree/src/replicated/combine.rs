//! What the holder of a replica's lock does: it appends what the replica's writers ask for, applies the log, and answers.

use super::mailbox::{Answer, Ask};
use super::membership::Membership;
use super::replica::{AtReplica, Replica, State};
use crate::Dispatch;
use corecast_wire::WaitStrategy;
use corecast_wire::reader_lock::Refused;
use corecast_wire::shared_log::{Found, Together};
use corecast_wire::sync::{Ordering, mutated};
use std::ops::Range;

/// The writes that are combined, and their answers. It is kept from call to call for its memory.
pub(super) struct Batch<T: Dispatch> {
    writes: Vec<T::Write>,
    asks: Vec<Asked>,
    responses: Vec<T::Response>,
}

/// Who has asked for how many of the writes.
struct Asked {
    /// `None` is the combiner itself.
    slot: Option<usize>,
    /// `None` is one write that was no list.
    many: Option<usize>,
}

/// The entries after a replica's last one are gone, as it was left behind.
pub(super) struct Gone;

impl<T: Dispatch> Batch<T> {
    pub(super) fn new() -> Self {
        Self {
            writes: Vec::new(),
            asks: Vec::new(),
            responses: Vec::new(),
        }
    }

    fn add(&mut self, slot: Option<usize>, ask: Ask<T::Write>) {
        let many = match ask {
            Ask::One(write) => {
                self.writes.push(write);
                None
            }
            Ask::Many(writes) => {
                let before = self.writes.len();
                self.writes.extend(writes);
                Some(self.writes.len() - before)
            }
        };
        self.asks.push(Asked { slot, many });
    }
}

/// A thread that holds the lock of a replica, or is about to.
pub(super) struct Combiner<'a, T: Dispatch> {
    pub(super) membership: &'a Membership<T>,
    pub(super) replica: &'a Replica<T>,
    pub(super) wait_strategy: &'a WaitStrategy,
}

impl<T: Dispatch + Sync> Combiner<'_, T> {
    /// Appends what the writers of the replica ask for, and `own`, applies the log to its end, and answers. Returns the own
    /// answer, and whether the log has grown by a block.
    #[inline(never)]
    pub(super) fn combine(
        &self,
        state: &mut State<T>,
        batch: &mut Batch<T>,
        own: Option<Ask<T::Write>>,
    ) -> (Option<Answer<T::Response>>, bool) {
        // Nobody of this replica waits for an answer to something in the log, so it does not matter which entries a copy
        // has in it already.
        if self.replica.is_left_behind() {
            self.reinstall(state);
        }
        if let Some(ask) = own {
            batch.add(None, ask);
        }
        let mailboxes = &self.replica.mailboxes[..self.replica.lock.slots_used()];
        for (slot, mailbox) in mailboxes.iter().enumerate() {
            if let Some(ask) = mailbox.take() {
                batch.add(Some(slot), ask);
            }
        }
        let mut began_block = false;
        if !batch.writes.is_empty() {
            let Batch {
                writes, responses, ..
            } = batch;
            began_block = self.append_and_apply(state, writes, |response| responses.push(response));
        } else if self
            .apply(state, self.membership.log.end(), |_, _| ())
            .is_err()
        {
            self.reinstall(state);
        }
        (self.answer(batch), began_block)
    }

    /// As `combine`, with one own write: alone, if nobody else has asked.
    #[inline(always)]
    pub(super) fn combine_one(
        &self,
        state: &mut State<T>,
        batch: &mut Batch<T>,
        own: &mut Option<T::Write>,
    ) -> (T::Response, bool) {
        let mailboxes = &self.replica.mailboxes[..self.replica.lock.slots_used()];
        let are_asking = mailboxes.iter().any(|mailbox| mailbox.is_asked());
        if are_asking || self.replica.is_left_behind() {
            let own = own.take().map(Ask::One);
            let (answer, began_block) = self.combine(state, batch, own);
            return (answer.expect("who asks is answered").one(), began_block);
        }
        let mut answer = None;
        let began_block = self.append_and_apply(state, own, |response| answer = Some(response));
        (answer.expect("who asks is answered"), began_block)
    }

    /// Appends writes, applies the log up to them, and gives their responses to `each`. Returns whether the log has grown by a block.
    #[inline(always)]
    fn append_and_apply(
        &self,
        state: &mut State<T>,
        writes: &mut impl Together<T::Write>,
        mut each: impl FnMut(T::Response),
    ) -> bool {
        if mutated!(AppliedBeforeAppended) {
            for write in writes.all() {
                each(state.data.write(write));
            }
        }
        let own = self.replica.number;
        let appended = loop {
            // Whoever leaves this replica behind says so, and then looks at the end of the log: entries before that are kept
            // for this replica, and whoever reserves later ones sees what was said.
            let follows = || !self.replica.is_left_behind() || mutated!(LeftBehindAppends);
            let State { cursor, noting, .. } = &mut *state;
            noting.prepare::<T>(writes.all());
            let mut note = |entries: &Range<u64>| {
                let ask = || self.membership.noted(own);
                noting.note(self.membership.configuration(), ask, entries);
            };
            let keeps = |entries: &Range<u64>| {
                let follows = follows();
                if follows && !mutated!(NotedWhenWritten) {
                    note(entries);
                }
                follows
            };
            let appended = cursor.append(writes, keeps);
            if let Some(appended) = appended.as_ref().filter(|_| mutated!(NotedWhenWritten)) {
                note(&appended.range);
            }
            self.membership.ring();
            match appended {
                Some(appended) => break appended,
                None => self.reinstall(state),
            }
        };
        let range = appended.range;
        let applied = self.apply(state, range.end, |index, response| {
            if range.contains(&index) {
                each(response);
            }
        });
        assert!(applied.is_ok(), "entries up to the last own one are kept");
        appended.began_block
    }

    /// Applies what is written. It does not stop amid entries that were appended together.
    fn apply_written(&self, state: &mut State<T>) -> Result<(), Gone> {
        loop {
            let found = state
                .cursor
                .end_after(state.applied, || self.replica.kept());
            match found {
                Found::Entry(end) => self.apply(state, end, |_, _| ())?,
                Found::Gone => return Err(Gone),
                Found::Pending | Found::Nothing => return Ok(()),
            }
        }
    }

    /// Applies entries up to this one, and waits for those that are not written yet.
    #[inline(always)]
    pub(super) fn apply(
        &self,
        state: &mut State<T>,
        end: u64,
        mut then: impl FnMut(u64, T::Response),
    ) -> Result<(), Gone> {
        let State {
            data,
            applied,
            cursor,
            ..
        } = state;
        while *applied < end {
            match cursor.look(*applied, || self.replica.kept()) {
                Found::Entry(write) => then(*applied, data.write(write)),
                Found::Nothing => {}
                Found::Gone => return Err(Gone),
                Found::Pending => {
                    self.membership.waiting.wait(self.wait_strategy, || {
                        let found = cursor.look(*applied, || None);
                        (!matches!(found, Found::Pending)).then_some(())
                    });
                    continue;
                }
            }
            *applied += 1;
        }
        // Relaxed: a lower bound for those who trim the log.
        self.replica.applied.store(*applied, Ordering::Relaxed);
        Ok(())
    }

    /// Has the log trimmed, and helps replicas whose threads are idle. The caller holds no lock any more.
    #[cold]
    #[inline(never)]
    pub(super) fn look_after(&self) {
        for replica in self.membership.look_after(self.replica) {
            let replica = &*replica;
            let _rings = replica.rings();
            let Ok(mut state) = replica.lock.try_write(|_| false) else {
                continue;
            };
            if !replica.is_left_behind() {
                let helped = Combiner { replica, ..*self };
                // One that is left behind meanwhile is installed again by its own threads.
                let _ = helped.apply_written(&mut state);
            }
        }
    }

    /// Gives the responses to whoever has asked. Returns the combiner's own.
    fn answer(&self, batch: &mut Batch<T>) -> Option<Answer<T::Response>> {
        let mut own = None;
        let mut responses = batch.responses.drain(..);
        for Asked { slot, many } in batch.asks.drain(..) {
            let answer = match many {
                None => Answer::One(responses.next().expect("each write has a response")),
                Some(many) => Answer::Many(responses.by_ref().take(many).collect()),
            };
            match slot {
                None => own = Some(answer),
                Some(slot) => self.replica.mailboxes[slot].answer(answer),
            }
        }
        own
    }

    /// Makes the replica that was left behind a copy of another one, and lets it follow the log again.
    #[cold]
    #[inline(never)]
    fn reinstall(&self, state: &mut State<T>) {
        let Self {
            membership,
            replica,
            wait_strategy,
        } = self;
        let is_left_behind = replica.is_left_behind();
        assert!(
            is_left_behind,
            "entries that a replica needs are kept for it"
        );
        membership.be_patient(replica);
        loop {
            let except = Some(replica.number);
            let donor = membership
                .waiting
                .wait(wait_strategy, || membership.donor(except));
            let rejoin = |snapshot, donor: &Replica<T>, applied| {
                let cursor = membership.rejoin(replica, donor, applied)?;
                Some((snapshot, cursor, applied))
            };
            let copied = copy(membership, donor, |state| state.data.snapshot(), rejoin);
            let Some((snapshot, cursor, applied)) = copied else {
                continue;
            };
            state.data = T::install(snapshot);
            state.applied = applied;
            state.cursor = cursor;
            if self.apply(state, membership.log.end(), |_, _| ()).is_ok() {
                break;
            }
        }
        membership.be_strict(replica);
    }
}

/// Copies `donor`: `take` makes something of it, and `attach` does what must be done while it stays where it is in the
/// log. `None` if the donor was left behind meanwhile, or a write has panicked there.
pub(super) fn copy<T: Dispatch + Sync, C, R>(
    membership: &Membership<T>,
    (donor, mut slot): AtReplica<T>,
    take: impl FnOnce(&State<T>) -> C,
    attach: impl FnOnce(C, &Replica<T>, u64) -> Option<R>,
) -> Option<R> {
    let wait_strategy = donor.wait_strategy(slot.index(), membership.wait_config(usize::MAX));
    loop {
        let is_free = || (!donor.lock.is_written()).then_some(());
        donor.waiting.wait(&wait_strategy, is_free);
        let _rings = donor.rings();
        match slot.try_read() {
            Ok(state) => {
                membership.be_patient(&donor);
                let attached = attach(take(&state), &donor, state.applied);
                membership.be_strict(&donor);
                return attached;
            }
            Err(Refused::Busy) => {}
            Err(Refused::Poisoned) => return None,
        }
    }
}
