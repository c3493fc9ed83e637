//! The word that ends a team's operations: a failure stays, whoever cancels at the same time.

use super::check;
use corecast_wire::mutant::Mutant;
use corecast_wire::{LineRef, Segment, StopWord, Stopped};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

/// One thread fails the team, another one cancels an operation, and a third one an earlier one. Whoever sees the failure
/// sees what was written before it.
#[test]
fn no_cancellation_hides_a_failure() {
    let faults = [
        Mutant::CancelOverwrites,
        Mutant::RaiseRelaxed,
        Mutant::SeeRelaxed,
    ];
    check("stop word, failure", None, &faults, || {
        let word: LineRef<StopWord> = Segment::one(None).unwrap();
        let cell = Arc::new(UnsafeCell::new(0u64));
        let fails = {
            let (word, cell) = (word.clone(), cell.clone());
            thread::spawn(move || {
                // SAFETY: loom checks that no access overlaps another: that is the test.
                cell.with_mut(|cell| unsafe { *cell = 7 });
                word.fail();
            })
        };
        let cancels = {
            let word = word.clone();
            thread::spawn(move || word.cancel_from(5))
        };
        word.cancel_from(3);
        if word.get() == Some(Stopped::Failed) {
            // SAFETY: as above.
            assert_eq!(cell.with(|cell| unsafe { *cell }), 7);
        }
        fails.join().unwrap();
        cancels.join().unwrap();
        assert_eq!(word.get(), Some(Stopped::Failed));
    });
}

#[test]
fn the_earliest_cancellation_counts() {
    check(
        "stop word, cancellations",
        None,
        &[Mutant::CancelOverwrites],
        || {
            let word: LineRef<StopWord> = Segment::one(None).unwrap();
            let others = [4, 6].map(|seq| {
                let word = word.clone();
                thread::spawn(move || word.cancel_from(seq))
            });
            word.cancel_from(5);
            for other in others {
                other.join().unwrap();
            }
            assert_eq!(word.get(), Some(Stopped::From(4)));
        },
    );
}
