//! The members, acceptors and configuration log as they run, in all orders of events that small bounds allow.
//!
//! A message that was ever sent stays: it may be delivered now, later, more than once or never, so loss, delay, duplication
//! and reordering are all there. A member that restarts has forgotten all that is not in its acceptor. What is checked is
//! what can be observed: what members deliver.

mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::*;
use crate::model_checker::{Hashed, Interned, Model, NumberSet};

/// How much of the protocol is explored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    pub(super) size: usize,
    pub(super) commands: u8,
    /// Position of the last entry of the configuration log.
    pub(super) positions: u64,
    pub(super) restarts: u8,
    /// Acceptors whose memory is lost.
    pub(super) losses: u8,
    /// Whether members report what they have learned, so that it is dropped.
    pub(super) reports: bool,
    /// Whether members ask others for what they have missed.
    pub(super) asks: bool,
    /// Whether a leader may be its own acceptor.
    pub(super) both: bool,
    /// How many of the members are ever changed to be leader or acceptor, the last ones.
    pub(super) leaders: usize,
}

const MEMBERS_MAX: usize = 4;

/// The parts of a state by number, in the tables of the model.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct World {
    members: [u16; MEMBERS_MAX],
    acceptors: [u16; MEMBERS_MAX],
    log: u16,
    /// Appends that members have asked for and that have not been made.
    appends: [Option<u16>; MEMBERS_MAX],
    /// All that was ever sent.
    network: NumberSet,
    proposed: u8,
    restarted: u8,
    lost: u8,
    /// What was delivered for each index by anybody.
    chosen: [Option<Value<u8>>; 4],
    /// How many entries each member has delivered since it started.
    delivered: [u8; MEMBERS_MAX],
}

/// Receiver, sender and message.
type Envelope = (usize, usize, Message<u8>);

/// What happens to a member, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Event {
    Configured(u16),
    Appended,
    Received(u16),
    Propose(u8),
    Lead,
    ChangeAcceptor(usize),
    Report,
    CatchUp(usize),
}

/// What a member did, once computed by [`Member::step`].
#[derive(Clone, Default)]
struct Stepped {
    member: u16,
    sent: Vec<u16>,
    append: Option<u16>,
    delivered: Vec<(u64, Value<u8>)>,
    /// A floor that the member is behind.
    behind: Option<u64>,
}

/// What an acceptor became, and what it sent.
type Accepted = (u16, Rc<Vec<u16>>);

struct Tables {
    members: Interned<Member<u8>>,
    acceptors: Interned<Acceptor<u8>>,
    logs: Interned<ConfigurationLog<u8>>,
    appends: Interned<(u64, Configuration<u8>)>,
    envelopes: Interned<Envelope>,
    steps: HashMap<(u16, Event), Rc<Stepped>, Hashed>,
    accepts: HashMap<(u16, u16), Accepted, Hashed>,
}

/// The model within bounds.
pub(super) struct Group {
    bounds: Bounds,
    tables: RefCell<Tables>,
}

#[derive(Clone, Copy)]
pub(super) enum Action {
    Deliver(u16),
    Look(usize),
    Lead(usize),
    Append(usize),
    Propose(usize),
    ChangeAcceptor(usize, usize),
    Report(usize),
    CatchUp(usize, usize),
    Restart(usize),
    LoseAcceptor(usize),
}

impl Tables {
    fn step(&mut self, size: usize, member: u16, event: Event) -> Rc<Stepped> {
        if let Some(stepped) = self.steps.get(&(member, event)) {
            return Rc::clone(stepped);
        }
        let input = match event {
            Event::Configured(log) => {
                let log = self.logs.value(log);
                let (position, configuration) = log.last();
                let configuration = configuration.clone();
                Input::Configured {
                    position,
                    configuration,
                }
            }
            Event::Appended => Input::Appended,
            Event::Received(envelope) => {
                let (_, from, message) = &*self.envelopes.value(envelope);
                let (from, message) = (*from, message.clone());
                Input::Received { from, message }
            }
            Event::Propose(command) => Input::Propose(command),
            Event::Lead => Input::Lead,
            Event::ChangeAcceptor(acceptor) => {
                let members = u64::MAX >> (64 - size);
                Input::Reconfigure { acceptor, members }
            }
            Event::Report => Input::Report,
            Event::CatchUp(from) => Input::CatchUp { from },
        };
        let mut changed = Member::clone(&self.members.value(member));
        let me = changed.me();
        let mut outputs = Vec::new();
        changed.step(input, &mut outputs);
        let mut stepped = Stepped {
            member: self.members.number(changed),
            ..Stepped::default()
        };
        for output in outputs {
            match output {
                Output::Send { to, message } => {
                    stepped.sent.push(self.envelopes.number((to, me, message)));
                }
                Output::Append {
                    position,
                    configuration,
                } => stepped.append = Some(self.appends.number((position, configuration))),
                Output::Deliver { index, value } => stepped.delivered.push((index, value)),
                // A look may come at any time, so nothing depends on what asks for it.
                Output::Behind { floor } => stepped.behind = Some(floor),
                Output::Refused(_) | Output::Look => {}
            }
        }
        let stepped = Rc::new(stepped);
        self.steps.insert((member, event), Rc::clone(&stepped));
        stepped
    }

    /// What an acceptor becomes by a message, and what it sends.
    fn accept(&mut self, size: usize, acceptor: u16, envelope: u16) -> Accepted {
        if let Some(done) = self.accepts.get(&(acceptor, envelope)) {
            return done.clone();
        }
        let (me, from, message) = &*self.envelopes.value(envelope);
        let mut changed = Acceptor::clone(&self.acceptors.value(acceptor));
        let sent = match changed.step(message) {
            Some(Answer::Reply(Message::Nack { .. })) | None => Vec::new(),
            Some(Answer::Reply(message)) => vec![self.envelopes.number((*from, *me, message))],
            Some(Answer::Broadcast(message)) => {
                let envelopes = (0..size).map(|to| (to, *me, message.clone()));
                envelopes.map(|it| self.envelopes.number(it)).collect()
            }
        };
        if let Message::Accept { index, .. } = message
            && let Some(before) = self.acceptors.value(acceptor).accepted(*index)
            && let Some(after) = changed.accepted(*index)
            && crate::fault::none()
        {
            // The acceptor in memory that processes share rests on it.
            assert_eq!(after, before, "an accepted value is never another one");
        }
        let done = (self.acceptors.number(changed), Rc::new(sent));
        self.accepts.insert((acceptor, envelope), done.clone());
        done
    }
}

impl World {
    /// The invariants: one value for each index, whoever delivers it and however long after; delivered in order and each
    /// once; and nothing that nobody proposed.
    fn deliver(&mut self, me: usize, index: u64, value: Value<u8>) -> Result<(), String> {
        if index != u64::from(self.delivered[me]) {
            return Err(format!(
                "member {me} delivers {index} after {}",
                self.delivered[me]
            ));
        }
        self.delivered[me] += 1;
        if value.is_some_and(|value| value >= self.proposed) {
            return Err(format!("{value:?} was never proposed"));
        }
        let chosen = self.chosen[index as usize].get_or_insert(value);
        if *chosen == value {
            return Ok(());
        }
        Err(format!("{chosen:?} and {value:?} at {index}"))
    }
}

impl Group {
    pub(super) fn new(bounds: Bounds) -> Self {
        let tables = Tables {
            members: Interned::new(),
            acceptors: Interned::new(),
            logs: Interned::new(),
            appends: Interned::new(),
            envelopes: Interned::new(),
            steps: HashMap::default(),
            accepts: HashMap::default(),
        };
        let tables = RefCell::new(tables);
        Self { bounds, tables }
    }

    fn step(&self, world: &mut World, me: usize, event: Event) -> Result<(), String> {
        let mut tables = self.tables.borrow_mut();
        let stepped = tables.step(self.bounds.size, world.members[me], event);
        world.members[me] = stepped.member;
        for envelope in &stepped.sent {
            world.network.insert(*envelope);
        }
        if stepped.append.is_some() {
            world.appends[me] = stepped.append;
        }
        let mut delivered = stepped.delivered.iter();
        delivered.try_for_each(|(index, value)| world.deliver(me, *index, *value))?;
        // What has been dropped is known to somebody.
        match stepped.behind {
            Some(floor) if world.delivered.iter().all(|next| u64::from(*next) < floor) => Err(
                format!("nobody has all entries below {floor}, which were dropped"),
            ),
            _ => Ok(()),
        }
    }

    fn actions_of(&self, tables: &Tables, world: &World, me: usize, actions: &mut Vec<Action>) {
        let bounds = &self.bounds;
        let member = tables.members.value(world.members[me]);
        let log = tables.logs.value(world.log);
        let (known, configuration) = member.configuration();
        let (last, _) = log.last();
        if world.appends[me].is_some() {
            actions.push(Action::Append(me));
        }
        if last > known {
            actions.push(Action::Look(me));
        }
        let early = seeded!(StillToOldAcceptor) && member.is_changing();
        if (member.leads() || early) && world.proposed < bounds.commands {
            actions.push(Action::Propose(me));
        }
        let changes = last < bounds.positions && me + bounds.leaders >= bounds.size;
        let may = bounds.both || configuration.acceptor != me;
        if changes && may && !member.leads() && !member.is_changing() {
            actions.push(Action::Lead(me));
        }
        let early = seeded!(ChangedBeforePromise) && member.is_changing();
        if last < bounds.positions && (member.leads() || early) {
            for acceptor in 0..bounds.size {
                if acceptor != configuration.acceptor && (bounds.both || acceptor != me) {
                    actions.push(Action::ChangeAcceptor(me, acceptor));
                }
            }
        }
        if bounds.reports
            && configuration.leader != me
            && (member.next() > 0 || seeded!(FloorOfLeader))
        {
            actions.push(Action::Report(me));
        }
        for from in 0..bounds.size {
            if bounds.asks && world.delivered[from] > world.delivered[me] {
                actions.push(Action::CatchUp(me, from));
            }
        }
        if world.restarted < bounds.restarts {
            actions.push(Action::Restart(me));
        }
        if world.lost < bounds.losses {
            actions.push(Action::LoseAcceptor(me));
        }
    }
}

impl Model for Group {
    type State = World;
    type Action = Action;

    /// Member 0 leads, and 1 is the acceptor.
    fn start(&self) -> World {
        let size = self.bounds.size;
        let mut tables = self.tables.borrow_mut();
        let mut world = World {
            members: [0; MEMBERS_MAX],
            acceptors: [tables.acceptors.number(Acceptor::new()); MEMBERS_MAX],
            log: tables.logs.number(ConfigurationLog::new(size)),
            appends: [None; MEMBERS_MAX],
            network: NumberSet::default(),
            proposed: 0,
            restarted: 0,
            lost: 0,
            chosen: [None; 4],
            delivered: [0; MEMBERS_MAX],
        };
        for me in 0..size {
            world.members[me] = tables.members.number(Member::new(me, size));
        }
        drop(tables);
        self.apply(&mut world, &Action::Lead(0)).unwrap();
        self.apply(&mut world, &Action::Append(0)).unwrap();
        for _ in 0..2 {
            for envelope in world.network.iter() {
                self.apply(&mut world, &Action::Deliver(envelope)).unwrap();
            }
        }
        assert!(self.tables.borrow().members.value(world.members[0]).leads());
        world
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        actions.extend(world.network.iter().map(Action::Deliver));
        let tables = self.tables.borrow();
        for me in 0..self.bounds.size {
            self.actions_of(&tables, world, me, actions);
        }
    }

    fn apply(&self, world: &mut World, action: &Action) -> Result<(), String> {
        match *action {
            Action::Deliver(envelope) => {
                let mut tables = self.tables.borrow_mut();
                let (to, _, message) = &*tables.envelopes.value(envelope);
                if !matches!(message, Message::Prepare { .. } | Message::Accept { .. }) {
                    drop(tables);
                    return self.step(world, *to, Event::Received(envelope));
                }
                let (acceptor, sent) =
                    tables.accept(self.bounds.size, world.acceptors[*to], envelope);
                world.acceptors[*to] = acceptor;
                for envelope in &*sent {
                    world.network.insert(*envelope);
                }
                Ok(())
            }
            Action::Look(me) => self.step(world, me, Event::Configured(world.log)),
            Action::Append(me) => {
                let mut tables = self.tables.borrow_mut();
                let append = world.appends[me].take().expect("an append");
                let (position, configuration) = (*tables.appends.value(append)).clone();
                let mut log = ConfigurationLog::clone(&tables.logs.value(world.log));
                let appended = log.append(position, configuration);
                world.log = tables.logs.number(log);
                drop(tables);
                let event = if appended {
                    Event::Appended
                } else {
                    Event::Configured(world.log)
                };
                self.step(world, me, event)
            }
            Action::Lead(me) => self.step(world, me, Event::Lead),
            Action::Propose(me) => {
                world.proposed += 1;
                self.step(world, me, Event::Propose(world.proposed - 1))
            }
            Action::ChangeAcceptor(me, acceptor) => {
                self.step(world, me, Event::ChangeAcceptor(acceptor))
            }
            Action::Report(me) => self.step(world, me, Event::Report),
            Action::CatchUp(me, from) => self.step(world, me, Event::CatchUp(from)),
            Action::Restart(me) => {
                let mut tables = self.tables.borrow_mut();
                world.restarted += 1;
                world.members[me] = tables.members.number(Member::new(me, self.bounds.size));
                world.appends[me] = None;
                world.delivered[me] = 0;
                Ok(())
            }
            Action::LoseAcceptor(me) => {
                world.lost += 1;
                world.acceptors[me] = self.tables.borrow_mut().acceptors.number(Acceptor::lost());
                Ok(())
            }
        }
    }

    fn told(&self, action: &Action) -> String {
        match *action {
            Action::Deliver(envelope) => {
                let (to, from, message) = &*self.tables.borrow().envelopes.value(envelope);
                format!("{from} to {to}: {message:?}")
            }
            Action::Look(me) => format!("{me} looks at the configuration log"),
            Action::Lead(me) => format!("{me} wants to lead"),
            Action::Append(me) => format!("{me} appends"),
            Action::Propose(me) => format!("{me} proposes"),
            Action::ChangeAcceptor(me, acceptor) => format!("{me} makes {acceptor} the acceptor"),
            Action::Report(me) => format!("{me} reports"),
            Action::CatchUp(me, from) => format!("{me} asks {from}"),
            Action::Restart(me) => format!("{me} restarts"),
            Action::LoseAcceptor(me) => format!("the memory of acceptor {me} is lost"),
        }
    }
}
