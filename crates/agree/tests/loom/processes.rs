//! Memory that processes share, which may be killed before any of their writes.

use crate::check::check;
use corecast_agree::paxos::processes::{AcceptorMemory, ConfigurationMemory, Piece};
use corecast_agree::paxos::{Answer, Configuration, Message, Submission, Value, Window};
use corecast_wire::mutant::Mutant;
use corecast_wire::{LineRef, LineSlice, Segment, Words};
use loom::thread;
use std::panic::{AssertUnwindSafe, catch_unwind};

type Entry = Value<Submission<Piece>>;

/// The lines of an acceptor of so many slots of a line.
#[derive(Clone)]
struct AcceptorLines(LineRef<Words>, LineSlice<Words>);

impl AcceptorLines {
    fn new(slots: usize) -> Self {
        let segment = Segment::new(4096, None).unwrap();
        let control = segment.lines::<Words>(1).unwrap().get(0);
        Self(control, segment.lines::<Words>(slots).unwrap())
    }

    /// As one process has it.
    fn process(&self) -> AcceptorMemory {
        AcceptorMemory::new(self.0.clone(), self.1.clone(), 1)
    }
}

fn value(index: u64) -> Entry {
    Some(Submission {
        origin: index,
        number: 100 + index,
        command: Piece::new(&[index as u8; 9]),
    })
}

fn accept(memory: &AcceptorMemory, ballot: u64, index: u64, floor: u64) -> bool {
    let value = value(index);
    let message = Message::Accept {
        ballot,
        index,
        value,
        floor,
    };
    match memory.step(&message) {
        Some(Answer::Broadcast(Message::Learn { .. })) => true,
        Some(Answer::Reply(Message::Nack { promised, .. })) => {
            assert!(promised > ballot);
            false
        }
        other => panic!("{other:?}"),
    }
}

/// The floor and the indices that a new leader is told. All values are whole.
fn prepare(memory: &AcceptorMemory, ballot: u64) -> (u64, Vec<u64>) {
    let Some(Answer::Reply(Message::Promise { accepted, .. })) =
        memory.step(&Message::Prepare { ballot })
    else {
        panic!("no promise");
    };
    let indices = accepted.iter().map(|(index, found)| {
        assert_eq!(*found, value(index), "index {index}");
        index
    });
    (accepted.floor(), indices.collect())
}

/// What a new leader is told is what was accepted, and nothing that was refused.
#[test]
fn a_promise_comes_before_an_accept_or_reports_it() {
    let mutants = [Mutant::PromiseUnseen, Mutant::UnfinishedReported];
    check("acceptor, promise", Some(3), &mutants, || {
        let lines = AcceptorLines::new(1);
        let (owner, leader) = (lines.process(), lines.clone());
        let other = thread::spawn(move || prepare(&leader.process(), 2).1);
        let accepted = accept(&owner, 1, 0, 0);
        let reported = other.join().unwrap();
        assert_eq!(reported, if accepted { vec![0] } else { vec![] });
    });
}

/// A slot is written again for a later index while a new leader reads it.
#[test]
fn a_slot_that_is_overwritten_is_reported_whole_or_lies_below_the_floor() {
    let mutants = [Mutant::StampKept];
    check("acceptor, overwritten", Some(2), &mutants, || {
        let lines = AcceptorLines::new(1);
        let (owner, leader) = (lines.process(), lines.clone());
        assert!(accept(&owner, 1, 0, 0));
        let other = thread::spawn(move || prepare(&leader.process(), 2));
        let accepted = accept(&owner, 1, 1, 1);
        let (floor, reported) = other.join().unwrap();
        let expected: &[u64] = match (floor, accepted) {
            (0, false) => &[0],
            (1, false) => &[],
            (1, true) => &[1],
            other => panic!("{other:?}"),
        };
        assert_eq!(reported, expected);
    });
}

/// The acceptor's process is killed before one of its writes, and its next process accepts another entry, while a new leader
/// prepares.
#[test]
fn a_process_that_is_killed_leaves_an_entry_accepted_or_not() {
    for kill in 0..6 {
        let mutants: &[Mutant] = match kill {
            // The stamp is there, and the state says nothing of it.
            4 => &[Mutant::UnfinishedKept],
            _ => &[],
        };
        check("acceptor, killed", Some(2), mutants, move || {
            let lines = AcceptorLines::new(2);
            let (killed, leader) = (lines.process(), lines.clone());
            let other = thread::spawn(move || prepare(&leader.process(), 2).1);
            killed.kill_after(kill);
            let first = catch_unwind(AssertUnwindSafe(|| accept(&killed, 1, 0, 0))).ok();
            let next = lines.process();
            next.recover();
            let second = accept(&next, 1, 1, 0);
            let reported = other.join().unwrap();
            let last = prepare(&next, 3).1;
            // What was answered is there for ever, and what was refused never.
            for (index, accepted) in [(0, first), (1, Some(second))] {
                let is_last = last.contains(&index);
                assert!(accepted.is_none_or(|it| it == is_last), "{index}: {last:?}");
                // Nothing is accepted once a higher ballot was promised.
                assert_eq!(reported.contains(&index), is_last, "{reported:?} {last:?}");
            }
            // Before the state was changed nothing is accepted; what comes of the last kill is not known to anybody.
            assert!(kill > 4 || !last.contains(&0));
        });
    }
}

/// The lines of a configuration log of two members whose entries carry nothing.
#[derive(Clone)]
struct LogLines(LineRef<Words>, LineSlice<Words>);

impl LogLines {
    fn new() -> Self {
        let segment = Segment::new(4096, None).unwrap();
        let head = segment.lines::<Words>(1).unwrap().get(0);
        let lines = 4 * ConfigurationMemory::buffer_lines(0);
        Self(head, segment.lines::<Words>(lines).unwrap())
    }

    fn process(&self) -> ConfigurationMemory {
        ConfigurationMemory::new(self.0.clone(), self.1.clone(), 2)
    }
}

/// An entry that says in each of its parts whose it is, and at which position.
fn entry(member: usize, position: u64) -> Configuration<Submission<Piece>> {
    Configuration {
        leader: member,
        acceptor: 1 - member,
        members: position,
        carried: Window::new(10 * position),
    }
}

/// The last entry is whole.
fn last(log: &ConfigurationMemory) -> (u64, usize) {
    let (position, found) = log.last();
    if position > 0 {
        assert_eq!(found, entry(found.leader, position));
    }
    (position, found.leader)
}

#[test]
fn an_entry_is_read_whole_while_others_are_appended() {
    let mutants = [Mutant::HeadUnchecked, Mutant::OneBuffer];
    check("configurations, read", Some(3), &mutants, || {
        let lines = LogLines::new();
        let (writer, reader) = (lines.process(), lines.clone());
        assert!(writer.append(0, 1, &entry(0, 1)));
        let other = thread::spawn(move || {
            let reader = reader.process();
            assert!(last(&reader).0 <= last(&reader).0);
        });
        assert!(writer.append(0, 2, &entry(0, 2)));
        assert!(writer.append(0, 3, &entry(0, 3)));
        other.join().unwrap();
    });
}

/// Two members append, one of which is killed before one of its writes and goes on in another process.
#[test]
fn one_of_two_appends_and_one_that_is_killed_leaves_the_log_whole() {
    for kill in 0..4 {
        check("configurations, killed", Some(3), &[], move || {
            let lines = LogLines::new();
            let (killed, there) = (lines.process(), lines.clone());
            let other = thread::spawn(move || there.process().append(1, 1, &entry(1, 1)));
            killed.kill_after(kill);
            let append = || killed.append(0, 1, &entry(0, 1));
            let appended = catch_unwind(AssertUnwindSafe(append)).ok();
            let next = lines.process();
            let (position, _) = last(&next);
            let again = next.append(0, position + 1, &entry(0, position + 1));
            let other = other.join().unwrap();
            let (end, leader) = last(&next);
            let firsts = u64::from(appended == Some(true)) + u64::from(other);
            assert!(firsts <= 1);
            match (again, appended) {
                (true, _) => assert_eq!((end, leader), (position + 1, 0)),
                (false, _) => assert!(other && (end, leader) == (1, 1)),
            }
        });
    }
}
