//! Two-phase commit over the planned trees of a team: prepare and outcome are broadcasts, votes and acknowledgements reductions.
//!
//! Each rank has a stock, and a transaction takes the same amount from all of them or from none.
//!
//! ```text
//! cargo run -p corecast-agree --example two_phase_commit
//! ```

use corecast::{Failure, Member};
use corecast_agree::commit::{
    Coordinator, CoordinatorInput, CoordinatorOutput, CoordinatorRecord, Outcome, Participant,
    ParticipantInput, ParticipantOutput, ParticipantRecord, Transaction, Votes,
};

/// What goes down the tree: a transaction, the floor, and a word of the phase.
type Down = [u64; 5];

fn down(transaction: Transaction, floor: Transaction, word: u64) -> Down {
    [
        transaction.incarnation,
        transaction.number,
        floor.incarnation,
        floor.number,
        word,
    ]
}

fn transaction(incarnation: u64, number: u64) -> Transaction {
    Transaction {
        incarnation,
        number,
    }
}

/// A rank's part. Its records would be in a file; here they are forced at once.
struct Part {
    participant: Participant,
    records: Vec<ParticipantRecord>,
    stock: u64,
    prepared: u64,
    votes: Votes,
    acknowledged: u64,
}

impl Part {
    fn step(&mut self, input: ParticipantInput) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let mut outputs = Vec::new();
            self.participant.step(input, &mut outputs);
            for output in outputs {
                match output {
                    ParticipantOutput::Force(record) => {
                        self.records.push(record);
                        inputs.push(ParticipantInput::Forced(record));
                    }
                    ParticipantOutput::Note(record) => self.records.push(record),
                    ParticipantOutput::Vote(_, votes) => self.votes = votes,
                    ParticipantOutput::Acknowledge(_, by) => self.acknowledged = by,
                    ParticipantOutput::Apply(_, Outcome::Commit) => self.stock -= self.prepared,
                    ParticipantOutput::Apply(_, Outcome::Abort) | ParticipantOutput::Inquire(_) => {
                    }
                }
            }
        }
    }
}

/// What rank 0 is besides.
struct Root {
    coordinator: Coordinator,
    records: Vec<CoordinatorRecord>,
}

impl Root {
    fn new() -> Self {
        let mut root = Self {
            coordinator: Coordinator::recover(&[], &mut Vec::new()),
            records: vec![CoordinatorRecord::Started(1)],
        };
        root.step(CoordinatorInput::Forced(CoordinatorRecord::Started(1)));
        root
    }

    /// What is to be broadcast next, if anything.
    fn step(&mut self, input: CoordinatorInput) -> Option<Down> {
        let (mut inputs, mut told) = (vec![input], None);
        while let Some(input) = inputs.pop() {
            let mut outputs = Vec::new();
            self.coordinator.step(input, &mut outputs);
            for output in outputs {
                match output {
                    CoordinatorOutput::Force(record) => {
                        self.records.push(record);
                        inputs.push(CoordinatorInput::Forced(record));
                    }
                    CoordinatorOutput::Note(record) => self.records.push(record),
                    CoordinatorOutput::Prepare {
                        transaction, floor, ..
                    } => told = Some(down(transaction, floor, 0)),
                    CoordinatorOutput::Decide {
                        transaction,
                        outcome,
                        floor,
                        ..
                    } => {
                        told = Some(down(
                            transaction,
                            floor,
                            u64::from(outcome == Outcome::Commit),
                        ))
                    }
                    CoordinatorOutput::Answer(..) | CoordinatorOutput::Refused => {}
                }
            }
        }
        told
    }
}

/// Takes each of the amounts from all stocks or from none, and returns what is left of this rank's.
fn take_all(member: &mut Member, stock: u64, amounts: &[u64]) -> Result<u64, Failure> {
    let me = member.rank();
    let everybody = (1 << member.size()) - 1;
    let mut root = (me == 0).then(Root::new);
    let mut part = Part {
        participant: Participant::recover(me, &[], &mut Vec::new()),
        records: Vec::new(),
        stock,
        prepared: 0,
        votes: Votes::default(),
        acknowledged: 0,
    };
    for amount in amounts {
        let begun = root
            .as_mut()
            .and_then(|it| it.step(CoordinatorInput::Begin(everybody)));
        let told = member.broadcast_value(0, begun.unwrap_or_default())?;
        part.prepared = *amount;
        part.acknowledged = 0;
        part.step(ParticipantInput::Prepare {
            transaction: transaction(told[0], told[1]),
            floor: transaction(told[2], told[3]),
            yes: part.stock >= *amount,
        });
        let merged = |a: [u64; 2], b: [u64; 2]| {
            let [a, b] = [a, b].map(|[yes, no]| Votes { yes, no: no == 1 });
            let votes = a.merge(b);
            [votes.yes, u64::from(votes.no)]
        };
        let own = [part.votes.yes, u64::from(part.votes.no)];
        let votes = member.reduce_value(0, own, merged)?;
        let begun = transaction(told[0], told[1]);
        let decided = votes.zip(root.as_mut()).and_then(|([yes, no], root)| {
            let votes = Votes { yes, no: no == 1 };
            root.step(CoordinatorInput::Voted {
                transaction: begun,
                votes,
            })
        });
        let told = member.broadcast_value(0, decided.unwrap_or_default())?;
        let outcome = if told[4] == 1 {
            Outcome::Commit
        } else {
            Outcome::Abort
        };
        part.step(ParticipantInput::Decided {
            transaction: begun,
            outcome,
            floor: transaction(told[2], told[3]),
        });
        // An abort is not acknowledged, but a tree has no part that is not taken.
        let acknowledged = member.reduce_value(0, part.acknowledged, |a, b| a | b)?;
        if let Some((participants, root)) = acknowledged.zip(root.as_mut()) {
            root.step(CoordinatorInput::Acknowledged {
                transaction: begun,
                participants,
            });
        }
    }
    if let Some(root) = root {
        let ended = root
            .records
            .iter()
            .filter(|it| matches!(it, CoordinatorRecord::Ended(_)));
        println!(
            "{} of {} transactions committed and ended",
            ended.count(),
            amounts.len()
        );
        assert_eq!(root.coordinator.unended().count(), 0);
    }
    Ok(part.stock)
}

/// Runs it with four ranks, of which the last has the least.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let team = corecast::team(4)?;
    let left = team.run(|member| {
        let stock = 100 - 20 * member.rank() as u64;
        take_all(member, stock, &[30, 20, 5, 6, 4])
    });
    let left: Vec<u64> = left.into_iter().collect::<Result<_, _>>()?;
    // Rank 3 had 40: 20 were too many after 30, and 6 after 35.
    println!("left: {left:?}");
    assert_eq!(left, [61, 41, 21, 1]);
    Ok(())
}
