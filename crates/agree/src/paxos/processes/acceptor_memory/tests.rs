//! The shared acceptor against the one of the models, with kills at every write.

use super::*;
use crate::paxos::Acceptor;
use corecast_wire::Segment;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const WINDOW: u64 = 4;

fn memory(segment: &Arc<Segment>) -> AcceptorMemory {
    let lines = AcceptorMemory::SLOT_LINES;
    let control = segment.at::<Words>(0, 1).unwrap().get(0);
    let slots = segment.at::<Words>(128, WINDOW as usize * lines).unwrap();
    AcceptorMemory::new(control, slots, lines)
}

fn segment() -> Arc<Segment> {
    let lines = 1 + WINDOW as usize * AcceptorMemory::SLOT_LINES;
    Segment::new(128 * lines, None).unwrap()
}

/// Messages as leaders send them: what was accepted for an index is proposed again, and within the window.
struct Leaders {
    random: fastrand::Rng,
    ballot: u64,
    floor: u64,
    values: std::collections::BTreeMap<u64, Entry>,
}

impl Leaders {
    fn next(&mut self) -> Message<Submission<Piece>> {
        if self.random.u8(..4) == 0 {
            self.ballot += self.random.u64(..2);
        }
        let late = self.random.u64(..2).min(self.ballot);
        let ballot = self.ballot - late * u64::from(self.random.u8(..4) == 0);
        if self.random.u8(..5) == 0 {
            return Message::Prepare { ballot };
        }
        self.floor += u64::from(self.random.u8(..4) == 0);
        let index = (self.floor + self.random.u64(..WINDOW + 1)).saturating_sub(1);
        let index = index.min(self.floor + WINDOW - 1);
        let len = self.random.usize(..=Piece::BYTES_MAX);
        let fresh = Submission {
            origin: self.random.u64(..3),
            number: self.random.u64(..),
            command: Piece::new(&vec![index as u8; len]),
        };
        let value = Some(fresh).filter(|_| self.random.u8(..6) > 0);
        let value = self.values.entry(index).or_insert(value).clone();
        Message::Accept {
            ballot,
            index,
            value,
            floor: self.floor,
        }
    }
}

/// What a new leader is told by both.
fn reported(memory: &AcceptorMemory, oracle: &mut Acceptor<Submission<Piece>>, ballot: u64) {
    let message = Message::Prepare { ballot };
    let (found, expected) = (memory.step(&message), oracle.step(&message));
    let (
        Some(Answer::Reply(Message::Promise { accepted, .. })),
        Some(Answer::Reply(Message::Promise {
            accepted: other, ..
        })),
    ) = (found, expected)
    else {
        panic!("no promise");
    };
    // Of what all have learned either may have dropped more.
    let floor = accepted.floor().max(other.floor());
    let entries = |window: &Window<Entry>| -> Vec<_> {
        let kept = window.iter().filter(|(index, _)| *index >= floor);
        kept.map(|(index, it)| (index, it.clone())).collect()
    };
    assert_eq!(entries(&accepted), entries(&other));
}

#[test]
fn it_answers_as_the_acceptor_of_the_models_does() {
    for seed in 0..100 {
        let (memory, mut oracle) = (memory(&segment()), Acceptor::new());
        let mut leaders = Leaders {
            random: fastrand::Rng::with_seed(seed),
            ballot: 1,
            floor: 0,
            values: Default::default(),
        };
        for _ in 0..60 {
            let message = leaders.next();
            let (found, expected) = (memory.step(&message), oracle.step(&message));
            match (found, expected) {
                (
                    Some(Answer::Reply(Message::Promise { accepted, .. })),
                    Some(Answer::Reply(Message::Promise {
                        accepted: other, ..
                    })),
                ) => assert!(accepted.iter().eq(other.iter())),
                (found, expected) => assert_eq!(found, expected, "{message:?}"),
            }
        }
        reported(&memory, &mut oracle, leaders.ballot + 1);
    }
}

/// A process that is killed before any write of a step has taken the step or not: the next process finds the one or the other,
/// and goes on.
#[test]
fn a_kill_at_any_write_leaves_a_step_taken_or_not() {
    let (mut taken, mut untaken) = (0, 0);
    for seed in 0..40 {
        for killed_at in 0..12 {
            for kill in 0..8 {
                let segment = segment();
                let mut before = memory(&segment);
                let mut oracle = Acceptor::new();
                let mut leaders = Leaders {
                    random: fastrand::Rng::with_seed(seed),
                    ballot: 1,
                    floor: 0,
                    values: Default::default(),
                };
                for step in 0..12 {
                    let message = leaders.next();
                    if step != killed_at {
                        before.step(&message);
                        oracle.step(&message);
                        continue;
                    }
                    before.kill_after(kill);
                    let answer = catch_unwind(AssertUnwindSafe(|| before.step(&message)));
                    before = memory(&segment);
                    before.recover();
                    let answered = answer.is_ok();
                    let mut after = oracle.clone();
                    after.step(&message);
                    // What was answered was taken. What was not may have been.
                    let state = before.state().promised;
                    let place = match &message {
                        Message::Accept { index, .. } => before
                            .entry(index % WINDOW, before.state().next_stamp())
                            .filter(|(found, _)| found == index),
                        _ => None,
                    };
                    let accepts =
                        matches!(message, Message::Accept { index, .. } if index >= leaders.floor);
                    let (Message::Accept { ballot, .. } | Message::Prepare { ballot }) = message
                    else {
                        unreachable!("leaders send nothing else");
                    };
                    let is_taken = answered || state >= ballot && (place.is_some() || !accepts);
                    if is_taken {
                        oracle = after;
                    }
                    if !answered {
                        taken += u32::from(is_taken);
                        untaken += u32::from(!is_taken);
                    }
                }
                reported(&before, &mut oracle, leaders.ballot + 1);
            }
        }
    }
    assert!(untaken > 100, "{taken} {untaken}");
}

/// Whatever lies in the memory, nothing panics, and nothing outside is read.
#[test]
fn any_bytes_are_borne() {
    let mut random = fastrand::Rng::with_seed(3);
    let segment = segment();
    let memory = memory(&segment);
    let lines = segment.at::<Words>(0, segment.bytes() / 128).unwrap();
    for _ in 0..300 {
        for line in lines.iter() {
            for word in 0..16 {
                let any = [0, 1, random.u64(..8), random.u64(..2000), random.u64(..)];
                line.set(word, any[random.usize(..5)]);
            }
        }
        memory.step(&Message::Prepare {
            ballot: u64::MAX >> 32,
        });
    }
}
