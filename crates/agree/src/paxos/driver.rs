//! What runs a member: it passes messages on, notices who is silent, and submits again what was lost.
//!
//! It reads no clock and sends nothing itself: times come with each call, and messages go through a [`Transport`]. So the
//! simulation of its tests runs what programs run.
//!
//! ```text
//!  nothing heard of the leader ──► LeaderChange ──► prepare, in the acceptor's memory, which all share ──► leads
//!  no answer of the acceptor ──► sent again ──► AcceptorChange to a member that was heard of
//!  a member that learns nothing ──► is waited for no longer ──► needs a snapshot when it is back
//! ```

mod held;
mod proposed;
mod replacing;
#[cfg(test)]
mod simulation;

use std::collections::{BTreeMap, VecDeque};

use held::Held;
use proposed::Proposed;

use super::transport::{Packet, SharedMemory, Submission, Transport};
use super::{Answer, Input, Member, Message, Output, Outputs, Routes};

/// Heartbeats for which a leader waits until it proposes beyond what a member can take, and until it has heard how far all are.
const PATIENCE: u64 = 4;

/// Members tell the leader how far they are when they have learned this part of what they may lag by.
const REPORTS: u64 = 8;

/// How long a driver waits for what, in nanoseconds, and how much it keeps.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How often each member tells the others that it is alive.
    pub heartbeat_ns: u64,
    /// Silence after which the leader is replaced. Each further member waits a heartbeat longer.
    pub leader_ns: u64,
    /// Silence after which the acceptor is replaced.
    pub acceptor_ns: u64,
    /// Time after which something is sent again.
    pub resend_ns: u64,
    /// Commands that a member may have submitted and not seen delivered.
    pub pending_max: usize,
    /// Entries by which a member may lag until it is waited for no longer. About as many entries are kept. A leader proposes
    /// nothing for up to four heartbeats while one that is alive lags by half of them.
    pub lag_max: u64,
}

impl Default for Options {
    /// For members that share a machine: a leader that was killed is replaced within about 3 ms.
    fn default() -> Self {
        Self {
            heartbeat_ns: 500_000,
            leader_ns: 2_000_000,
            acceptor_ns: 2_000_000,
            resend_ns: 1_000_000,
            pending_max: 1024,
            lag_max: 16_384,
        }
    }
}

/// What a driver tells its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<C> {
    /// The next command of the total order.
    Delivered {
        /// Its index in the log. There are indices without a command.
        index: u64,
        /// The command.
        submission: Submission<C>,
    },
    /// This member is to install a [`Snapshot`] of one that has delivered all below `floor`.
    Behind {
        /// The first entry that the others have kept.
        floor: u64,
    },
}

/// Where in the log a state of the user's stands, to go with a copy of that state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The first index that is not in it.
    pub next: u64,
    /// The next number of each origin.
    pub numbers: BTreeMap<u64, u64>,
}

/// The command is not taken: too many of this member's have not been delivered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full<C>(pub C);

/// A member of the group, as programs run it.
#[derive(Debug)]
pub struct Driver<C> {
    me: usize,
    size: usize,
    options: Options,
    member: Member<Submission<C>>,
    origin: u64,
    /// Commands of this member that were not delivered yet, and when they were last submitted.
    pending: VecDeque<Submission<C>>,
    submitted_ns: u64,
    /// The first of them at the last tick: while it changes, nothing was lost.
    awaited: Option<u64>,
    /// The leader to whom they were last submitted.
    submitted_to: usize,
    next_number: u64,
    numbers: BTreeMap<u64, u64>,
    events: VecDeque<Event<C>>,
    /// What the member told itself and has not taken.
    inputs: VecDeque<Input<Submission<C>>>,
    /// When each member was last heard of.
    heard_ns: Vec<u64>,
    alive_ns: u64,
    /// Since when the acceptor has answered nothing though it was asked.
    unanswered_ns: u64,
    answered: u64,
    resent_ns: u64,
    leading_ns: Option<u64>,
    /// What a leader was given and has not proposed.
    held: Held<C>,
    /// What a leader has proposed.
    proposed: Proposed,
    /// What was the first index not delivered when this member last told the leader.
    reported: u64,
    /// A member that has delivered more, from where it has kept entries, and since when there is one.
    ahead: Option<(usize, u64, u64)>,
    /// The trees of the group; without them an acceptor tells all members itself.
    routes: Option<Routes>,
    /// The members that are gone or of which nothing was heard lately, a bit each: trees leave them out.
    absent: u64,
    /// The members of which the user knows that they are gone, a bit each.
    lost: u64,
}

impl<C: Clone> Driver<C> {
    /// Member `me` of `size`, which starts or restarts now. No start of any member may have had this `origin` before.
    pub fn new(me: usize, size: usize, origin: u64, options: Options, now_ns: u64) -> Self {
        Self {
            me,
            size,
            options,
            member: Member::new(me, size),
            origin,
            pending: VecDeque::new(),
            submitted_ns: now_ns,
            awaited: None,
            submitted_to: 0,
            next_number: 0,
            numbers: BTreeMap::new(),
            events: VecDeque::new(),
            inputs: VecDeque::new(),
            heard_ns: vec![now_ns; size],
            alive_ns: now_ns,
            unanswered_ns: now_ns,
            answered: 0,
            resent_ns: now_ns,
            leading_ns: None,
            held: Held::new(options.pending_max.saturating_mul(size)),
            proposed: Proposed::default(),
            reported: 0,
            ahead: None,
            routes: None,
            absent: 0,
            lost: 0,
        }
    }

    /// What acceptors accept reaches all members over trees from now on. All members must be given the same ones.
    pub fn set_routes(&mut self, routes: Routes) {
        self.routes = Some(routes);
    }

    /// Tells which members are gone, a bit each, where somebody watches over them: these are replaced by the next
    /// [`tick`](Self::tick), without the silence that is waited for otherwise. One that is not gone after all loses its part, and
    /// nothing else.
    pub fn set_lost(&mut self, members: u64) {
        self.lost = members;
    }

    fn is_lost(&self, member: usize) -> bool {
        self.lost >> member & 1 == 1
    }

    /// Submits a command, and returns its number: it is chosen when the event with it is told.
    ///
    /// # Errors
    ///
    /// There are `pending_max` commands that were not delivered.
    pub fn submit<I>(&mut self, command: C, now_ns: u64, io: &mut I) -> Result<u64, Full<C>>
    where
        I: Transport<C> + SharedMemory<C>,
    {
        if self.pending.len() >= self.options.pending_max {
            return Err(Full(command));
        }
        let number = self.next_number;
        self.next_number += 1;
        let submission = Submission {
            origin: self.origin,
            number,
            command,
        };
        if self.pending.is_empty() {
            self.submitted_ns = now_ns;
        }
        self.pending.push_back(submission.clone());
        if seeded!(ToldUnchosen) {
            let (index, submission) = (u64::MAX, submission.clone());
            self.events
                .push_back(Event::Delivered { index, submission });
        }
        self.pass_on(submission, now_ns, io);
        Ok(number)
    }

    /// Takes a packet.
    pub fn receive<I>(&mut self, from: usize, packet: Packet<C>, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        self.heard_ns[from] = now_ns;
        match packet {
            Packet::Protocol(message) => {
                if matches!(message, Message::Prepare { .. } | Message::Accept { .. }) {
                    self.accept(from, &message, io);
                } else {
                    self.run(Input::Received { from, message }, io);
                }
            }
            Packet::Broadcast {
                root,
                absent,
                message,
            } => {
                // Nothing else is told to all.
                if matches!(message, Message::Learn { .. }) {
                    let (_, mut doer) = self.split(io);
                    doer.pass_on(root, absent, &message);
                    self.run(Input::Received { from, message }, io);
                }
            }
            Packet::Submit(submission) => {
                let next = self.numbers.get(&submission.origin).copied();
                let is_new = submission.number >= next.unwrap_or(0);
                if self.member.leads() && is_new {
                    self.propose(submission, now_ns, io);
                }
            }
            Packet::Alive {
                position,
                next,
                floor,
            } => {
                if position > self.member.configuration().0 {
                    self.look(io);
                }
                if next > self.member.next() {
                    let since = self.ahead.map_or(now_ns, |(.., since)| since);
                    self.ahead = Some((from, floor, since));
                }
            }
        }
        self.report_and_propose(now_ns, io);
    }

    /// Does what is due. It wants to be called a few times in each heartbeat, packets or not.
    pub fn tick<I>(&mut self, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        if io.position() > self.member.configuration().0 {
            self.look(io);
            self.heard_ns[self.member.configuration().1.leader] = now_ns;
        }
        self.absent = self.silent(now_ns) | self.lost;
        self.tell_alive(now_ns, io);
        self.replace_leader(now_ns, io);
        self.replace_acceptor(now_ns, io);
        self.drop_members(now_ns, io);
        self.catch_up(now_ns, io);
        self.report_and_propose(now_ns, io);
        let awaited = self.pending.front().map(|submission| submission.number);
        if awaited != self.awaited {
            (self.submitted_ns, self.awaited) = (now_ns, awaited);
        }
        let is_late = now_ns - self.submitted_ns > self.options.resend_ns;
        let leader = self.member.configuration().1.leader;
        let is_there = leader != self.me || self.member.leads();
        if is_there && (is_late || leader != self.submitted_to) {
            (self.submitted_ns, self.submitted_to) = (now_ns, leader);
            for submission in self.pending.clone() {
                self.pass_on(submission, now_ns, io);
            }
        }
    }

    /// The next thing that happened.
    pub fn event(&mut self) -> Option<Event<C>> {
        self.events.pop_front()
    }

    /// Puts events that were taken back in front of those to come.
    pub fn give_back(&mut self, events: Vec<Event<C>>) {
        for event in events.into_iter().rev() {
            self.events.push_front(event);
        }
    }

    /// Whether this member leads.
    pub fn leads(&self) -> bool {
        self.member.leads()
    }

    /// The leader and the acceptor, as far as this member knows.
    pub fn roles(&self) -> (usize, usize) {
        let (_, configuration) = self.member.configuration();
        (configuration.leader, configuration.acceptor)
    }

    /// The first index that was not delivered; the events of those before may not be taken yet.
    pub fn next(&self) -> u64 {
        self.member.next()
    }

    /// Whether an event is there to be taken.
    pub fn has_event(&self) -> bool {
        !self.events.is_empty()
    }

    /// Commands of this member that were not delivered yet.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Number of log entries that this member keeps.
    pub fn kept(&self) -> u64 {
        self.member.kept()
    }

    /// Where in the log the user's state stands once all events have been taken.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            next: self.member.next(),
            numbers: self.numbers.clone(),
        }
    }

    /// Goes on from a snapshot, whose state the user has installed. One that is older than what was delivered is refused.
    pub fn install<I>(&mut self, snapshot: Snapshot, io: &mut I) -> bool
    where
        I: Transport<C> + SharedMemory<C>,
    {
        if snapshot.next <= self.member.next() {
            return false;
        }
        self.events.clear();
        self.numbers = snapshot.numbers;
        let next = self.numbers.get(&self.origin).copied().unwrap_or(0);
        self.pending.retain(|submission| submission.number >= next);
        let next = snapshot.next;
        self.run(Input::Installed { next }, io);
        true
    }

    fn pass_on<I>(&mut self, submission: Submission<C>, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        let leader = self.member.configuration().1.leader;
        if self.member.leads() {
            self.propose(submission, now_ns, io);
        } else if leader != self.me {
            io.send(leader, Packet::Submit(submission));
        }
    }

    /// Proposes a command as the leader, or keeps it until there is room for it.
    fn propose<I>(&mut self, submission: Submission<C>, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        if self.held.is_empty() && self.has_room(now_ns) {
            self.propose_once(submission, io);
        } else {
            self.held.keep(submission);
        }
    }

    /// Proposes a command as the leader, unless it has done so.
    fn propose_once<I>(&mut self, submission: Submission<C>, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        if self
            .proposed
            .is_new(&submission, &self.numbers, &self.member)
        {
            self.run(Input::Propose(submission), io);
        }
    }

    /// Tells the leader how far this member is, where that is much further, and proposes what there is room for.
    #[inline(always)]
    fn report_and_propose<I>(&mut self, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        let next = self.member.next();
        if next.saturating_sub(self.reported) > self.options.lag_max / REPORTS {
            self.reported = next;
            self.run(Input::Report, io);
        }
        if !self.held.is_empty() {
            self.propose_held(now_ns, io);
        }
    }

    #[cold]
    #[inline(never)]
    fn propose_held<I>(&mut self, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        while self.member.leads() && self.has_room(now_ns) {
            let Some(submission) = self.held.take() else {
                return;
            };
            self.propose_once(submission, io);
        }
        if !self.member.leads() && !self.member.is_changing() {
            self.held.clear();
        }
    }

    /// Whether another command may be proposed: twice as many entries are kept as a member may lag, so what is kept is bounded,
    /// and half as many without a look at who lags.
    fn has_room(&mut self, now_ns: u64) -> bool {
        let (kept, lag_max) = (self.member.undropped(), self.options.lag_max);
        if kept <= lag_max / 2 {
            self.held.since_ns = None;
            return true;
        }
        kept < lag_max.saturating_mul(2) && !self.awaits_members(now_ns)
    }

    /// Whether a member that is alive lags, and has not done so for long.
    fn awaits_members(&mut self, now_ns: u64) -> bool {
        let lag = self.member.lag(!(self.absent | 1 << self.me));
        if lag <= self.options.lag_max / 2 || !self.has_heard_all(now_ns) {
            self.held.since_ns = None;
            return false;
        }
        let since_ns = *self.held.since_ns.get_or_insert(now_ns);
        now_ns - since_ns < self.patience_ns() && !seeded!(NobodyAwaited)
    }

    fn patience_ns(&self) -> u64 {
        PATIENCE.saturating_mul(self.options.heartbeat_ns)
    }

    /// Whether this member has led for so long that all others have told how far they are.
    fn has_heard_all(&self, now_ns: u64) -> bool {
        let since_ns = self.leading_ns;
        since_ns.is_some_and(|since_ns| now_ns - since_ns > self.patience_ns())
    }

    /// The member, and what does at once what it wants done.
    fn split<'a, I>(
        &'a mut self,
        io: &'a mut I,
    ) -> (&'a mut Member<Submission<C>>, Doer<'a, C, I>) {
        let doer = Doer {
            me: self.me,
            size: self.size,
            origin: self.origin,
            pending: &mut self.pending,
            numbers: &mut self.numbers,
            events: &mut self.events,
            inputs: &mut self.inputs,
            routes: self.routes.as_mut(),
            absent: self.absent,
            io,
        };
        (&mut self.member, doer)
    }

    /// Gives a message to the acceptor.
    fn accept<I>(&mut self, from: usize, message: &Message<Submission<C>>, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        let (member, mut doer) = self.split(io);
        doer.accept(from, message);
        doer.finish(member);
    }

    /// Steps the member until nothing is left to be done here.
    fn run<I>(&mut self, input: Input<Submission<C>>, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        let (member, mut doer) = self.split(io);
        member.step(input, &mut doer);
        doer.finish(member);
    }

    fn look<I>(&mut self, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        let input = configured(io);
        self.run(input, io);
    }

    fn tell_alive<I>(&mut self, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        if now_ns - self.alive_ns < self.options.heartbeat_ns {
            return;
        }
        self.alive_ns = now_ns;
        self.reported = self.member.next();
        let position = self.member.configuration().0;
        let (next, floor) = (self.member.next(), self.member.floor());
        for to in (0..self.size).filter(|to| *to != self.me) {
            let packet = Packet::Alive {
                position,
                next,
                floor,
            };
            io.send(to, packet);
        }
        self.run(Input::Report, io);
    }

    /// A member that lags too far is waited for no longer, and one that has come close is again.
    fn drop_members<I>(&mut self, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        if !self.member.leads() {
            self.leading_ns = None;
            return;
        }
        self.leading_ns.get_or_insert(now_ns);
        let configuration = self.member.configuration().1;
        let (acceptor, before) = (configuration.acceptor, configuration.members);
        let members = self.member.members_wanted(self.options.lag_max);
        if members != before && self.has_heard_all(now_ns) {
            self.run(Input::Reconfigure { acceptor, members }, io);
        }
    }

    fn catch_up<I>(&mut self, now_ns: u64, io: &mut I)
    where
        I: Transport<C> + SharedMemory<C>,
    {
        let Some((from, floor, since)) = self.ahead else {
            return;
        };
        if now_ns - since <= self.options.resend_ns {
            return;
        }
        self.ahead = None;
        if floor > self.member.next() {
            self.events.push_back(Event::Behind { floor });
        } else {
            self.run(Input::CatchUp { from }, io);
        }
    }
}

/// Does what a member wants done while it takes a step. Nothing is put aside that need not be: moving values to and from
/// memory would take as long as sending them.
struct Doer<'a, C, I> {
    me: usize,
    size: usize,
    origin: u64,
    pending: &'a mut VecDeque<Submission<C>>,
    numbers: &'a mut BTreeMap<u64, u64>,
    events: &'a mut VecDeque<Event<C>>,
    inputs: &'a mut VecDeque<Input<Submission<C>>>,
    routes: Option<&'a mut Routes>,
    absent: u64,
    io: &'a mut I,
}

impl<C: Clone, I: Transport<C> + SharedMemory<C>> Outputs<Submission<C>> for Doer<'_, C, I> {
    #[inline(always)]
    fn push(&mut self, output: Output<Submission<C>>) {
        match output {
            Output::Send { to, message } => match message {
                // The acceptor's memory is shared, so a prepare needs neither its process nor a message.
                Message::Prepare { .. } => {
                    if let Some(Answer::Reply(message)) = self.io.accept(to, &message) {
                        self.inputs.push_back(Input::Received { from: to, message });
                    }
                }
                Message::Accept { .. } if to == self.me => self.accept(to, &message),
                message if to == self.me => {
                    self.inputs.push_back(Input::Received { from: to, message });
                }
                message => self.io.send(to, Packet::Protocol(message)),
            },
            Output::Append {
                position,
                configuration,
            } => {
                let appended = self.io.append(position, configuration);
                let input = if appended {
                    Input::Appended
                } else {
                    configured(self.io)
                };
                self.inputs.push_front(input);
            }
            Output::Deliver { index, value } => self.deliver(index, value),
            Output::Look => self.inputs.push_back(configured(self.io)),
            Output::Behind { floor } => self.events.push_back(Event::Behind { floor }),
            // Its origin submits it again.
            Output::Refused(_) => {}
        }
    }
}

impl<C: Clone, I: Transport<C> + SharedMemory<C>> Doer<'_, C, I> {
    fn accept(&mut self, from: usize, message: &Message<Submission<C>>) {
        match self.io.accept(self.me, message) {
            Some(Answer::Reply(message)) if from == self.me => {
                self.inputs.push_back(Input::Received { from, message });
            }
            Some(Answer::Reply(message)) => self.io.send(from, Packet::Protocol(message)),
            Some(Answer::Broadcast(message)) => {
                let from = self.me;
                if self.routes.is_some() {
                    self.pass_on(from, self.absent, &message);
                } else {
                    for to in (0..self.size).filter(|to| *to != from) {
                        self.io.send(to, Packet::Protocol(message.clone()));
                    }
                }
                self.inputs.push_back(Input::Received { from, message });
            }
            None => {}
        }
    }

    /// Sends a broadcast to the children of this member in the tree of `root`.
    fn pass_on(&mut self, root: usize, absent: u64, message: &Message<Submission<C>>) {
        let Some(routes) = &mut self.routes else {
            return;
        };
        if seeded!(NotPassedOn) && root != self.me {
            return;
        }
        for &to in routes.children(self.me, root, absent) {
            let message = message.clone();
            let packet = Packet::Broadcast {
                root,
                absent,
                message,
            };
            self.io.send(to, packet);
        }
    }

    /// Takes what was put aside.
    fn finish(mut self, member: &mut Member<Submission<C>>) {
        while let Some(input) = self.inputs.pop_front() {
            member.step(input, &mut self);
        }
    }

    /// Commands that were submitted twice, or overtook one of the same origin, are left out by all members alike.
    fn deliver(&mut self, index: u64, value: Option<Submission<C>>) {
        let Some(submission) = value else {
            return;
        };
        let next = self.numbers.entry(submission.origin).or_default();
        if submission.number != *next && !seeded!(DuplicatesDelivered) {
            return;
        }
        *next = submission.number + 1;
        if submission.origin == self.origin {
            self.pending.retain(|it| it.number > submission.number);
        }
        self.events
            .push_back(Event::Delivered { index, submission });
    }
}

fn configured<C>(io: &mut impl SharedMemory<C>) -> Input<Submission<C>> {
    let (position, configuration) = io.last();
    Input::Configured {
        position,
        configuration,
    }
}
