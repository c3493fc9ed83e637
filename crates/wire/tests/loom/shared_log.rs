//! Shared logs: all readers see the same entries, whole, and whoever reserves late sees what came before.

use super::check;
use corecast_wire::SharedLog;
use corecast_wire::mutant::Mutant;
use corecast_wire::shared_log::{Cursor, Found};
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use std::sync::Arc;

/// Appends two entries, and reads all four.
fn append_and_read(cursor: &mut Cursor<u64>, value: u64) -> Vec<u64> {
    for value in [value, value + 1] {
        assert!(cursor.append(&mut vec![value], |_| true).is_some());
    }
    let mut read = Vec::new();
    while read.len() < 4 {
        match cursor.look(read.len() as u64, || None) {
            Found::Entry(&entry) => read.push(entry),
            Found::Pending => thread::yield_now(),
            other => panic!("{other:?}"),
        }
    }
    read
}

#[test]
fn two_that_append_and_read() {
    let mutants = [Mutant::AppendRelaxed, Mutant::FollowRelaxed];
    check("shared log", Some(3), &mutants, || {
        let log = Arc::new(SharedLog::new());
        let [mut here, mut there] = [0, 1].map(|_| log.cursor(0).unwrap());
        let other = thread::spawn(move || append_and_read(&mut there, 10));
        let read = append_and_read(&mut here, 20);
        assert_eq!(read, other.join().unwrap());
        let mut sorted = read;
        sorted.sort_unstable();
        assert_eq!(sorted, [10, 11, 20, 21]);
    });
}

/// One thread says something and looks at the end of the log; another one reserves an entry and looks at what was said.
#[test]
fn who_reserves_late_sees_what_was_said() {
    let mutants = [Mutant::ReserveRelaxed];
    check("shared log, fence", None, &mutants, || {
        let log = Arc::new(SharedLog::new());
        let said = Arc::new(AtomicU32::new(0));
        let mut cursor = log.cursor(0).unwrap();
        let other = {
            let said = Arc::clone(&said);
            thread::spawn(move || {
                let mut heard = (0, 0);
                cursor.append(&mut vec![1], |range| {
                    // Relaxed: the reservation must order it.
                    heard = (range.start, said.load(Ordering::Relaxed));
                    true
                });
                heard
            })
        };
        // Relaxed: the look at the end must order it.
        said.store(1, Ordering::Relaxed);
        let end = log.fence();
        let (start, heard) = other.join().unwrap();
        assert!(start < end || heard == 1);
    });
}
