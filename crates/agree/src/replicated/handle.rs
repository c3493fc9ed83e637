//! What a thread reads and writes by.

use super::combine::{Batch, Combiner};
use super::mailbox::{Answer, Ask};
use super::membership::Membership;
use super::options::ReplicaError;
use super::racing::Calls;
use super::replica::{Replica, State};
use crate::Dispatch;
use corecast_wire::WaitStrategy;
use corecast_wire::reader_lock::{ReaderSlot, Refused, WriteGuard};
use corecast_wire::sync::{model_failed, mutated};
use std::fmt;
use std::sync::Arc;

/// One thread's access to a replica. It can be sent to another thread, and is given back when it is dropped.
///
/// See [`Replicated`](super::Replicated).
pub struct Handle<T: Dispatch> {
    place: Place<T>,
    slot: ReaderSlot<State<T>>,
    batch: Batch<T>,
    /// See [`Handle::seen`].
    seen: u64,
    calls: Calls,
}

/// Where a handle works, and how it waits there.
struct Place<T: Dispatch> {
    membership: Arc<Membership<T>>,
    replica: Arc<Replica<T>>,
    wait_strategy: WaitStrategy,
}

impl<T: Dispatch> Place<T> {
    #[inline]
    fn combiner(&self) -> Combiner<'_, T> {
        Combiner {
            membership: &self.membership,
            replica: &self.replica,
            wait_strategy: &self.wait_strategy,
        }
    }
}

impl<T: Dispatch> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle(replica {})", self.place.replica.number)
    }
}

impl<T: Dispatch> Handle<T> {
    pub(super) fn new(
        membership: Arc<Membership<T>>,
        replica: usize,
    ) -> Result<Self, ReplicaError> {
        let ((replica, slot), handles) = membership.enter(replica)?;
        let wait_config = membership.wait_config(handles);
        Ok(Self {
            calls: membership.racing.calls(),
            place: Place {
                wait_strategy: replica.wait_strategy(slot.index(), wait_config),
                membership,
                replica,
            },
            batch: Batch::new(),
            seen: 0,
            slot,
        })
    }
}

impl<T: Dispatch> Drop for Handle<T> {
    fn drop(&mut self) {
        if !model_failed() {
            self.place.membership.leave(self.place.replica.number);
        }
    }
}

#[cold]
fn poisoned(replica: usize) -> ! {
    panic!("a write has panicked at replica {replica}: what it holds may be half changed")
}

impl<T: Dispatch + Sync> Handle<T> {
    /// The number of the handle's replica.
    pub fn replica(&self) -> usize {
        self.place.replica.number
    }

    /// How many entries of the order this handle has seen: what it was answered, by reads and writes, depends on no later one.
    /// They are numbered as [`Follower::take`](super::Follower::take) and [`snapshot`](Self::snapshot) do. A read may tell a lower number than
    /// the write before it, which the thread that answered that could not bound as well.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Runs an operation that changes nothing on the handle's replica, after all writes that were answered, anywhere,
    /// before this call. So reads and writes together are linearizable.
    ///
    /// # Panics
    ///
    /// If a write has panicked at this replica.
    ///
    /// # Cost
    ///
    /// Two stores to a line of its own, and a load of the line of the log that the next write changes; if reads are stable
    /// ([`Reads`](super::Reads)) of a line instead that writes of the same key change, and few others. Where the replica lags, the caller applies
    /// what is missing, or waits for the thread that does.
    #[inline]
    pub fn read(&mut self, operation: T::Read<'_>) -> T::Response {
        self.count(0);
        let read = |state: &State<T>, operation| state.data.read(operation);
        self.with_state(operation, Replica::has_all_of, read)
    }

    /// Counts a call, and has the designs of reads raced.
    #[inline(always)]
    fn count(&mut self, writes: u64) {
        if self.calls.count(writes) {
            self.tell();
        }
    }

    #[cold]
    #[inline(never)]
    fn tell(&mut self) {
        let membership = &*self.place.membership;
        let (current, choose) = (|| membership.design(), |design| membership.choose(design));
        membership.racing.tell(&mut self.calls, current, choose);
    }

    /// As [`read`](Self::read), but it may miss the last `writes` writes of the order. With `u64::MAX` it never applies
    /// anything.
    pub fn read_within(&mut self, writes: u64, operation: T::Read<'_>) -> T::Response {
        let least = self.place.membership.log.end().saturating_sub(writes);
        let is_recent = |_: &Replica<T>, state: &State<T>, _: &T::Read<'_>| {
            state.applied >= least || state.has_all()
        };
        let read = |state: &State<T>, operation| state.data.read(operation);
        self.with_state(operation, is_recent, read)
    }

    /// The structure, and the number of the log's entry that would come next. As a read it has all writes that were
    /// answered before. Writers of this replica wait meanwhile; it may lag by 64 logs then.
    ///
    /// # Panics
    ///
    /// As [`read`](Self::read).
    pub fn snapshot(&mut self) -> (u64, T::Snapshot) {
        let (membership, replica) = (
            Arc::clone(&self.place.membership),
            Arc::clone(&self.place.replica),
        );
        membership.be_patient(&replica);
        let has_all = |_: &Replica<T>, state: &State<T>, (): &()| state.has_all();
        let taken = self.with_state((), has_all, |state, ()| {
            (state.applied, state.data.snapshot())
        });
        membership.be_strict(&replica);
        taken
    }

    /// Runs `body` with an operation when the replica has what that needs.
    #[inline(always)]
    fn with_state<O, R>(
        &mut self,
        operation: O,
        is_enough: impl Fn(&Replica<T>, &State<T>, &O) -> bool,
        body: impl FnOnce(&State<T>, O) -> R,
    ) -> R {
        {
            let _rings = self.place.replica.rings();
            match self.slot.try_read() {
                Ok(state)
                    if is_enough(&self.place.replica, &state, &operation)
                        || mutated!(ReadsAtOnce) =>
                {
                    // What it has seen before is applied here: it may know of less now, and depends on no more.
                    self.seen = state.applied;
                    return body(&state, operation);
                }
                Ok(_) | Err(Refused::Busy) => {}
                Err(Refused::Poisoned) => poisoned(self.place.replica.number),
            }
        }
        // A place of its own: the answer that is found at once would be kept in memory too if both shared one, and be read back in pieces
        // of other sizes than it was written in, for which a processor waits.
        let mut found = None;
        self.with_state_behind(operation, is_enough, body, &mut found);
        found.expect("the state was waited for")
    }

    /// As `with_state`, where the replica lags or is in use: applies what is missing, or waits for whoever does, and then finds.
    #[inline(never)]
    fn with_state_behind<O, R>(
        &mut self,
        operation: O,
        is_enough: impl Fn(&Replica<T>, &State<T>, &O) -> bool,
        body: impl FnOnce(&State<T>, O) -> R,
        found: &mut Option<R>,
    ) {
        loop {
            let Self {
                place,
                slot,
                batch,
                seen,
                ..
            } = self;
            let combiner = place.combiner();
            let Combiner {
                replica,
                wait_strategy,
                ..
            } = combiner;
            let rings = replica.rings();
            if let Some(mut state) = lock(slot, replica, wait_strategy) {
                let grown = combiner.combine(&mut state, batch, None).1;
                *seen = (*seen).max(state.applied);
                *found = Some(body(&state, operation));
                drop((state, rings));
                if grown {
                    combiner.look_after();
                }
                return;
            }
            drop(rings);
            let is_free = || (!replica.lock.is_written()).then_some(());
            replica.waiting.wait(wait_strategy, is_free);
            let _rings = replica.rings();
            match slot.try_read() {
                Ok(state) if is_enough(replica, &state, &operation) => {
                    *seen = (*seen).max(state.applied);
                    *found = Some(body(&state, operation));
                    return;
                }
                Ok(_) | Err(Refused::Busy) => {}
                Err(Refused::Poisoned) => poisoned(replica.number),
            }
        }
    }

    /// Applies an operation to all replicas, and returns what it answered at this one. Reads and writes that begin when it
    /// has returned come after it.
    ///
    /// # Panics
    ///
    /// If [`Dispatch::write`] panics, or has panicked at this replica.
    ///
    /// # Cost
    ///
    /// Two to three transfers of lines, and what is applied: this write, and those of others that the replica lacks. A
    /// thread that finds its replica in use leaves the operation to whoever uses it, and waits for the answer.
    #[inline]
    pub fn write(&mut self, operation: T::Write) -> T::Response {
        self.count(1);
        let mut own = Some(operation);
        let combined =
            self.combining(|combiner, state, batch| combiner.combine_one(state, batch, &mut own));
        let (response, grown) = combined.unwrap_or_else(|| {
            let own = own.expect("who does not combine leaves it");
            let (answer, grown) = self.ask(Ask::One(own));
            (answer.one(), grown)
        });
        if grown {
            self.place.combiner().look_after();
        }
        response
    }

    /// Applies operations side by side: whoever reads sees all of them or none. They share one place in the log's order and
    /// one wait, so a pipeline of writes costs little more than its lines.
    ///
    /// # Panics
    ///
    /// As [`write`](Self::write).
    pub fn write_all(&mut self, operations: Vec<T::Write>) -> Vec<T::Response> {
        self.count(1);
        let mut own = Some(Ask::Many(operations));
        let combined = self.combining(|combiner, state, batch| {
            let (answer, grown) = combiner.combine(state, batch, own.take());
            (answer.expect("who asks is answered"), grown)
        });
        let (answer, grown) =
            combined.unwrap_or_else(|| self.ask(own.expect("who does not combine leaves it")));
        if grown {
            self.place.combiner().look_after();
        }
        answer.many()
    }

    /// Runs `body` with the replica's lock, unless somebody else has it.
    #[inline(always)]
    fn combining<R>(
        &mut self,
        body: impl FnOnce(&Combiner<'_, T>, &mut State<T>, &mut Batch<T>) -> R,
    ) -> Option<R> {
        let Self {
            place,
            slot,
            batch,
            seen,
            ..
        } = self;
        let combiner = place.combiner();
        let _rings = combiner.replica.rings();
        let mut state = lock(slot, combiner.replica, combiner.wait_strategy)?;
        let combined = body(&combiner, &mut state, batch);
        *seen = (*seen).max(state.applied);
        Some(combined)
    }

    /// Asks whoever combines, and becomes the combiner if that one has gone without having seen it.
    #[inline(never)]
    fn ask(&mut self, ask: Ask<T::Write>) -> Combined<T> {
        let Self {
            place,
            slot,
            batch,
            seen,
            ..
        } = self;
        let combiner = place.combiner();
        let Combiner {
            replica,
            wait_strategy,
            ..
        } = combiner;
        let mailbox = &replica.mailboxes[slot.index()];
        mailbox.ask(ask);
        let mut grown = false;
        loop {
            replica.waiting.wait(wait_strategy, || {
                (mailbox.is_answered() || !replica.lock.is_written()).then_some(())
            });
            if let Some(answer) = mailbox.answered() {
                // Whoever answered has applied no more than what was reserved by now.
                *seen = (*seen).max(combiner.membership.log.end());
                return (answer, grown);
            }
            let _rings = replica.rings();
            if let Some(mut state) = lock(slot, replica, wait_strategy) {
                grown |= combiner.combine(&mut state, batch, None).1;
            }
        }
    }
}

/// What a combiner returns: its own answer, and whether the log has grown by a block.
type Combined<T> = (Answer<<T as Dispatch>::Response>, bool);

/// Takes the lock of a replica, unless another thread has it: waits for those that read.
#[inline]
fn lock<'a, T: Dispatch>(
    slot: &'a mut ReaderSlot<State<T>>,
    replica: &Replica<T>,
    wait_strategy: &WaitStrategy,
) -> Option<WriteGuard<'a, State<T>>> {
    let locked = slot.try_write(|look| {
        let all_have_left = || look().then_some(());
        replica.waiting.wait(wait_strategy, all_have_left);
        true
    });
    match locked {
        Ok(state) => Some(state),
        Err(Refused::Busy) => None,
        Err(Refused::Poisoned) => poisoned(replica.number),
    }
}
