//! One rank's ends of its links, how it waits at them, and what ends a wait that cannot succeed.

use super::lines::SharedLines;
use crate::element::Element;
use crate::failure::{Failure, Loss, RankActivity, Site};
use crate::operation::{OpFingerprint, Operation};
use crate::team_state::TeamState;
use corecast_transfer::{Endpoint, HasEndpoint};
use corecast_wire::broadcast_ring::Reader;
use corecast_wire::op_history::{Entry, OpHistory, Presence};
use corecast_wire::park::ANY;
use corecast_wire::queue::{Received, Receiver, Sender};
use corecast_wire::sync::mutated;
use corecast_wire::wait::Watch;
use corecast_wire::{Line, LineRef, Parker, Signal, WaitStrategy};
use std::cell::RefCell;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// A rank's end of the link to one peer: a flag and a queue in each direction.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) peer: usize,
    /// Raised by this rank, in the peer's memory.
    pub(crate) out_flag: Signal,
    /// The parker that the peer sleeps on, and the token of its wait for `out_flag`.
    pub(crate) out_parker: LineRef<Line<Parker>>,
    pub(crate) out_token: u32,
    /// Raised by the peer, in this rank's memory.
    pub(crate) in_flag: Signal,
    pub(crate) in_token: u32,
    /// Notifications sent and received so far.
    pub(crate) out_count: u64,
    pub(crate) in_count: u64,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// The token of this rank's wait for a loan of the peer; the next higher one is that of its wait for an
    /// acknowledgement.
    pub(crate) loan_token: u32,
}

/// The entry in [`Hardware::link_of`] of a peer that no plan of the team joins with this rank.
pub(crate) const NO_LINK: u32 = u32::MAX;

/// One rank's ends of its links and shared lines: the fabric of real threads.
#[derive(Debug)]
pub struct Hardware {
    pub(crate) call: CallContext,
    /// For each peer the entry in `links`, or [`NO_LINK`].
    pub(crate) link_of: Vec<u32>,
    pub(crate) links: Vec<Link>,
    pub(crate) endpoint: Endpoint,
    /// The lines that this rank shares with groups.
    pub(crate) lines: SharedLines,
    /// Scratch for the numbers of the links that one loan goes to.
    pub(crate) lend_to: Vec<usize>,
    /// An element that arrives in several pieces.
    pub(crate) element: Element,
    pub(crate) wait_strategy: WaitStrategy,
    /// The fingerprint of the operation in progress.
    pub(crate) fingerprint: OpFingerprint,
}

impl Hardware {
    /// The number of the link to `peer`.
    #[inline(always)]
    pub(super) fn link_index(&self, peer: usize) -> usize {
        let (index, rank) = (self.link_of[peer], self.call.rank);
        debug_assert_ne!(index, NO_LINK, "no plan joins ranks {rank} and {peer}");
        index as usize
    }

    /// Waits until `look` finds something at the endpoint. This rank's own loans make progress meanwhile.
    pub(super) fn wait_at_endpoint<T>(
        &mut self,
        token: u32,
        peer: usize,
        look: impl Fn(&mut Endpoint) -> Option<T>,
    ) -> Result<T, Failure> {
        let (endpoint, call) = (&mut self.endpoint, &self.call);
        let (token, staging) = (endpoint_token(endpoint, token), endpoint.is_staging());
        let watch = || call.watch(peer).staging(staging);
        call.wait_watched(&self.wait_strategy, token, watch, || {
            endpoint.advance();
            look(endpoint)
        })
    }

    /// Goes on copying to the bounce buffer until all is copied, or `ready` returns `true`.
    #[cold]
    #[inline(never)]
    pub(super) fn stage_until(
        &mut self,
        index: usize,
        mut ready: impl FnMut(&mut Link) -> bool,
    ) -> Result<(), Failure> {
        let (endpoint, link, call) = (&mut self.endpoint, &mut self.links[index], &self.call);
        let peer = link.peer;
        let watch = || call.watch(peer).staging(true);
        call.wait_watched(&self.wait_strategy, ANY, watch, || {
            endpoint.advance();
            (!endpoint.is_staging() || ready(link)).then_some(())
        })
    }

    /// Waits until acknowledgements from the peer behind `link` make `done` return `true`.
    pub(super) fn wait_for_ack(
        &mut self,
        link: usize,
        done: impl Fn(&mut Endpoint) -> bool,
    ) -> Result<(), Failure> {
        let (token, peer) = (self.links[link].loan_token + 1, self.links[link].peer);
        self.wait_at_endpoint(token, peer, |endpoint| done(endpoint).then_some(()))
    }

    /// The failure for data of `peer` that do not belong to this operation, or have another length.
    #[cold]
    #[inline(never)]
    pub(super) fn unexpected(&self, peer: usize, expected: usize, next: Received) -> Failure {
        let watch = self.call.watch(peer);
        self.call.state.fail(if next.tag == self.fingerprint.tag() {
            watch.length(next.len, expected)
        } else {
            watch.mismatch_with(OpFingerprint::seq_of_tag(next.tag, self.call.operation.seq))
        })
    }
}

impl HasEndpoint for Hardware {
    #[inline(always)]
    fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }
}

/// The token of a wait at the endpoint. A rank that still copies to its bounce buffer goes on when any chunk is
/// acknowledged, whichever peer it waits for.
pub(super) fn endpoint_token(endpoint: &Endpoint, token: u32) -> u32 {
    if endpoint.is_staging() { ANY } else { token }
}

/// The operation that this rank is in: what a failure reports about this side.
#[derive(Debug)]
pub(crate) struct CallContext {
    pub(crate) state: Arc<TeamState>,
    /// What its ranks have begun in this context, if it is one for operations in flight.
    pub(crate) in_flight: Option<ContextHistories>,
    pub(crate) rank: usize,
    /// The operation in progress.
    pub(crate) operation: Operation,
    pub(crate) site: &'static Location<'static>,
}

/// The operation histories of an operation context, of which each operation has a number of its own there.
///
/// A context rests while operations run elsewhere, so the team's number of its last operation may be any number of
/// operations old, and would not tell whether a peer is ahead. By the context's own numbers peers are never further apart
/// than operations can be under way.
#[derive(Debug)]
pub(crate) struct ContextHistories {
    /// The history of each rank.
    pub(crate) ranks: Arc<[LineRef<OpHistory>]>,
    /// The number of this rank's operation in the context; the lower 32 bits.
    pub(crate) seq: u32,
}

impl ContextHistories {
    /// Enters the next operation of this rank, whose number in the team is `entry.seq`, by its word in a history. A call
    /// would make each blocking operation lay out its name in memory first, so this is inlined.
    #[inline(always)]
    pub(crate) fn enter(&mut self, rank: usize, entry: Entry, site: &'static Location<'static>) {
        self.seq = match mutated!(TeamsNumbers) {
            true => entry.seq,
            false => self.seq.wrapping_add(1),
        };
        let seq = self.seq;
        self.ranks[rank].enter(Entry { seq, ..entry }, site);
    }

    /// Tells the others that `rank`, which waits for long, has ended its last operation here.
    pub(crate) fn tell_ended(&self, rank: usize) {
        self.ranks[rank].note_ended(self.seq);
    }

    /// The entry of `operation`, this rank's last one here.
    fn entry(&self, operation: Operation) -> Entry {
        Entry {
            seq: self.seq,
            ..operation.entry()
        }
    }
}

impl CallContext {
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

    /// Like [`wait`](Self::wait), with a watch that can also detect a message of the wrong kind.
    #[inline(always)]
    pub(super) fn wait_watched<T, W: Watch<Error = Failure>>(
        &self,
        wait_strategy: &WaitStrategy,
        token: u32,
        watch: impl FnOnce() -> W,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T, Failure> {
        let waited = wait_strategy.wait_watched(token, watch, &mut look);
        // The awaited event may have come together with the one that ended the wait, so look once more.
        let waited = match mutated!(NoSecondLook) {
            true => waited,
            false => waited.or_else(|failure| look().ok_or(failure)),
        };
        waited.map_err(|failure| self.state.fail(failure))
    }

    /// Fails the team because this rank has panicked amid the operation.
    #[cold]
    pub(crate) fn lost_in_panic(&self) -> Failure {
        let own = || RankActivity {
            rank: self.rank,
            operation: Some(self.operation),
            site: Some(Site::Local(self.site)),
        };
        self.state.fail(Failure::PeerLost {
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
            operation: self.operation,
            site: self.site,
            peer,
            staging: false,
        }
    }
}

/// Checks, while a member waits for a peer, whether the peer can still arrive.
///
/// A peer that is in the same operation, or behind, can arrive. **Invariant:** in every algorithm a member has
/// sent all of an operation's messages before it ends it; so a peer that is ahead *in the same operation context*, has
/// noted the end there, or has left, has sent all that it will ever send, and one more look decides.
pub(super) struct PeerWatch<'a> {
    state: &'a TeamState,
    /// The operation histories of the operation context, if it is not the first.
    in_flight: Option<&'a ContextHistories>,
    rank: usize,
    operation: Operation,
    site: &'static Location<'static>,
    peer: usize,
    /// Whether this rank may have still to copy some of what it lends.
    staging: bool,
}

impl PeerWatch<'_> {
    /// The same in a wait that begins while this rank may have still to copy some of what it lends.
    pub(super) fn staging(self, staging: bool) -> Self {
        Self { staging, ..self }
    }

    fn local(&self) -> RankActivity {
        RankActivity {
            rank: self.rank,
            operation: Some(self.operation),
            site: Some(Site::Local(self.site)),
        }
    }

    /// The failure of a peer whose operations are not the same as this rank's.
    pub(super) fn mismatch(&self) -> Failure {
        self.mismatch_with(self.operation.seq)
    }

    /// The failure, if the histories show an operation in which the two ranks differ.
    pub(super) fn difference(&self) -> Option<Failure> {
        let ranks = (self.rank, self.peer);
        let (local, remote) = self.state.first_difference(ranks, self.operation.seq)?;
        Some(Failure::Mismatch { local, remote })
    }

    /// Whether the peer is in this very operation.
    pub(super) fn is_there(&self) -> bool {
        let (now, own) = self.now();
        now == own
    }

    /// The mismatch with the peer, of which operation number `seq` does not fit.
    pub(super) fn mismatch_with(&self, seq: u32) -> Failure {
        let (local, remote) = self
            .state
            .first_difference((self.rank, self.peer), self.operation.seq)
            .unwrap_or_else(|| (self.local(), self.other_activity(seq)));
        Failure::Mismatch { local, remote }
    }

    /// Operation number `seq` of the peer. If that is this very operation, the peer has gone on without its part of it,
    /// after a call that was refused perhaps, and what it does now says more.
    fn other_activity(&self, seq: u32) -> RankActivity {
        let theirs = self.state.activity_at(self.peer, seq);
        match theirs.operation == Some(self.operation) {
            true => self.state.activity(self.peer),
            false => theirs,
        }
    }

    pub(super) fn length(&self, sent: usize, expected: usize) -> Failure {
        let remote = self.state.activity_at(self.peer, self.operation.seq);
        let local = self.local();
        Failure::Length {
            local,
            remote,
            sent,
            expected,
        }
    }

    /// The failure of a peer whose memory holds values that no member writes.
    pub(super) fn corrupt(&self) -> Failure {
        let remote = self.state.activity_at(self.peer, self.operation.seq);
        Failure::Corrupt {
            local: self.local(),
            remote,
        }
    }

    /// Whether the peer does, or has done, something else than this operation, or has ended its part of it.
    fn differs(&self) -> bool {
        if let Some(context) = self.in_flight {
            // The peer's other operation contexts may be far ahead, or behind: only this operation counts.
            let (entry, history) = (self.operation.entry(), &self.state.histories[self.peer]);
            let page = history.entry_at(entry.seq);
            if page.is_some_and(|(theirs, _)| theirs != entry) {
                return true;
            }
            if !mutated!(EndUnseen) && self.has_ended(context, history.now()) {
                return true;
            }
        }
        let (now, own) = self.now();
        let ahead = now.seq.wrapping_sub(own.seq) as i32;
        ahead > 0 || (ahead == 0 && now != own) || self.has_ended_all()
    }

    /// The history of a rank's operations in this operation context.
    fn history(&self, rank: usize) -> &OpHistory {
        match self.in_flight {
            None => &self.state.histories[rank],
            Some(context) => &context.ranks[rank],
        }
    }

    /// Whether the peer, whose last operation is `last`, has ended its part of this operation in flight. It may have begun
    /// no other one in this context, where it waits for a rank that waits here.
    fn has_ended(&self, context: &ContextHistories, last: Entry) -> bool {
        let ahead = last.seq.wrapping_sub(self.operation.seq) as i32;
        (ahead > 0 && Operation::blocks(last)) || context.ranks[self.peer].has_ended(context.seq)
    }

    /// Whether the peer has ended this operation, and all others that it has begun.
    fn has_ended_all(&self) -> bool {
        let history = &self.state.histories[self.peer];
        let last = history.now().seq;
        let ahead = last.wrapping_sub(self.operation.seq) as i32;
        ahead >= 0 && history.has_ended(last)
    }

    /// The operation that the peer entered last in this operation context, and this rank's.
    fn now(&self) -> (Entry, Entry) {
        let own = self.operation.entry();
        let own = self
            .in_flight
            .map_or(own, |context| context.entry(self.operation));
        (self.history(self.peer).now(), own)
    }

    /// The failure that follows from the peer's state: it has left, differs, or takes longer than a limit.
    fn verdict(&self, slept: Duration) -> Result<(), Failure> {
        let lost = |how| Failure::PeerLost {
            local: self.local(),
            remote: self.state.activity(self.peer),
            how,
        };
        let waited = slept;
        match self.state.histories[self.peer].presence() {
            Presence::Left => return Err(lost(Loss::Left)),
            Presence::Panicked => return Err(lost(Loss::Panicked)),
            Presence::Died => return Err(lost(Loss::Died)),
            Presence::Absent if slept >= self.state.join_limit => {
                return Err(Failure::NeverJoined {
                    local: self.local(),
                    missing: self.peer,
                    waited,
                });
            }
            Presence::Absent | Presence::Present => {}
        }
        if self.differs() {
            return Err(self.mismatch());
        }
        if !slept.is_zero() && !self.staging {
            self.history(self.rank).rest();
        }
        if self
            .state
            .patience
            .is_some_and(|patience| slept >= patience)
        {
            return Err(Failure::Stalled {
                local: self.local(),
                remote: self.state.activity(self.peer),
                waited,
            });
        }
        Ok(())
    }
}

impl Watch for PeerWatch<'_> {
    type Error = Failure;

    fn check(&mut self, slept: Duration) -> Result<(), Failure> {
        let stops = || self.state.stops(self.rank, self.operation.seq);
        stops()?;
        // If the team has stopped meanwhile, that is why the peer went on or left, and it is reported first.
        self.verdict(slept)
            .or_else(|failure| stops().and(Err(failure)))
    }
}

/// Detects that the peer has sent the data of this operation by another transfer path, which happens when the two ranks
/// disagree about their length. Without it both could wait without end.
///
/// A rank takes the data of a peer in one operation in the order in which the peer gives them. So earlier data
/// of the peer are visible whenever later data are.
pub(super) struct NothingElse<'a> {
    pub(super) watch: PeerWatch<'a>,
    /// The queue that a message would come through.
    pub(super) receiver: Option<&'a Receiver>,
    /// The endpoint that a loan would come to, and the number of the peer's link.
    pub(super) endpoint: Option<(&'a RefCell<&'a mut Endpoint>, usize)>,
    /// The broadcast ring that a message to all would come through.
    pub(super) reader: Option<&'a Reader>,
    /// The queue, where a message of it can overtake earlier loans that the peer has still to copy.
    pub(super) overtaking: Option<Overtaking<'a>>,
    /// The tag of the operation in progress.
    pub(super) tag: u32,
    /// The length that this rank expects.
    pub(super) expected: usize,
}

/// A queue whose messages can overtake loans.
pub(super) struct Overtaking<'a> {
    pub(super) receiver: &'a Receiver,
    /// How often the peer had rested when its next message was found.
    pub(super) rests: Option<u32>,
}

impl Overtaking<'_> {
    /// The length of a message of the operation that has overtaken nothing: its sender has rested since, so all that it
    /// lent before would be there.
    fn first(&mut self, tag: u32, sender: &OpHistory) -> Option<usize> {
        let next = self.receiver.peek().filter(|next| next.tag == tag)?;
        let rests = sender.rests();
        (*self.rests.get_or_insert(rests) != rests).then_some(next.len)
    }
}

impl Watch for NothingElse<'_> {
    type Error = Failure;

    fn check(&mut self, waited: Duration) -> Result<(), Failure> {
        // Look at the data before the peer's state: a peer that sent another length may have left the team
        // since.
        let sent = self.receiver.and_then(Receiver::peek);
        let sent = sent.map(|next| (next.tag, next.len));
        let lent = || {
            let (endpoint, link) = self.endpoint?;
            endpoint.borrow_mut().peek(link)
        };
        let published = || Some(self.reader?.look()?).map(|publish| (publish.tag, publish.len));
        match sent.or_else(lent).or_else(published) {
            Some((tag, len)) if tag == self.tag => Err(self.watch.length(len, self.expected)),
            _ => {
                let sender = self.watch.history(self.watch.peer);
                let overtaking = self.overtaking.as_mut().filter(|_| !mutated!(RestUnseen));
                match overtaking.and_then(|it| it.first(self.tag, sender)) {
                    Some(len) => Err(self.watch.length(len, self.expected)),
                    None => self.watch.check(waited),
                }
            }
        }
    }
}
