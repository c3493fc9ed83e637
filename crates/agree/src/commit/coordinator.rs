//! Who decides.

use std::collections::BTreeMap;

use super::{Outcome, Transaction, Votes};

/// A record of the coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoordinatorRecord {
    /// It has started for the n-th time.
    Started(u64),
    /// The transaction is committed.
    Committed {
        /// Its number.
        transaction: Transaction,
        /// Who takes part, a bit each.
        participants: u64,
    },
    /// All participants have acknowledged the commit.
    Ended(Transaction),
}

/// What happens to a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoordinatorInput {
    /// A transaction of these participants, a bit each. It is refused until the start is durable.
    Begin(u64),
    /// Votes of any participants.
    Voted {
        /// The transaction.
        transaction: Transaction,
        /// Their votes, merged or not.
        votes: Votes,
    },
    /// Participants have committed durably.
    Acknowledged {
        /// The transaction.
        transaction: Transaction,
        /// Who has, a bit each.
        participants: u64,
    },
    /// A participant asks what has become of a transaction.
    Inquired {
        /// The transaction.
        transaction: Transaction,
        /// Who asks.
        from: usize,
    },
    /// The oldest record that was to be forced is durable.
    Forced(CoordinatorRecord),
    /// Votes or acknowledgements of a transaction have been awaited for too long.
    TimedOut(Transaction),
}

/// What a coordinator wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoordinatorOutput {
    /// Ask the participants to prepare.
    Prepare {
        /// The transaction.
        transaction: Transaction,
        /// Whom to ask, a bit each.
        participants: u64,
        /// All transactions below it have ended.
        floor: Transaction,
    },
    /// Tell participants the outcome.
    Decide {
        /// The transaction.
        transaction: Transaction,
        /// Its outcome.
        outcome: Outcome,
        /// Whom to tell, a bit each.
        participants: u64,
        /// All transactions below it have ended.
        floor: Transaction,
    },
    /// Make the record durable, then tell `Forced`.
    Force(CoordinatorRecord),
    /// Keep the record; it may be lost in a crash.
    Note(CoordinatorRecord),
    /// Whoever began the transaction may be told.
    Answer(Transaction, Outcome),
    /// The start is not durable, so no transaction was begun.
    Refused,
}

/// The coordinator of any number of transactions at a time.
///
/// Costs of a commit: two broadcasts and two reductions, one forced record here and two at each participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Coordinator {
    incarnation: u64,
    is_started: bool,
    next: u64,
    /// Those that have not ended.
    transactions: BTreeMap<Transaction, State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Collecting {
        participants: u64,
        votes: Votes,
    },
    /// All have voted yes, and the record is not durable.
    Committing {
        participants: u64,
    },
    Committed {
        participants: u64,
        acknowledged: u64,
    },
}

impl Coordinator {
    /// A coordinator that starts with the durable records of those before it, none at first.
    pub fn recover(records: &[CoordinatorRecord], outputs: &mut Vec<CoordinatorOutput>) -> Self {
        let mut coordinator = Self {
            incarnation: 0,
            is_started: false,
            next: 0,
            transactions: BTreeMap::new(),
        };
        for record in records {
            match *record {
                CoordinatorRecord::Started(incarnation) => coordinator.incarnation = incarnation,
                CoordinatorRecord::Committed {
                    transaction,
                    participants,
                } => {
                    let state = State::Committed {
                        participants,
                        acknowledged: 0,
                    };
                    coordinator.transactions.insert(transaction, state);
                }
                CoordinatorRecord::Ended(transaction) => {
                    coordinator.transactions.remove(&transaction);
                }
            }
        }
        if seeded!(CommitsForgotten) {
            coordinator.transactions.clear();
        }
        if !seeded!(NumbersReused) {
            coordinator.incarnation += 1;
        }
        let started = CoordinatorRecord::Started(coordinator.incarnation);
        outputs.push(CoordinatorOutput::Force(started));
        let unended: Vec<_> = coordinator.transactions.keys().copied().collect();
        for transaction in unended {
            coordinator.decide(transaction, outputs);
        }
        coordinator
    }

    /// The transactions that have not ended.
    pub fn unended(&self) -> impl Iterator<Item = Transaction> {
        self.transactions.keys().copied()
    }

    /// The records that a log needs to contain, in place of all before.
    pub fn checkpoint(&self) -> Vec<CoordinatorRecord> {
        let mut records = vec![CoordinatorRecord::Started(self.incarnation)];
        for (transaction, state) in &self.transactions {
            if let State::Committed { participants, .. } | State::Committing { participants } =
                *state
            {
                records.push(CoordinatorRecord::Committed {
                    transaction: *transaction,
                    participants,
                });
            }
        }
        records
    }

    /// Takes one thing that happened, and appends to `outputs` what is to be done.
    pub fn step(&mut self, input: CoordinatorInput, outputs: &mut Vec<CoordinatorOutput>) {
        match input {
            CoordinatorInput::Begin(participants) => self.begin(participants, outputs),
            CoordinatorInput::Voted { transaction, votes } => {
                self.voted(transaction, votes, outputs)
            }
            CoordinatorInput::Acknowledged {
                transaction,
                participants,
            } => self.acknowledged(transaction, participants, outputs),
            CoordinatorInput::Inquired { transaction, from } => {
                self.inquired(transaction, from, outputs)
            }
            CoordinatorInput::Forced(CoordinatorRecord::Committed { transaction, .. }) => {
                self.committed(transaction, outputs);
            }
            CoordinatorInput::Forced(CoordinatorRecord::Started(_)) => self.is_started = true,
            CoordinatorInput::Forced(CoordinatorRecord::Ended(_)) => {}
            CoordinatorInput::TimedOut(transaction) => match self.transactions.get(&transaction) {
                Some(State::Collecting { .. }) => self.abort(transaction, outputs),
                Some(State::Committed { .. }) => self.decide(transaction, outputs),
                _ => {}
            },
        }
    }

    fn floor(&self) -> Transaction {
        let next = Transaction {
            incarnation: self.incarnation,
            number: self.next,
        };
        self.transactions.keys().next().copied().unwrap_or(next)
    }

    fn begin(&mut self, participants: u64, outputs: &mut Vec<CoordinatorOutput>) {
        if !self.is_started {
            return outputs.push(CoordinatorOutput::Refused);
        }
        let transaction = Transaction {
            incarnation: self.incarnation,
            number: self.next,
        };
        self.next += 1;
        let votes = Votes::default();
        let state = State::Collecting {
            participants,
            votes,
        };
        self.transactions.insert(transaction, state);
        outputs.push(CoordinatorOutput::Prepare {
            transaction,
            participants,
            floor: self.floor(),
        });
    }

    fn voted(
        &mut self,
        transaction: Transaction,
        new: Votes,
        outputs: &mut Vec<CoordinatorOutput>,
    ) {
        let Some(State::Collecting {
            participants,
            votes,
        }) = self.transactions.get_mut(&transaction)
        else {
            return;
        };
        *votes = votes.merge(new);
        let participants = *participants;
        if votes.no && !seeded!(NoIgnored) {
            return self.abort(transaction, outputs);
        }
        let mut missing = participants & !votes.yes;
        if seeded!(OneVoteEnough) && votes.yes != 0 {
            missing = 0;
        }
        if seeded!(NoIgnored) && votes.no {
            missing = 0;
        }
        if missing != 0 {
            return;
        }
        let record = CoordinatorRecord::Committed {
            transaction,
            participants,
        };
        self.transactions
            .insert(transaction, State::Committing { participants });
        outputs.push(CoordinatorOutput::Force(record));
        if seeded!(CommitToldUnforced) {
            self.committed(transaction, outputs);
        }
    }

    fn committed(&mut self, transaction: Transaction, outputs: &mut Vec<CoordinatorOutput>) {
        let Some(State::Committing { participants }) = self.transactions.get(&transaction) else {
            return;
        };
        let state = State::Committed {
            participants: *participants,
            acknowledged: 0,
        };
        self.transactions.insert(transaction, state);
        outputs.push(CoordinatorOutput::Answer(transaction, Outcome::Commit));
        self.decide(transaction, outputs);
    }

    /// Tells a commit to those that have not acknowledged it.
    fn decide(&self, transaction: Transaction, outputs: &mut Vec<CoordinatorOutput>) {
        if let Some(State::Committed {
            participants,
            acknowledged,
        }) = self.transactions.get(&transaction)
        {
            outputs.push(CoordinatorOutput::Decide {
                transaction,
                outcome: Outcome::Commit,
                participants: participants & !acknowledged,
                floor: self.floor(),
            });
        }
    }

    /// Nothing is kept of it: who inquires is told that it was aborted.
    fn abort(&mut self, transaction: Transaction, outputs: &mut Vec<CoordinatorOutput>) {
        let Some(State::Collecting { participants, .. }) = self.transactions.remove(&transaction)
        else {
            return;
        };
        outputs.push(CoordinatorOutput::Answer(transaction, Outcome::Abort));
        outputs.push(CoordinatorOutput::Decide {
            transaction,
            outcome: Outcome::Abort,
            participants,
            floor: self.floor(),
        });
    }

    fn acknowledged(
        &mut self,
        transaction: Transaction,
        by: u64,
        outputs: &mut Vec<CoordinatorOutput>,
    ) {
        let Some(State::Committed {
            participants,
            acknowledged,
        }) = self.transactions.get_mut(&transaction)
        else {
            return;
        };
        *acknowledged |= by;
        if *participants & !*acknowledged == 0 || seeded!(OneAcknowledgementEnough) {
            self.transactions.remove(&transaction);
            outputs.push(CoordinatorOutput::Note(CoordinatorRecord::Ended(
                transaction,
            )));
        }
    }

    fn inquired(
        &self,
        transaction: Transaction,
        from: usize,
        outputs: &mut Vec<CoordinatorOutput>,
    ) {
        let outcome = match self.transactions.get(&transaction) {
            Some(State::Committed { .. }) => Outcome::Commit,
            Some(_) if !seeded!(UndecidedPresumed) => return,
            _ if seeded!(CommitPresumed) => Outcome::Commit,
            _ => Outcome::Abort,
        };
        outputs.push(CoordinatorOutput::Decide {
            transaction,
            outcome,
            participants: 1 << from,
            floor: self.floor(),
        });
    }
}
