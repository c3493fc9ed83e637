use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Waits by yielding, as tests have no wait strategy of their own.
fn patiently(look: &mut dyn FnMut() -> bool) -> bool {
    while !look() {
        std::thread::yield_now();
    }
    true
}

#[test]
fn writers_are_alone_and_readers_see_whole_values() {
    let lock = Arc::new(ReaderLock::new([0_u64; 4], 3));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let mut slot = lock.slot().unwrap();
            scope.spawn(move || {
                let mut last = 0;
                while last < 400 {
                    let Ok(value) = slot.try_read() else { continue };
                    assert_eq!(*value, [value[0]; 4]);
                    assert!(value[0] >= last);
                    last = value[0];
                }
            });
        }
        for _ in 0..2 {
            let lock = &lock;
            scope.spawn(move || {
                for _ in 0..200 {
                    let mut value = loop {
                        match lock.try_write(patiently) {
                            Ok(value) => break value,
                            Err(Refused::Busy) => std::thread::yield_now(),
                            Err(Refused::Poisoned) => panic!("nobody has panicked"),
                        }
                    };
                    let next = value[0] + 1;
                    value.iter_mut().for_each(|word| *word = next);
                }
            });
        }
    });
}

#[test]
fn a_reader_keeps_writers_out_and_a_writer_keeps_readers_out() {
    let lock = Arc::new(ReaderLock::new(7, 1));
    let mut slot = lock.slot().unwrap();
    assert!(lock.slot().is_none(), "there is one slot");
    let reads = slot.try_read().unwrap();
    let refused = lock.try_write(|look| {
        assert!(!look());
        false
    });
    assert!(matches!(refused, Err(Refused::Busy)) && *reads == 7);
    drop(reads);
    let writes = lock.try_write(|_| panic!("nobody reads")).unwrap();
    assert!(lock.is_written());
    assert!(matches!(slot.try_read(), Err(Refused::Busy)));
    drop(writes);
    assert!(slot.try_read().is_ok());
    drop(slot);
    assert_eq!(lock.slot().unwrap().index(), 0);
}

#[test]
fn a_panic_of_a_writer_is_told_to_all() {
    let lock = Arc::new(ReaderLock::new(7, 1));
    let mut slot = lock.slot().unwrap();
    let panics = AssertUnwindSafe(|| {
        let _value = lock.try_write(patiently).unwrap();
        panic!("amid a change");
    });
    assert!(catch_unwind(panics).is_err());
    assert!(matches!(slot.try_read(), Err(Refused::Poisoned)));
    assert!(matches!(lock.try_write(patiently), Err(Refused::Poisoned)));
}
