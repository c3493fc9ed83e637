//! The coordinator and its participants as they run, in all orders of events that small bounds allow.
//!
//! A message that was ever sent stays, so it may be delivered late, twice or never. A machine that crashes loses what is not
//! durable, at any time between the records, and restarts from the others. What is checked is what can be observed: how
//! participants vote, what they apply, and what the coordinator answers.

mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::*;
use crate::model_checker::{Hashed, Interned, Model, NumberSet};

/// How much is explored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) participants: usize,
    pub(super) transactions: usize,
    pub(super) crashes: u8,
    /// How often machines wait for too long.
    pub(super) timeouts: u8,
}

const PARTICIPANTS_MAX: usize = 3;
const TRANSACTIONS_MAX: usize = 2;

/// The records of a machine: those that are durable, and those that are not yet, of which some were only noted.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Records<R> {
    durable: Vec<R>,
    volatile: Vec<(R, bool)>,
}

/// The parts of a state by number, in the tables of the model.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct World {
    coordinator: u16,
    participants: [u16; PARTICIPANTS_MAX],
    coordinator_records: u16,
    participant_records: [u16; PARTICIPANTS_MAX],
    /// All that was ever sent.
    network: NumberSet,
    begun: u8,
    crashed: u8,
    timed_out: u8,
    /// What was observed of each transaction.
    observed: [Observed; TRANSACTIONS_MAX],
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Observed {
    transaction: Option<Transaction>,
    /// Who has ever voted yes.
    yes: u64,
    answered: Option<Outcome>,
    /// An abort that no durable record tells of is forgotten in a crash: it leaves nothing behind.
    applied: [Option<Outcome>; PARTICIPANTS_MAX],
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Envelope {
    Prepare(usize, Transaction, Transaction),
    Voted(Transaction, Votes),
    Decided(usize, Transaction, Outcome, Transaction),
    Acknowledged(Transaction, u64),
    Inquired(Transaction, usize),
}

#[derive(Clone, Copy)]
pub(super) enum Action {
    Begin,
    Deliver(u16),
    /// A question is delivered, and the answer is yes or no.
    Prepare(u16, bool),
    /// All votes that were cast come as one.
    Gather(usize),
    CoordinatorSyncs,
    ParticipantSyncs(usize),
    CoordinatorCrashes,
    ParticipantCrashes(usize),
    CoordinatorTimesOut(usize),
    ParticipantTimesOut(usize),
}

type Steps<I, O> = HashMap<(u16, I), (u16, Rc<Vec<O>>), Hashed>;

struct Tables {
    coordinators: Interned<Coordinator>,
    participants: Interned<Participant>,
    coordinator_records: Interned<Records<CoordinatorRecord>>,
    participant_records: Interned<Records<ParticipantRecord>>,
    envelopes: Interned<Envelope>,
    coordinator_steps: Steps<CoordinatorInput, CoordinatorOutput>,
    participant_steps: Steps<ParticipantInput, ParticipantOutput>,
}

/// The model within bounds.
pub(super) struct Group {
    bounds: Bounds,
    tables: RefCell<Tables>,
}

impl<R: Clone + Eq + std::hash::Hash> Records<R> {
    fn new() -> Self {
        Self {
            durable: Vec::new(),
            volatile: Vec::new(),
        }
    }

    /// Makes the oldest record durable, and returns it if it was to be forced.
    fn sync(&mut self) -> Option<R> {
        let (record, is_forced) = self.volatile.remove(0);
        self.durable.push(record.clone());
        is_forced.then_some(record)
    }
}

impl World {
    fn observed(&mut self, transaction: Transaction) -> Result<&mut Observed, String> {
        let found = self.observed.iter_mut();
        let mut found = found.filter(|it| it.transaction == Some(transaction));
        found
            .next()
            .ok_or_else(|| format!("{transaction:?} was never begun"))
    }

    /// The invariants: a commit needs the votes of all; all outcomes of a transaction are alike.
    fn check(&self, participants: usize) -> Result<(), String> {
        for observed in &self.observed {
            let outcomes = observed
                .applied
                .iter()
                .chain([&observed.answered])
                .flatten();
            let commits = outcomes.clone().any(|it| *it == Outcome::Commit);
            if commits && outcomes.clone().any(|it| *it == Outcome::Abort) {
                return Err(format!("{observed:?}: committed and aborted"));
            }
            if commits && observed.yes != (1 << participants) - 1 {
                return Err(format!("{observed:?}: committed without all votes"));
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        me: usize,
        transaction: Transaction,
        outcome: Outcome,
    ) -> Result<(), String> {
        let applied = &mut self.observed(transaction)?.applied[me];
        match applied.replace(outcome) {
            Some(before) if before != outcome => {
                Err(format!("{me} applies {outcome:?} after {before:?}"))
            }
            _ => Ok(()),
        }
    }
}

impl std::fmt::Debug for Observed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "yes {:b}, answered {:?}, applied {:?}",
            self.yes, self.answered, self.applied
        )
    }
}

impl Group {
    pub(super) fn new(bounds: Bounds) -> Self {
        let tables = Tables {
            coordinators: Interned::new(),
            participants: Interned::new(),
            coordinator_records: Interned::new(),
            participant_records: Interned::new(),
            envelopes: Interned::new(),
            coordinator_steps: HashMap::default(),
            participant_steps: HashMap::default(),
        };
        let tables = RefCell::new(tables);
        Self { bounds, tables }
    }

    fn send(&self, world: &mut World, envelope: Envelope) {
        let number = self.tables.borrow_mut().envelopes.number(envelope);
        world.network.insert(number);
    }

    fn coordinator_steps(&self, world: &mut World, input: CoordinatorInput) -> Result<(), String> {
        let mut tables = self.tables.borrow_mut();
        let key = (world.coordinator, input);
        let known = tables.coordinator_steps.get(&key).cloned();
        let (next, outputs) = known.unwrap_or_else(|| {
            let mut coordinator = Coordinator::clone(&tables.coordinators.value(world.coordinator));
            let mut outputs = Vec::new();
            coordinator.step(input, &mut outputs);
            let stepped = (tables.coordinators.number(coordinator), Rc::new(outputs));
            tables.coordinator_steps.insert(key, stepped.clone());
            stepped
        });
        drop(tables);
        world.coordinator = next;
        self.coordinator_wants(world, &outputs)
    }

    fn coordinator_wants(
        &self,
        world: &mut World,
        outputs: &[CoordinatorOutput],
    ) -> Result<(), String> {
        for output in outputs {
            match *output {
                CoordinatorOutput::Prepare {
                    transaction, floor, ..
                } => {
                    let begun = usize::from(world.begun) - 1;
                    world.observed[begun].transaction = Some(transaction);
                    for to in 0..self.bounds.participants {
                        self.send(world, Envelope::Prepare(to, transaction, floor));
                    }
                }
                CoordinatorOutput::Decide {
                    transaction,
                    outcome,
                    participants,
                    floor,
                } => {
                    for to in (0..self.bounds.participants).filter(|to| participants >> to & 1 == 1)
                    {
                        self.send(world, Envelope::Decided(to, transaction, outcome, floor));
                    }
                }
                CoordinatorOutput::Force(record) => {
                    self.coordinator_records(world, |it| it.push((record, true)))
                }
                CoordinatorOutput::Note(record) => {
                    self.coordinator_records(world, |it| it.push((record, false)))
                }
                CoordinatorOutput::Answer(transaction, outcome) => {
                    let answered = &mut world.observed(transaction)?.answered;
                    if answered
                        .replace(outcome)
                        .is_some_and(|before| before != outcome)
                    {
                        return Err(format!("{transaction:?} is answered twice"));
                    }
                }
                CoordinatorOutput::Refused => {}
            }
        }
        world.check(self.bounds.participants)
    }

    fn coordinator_records(
        &self,
        world: &mut World,
        change: impl FnOnce(&mut Vec<(CoordinatorRecord, bool)>),
    ) {
        let tables = &mut self.tables.borrow_mut().coordinator_records;
        let mut records = Records::clone(&tables.value(world.coordinator_records));
        change(&mut records.volatile);
        world.coordinator_records = tables.number(records);
    }

    fn participant_steps(
        &self,
        world: &mut World,
        me: usize,
        input: ParticipantInput,
    ) -> Result<(), String> {
        let mut tables = self.tables.borrow_mut();
        let key = (world.participants[me], input);
        let known = tables.participant_steps.get(&key).cloned();
        let (next, outputs) = known.unwrap_or_else(|| {
            let mut participant =
                Participant::clone(&tables.participants.value(world.participants[me]));
            let mut outputs = Vec::new();
            participant.step(input, &mut outputs);
            let stepped = (tables.participants.number(participant), Rc::new(outputs));
            tables.participant_steps.insert(key, stepped.clone());
            stepped
        });
        drop(tables);
        world.participants[me] = next;
        self.participant_wants(world, me, &outputs)
    }

    fn participant_wants(
        &self,
        world: &mut World,
        me: usize,
        outputs: &[ParticipantOutput],
    ) -> Result<(), String> {
        for output in outputs {
            match *output {
                ParticipantOutput::Force(record) => {
                    self.participant_records(world, me, |it| it.push((record, true)))
                }
                ParticipantOutput::Note(record) => {
                    self.participant_records(world, me, |it| it.push((record, false)))
                }
                ParticipantOutput::Vote(transaction, votes) => {
                    world.observed(transaction)?.yes |= votes.yes;
                    self.send(world, Envelope::Voted(transaction, votes));
                }
                ParticipantOutput::Acknowledge(transaction, participants) => {
                    self.send(world, Envelope::Acknowledged(transaction, participants));
                }
                ParticipantOutput::Inquire(transaction) => {
                    self.send(world, Envelope::Inquired(transaction, me));
                }
                ParticipantOutput::Apply(transaction, outcome) => {
                    world.apply(me, transaction, outcome)?
                }
            }
        }
        world.check(self.bounds.participants)
    }

    fn participant_records(
        &self,
        world: &mut World,
        me: usize,
        change: impl FnOnce(&mut Vec<(ParticipantRecord, bool)>),
    ) {
        let tables = &mut self.tables.borrow_mut().participant_records;
        let mut records = Records::clone(&tables.value(world.participant_records[me]));
        change(&mut records.volatile);
        world.participant_records[me] = tables.number(records);
    }

    /// Loses what is not durable, and restarts from the rest.
    fn coordinator_restarts(&self, world: &mut World) -> Result<(), String> {
        let mut tables = self.tables.borrow_mut();
        let mut records =
            Records::clone(&tables.coordinator_records.value(world.coordinator_records));
        records.volatile.clear();
        let mut outputs = Vec::new();
        let coordinator = Coordinator::recover(&records.durable, &mut outputs);
        world.coordinator = tables.coordinators.number(coordinator);
        world.coordinator_records = tables.coordinator_records.number(records);
        drop(tables);
        self.coordinator_wants(world, &outputs)
    }

    fn participant_restarts(&self, world: &mut World, me: usize) -> Result<(), String> {
        let mut tables = self.tables.borrow_mut();
        let mut records = Records::clone(
            &tables
                .participant_records
                .value(world.participant_records[me]),
        );
        records.volatile.clear();
        for observed in &mut world.observed {
            let told = |it| records.durable.contains(&ParticipantRecord::Aborted(it));
            let is_told = observed.transaction.is_some_and(told);
            if observed.applied[me] == Some(Outcome::Abort) && !is_told {
                observed.applied[me] = None;
            }
        }
        let mut outputs = Vec::new();
        let participant = Participant::recover(me, &records.durable, &mut outputs);
        world.participants[me] = tables.participants.number(participant);
        world.participant_records[me] = tables.participant_records.number(records);
        drop(tables);
        self.participant_wants(world, me, &outputs)
    }

    fn deliver(&self, world: &mut World, envelope: u16, yes: bool) -> Result<(), String> {
        let envelope = *self.tables.borrow().envelopes.value(envelope);
        match envelope {
            Envelope::Prepare(to, transaction, floor) => {
                let input = ParticipantInput::Prepare {
                    transaction,
                    floor,
                    yes,
                };
                self.participant_steps(world, to, input)
            }
            Envelope::Decided(to, transaction, outcome, floor) => {
                let input = ParticipantInput::Decided {
                    transaction,
                    outcome,
                    floor,
                };
                self.participant_steps(world, to, input)
            }
            Envelope::Voted(transaction, votes) => {
                self.coordinator_steps(world, CoordinatorInput::Voted { transaction, votes })
            }
            Envelope::Acknowledged(transaction, participants) => self.coordinator_steps(
                world,
                CoordinatorInput::Acknowledged {
                    transaction,
                    participants,
                },
            ),
            Envelope::Inquired(transaction, from) => {
                self.coordinator_steps(world, CoordinatorInput::Inquired { transaction, from })
            }
        }
    }

    /// All votes on a transaction that were ever cast, merged.
    fn gathered(&self, world: &World, transaction: Transaction) -> Votes {
        let tables = self.tables.borrow();
        let envelopes = world.network.iter().map(|it| *tables.envelopes.value(it));
        envelopes.fold(Votes::default(), |gathered, envelope| match envelope {
            Envelope::Voted(of, votes) if of == transaction => gathered.merge(votes),
            _ => gathered,
        })
    }
}

impl Model for Group {
    type State = World;
    type Action = Action;

    fn start(&self) -> World {
        let mut world = World {
            coordinator: 0,
            participants: [0; PARTICIPANTS_MAX],
            coordinator_records: 0,
            participant_records: [0; PARTICIPANTS_MAX],
            network: NumberSet::default(),
            begun: 0,
            crashed: 0,
            timed_out: 0,
            observed: [Observed::default(); TRANSACTIONS_MAX],
        };
        {
            let mut tables = self.tables.borrow_mut();
            world.coordinator_records = tables.coordinator_records.number(Records::new());
            world.participant_records =
                [tables.participant_records.number(Records::new()); PARTICIPANTS_MAX];
        }
        self.coordinator_restarts(&mut world).unwrap();
        for me in 0..self.bounds.participants {
            self.participant_restarts(&mut world, me).unwrap();
        }
        world
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        let tables = self.tables.borrow();
        for envelope in world.network.iter() {
            if let Envelope::Prepare(..) = *tables.envelopes.value(envelope) {
                actions.extend([true, false].map(|yes| Action::Prepare(envelope, yes)));
            } else {
                actions.push(Action::Deliver(envelope));
            }
        }
        let records = tables.coordinator_records.value(world.coordinator_records);
        if usize::from(world.begun) < self.bounds.transactions && !records.durable.is_empty() {
            actions.push(Action::Begin);
        }
        if !records.volatile.is_empty() {
            actions.push(Action::CoordinatorSyncs);
        }
        let (crashes, waits) = (
            world.crashed < self.bounds.crashes,
            world.timed_out < self.bounds.timeouts,
        );
        if crashes {
            actions.push(Action::CoordinatorCrashes);
        }
        for begun in 0..usize::from(world.begun) {
            actions.push(Action::Gather(begun));
            if waits {
                actions.push(Action::CoordinatorTimesOut(begun));
            }
        }
        for me in 0..self.bounds.participants {
            let records = tables
                .participant_records
                .value(world.participant_records[me]);
            if !records.volatile.is_empty() {
                actions.push(Action::ParticipantSyncs(me));
            }
            if crashes {
                actions.push(Action::ParticipantCrashes(me));
            }
            if waits {
                actions.push(Action::ParticipantTimesOut(me));
            }
        }
    }

    fn apply(&self, world: &mut World, action: &Action) -> Result<(), String> {
        match *action {
            Action::Begin => {
                world.begun += 1;
                let participants = (1 << self.bounds.participants) - 1;
                self.coordinator_steps(world, CoordinatorInput::Begin(participants))?;
                // It is refused while its start is not durable.
                let begun = usize::from(world.begun) - 1;
                if world.observed[begun].transaction.is_none() {
                    world.begun -= 1;
                }
                Ok(())
            }
            Action::Deliver(envelope) => self.deliver(world, envelope, true),
            Action::Prepare(envelope, yes) => self.deliver(world, envelope, yes),
            Action::Gather(begun) => {
                let Some(transaction) = world.observed[begun].transaction else {
                    return Ok(());
                };
                let votes = self.gathered(world, transaction);
                self.coordinator_steps(world, CoordinatorInput::Voted { transaction, votes })
            }
            Action::CoordinatorSyncs => {
                let mut tables = self.tables.borrow_mut();
                let mut records =
                    Records::clone(&tables.coordinator_records.value(world.coordinator_records));
                let forced = records.sync();
                world.coordinator_records = tables.coordinator_records.number(records);
                drop(tables);
                forced.map_or(Ok(()), |it| {
                    self.coordinator_steps(world, CoordinatorInput::Forced(it))
                })
            }
            Action::ParticipantSyncs(me) => {
                let mut tables = self.tables.borrow_mut();
                let mut records = Records::clone(
                    &tables
                        .participant_records
                        .value(world.participant_records[me]),
                );
                let forced = records.sync();
                world.participant_records[me] = tables.participant_records.number(records);
                drop(tables);
                forced.map_or(Ok(()), |it| {
                    self.participant_steps(world, me, ParticipantInput::Forced(it))
                })
            }
            Action::CoordinatorCrashes => {
                world.crashed += 1;
                self.coordinator_restarts(world)
            }
            Action::ParticipantCrashes(me) => {
                world.crashed += 1;
                self.participant_restarts(world, me)
            }
            Action::CoordinatorTimesOut(begun) => {
                world.timed_out += 1;
                let transaction = world.observed[begun].transaction.expect("it was begun");
                self.coordinator_steps(world, CoordinatorInput::TimedOut(transaction))
            }
            Action::ParticipantTimesOut(me) => {
                world.timed_out += 1;
                self.participant_steps(world, me, ParticipantInput::TimedOut)
            }
        }
    }

    fn told(&self, action: &Action) -> String {
        let envelope = |it: u16| match *self.tables.borrow().envelopes.value(it) {
            Envelope::Prepare(to, it, _) => format!("{to} is asked to prepare {it:?}"),
            Envelope::Voted(it, votes) => format!("votes {votes:?} on {it:?} come"),
            Envelope::Decided(to, it, outcome, _) => format!("{to} is told {outcome:?} of {it:?}"),
            Envelope::Acknowledged(it, by) => format!("acknowledgement of {it:?} by {by:b}"),
            Envelope::Inquired(it, from) => format!("{from} asks for {it:?}"),
        };
        match *action {
            Action::Begin => "a transaction begins".to_owned(),
            Action::Deliver(it) => envelope(it),
            Action::Prepare(it, yes) => format!("{}, its answer is {yes}", envelope(it)),
            Action::Gather(begun) => format!("all votes on transaction {begun} come"),
            Action::CoordinatorSyncs => "a record of the coordinator becomes durable".to_owned(),
            Action::ParticipantSyncs(me) => format!("a record of {me} becomes durable"),
            Action::CoordinatorCrashes => "the coordinator crashes".to_owned(),
            Action::ParticipantCrashes(me) => format!("{me} crashes"),
            Action::CoordinatorTimesOut(begun) => {
                format!("the coordinator waits too long for {begun}")
            }
            Action::ParticipantTimesOut(me) => format!("{me} waits too long"),
        }
    }
}
