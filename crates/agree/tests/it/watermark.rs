//! The design of linearizable local reads as a model of which every state is visited: three replicas, a writer and a reader at
//! each, and helpers. Loom checks the code in fewer situations but with its memory orderings; this model has all situations and no
//! orderings.
//!
//! What a replica holds is a set of writes. A read must hold all writes that were answered, or read anywhere, before it began.

use std::collections::{HashMap, VecDeque};

const REPLICAS: usize = 3;

/// Reads of each reader. With two of them, and replicas told apart, 3,613,941 states hold as well, in 98 s.
const READS: u8 = 1;

/// A design that is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// A writer is answered when its own replica has learned its write, and replicas answer reads at once, as in Smelt's store.
    ReadsAtOnce,
    /// A reader looks at the log before it begins.
    LooksBefore,
    /// A replica shows its own write before it stands in the log.
    ShownBeforeWritten,
    /// A writer is answered when it has reserved an entry.
    AnsweredWhenReserved,
    /// Whoever applies the log goes past an entry that is not written yet.
    HolesSkipped,
}

/// Writes by their entries in the log, a bit each.
type Writes = u8;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Writer {
    Idle,
    /// It has the lock and this entry, which is not written yet.
    Reserved(u8),
    /// It has the lock and has written this entry.
    Written(u8),
    Answered,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Reader {
    /// Reads that are left.
    Idle(u8),
    /// Fault: it has the lock, found no further entry, and has not begun.
    Looked(u8),
    /// It must find these writes.
    Began(u8, Writes),
    /// It has the lock and found no further entry.
    Found(u8, Writes),
    /// It has the lock for writing, and applies what it lacks.
    Applies(u8, Writes),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Replica {
    /// Entries that were gone through.
    applied: u8,
    /// Writes in the structure.
    holds: Writes,
    is_locked: bool,
    writer: Writer,
    reader: Reader,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State {
    /// Entries that were reserved.
    end: u8,
    /// Entries that were written.
    written: Writes,
    /// Writes that were answered or read.
    known: Writes,
    replicas: [Replica; REPLICAS],
}

fn bit(entry: u8) -> Writes {
    1 << entry
}

impl State {
    fn first() -> Self {
        let replica = Replica {
            applied: 0,
            holds: 0,
            is_locked: false,
            writer: Writer::Idle,
            reader: Reader::Idle(READS),
        };
        Self {
            end: 0,
            written: 0,
            known: 0,
            replicas: [replica; REPLICAS],
        }
    }

    fn with(mut self, place: usize, change: impl FnOnce(&mut Self, &mut Replica)) -> Self {
        let mut replica = self.replicas[place];
        change(&mut self, &mut replica);
        self.replicas[place] = replica;
        self
    }

    /// Whether the replica's next entry is written.
    fn has_next(&self, replica: &Replica) -> bool {
        self.written & bit(replica.applied) != 0
    }

    /// Applies the next entry if it is written, or by mistake if it is only reserved.
    fn apply_next(&self, replica: &mut Replica, fault: Fault) -> bool {
        if self.has_next(replica) {
            replica.holds |= bit(replica.applied);
        } else if fault != Fault::HolesSkipped || replica.applied >= self.end {
            return false;
        }
        replica.applied += 1;
        true
    }

    /// All states that can come next, or the one that shows that the design is wrong.
    fn next(&self, fault: Fault) -> Result<Vec<Self>, Self> {
        let mut next = Vec::new();
        for place in 0..REPLICAS {
            self.writer_steps(place, fault, &mut next);
            self.reader_steps(place, fault, &mut next)?;
            // A thread of another replica helps, if nobody has the lock.
            let mut helped = self.replicas[place];
            if !helped.is_locked && self.apply_next(&mut helped, fault) {
                next.push(self.with(place, |_, replica| *replica = helped));
            }
        }
        Ok(next)
    }

    fn writer_steps(&self, place: usize, fault: Fault, next: &mut Vec<Self>) {
        let replica = self.replicas[place];
        match replica.writer {
            Writer::Idle if !replica.is_locked => next.push(self.with(place, |state, replica| {
                replica.is_locked = true;
                replica.writer = Writer::Reserved(state.end);
                state.end += 1;
            })),
            Writer::Reserved(entry) => {
                next.push(self.with(place, |state, replica| {
                    state.written |= bit(entry);
                    replica.writer = Writer::Written(entry);
                }));
                if fault == Fault::AnsweredWhenReserved {
                    next.push(self.with(place, |state, _| state.known |= bit(entry)));
                }
                if fault == Fault::ShownBeforeWritten && replica.holds & bit(entry) == 0 {
                    // It shows the write, and appends it in a later hold of the lock.
                    next.push(self.with(place, |_, replica| {
                        replica.holds |= bit(entry);
                        replica.is_locked = false;
                    }));
                }
            }
            Writer::Written(entry) if replica.applied <= entry => {
                let mut applied = replica;
                if self.apply_next(&mut applied, fault) {
                    next.push(self.with(place, |_, replica| *replica = applied));
                }
            }
            Writer::Written(entry) => next.push(self.with(place, |state, replica| {
                state.known |= bit(entry);
                replica.is_locked = false;
                replica.writer = Writer::Answered;
            })),
            Writer::Idle | Writer::Answered => {}
        }
    }

    fn reader_steps(&self, place: usize, fault: Fault, next: &mut Vec<Self>) -> Result<(), Self> {
        let replica = self.replicas[place];
        let known = self.known;
        let mut becomes = |reader: Reader, is_locked: bool| {
            next.push(self.with(place, |_, replica| {
                replica.reader = reader;
                replica.is_locked = is_locked;
            }));
        };
        match replica.reader {
            Reader::Idle(0) => {}
            Reader::Idle(left) if fault == Fault::LooksBefore => {
                if !replica.is_locked && !self.has_next(&replica) {
                    becomes(Reader::Looked(left), true);
                }
            }
            Reader::Idle(left) => becomes(Reader::Began(left, known), replica.is_locked),
            Reader::Looked(left) => becomes(Reader::Found(left, known), true),
            Reader::Began(left, floor) if !replica.is_locked => {
                match self.has_next(&replica) && fault != Fault::ReadsAtOnce {
                    true => becomes(Reader::Applies(left, floor), true),
                    false => becomes(Reader::Found(left, floor), true),
                }
            }
            Reader::Began(..) => {}
            Reader::Applies(left, floor) => {
                let mut applied = replica;
                match self.apply_next(&mut applied, fault) {
                    true => next.push(self.with(place, |_, replica| *replica = applied)),
                    false => becomes(Reader::Found(left, floor), true),
                }
            }
            Reader::Found(left, floor) => {
                if floor & !replica.holds != 0 {
                    return Err(*self);
                }
                next.push(self.with(place, |state, replica| {
                    state.known |= replica.holds;
                    replica.is_locked = false;
                    replica.reader = Reader::Idle(left - 1);
                }));
            }
        }
        Ok(())
    }
}

/// Visits all states. Returns their number, or the steps to one that is wrong.
fn explore(fault: Fault) -> Result<usize, usize> {
    let mut steps = HashMap::from([(State::first(), 0_usize)]);
    let mut ahead = VecDeque::from([State::first()]);
    while let Some(state) = ahead.pop_front() {
        let step = steps[&state];
        for mut next in state.next(fault).map_err(|_| step)? {
            // Replicas are all alike, so it does not matter which is which.
            next.replicas.sort_unstable();
            if let std::collections::hash_map::Entry::Vacant(place) = steps.entry(next) {
                place.insert(step + 1);
                ahead.push_back(next);
            }
        }
    }
    let is_over = |state: &State| {
        let mut replicas = state.replicas.iter();
        replicas.all(|it| it.writer == Writer::Answered && it.reader == Reader::Idle(0))
    };
    assert!(steps.keys().any(is_over), "everybody can come to the end");
    Ok(steps.len())
}

#[test]
fn no_read_misses_what_was_known_before() {
    let states = explore(Fault::None).expect("the design holds");
    assert_eq!(states, 78_872);
}

#[test]
fn designs_that_are_wrong_are_found() {
    for (fault, expected) in [
        (Fault::ReadsAtOnce, 6),
        (Fault::LooksBefore, 6),
        (Fault::ShownBeforeWritten, 7),
        (Fault::AnsweredWhenReserved, 4),
        (Fault::HolesSkipped, 7),
    ] {
        let steps = explore(fault).expect_err(&format!("{fault:?} went unnoticed"));
        assert_eq!(steps, expected, "{fault:?}");
    }
}
