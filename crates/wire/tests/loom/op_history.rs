//! Operation histories: a reader never mixes what two operations are, and who sees that a rank has gone on sees what it
//! gave before.

use super::check;
use corecast_wire::mutant::Mutant;
use corecast_wire::op_history::{Entry, OpHistory, Presence};
use corecast_wire::{LineRef, Segment};
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use std::sync::Arc;

/// An operation history gives the call site of the operation that it names, or none.
#[test]
fn a_history_never_mixes_entries() {
    let sites = [site_a(), site_b()];
    check(
        "operation history",
        None,
        &[Mutant::NoteRelaxed, Mutant::RecallRelaxed],
        move || {
            let history: LineRef<OpHistory> = Segment::one(None).unwrap();
            let reader = history.clone();
            let other = thread::spawn(move || {
                if let Some((entry, site)) = reader.read_at(1) {
                    assert_eq!((entry.what, site), (1, sites[0]));
                }
            });
            for seq in 1..=3 {
                history.enter(Entry { seq, what: seq }, sites[(seq / 2 % 2) as usize]);
            }
            other.join().unwrap();
        },
    );
}

#[track_caller]
fn site_a() -> &'static std::panic::Location<'static> {
    std::panic::Location::caller()
}

fn site_b() -> &'static std::panic::Location<'static> {
    site_a()
}

/// The bytes that a rank states belong to the operation with which they are read.
#[test]
fn stated_bytes_are_never_those_of_another_operation() {
    let faults = [Mutant::TellRelaxed, Mutant::AskRelaxed];
    check(
        "operation history, stated bytes",
        None,
        &faults,
        move || {
            let history: LineRef<OpHistory> = Segment::one(None).unwrap();
            let reader = history.clone();
            let other = thread::spawn(move || {
                for number in 1..=2 {
                    if let Some(bytes) = reader.stated_bytes(number) {
                        assert_eq!(bytes as u64, 10 * number);
                    }
                }
            });
            for number in 1..=2 {
                history.state_bytes(number, 10 * number as usize);
            }
            other.join().unwrap();
        },
    );
}

/// A rank writes, and tells by its history that it has gone on. Another rank that learns of it reads what was written. In
/// a team that is a message: a rank which ends its wait because a peer has gone on must not miss it.
fn gone_on(name: &str, tell: fn(&OpHistory), ask: fn(&OpHistory) -> bool) {
    let faults = [Mutant::TellRelaxed, Mutant::AskRelaxed];
    let name = format!("operation history, {name}");
    check(&name, None, &faults, move || {
        let history: LineRef<OpHistory> = Segment::one(None).unwrap();
        let cell = Arc::new(UnsafeCell::new(0u64));
        // Loom compares a store with the last access of its word alone, which may be of the same thread. This word, which
        // orders nothing, makes it try a reader that comes late.
        let late = Arc::new(AtomicU32::new(0));
        let other = {
            let (history, cell, late) = (history.clone(), cell.clone(), late.clone());
            thread::spawn(move || {
                // SAFETY: loom checks that no access overlaps another: that is the test.
                cell.with_mut(|cell| unsafe { *cell = 7 });
                tell(&history);
                late.store(1, Ordering::Relaxed);
            })
        };
        late.load(Ordering::Relaxed);
        if ask(&history) {
            // SAFETY: as above.
            assert_eq!(cell.with(|cell| unsafe { *cell }), 7);
        }
        other.join().unwrap();
    });
}

#[test]
fn who_sees_that_a_rank_has_gone_on_sees_what_it_gave() {
    let enter = |history: &OpHistory| history.enter(Entry { seq: 1, what: 1 }, site_a());
    gone_on("an operation", enter, |history| history.now().seq == 1);
    gone_on(
        "an end",
        |history| history.note_ended(0),
        |history| history.has_ended(0),
    );
    gone_on("a rest", OpHistory::rest, |history| history.rests() == 1);
    gone_on(
        "a leave",
        |history| history.set_presence(Presence::Left, None),
        |history| history.presence() == Presence::Left,
    );
}
