//! What each member is besides its acceptor: a learner always, and a leader when the configuration log says so.

#[cfg(test)]
mod tests;

use super::{Configuration, Message, Value, Window};

/// What happens to a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<C> {
    /// The configuration log ends with this entry. It may be told at any time and any number of times; an older end than
    /// one that was told before changes nothing.
    Configured {
        /// Position of the entry.
        position: u64,
        /// The entry.
        configuration: Configuration<C>,
    },
    /// The entry of the last [`Output::Append`] is in the log. If it could not be appended, `Configured` tells what is there.
    Appended,
    /// A message, other than those to the acceptor.
    Received {
        /// Its sender.
        from: usize,
        /// The message.
        message: Message<C>,
    },
    /// A command to be put into the log.
    Propose(C),
    /// This member is to lead.
    Lead,
    /// The acceptor, or the members that are waited for, are to be others; only a leader does it.
    Reconfigure {
        /// The active acceptor from now on.
        acceptor: usize,
        /// The members that must have learned an entry before it is dropped, a bit each.
        members: u64,
    },
    /// What has not been answered is sent again.
    Resend,
    /// This member tells the leader how far it has learned.
    Report,
    /// This member asks another one for what it has not learned.
    CatchUp {
        /// Whom it asks.
        from: usize,
    },
    /// The state that the log leads to before index `next` was installed from a snapshot.
    Installed {
        /// The first index that the snapshot does not contain.
        next: u64,
    },
}

/// What a member wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<C> {
    /// Send a message. It may be one to itself.
    Send {
        /// The receiver.
        to: usize,
        /// The message.
        message: Message<C>,
    },
    /// Append an entry to the configuration log if this will be its position, and tell what became of it. In between the
    /// member may be told other things; when it restarts, an append that has not been made must not be made.
    Append {
        /// The position.
        position: u64,
        /// The entry.
        configuration: Configuration<C>,
    },
    /// The next entry of the log, in order and each once.
    Deliver {
        /// Its index.
        index: u64,
        /// What was chosen.
        value: Value<C>,
    },
    /// The command was not proposed: this member does not lead.
    Refused(C),
    /// The configuration log has grown: please look at it.
    Look,
    /// What this member has to learn next has been dropped: it needs the snapshot of another member.
    Behind {
        /// The first index that is kept.
        floor: u64,
    },
}

/// Takes what a member wants done, in order: a list, or what does it at once.
pub trait Outputs<C> {
    /// Takes the next one.
    fn push(&mut self, output: Output<C>);
}

impl<C> Outputs<C> for Vec<Output<C>> {
    fn push(&mut self, output: Output<C>) {
        Self::push(self, output);
    }
}

/// A member of the group, without its acceptor.
///
/// It does no I/O: [`Member::step`] takes what happened and tells what is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member<C> {
    me: usize,
    size: usize,
    position: u64,
    configuration: Configuration<C>,
    role: Role<C>,
    learned: Window<Value<C>>,
    /// The first index that was not delivered.
    next: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Role<C> {
    Follower,
    /// An entry that makes this member the leader was handed to the log.
    Campaigning(Configuration<C>),
    /// The acceptor has not answered the prepare.
    Preparing,
    Leading(Leadership<C>),
    /// An entry that changes the acceptor was handed to the log.
    Changing(Leadership<C>, Configuration<C>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Leadership<C> {
    /// All that was ever proposed and that not all members are known to have learned.
    sent: Window<Value<C>>,
    /// The first index that each member has not learned, as it told.
    learned: Vec<u64>,
}

/// As many entries are told to who asks; then it asks again.
const ANSWERED_MAX: usize = 1024;

/// The entry at position 0, which names the first acceptor, and as leader a member that leads only after an entry of its own.
pub fn first_configuration<C>(size: usize) -> Configuration<C> {
    Configuration {
        leader: 0,
        acceptor: usize::from(size > 1),
        members: u64::MAX >> (64 - size),
        carried: Window::new(0),
    }
}

impl<C: Clone> Member<C> {
    /// Member `me` of `size`, which has learned nothing and leads nothing, at the start or after it restarted.
    ///
    /// # Panics
    ///
    /// There is no such member, or there are more than 64.
    pub fn new(me: usize, size: usize) -> Self {
        assert!(
            (1..=64).contains(&size),
            "a group of {size} members: 1 to 64"
        );
        assert!(me < size, "member {me} of {size}");
        Self {
            me,
            size,
            position: 0,
            configuration: first_configuration(size),
            role: Role::Follower,
            learned: Window::new(0),
            next: 0,
        }
    }

    /// This member's number.
    pub fn me(&self) -> usize {
        self.me
    }

    /// The last entry of the configuration log that this member knows, and its position.
    pub fn configuration(&self) -> (u64, &Configuration<C>) {
        (self.position, &self.configuration)
    }

    /// Whether a command would be proposed now.
    pub fn leads(&self) -> bool {
        matches!(self.role, Role::Leading(_))
    }

    /// Whether this member waits for the log or for the acceptor.
    pub fn is_changing(&self) -> bool {
        !matches!(self.role, Role::Follower | Role::Leading(_))
    }

    /// Whether this member has prepared, and waits for the acceptor's promise.
    pub fn awaits_promise(&self) -> bool {
        matches!(self.role, Role::Preparing)
    }

    /// The members that a leader should wait for before it drops entries, a bit each: not one that has not learned
    /// `lag_max` entries, and one again that has learned half of them.
    pub fn members_wanted(&self, lag_max: u64) -> u64 {
        let members = self.configuration.members;
        let Role::Leading(Leadership { sent, learned }) = &self.role else {
            return members;
        };
        let wanted = learned.iter().enumerate().filter(|(member, next)| {
            let is_member = members >> member & 1 == 1;
            let lag = sent.end().saturating_sub(**next);
            *member == self.me || lag <= lag_max / 2 || is_member && lag <= lag_max
        });
        wanted.fold(0, |wanted, (member, _)| wanted | 1 << member)
    }

    /// Of these members, a bit each, and of those that a leader waits for, the most entries that one is not known to have
    /// learned; 0 for a member that does not lead.
    pub fn lag(&self, of: u64) -> u64 {
        let Role::Leading(Leadership { sent, learned }) = &self.role else {
            return 0;
        };
        let asked = of & self.configuration.members;
        let asked = learned
            .iter()
            .enumerate()
            .filter(|(member, _)| asked >> member & 1 == 1);
        let lags = asked.map(|(_, next)| sent.end().saturating_sub(*next));
        lags.max().unwrap_or(0)
    }

    /// The first index that this member has not delivered.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The index after the last one that this member knows to be proposed or chosen.
    pub fn end(&self) -> u64 {
        match &self.role {
            Role::Leading(leadership) | Role::Changing(leadership, _) => leadership.sent.end(),
            _ => self.learned.end(),
        }
    }

    /// The first index whose entry this member keeps for others.
    pub fn floor(&self) -> u64 {
        self.learned.floor()
    }

    /// Number of entries that a leader has proposed and that may not be dropped yet.
    pub fn undropped(&self) -> u64 {
        match &self.role {
            Role::Leading(Leadership { sent, .. }) | Role::Changing(Leadership { sent, .. }, _) => {
                sent.end() - sent.floor()
            }
            _ => 0,
        }
    }

    /// The commands that a leader has proposed and not delivered, in their order.
    pub fn proposed(&self) -> impl Iterator<Item = &C> {
        let sent = match &self.role {
            Role::Leading(Leadership { sent, .. }) | Role::Changing(Leadership { sent, .. }, _) => {
                Some(sent)
            }
            _ => None,
        };
        let entries = sent.into_iter().flat_map(Window::iter);
        let undelivered = entries.filter(|(index, _)| *index >= self.next);
        undelivered.filter_map(|(_, value)| value.as_ref())
    }

    /// Number of log entries that this member keeps.
    pub fn kept(&self) -> u64 {
        self.end().max(self.learned.end()) - self.learned.floor()
    }

    /// Takes one thing that happened, and tells `outputs` what is to be done. Costs a copy of the value for each
    /// message and delivery, and for a new leader a copy of all that is kept.
    pub fn step(&mut self, input: Input<C>, outputs: &mut impl Outputs<C>) {
        match input {
            Input::Configured {
                position,
                configuration,
            } => self.configured(position, configuration),
            Input::Appended => self.appended(outputs),
            Input::Received { from, message } => self.received(from, message, outputs),
            Input::Propose(command) => self.propose(command, outputs),
            Input::Lead => self.lead(outputs),
            Input::Reconfigure { acceptor, members } => {
                self.reconfigure(acceptor, members, outputs)
            }
            Input::Resend => self.resend(outputs),
            Input::Report => {
                let message = Message::Learned { next: self.next };
                let to = self.configuration.leader;
                outputs.push(Output::Send { to, message });
            }
            Input::CatchUp { from } => {
                let message = Message::Ask { next: self.next };
                outputs.push(Output::Send { to: from, message });
            }
            Input::Installed { next } => {
                self.next = self.next.max(next);
                self.learned.raise(next);
                self.deliver(outputs);
            }
        }
    }

    /// Whoever wrote the entry, it is not one that this member waits to be told of as its own: it leads no longer.
    fn configured(&mut self, position: u64, configuration: Configuration<C>) {
        if position <= self.position {
            return;
        }
        let restarted_leads = seeded!(RestartedLeads) && configuration.leader == self.me;
        if restarted_leads {
            self.role = Role::Leading(self.leadership(configuration.carried.clone()));
        } else if !(seeded!(DeposedLeads) && matches!(self.role, Role::Leading(_))) {
            self.role = Role::Follower;
        }
        self.position = position;
        self.configuration = configuration;
    }

    /// Rule 1: the acceptor is the one of the log. Rule 3: what was carried is copied.
    fn lead(&mut self, outputs: &mut impl Outputs<C>) {
        if !matches!(self.role, Role::Follower) {
            return;
        }
        let mut configuration = self.configuration.clone();
        configuration.leader = self.me;
        if seeded!(AcceptorFromStart) {
            configuration.acceptor = 0;
        }
        if seeded!(LeaderChangeDropsCarried) {
            configuration.carried = Window::new(configuration.carried.floor());
        }
        self.append(&configuration, outputs);
        self.role = Role::Campaigning(configuration);
    }

    /// Rule 2: only a leader that was answered changes the acceptor. It carries all that it has sent and that not all are
    /// known to have learned. What is chosen is among it: only this member might know that it is.
    fn reconfigure(&mut self, acceptor: usize, members: u64, outputs: &mut impl Outputs<C>) {
        let leadership = match std::mem::replace(&mut self.role, Role::Follower) {
            Role::Leading(leadership) => leadership,
            Role::Preparing if seeded!(ChangedBeforePromise) => {
                self.leadership(self.configuration.carried.clone())
            }
            other => return self.role = other,
        };
        let mut carried = leadership.sent.clone();
        if seeded!(NothingCarried) {
            carried = Window::new(carried.floor());
        }
        if seeded!(ChosenNotCarried) {
            carried.raise(self.next);
        }
        if seeded!(FloorNotCarried) {
            carried = Window::new(0);
            for (index, value) in leadership.sent.iter() {
                carried.insert(index, value.clone());
            }
        }
        let configuration = Configuration {
            leader: self.me,
            acceptor,
            members,
            carried,
        };
        self.append(&configuration, outputs);
        self.role = Role::Changing(leadership, configuration);
    }

    fn append(&self, configuration: &Configuration<C>, outputs: &mut impl Outputs<C>) {
        outputs.push(Output::Append {
            position: self.position + 1,
            configuration: configuration.clone(),
        });
    }

    fn appended(&mut self, outputs: &mut impl Outputs<C>) {
        match std::mem::replace(&mut self.role, Role::Follower) {
            Role::Campaigning(configuration) => {
                self.position += 1;
                self.configuration = configuration;
                self.role = Role::Preparing;
                self.prepare(outputs);
            }
            Role::Changing(leadership, configuration) => {
                self.position += 1;
                self.configuration = configuration;
                self.propose_all(leadership, outputs);
            }
            // An entry of somebody else was told in between, so this one cannot have been appended.
            other => self.role = other,
        }
    }

    fn prepare(&self, outputs: &mut impl Outputs<C>) {
        let ballot = self.position;
        outputs.push(Output::Send {
            to: self.configuration.acceptor,
            message: Message::Prepare { ballot },
        });
    }

    fn leadership(&self, sent: Window<Value<C>>) -> Leadership<C> {
        let members = self.configuration.members;
        // What is below the floor all members have learned. Of others nothing is known.
        let learned = |member| {
            if members >> member & 1 == 1 {
                sent.floor()
            } else {
                0
            }
        };
        let learned = (0..self.size).map(learned).collect();
        Leadership { sent, learned }
    }

    /// Rule 3: a new leader proposes again what was carried and what was accepted, which wins, and fills the gaps: there
    /// nothing can have been chosen.
    fn promised(&mut self, accepted: Window<Value<C>>, outputs: &mut impl Outputs<C>) {
        let mut sent = self.configuration.carried.clone();
        if seeded!(CarriedIgnored) {
            sent = Window::new(sent.floor());
        }
        sent.raise(accepted.floor());
        if !seeded!(ReportIgnored) {
            for (index, value) in accepted.iter() {
                sent.insert(index, value.clone());
            }
        }
        for index in sent.floor()..sent.end() {
            if sent.get(index).is_none() {
                sent.insert(index, None);
            }
        }
        self.propose_all(self.leadership(sent), outputs);
    }

    fn propose_all(&mut self, leadership: Leadership<C>, outputs: &mut impl Outputs<C>) {
        for (index, value) in leadership.sent.iter() {
            self.accept(index, value.clone(), leadership.sent.floor(), outputs);
        }
        self.role = Role::Leading(leadership);
    }

    fn accept(&self, index: u64, value: Value<C>, floor: u64, outputs: &mut impl Outputs<C>) {
        let message = Message::Accept {
            ballot: self.position,
            index,
            value,
            floor,
        };
        let to = self.configuration.acceptor;
        outputs.push(Output::Send { to, message });
    }

    fn propose(&mut self, command: C, outputs: &mut impl Outputs<C>) {
        let leadership = match &mut self.role {
            Role::Leading(leadership) => leadership,
            Role::Changing(leadership, _) if seeded!(StillToOldAcceptor) => leadership,
            _ => return outputs.push(Output::Refused(command)),
        };
        let (index, floor) = (leadership.sent.end(), leadership.sent.floor());
        leadership.sent.insert(index, Some(command.clone()));
        self.accept(index, Some(command), floor, outputs);
    }

    fn resend(&mut self, outputs: &mut impl Outputs<C>) {
        match &self.role {
            Role::Preparing => self.prepare(outputs),
            Role::Leading(Leadership { sent, .. }) => {
                for (index, value) in sent.iter().filter(|(index, _)| *index >= self.next) {
                    self.accept(index, value.clone(), sent.floor(), outputs);
                }
            }
            _ => {}
        }
    }

    fn received(&mut self, from: usize, message: Message<C>, outputs: &mut impl Outputs<C>) {
        match message {
            Message::Promise { ballot, accepted } => {
                if ballot == self.position && matches!(self.role, Role::Preparing) {
                    self.promised(accepted, outputs);
                }
            }
            Message::Learn {
                index,
                value,
                floor,
            } => self.learn(index, value, floor, outputs),
            Message::Nack { promised, .. } => {
                if promised > self.position {
                    outputs.push(Output::Look);
                }
            }
            Message::Learned { next } => self.learned_by(from, next),
            Message::Ask { next } => {
                let floor = self.learned.floor();
                let known = self.learned.iter().filter(|(index, _)| *index >= next);
                for (index, value) in known.take(ANSWERED_MAX) {
                    let value = value.clone();
                    let message = Message::Learn {
                        index,
                        value,
                        floor,
                    };
                    outputs.push(Output::Send { to: from, message });
                }
            }
            Message::Prepare { .. } | Message::Accept { .. } => {
                debug_assert!(false, "messages to acceptors go to the acceptor");
            }
        }
    }

    fn learn(&mut self, index: u64, value: Value<C>, floor: u64, outputs: &mut impl Outputs<C>) {
        self.learned.raise(floor.min(self.next));
        // What lies before it is nowhere any more, so this member goes on from a snapshot: room for that would be room for all that was
        // ever agreed on.
        if floor > self.learned.end() && !seeded!(RoomForDropped) {
            self.learned.raise(floor);
        }
        self.learned.insert(index, value);
        self.deliver(outputs);
        if floor > self.next {
            outputs.push(Output::Behind { floor });
        }
    }

    fn deliver(&mut self, outputs: &mut impl Outputs<C>) {
        while let Some(value) = self.learned.get(self.next) {
            outputs.push(Output::Deliver {
                index: self.next,
                value: value.clone(),
            });
            self.next += 1;
        }
    }

    fn learned_by(&mut self, member: usize, next: u64) {
        let (own, me) = (self.next, self.me);
        let (Role::Leading(leadership) | Role::Changing(leadership, _)) = &mut self.role else {
            return;
        };
        let learned = &mut leadership.learned;
        // A member that has restarted has less than before.
        learned[member] = next;
        learned[me] = own;
        // This member may lead before it is one of those that are waited for. What it lacks itself it must not drop: it might be
        // told only by one that ends now.
        let members = match seeded!(LeaderUnawaited) {
            true => self.configuration.members,
            false => self.configuration.members | 1 << me,
        };
        let waited_for = learned.iter().enumerate();
        let waited_for = waited_for.filter(|(member, _)| members >> member & 1 == 1);
        let mut floor = waited_for.map(|(_, next)| *next).min().unwrap_or(own);
        if seeded!(FloorOfLeader) {
            floor = own;
        }
        leadership.sent.raise(floor);
        self.learned.raise(floor.min(own));
    }
}
