//! Stable reads as a model of which all states are visited: a writer and a reader at each of two or three replicas, helpers, a
//! replica that joins, one that leaves, and changes between the designs. What is noted, where, and whether that is applied is asked of the
//! functions that run; the order of steps is that of `combine.rs`, `noting.rs` and `membership.rs`.
//!
//! A read must hold all entries of its footprint that were answered, or read anywhere, before it began. Loom checks the code in fewer
//! situations but with its memory orderings.

use super::{Pending, WORDS};
use crate::Footprint::{self, Everything, Key};
use crate::fault::{self, Fault};
use crate::model_checker::{Counterexample, Model, explore};
use crate::replicated::noting::Noting;
use std::sync::Arc;

const REPLICAS: usize = 3;

/// Entries of the log, or replicas, a bit each.
type Bits = u8;

/// An order of steps that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// Entries are written before they are noted: an acknowledgement before the note.
    WrittenBeforeNoted,
    /// Entries are written when the first replica has noted them.
    OneNoteEnough,
    /// A writer is answered, and its own replica shows the entry, before it is noted.
    AnsweredBeforeNoted,
    /// A writer looks where to note before it reserves.
    LookedBeforeReserved,
    /// A replica that joins trusts in notes from the entry on that it has a copy up to.
    JoinerUnfenced,
    /// A replica that joins trusts in notes before writers are told of it.
    JoinerUntold,
    /// Replicas trust in notes, from the end of the log on, before writers are told to note.
    TrustedBeforeTold,
}

/// What happens in a model.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// What the writer of each replica writes, once.
    writes: [Option<Footprint>; REPLICAS],
    /// What the reader of each replica reads, so often.
    reads: [Option<(Footprint, u8)>; REPLICAS],
    /// Replicas that are there in the beginning.
    replicas: usize,
    /// Whether a replica joins.
    joins: bool,
    /// Whether replica 1 leaves.
    leaves: bool,
    /// Entries are noted from the beginning.
    stable: bool,
    /// Changes of the design.
    switches: u8,
    wrong: Option<Wrong>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Writer {
    Idle,
    /// Wrong: it knows where to note, and has not reserved an entry.
    Looked,
    /// It has the lock, and this entry. Whether it knew what that touches before.
    Reserved(u8, bool),
    /// It has noted the entry at so many places.
    Notes(u8, bool, u8),
    Written(u8),
    /// Wrong: the entry is written, or even answered, and not noted yet.
    NotesLate(u8, bool),
    Answered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Reader {
    Idle,
    /// It must find these entries.
    Began(Bits),
    /// It has the lock, and applies what it lacks.
    Applies(Bits),
    /// It has the lock, and all that it needs.
    Found(Bits),
}

/// What the holder of the mutex of all replicas does, step by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Nothing,
    /// Tells writers of the design and the replicas that there are from now on.
    Tell(bool, Bits),
    /// Looks at the end of the log, for these replicas.
    Fence(Bits),
    /// Lets these replicas trust in notes of entries from this one on.
    Begin(Bits, u64),
    /// Ends that these replicas trust in notes.
    Cease(Bits),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Replica {
    /// Threads can use it.
    is_there: bool,
    /// It is among those that writers are told of.
    is_listed: bool,
    is_locked: bool,
    applied: u8,
    pending: [u64; WORDS + 1],
    /// What its combiner knows: a configuration, and where to note.
    knows: (u64, Bits),
    writer: Writer,
    reader: Reader,
    reads: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    /// Who has reserved each entry.
    by: [u8; REPLICAS],
    end: u8,
    written: Bits,
    /// Entries that were answered or read.
    known: Bits,
    configuration: u64,
    is_stable: bool,
    change: [Step; 3],
    joins: bool,
    leaves: bool,
    switches: u8,
    replicas: [Replica; REPLICAS],
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Write(usize),
    Read(usize),
    Help(usize),
    Join,
    Leave,
    Switch,
    GoOn,
}

fn bit(number: impl Into<usize>) -> Bits {
    1 << number.into()
}

fn conflict(one: Footprint, other: Footprint) -> bool {
    one == Everything || other == Everything || one == other
}

impl State {
    fn is_changing(&self) -> bool {
        self.change != [Step::Nothing; 3]
    }

    /// Changes what is noted at a replica, by a function that runs.
    fn pend(&mut self, at: usize, change: impl FnOnce(&Pending)) {
        let pending = Pending::of_words(self.replicas[at].pending);
        change(&pending);
        self.replicas[at].pending = pending.words();
    }

    fn listed(&self) -> Bits {
        let all = self.replicas.iter().enumerate();
        let listed = all.filter(|(_, it)| it.is_listed);
        listed.fold(0, |bits, (at, _)| bits | bit(at))
    }

    /// What the combiner of a replica knows, as the functions that run have it, and the numbers of the places.
    fn noting(&self, at: usize, footprints: Vec<Footprint>) -> (Noting, Vec<usize>) {
        let (configuration, places) = self.replicas[at].knows;
        let places: Vec<usize> = (0..REPLICAS).filter(|it| places & bit(*it) != 0).collect();
        let pending = |it: &usize| Arc::new(Pending::of_words(self.replicas[*it].pending));
        let noted = (configuration, places.iter().map(pending).collect());
        (Noting::of(noted, footprints), places)
    }

    /// The combiner learns where to note, as entries are reserved. It has to wait for the mutex if it must ask.
    fn look(&mut self, at: usize) -> bool {
        let (mut noting, _) = self.noting(at, Vec::new());
        if noting.configuration() != self.configuration && self.is_changing() {
            return false;
        }
        let mut places = self.replicas[at].knows.1;
        noting.look(self.configuration, || {
            places = match self.is_stable {
                true => self.listed() & !bit(at),
                false => 0,
            };
            (self.configuration, Vec::new())
        });
        self.replicas[at].knows = (noting.configuration(), places);
        true
    }

    /// Applies the next entry, if it is written.
    fn apply_next(&mut self, at: usize) -> bool {
        let replica = &mut self.replicas[at];
        let has_next = self.written & bit(replica.applied) != 0;
        replica.applied += u8::from(has_next);
        has_next
    }
}

impl Bounds {
    fn footprint_of(&self, state: &State, entry: usize) -> Footprint {
        let by = usize::from(state.by[entry]);
        self.writes[by].expect("only writers reserve")
    }

    /// Those of `entries` that touch a footprint.
    fn touching(&self, state: &State, entries: Bits, footprint: Footprint) -> Bits {
        let all = (0..usize::from(state.end)).filter(|it| entries & bit(*it) != 0);
        let touching = all.filter(|it| conflict(self.footprint_of(state, *it), footprint));
        touching.fold(0, |bits, entry| bits | bit(entry))
    }

    fn is(&self, wrong: Wrong) -> bool {
        self.wrong == Some(wrong)
    }

    fn write(&self, state: &mut State, at: usize) {
        let wrote = self.writes[at].expect("it writes");
        let noted_late = self.is(Wrong::WrittenBeforeNoted) || self.is(Wrong::AnsweredBeforeNoted);
        state.replicas[at].writer = match state.replicas[at].writer {
            Writer::Idle if self.is(Wrong::LookedBeforeReserved) => match state.look(at) {
                true => Writer::Looked,
                false => Writer::Idle,
            },
            Writer::Idle | Writer::Looked => {
                let entry = state.end;
                state.by[usize::from(entry)] = at as u8;
                state.end += 1;
                state.replicas[at].is_locked = true;
                Writer::Reserved(entry, state.replicas[at].knows.1 != 0)
            }
            Writer::Reserved(entry, is_prepared) => {
                if !self.is(Wrong::LookedBeforeReserved) && !state.look(at) {
                    return;
                }
                match noted_late {
                    false => Writer::Notes(entry, is_prepared, 0),
                    true => {
                        state.written |= bit(entry);
                        Writer::NotesLate(entry, is_prepared)
                    }
                }
            }
            Writer::Notes(entry, is_prepared, place) => {
                let footprints = if is_prepared { vec![wrote] } else { Vec::new() };
                let (noting, places) = state.noting(at, footprints);
                let is_enough = self.is(Wrong::OneNoteEnough) && place > 0;
                match places.get(usize::from(place)).filter(|_| !is_enough) {
                    Some(&other) => {
                        let entries = u64::from(entry)..u64::from(entry) + 1;
                        noting.note_at(place.into(), entries);
                        state.replicas[other].pending = noting.pending(place.into()).words();
                        Writer::Notes(entry, is_prepared, place + 1)
                    }
                    None => {
                        state.written |= bit(entry);
                        Writer::Written(entry)
                    }
                }
            }
            Writer::Written(entry) if state.replicas[at].applied <= entry => {
                state.apply_next(at);
                Writer::Written(entry)
            }
            Writer::Written(entry) => {
                state.known |= bit(entry);
                state.replicas[at].is_locked = false;
                Writer::Answered
            }
            Writer::NotesLate(entry, is_prepared) => {
                if self.is(Wrong::AnsweredBeforeNoted) && state.known & bit(entry) == 0 {
                    state.known |= bit(entry);
                    return;
                }
                Writer::Notes(entry, is_prepared, 0)
            }
            Writer::Answered => Writer::Answered,
        };
    }

    fn read(&self, state: &mut State, at: usize) -> Result<(), String> {
        let (footprint, _) = self.reads[at].expect("it reads");
        let Replica {
            applied, pending, ..
        } = state.replicas[at];
        let has_next = state.written & bit(applied) != 0;
        state.replicas[at].reader = match state.replicas[at].reader {
            Reader::Idle => Reader::Began(self.touching(state, state.known, footprint)),
            Reader::Began(floor) => {
                state.replicas[at].is_locked = true;
                let pending = Pending::of_words(pending);
                match pending.is_applied(applied.into(), || footprint) || !has_next {
                    true => Reader::Found(floor),
                    false => Reader::Applies(floor),
                }
            }
            Reader::Applies(floor) => match state.apply_next(at) {
                true => Reader::Applies(floor),
                false => Reader::Found(floor),
            },
            Reader::Found(floor) => {
                let holds = bit(applied) - 1;
                if floor & !holds != 0 {
                    return Err(format!(
                        "a read at {at} misses entries {floor:b} of its key"
                    ));
                }
                state.known |= self.touching(state, holds, footprint);
                state.replicas[at].is_locked = false;
                state.replicas[at].reads -= 1;
                Reader::Idle
            }
        };
        Ok(())
    }

    /// The next step of the holder of the mutex.
    fn go_on(&self, state: &mut State) {
        let first = |bits: Bits| bits.trailing_zeros() as usize;
        let [step, next, last] = state.change;
        state.change = [next, last, Step::Nothing];
        match step {
            Step::Tell(is_stable, listed) => {
                state.configuration += 1;
                state.is_stable = is_stable;
                for (at, replica) in state.replicas.iter_mut().enumerate() {
                    replica.is_listed = listed & bit(at) != 0;
                }
            }
            Step::Fence(replicas) => {
                let is_fenced = !self.is(Wrong::JoinerUnfenced);
                let end = if is_fenced { state.end.into() } else { 0 };
                state.change = [Step::Begin(replicas, end), next, last];
            }
            Step::Begin(0, _) | Step::Cease(0) | Step::Nothing => {}
            Step::Begin(left, end) => {
                state.pend(first(left), |pending| pending.begin(end));
                state.change = [Step::Begin(left & (left - 1), end), next, last];
            }
            Step::Cease(left) => {
                state.pend(first(left), Pending::cease);
                state.change = [Step::Cease(left & (left - 1)), next, last];
            }
        }
        if !state.is_changing() {
            for replica in &mut state.replicas {
                replica.is_there |= replica.is_listed;
            }
        }
    }

    fn join(&self, state: &mut State) {
        let new = REPLICAS - 1;
        state.joins = false;
        state.replicas[new].applied = state.replicas[0].applied;
        let tell = Step::Tell(state.is_stable, state.listed() | bit(new));
        let fence = match state.is_stable {
            true => Step::Fence(bit(new)),
            false => Step::Nothing,
        };
        state.change = match self.is(Wrong::JoinerUntold) {
            false => [tell, fence, Step::Nothing],
            true => [fence, tell, Step::Nothing],
        };
    }

    fn switch(&self, state: &mut State) {
        state.switches -= 1;
        let all = state.listed();
        let tell = Step::Tell(!state.is_stable, all);
        let other = match state.is_stable {
            true => Step::Cease(all),
            false => Step::Fence(all),
        };
        let tells_first = !state.is_stable && !self.is(Wrong::TrustedBeforeTold);
        state.change = match tells_first {
            true => [tell, other, Step::Nothing],
            false => [other, tell, Step::Nothing],
        };
    }
}

impl Model for Bounds {
    type State = State;
    type Action = Action;

    fn start(&self) -> State {
        let all = bit(self.replicas) - 1;
        let replica = |at: usize| {
            let pending = Pending::new();
            if self.stable && at < self.replicas {
                pending.begin(0);
            }
            Replica {
                is_there: at < self.replicas,
                is_listed: at < self.replicas,
                is_locked: false,
                applied: 0,
                pending: pending.words(),
                knows: (1, if self.stable { all & !bit(at) } else { 0 }),
                writer: Writer::Idle,
                reader: Reader::Idle,
                reads: self.reads[at].map_or(0, |(_, times)| times),
            }
        };
        State {
            by: [0; REPLICAS],
            end: 0,
            written: 0,
            known: 0,
            configuration: 1,
            is_stable: self.stable,
            change: [Step::Nothing; 3],
            joins: self.joins,
            leaves: self.leaves,
            switches: self.switches,
            replicas: std::array::from_fn(replica),
        }
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (at, replica) in state.replicas.iter().enumerate() {
            let is_free = !replica.is_locked;
            if !replica.is_there {
                continue;
            }
            let is_outside = matches!(replica.writer, Writer::Idle | Writer::Looked);
            if self.writes[at].is_some() && (!is_outside || is_free) {
                actions.push(Action::Write(at));
            }
            let can_read = match replica.reader {
                Reader::Idle => replica.reads > 0,
                Reader::Began(_) => is_free,
                Reader::Applies(_) | Reader::Found(_) => true,
            };
            if can_read {
                actions.push(Action::Read(at));
            }
            if is_free && state.written & bit(replica.applied) != 0 {
                actions.push(Action::Help(at));
            }
        }
        if state.is_changing() {
            actions.push(Action::GoOn);
            return;
        }
        if state.joins && !state.replicas[0].is_locked {
            actions.push(Action::Join);
        }
        let gone = &state.replicas[1];
        if state.leaves && !gone.is_locked && matches!(gone.reader, Reader::Idle) {
            actions.push(Action::Leave);
        }
        if state.switches > 0 {
            actions.push(Action::Switch);
        }
    }

    fn apply(&self, state: &mut State, action: &Action) -> Result<(), String> {
        match *action {
            Action::Write(at) => self.write(state, at),
            Action::Read(at) => self.read(state, at)?,
            Action::Help(at) => {
                state.apply_next(at);
            }
            Action::Join => self.join(state),
            Action::Leave => {
                state.leaves = false;
                state.replicas[1].is_there = false;
                state.change[0] = Step::Tell(state.is_stable, state.listed() & !bit(1_usize));
            }
            Action::Switch => self.switch(state),
            Action::GoOn => self.go_on(state),
        }
        Ok(())
    }

    fn told(&self, action: &Action) -> String {
        format!("{action:?}")
    }
}

/// Keys of different words.
const A: Footprint = Key(0);
const B: Footprint = Key(1);

/// Two replicas that write and read a key, and changes.
const PLAIN: Bounds = Bounds {
    writes: [Some(A), Some(A), None],
    reads: [Some((A, 1)), Some((A, 1)), None],
    replicas: 2,
    joins: false,
    leaves: false,
    stable: true,
    switches: 0,
    wrong: None,
};

/// The bounds within which all states are visited, and their numbers.
const ALL: &[(Bounds, usize)] = &[
    (PLAIN, 2_318),
    // Three replicas, one of which only reads, twice.
    (
        Bounds {
            reads: [Some((A, 1)), None, Some((A, 2))],
            replicas: 3,
            ..PLAIN
        },
        17_059,
    ),
    // Two keys, and a structure as a whole.
    (
        Bounds {
            writes: [Some(A), Some(Everything), Some(B)],
            reads: [Some((B, 1)), None, Some((Everything, 1))],
            replicas: 3,
            ..PLAIN
        },
        111_291,
    ),
    // One replica leaves, another one joins.
    (
        Bounds {
            reads: [Some((A, 1)), None, Some((A, 1))],
            joins: true,
            leaves: true,
            ..PLAIN
        },
        99_955,
    ),
    // Notes end and begin again.
    (
        Bounds {
            writes: [Some(A), Some(Everything), None],
            switches: 2,
            ..PLAIN
        },
        77_602,
    ),
    (
        Bounds {
            stable: false,
            switches: 2,
            ..PLAIN
        },
        73_758,
    ),
    // Notes begin as a replica joins.
    (
        Bounds {
            writes: [Some(A), None, None],
            reads: [Some((A, 1)), None, Some((A, 2))],
            replicas: 1,
            joins: true,
            stable: false,
            switches: 1,
            ..PLAIN
        },
        6_122,
    ),
];

#[test]
fn no_stable_read_misses_what_was_known_of_its_key() {
    assert_ne!(super::word_of(0), super::word_of(1));
    let states = |(bounds, _): &(Bounds, usize)| explore(bounds, 4_000_000).states_of_all(bounds);
    let found: Vec<usize> = ALL.iter().map(states).collect();
    let expected: Vec<usize> = ALL.iter().map(|(_, states)| *states).collect();
    assert_eq!(found, expected);
}

/// The steps of the shortest way to a read that misses something, within any of the bounds.
fn shortest(wrong: Option<Wrong>, fault: Option<Fault>) -> Option<usize> {
    let found = ALL.iter().filter_map(|(bounds, _)| {
        let bounds = Bounds { wrong, ..*bounds };
        fault::with(fault, || explore(&bounds, 4_000_000)).broken
    });
    found.map(|it: Counterexample| it.actions.len()).min()
}

#[test]
fn wrong_orders_of_steps_are_found() {
    for (wrong, steps) in [
        (Wrong::WrittenBeforeNoted, 9),
        (Wrong::OneNoteEnough, 9),
        (Wrong::AnsweredBeforeNoted, 6),
        (Wrong::LookedBeforeReserved, 13),
        (Wrong::JoinerUnfenced, 12),
        (Wrong::JoinerUntold, 14),
        (Wrong::TrustedBeforeTold, 11),
    ] {
        assert_eq!(shortest(Some(wrong), None), Some(steps), "{wrong:?}");
    }
}

#[test]
fn faults_of_notes_are_found() {
    for (fault, steps) in [
        (Fault::NotesIgnored, 8),
        (Fault::EverythingIgnored, 8),
        (Fault::KeysIgnored, 10),
        (Fault::JoinerUnknown, 14),
    ] {
        assert_eq!(shortest(None, Some(fault)), Some(steps), "{fault:?}");
    }
}
