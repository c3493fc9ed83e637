//! Reader locks: a writer is alone, readers see whole values, and nobody misses the other.

use super::check;
use corecast_wire::ReaderLock;
use corecast_wire::mutant::Mutant;
use loom::thread;
use std::sync::Arc;

fn patiently(look: &mut dyn FnMut() -> bool) -> bool {
    while !look() {
        thread::yield_now();
    }
    true
}

/// Two that have slots read and write in turn, so that light and full fences follow each other.
#[test]
fn two_that_read_and_write() {
    let mutants = [
        Mutant::WriterUnfenced,
        Mutant::ReaderUnfenced,
        Mutant::LeaveRelaxed,
    ];
    check("reader lock, two slots", Some(3), &mutants, || {
        let lock = Arc::new(ReaderLock::new(0, 2));
        let [mut here, mut there] = [0, 1].map(|_| lock.slot().unwrap());
        let other = thread::spawn(move || {
            let read = [
                there.try_read().is_ok_and(|it| *it <= 1),
                there.try_read().is_ok(),
            ];
            let _ = there.try_write(patiently).map(|mut value| *value += 1);
            read
        });
        let _ = here.try_write(patiently).map(|mut value| *value += 1);
        for _ in 0..2 {
            let _ = here.try_read().map(|value| assert!(*value <= 2));
        }
        other.join().unwrap();
    });
}

/// A reader and a writer, in a slot that is taken before or meanwhile. Loom sees two that use the value at once.
fn reader_and_writer(slot_before: bool) {
    let lock = Arc::new(ReaderLock::new(0, 1));
    let mut slot = slot_before.then(|| lock.slot().unwrap());
    let other = {
        let lock = Arc::clone(&lock);
        thread::spawn(move || {
            let mut value = lock.try_write(patiently).unwrap();
            *value += 1;
        })
    };
    let slot = slot.get_or_insert_with(|| lock.slot().unwrap());
    for _ in 0..2 {
        if let Ok(value) = slot.try_read() {
            assert!(*value <= 1);
        }
    }
    other.join().unwrap();
    assert_eq!(*slot.try_read().unwrap(), 1);
}

#[test]
fn one_reader() {
    let mutants = [
        Mutant::UnlockRelaxed,
        Mutant::LeaveRelaxed,
        Mutant::DrainedRelaxed,
        Mutant::WriterUnfenced,
        Mutant::ReaderUnfenced,
        Mutant::ReadersUnawaited,
    ];
    check("reader lock", None, &mutants, || reader_and_writer(true));
}

#[test]
fn one_reader_that_comes_late() {
    let mutants = [Mutant::WriterUnfenced, Mutant::ReadersUnawaited];
    check("reader lock, late reader", None, &mutants, || {
        reader_and_writer(false)
    });
}

#[test]
fn two_writers() {
    let mutants = [Mutant::UnlockRelaxed];
    check("reader lock, two writers", None, &mutants, || {
        let lock = Arc::new(ReaderLock::new(0, 1));
        let add = |lock: &ReaderLock<u64>| {
            let taken = lock.try_write(|_| unreachable!("nobody reads"));
            taken.map(|mut value| *value += 1).is_ok()
        };
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || add(&lock))
        };
        let own = add(&lock);
        let sum = u64::from(own) + u64::from(other.join().unwrap());
        assert!(sum > 0);
        assert_eq!(*lock.slot().unwrap().try_read().unwrap(), sum);
    });
}
