//! Who votes and applies.

use std::collections::BTreeMap;

use super::{Outcome, Transaction, Votes};

/// A record of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParticipantRecord {
    /// The transaction can be committed, whatever happens. What it changes must be durable with this record.
    Prepared(Transaction),
    /// It is committed.
    Committed(Transaction),
    /// It is aborted.
    Aborted(Transaction),
    /// Nothing needs to be known of transactions below this one, unless they are prepared.
    Floor(Transaction),
}

/// What happens to a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParticipantInput {
    /// The coordinator asks for a vote.
    Prepare {
        /// The transaction.
        transaction: Transaction,
        /// All transactions below it have ended.
        floor: Transaction,
        /// Whether the transaction can be committed here. It is not looked at if this participant has voted.
        yes: bool,
    },
    /// The coordinator tells the outcome.
    Decided {
        /// The transaction.
        transaction: Transaction,
        /// Its outcome.
        outcome: Outcome,
        /// All transactions below it have ended.
        floor: Transaction,
    },
    /// The oldest record that was to be forced is durable.
    Forced(ParticipantRecord),
    /// Outcomes have been awaited for too long.
    TimedOut,
}

/// What a participant wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParticipantOutput {
    /// Make the record durable, then tell `Forced`.
    Force(ParticipantRecord),
    /// Keep the record; it may be lost in a crash.
    Note(ParticipantRecord),
    /// Tell the coordinator, directly or merged with the votes of others.
    Vote(Transaction, Votes),
    /// Tell the coordinator that these participants have committed, a bit each; it may be merged with those of others.
    Acknowledge(Transaction, u64),
    /// Ask the coordinator for the outcome.
    Inquire(Transaction),
    /// The outcome takes effect here. After a restart it may be told again.
    Apply(Transaction, Outcome),
}

/// One participant of any number of transactions at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Participant {
    me: usize,
    floor: Transaction,
    transactions: BTreeMap<Transaction, State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    /// Its record is not durable, so it has not voted.
    Preparing,
    /// It has voted yes, and waits for the outcome however long that takes.
    Prepared,
    /// The outcome is commit, and its record is not durable.
    Committing,
    Committed,
    Aborted,
}

impl Participant {
    /// Participant `me` with the durable records of those before it, none at first.
    ///
    /// # Panics
    ///
    /// `me` is 64 or more.
    pub fn recover(
        me: usize,
        records: &[ParticipantRecord],
        outputs: &mut Vec<ParticipantOutput>,
    ) -> Self {
        assert!(me < 64, "participant {me}: at most 64 take part");
        let mut participant = Self {
            me,
            floor: Transaction::default(),
            transactions: BTreeMap::new(),
        };
        for record in records {
            let (transaction, state) = match *record {
                ParticipantRecord::Prepared(it) if seeded!(PreparedForgotten) => {
                    (it, State::Aborted)
                }
                ParticipantRecord::Prepared(it) => (it, State::Prepared),
                ParticipantRecord::Committed(it) => (it, State::Committed),
                ParticipantRecord::Aborted(it) => (it, State::Aborted),
                ParticipantRecord::Floor(floor) => {
                    participant.raise(floor);
                    continue;
                }
            };
            participant.transactions.insert(transaction, state);
        }
        for (transaction, state) in &participant.transactions {
            let told = match state {
                State::Committed => ParticipantOutput::Apply(*transaction, Outcome::Commit),
                State::Aborted => ParticipantOutput::Apply(*transaction, Outcome::Abort),
                _ => ParticipantOutput::Inquire(*transaction),
            };
            outputs.push(told);
        }
        participant
    }

    /// The transactions whose outcome is awaited.
    pub fn prepared(&self) -> impl Iterator<Item = Transaction> {
        let all = self.transactions.iter();
        let prepared = all.filter(|(_, state)| **state == State::Prepared);
        prepared.map(|(transaction, _)| *transaction)
    }

    /// The records that a log needs to contain, in place of all before.
    pub fn checkpoint(&self) -> Vec<ParticipantRecord> {
        let mut records = vec![ParticipantRecord::Floor(self.floor)];
        for (transaction, state) in &self.transactions {
            records.push(match state {
                State::Preparing | State::Prepared | State::Committing => {
                    ParticipantRecord::Prepared(*transaction)
                }
                State::Committed => ParticipantRecord::Committed(*transaction),
                State::Aborted => ParticipantRecord::Aborted(*transaction),
            });
        }
        records
    }

    /// Takes one thing that happened, and appends to `outputs` what is to be done.
    pub fn step(&mut self, input: ParticipantInput, outputs: &mut Vec<ParticipantOutput>) {
        match input {
            ParticipantInput::Prepare {
                transaction,
                floor,
                yes,
            } => {
                self.raise(floor);
                self.prepare(transaction, yes, outputs);
            }
            ParticipantInput::Decided {
                transaction,
                outcome,
                floor,
            } => {
                match outcome {
                    Outcome::Commit => self.commit(transaction, outputs),
                    Outcome::Abort => self.abort(transaction, outputs),
                }
                self.raise(floor);
            }
            ParticipantInput::Forced(record) => self.forced(record, outputs),
            ParticipantInput::TimedOut => {
                let prepared: Vec<_> = self.prepared().collect();
                for transaction in prepared {
                    outputs.push(ParticipantOutput::Inquire(transaction));
                    if seeded!(PreparedAbortsAlone) {
                        self.abort(transaction, outputs);
                    }
                }
            }
        }
    }

    /// What has ended is forgotten; what is below the floor is never voted on again.
    fn raise(&mut self, floor: Transaction) {
        self.floor = self.floor.max(floor);
        let floor = self.floor;
        self.transactions.retain(|transaction, state| {
            *transaction >= floor || !matches!(state, State::Committed | State::Aborted)
        });
    }

    fn prepare(
        &mut self,
        transaction: Transaction,
        yes: bool,
        outputs: &mut Vec<ParticipantOutput>,
    ) {
        let voted = |yes| ParticipantOutput::Vote(transaction, Votes::of(self.me, yes));
        match self.transactions.get(&transaction) {
            Some(State::Prepared) => outputs.push(voted(true)),
            Some(State::Aborted) => outputs.push(voted(false)),
            Some(_) => {}
            None if transaction < self.floor && !seeded!(FloorIgnored) => {}
            None if yes => {
                self.transactions.insert(transaction, State::Preparing);
                outputs.push(ParticipantOutput::Force(ParticipantRecord::Prepared(
                    transaction,
                )));
                if seeded!(VoteUnforced) {
                    self.transactions.insert(transaction, State::Prepared);
                    outputs.push(ParticipantOutput::Vote(
                        transaction,
                        Votes::of(self.me, true),
                    ));
                }
            }
            None => {
                outputs.push(voted(false));
                self.transactions.insert(transaction, State::Aborted);
                outputs.push(ParticipantOutput::Note(ParticipantRecord::Aborted(
                    transaction,
                )));
                outputs.push(ParticipantOutput::Apply(transaction, Outcome::Abort));
            }
        }
    }

    fn commit(&mut self, transaction: Transaction, outputs: &mut Vec<ParticipantOutput>) {
        match self.transactions.get(&transaction) {
            Some(State::Prepared) => {
                self.transactions.insert(transaction, State::Committing);
                outputs.push(ParticipantOutput::Force(ParticipantRecord::Committed(
                    transaction,
                )));
                if seeded!(AcknowledgedUnforced) {
                    outputs.push(ParticipantOutput::Acknowledge(transaction, 1 << self.me));
                }
            }
            // What is not known any more was committed: a commit needs this participant's vote, whose record is durable.
            Some(State::Committed) | None => {
                outputs.push(ParticipantOutput::Acknowledge(transaction, 1 << self.me));
            }
            Some(State::Preparing | State::Committing | State::Aborted) => {}
        }
    }

    fn abort(&mut self, transaction: Transaction, outputs: &mut Vec<ParticipantOutput>) {
        if let Some(State::Preparing | State::Prepared) = self.transactions.get(&transaction) {
            self.transactions.insert(transaction, State::Aborted);
            outputs.push(ParticipantOutput::Note(ParticipantRecord::Aborted(
                transaction,
            )));
            outputs.push(ParticipantOutput::Apply(transaction, Outcome::Abort));
        }
    }

    fn forced(&mut self, record: ParticipantRecord, outputs: &mut Vec<ParticipantOutput>) {
        match record {
            ParticipantRecord::Prepared(transaction) => {
                if self.transactions.get(&transaction) == Some(&State::Preparing) {
                    self.transactions.insert(transaction, State::Prepared);
                    outputs.push(ParticipantOutput::Vote(
                        transaction,
                        Votes::of(self.me, true),
                    ));
                }
            }
            ParticipantRecord::Committed(transaction) => {
                self.transactions.insert(transaction, State::Committed);
                outputs.push(ParticipantOutput::Apply(transaction, Outcome::Commit));
                outputs.push(ParticipantOutput::Acknowledge(transaction, 1 << self.me));
            }
            ParticipantRecord::Aborted(_) | ParticipantRecord::Floor(_) => {}
        }
    }
}
