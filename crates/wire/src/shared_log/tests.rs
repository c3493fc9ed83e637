use super::*;
use std::sync::Weak;

fn log() -> (Arc<SharedLog<Arc<u64>>>, Cursor<Arc<u64>>) {
    let log = Arc::new(SharedLog::new());
    let cursor = log.cursor(0).unwrap();
    (log, cursor)
}

#[test]
fn every_cursor_sees_all_entries_in_one_order() {
    const EACH: u64 = 1_000;
    let log = Arc::new(SharedLog::new());
    let orders = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3_u64)
            .map(|thread| {
                let mut cursor = log.cursor(0).unwrap();
                scope.spawn(move || {
                    for number in (0..EACH).step_by(2) {
                        let mut both = vec![(thread, number), (thread, number + 1)];
                        assert!(cursor.append(&mut both, |_| true).is_some());
                    }
                    let mut order = Vec::new();
                    while order.len() < 3 * EACH as usize {
                        match cursor.look(order.len() as u64, || None) {
                            Found::Entry(&entry) => order.push(entry),
                            Found::Pending => std::thread::yield_now(),
                            other => panic!("{other:?}"),
                        }
                    }
                    order
                })
            })
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap());
        joined.collect::<Vec<_>>()
    });
    assert!(orders[0] == orders[1] && orders[1] == orders[2]);
    for thread in 0..3 {
        let of_one = orders[0].iter().filter(|entry| entry.0 == thread);
        assert!(of_one.map(|entry| entry.1).eq(0..EACH));
    }
    // What was appended together stands together.
    for (place, entry) in orders[0].iter().enumerate() {
        if entry.1 % 2 == 0 {
            assert_eq!(orders[0][place + 1], (entry.0, entry.1 + 1));
        }
    }
}

#[test]
fn entries_are_dropped_with_the_last_that_needs_their_block() {
    let (log, mut cursor) = log();
    let mut weak: Vec<Weak<u64>> = Vec::new();
    for number in 0..3 * BLOCK {
        let entry = Arc::new(number);
        weak.push(Arc::downgrade(&entry));
        let appended = cursor.append(&mut vec![entry], |_| true).unwrap();
        assert_eq!(appended.began_block, number % BLOCK == 0);
    }
    let alive = |weak: &[Weak<u64>]| {
        let blocks = weak.chunks(BLOCK as usize);
        let alive = blocks.map(|block| block.iter().all(|entry| entry.strong_count() == 1));
        alive.collect::<Vec<_>>()
    };
    log.prepare_after(3 * BLOCK - 1);
    let kept = log.keep(BLOCK..BLOCK + 1);
    log.trim(3 * BLOCK);
    // The cursor reads in the first block, and appended last in the third.
    assert_eq!(alive(&weak), [true, true, true]);
    assert_eq!(cursor.look(BLOCK, || None), Found::Gone);
    assert!(log.cursor(BLOCK).is_none());
    let found = cursor.look(BLOCK, || Some(kept.clone()));
    assert!(matches!(found, Found::Entry(entry) if **entry == BLOCK));
    assert_eq!(alive(&weak), [false, true, true]);
    drop((kept, cursor, log));
    assert_eq!(alive(&weak), [false, false, false]);
}

#[test]
fn what_is_not_kept_is_nothing_and_stays_with_the_caller() {
    let (log, mut cursor) = log();
    let mut values = vec![Arc::new(1), Arc::new(2)];
    assert_eq!(cursor.append(&mut values, |range| *range != (0..2)), None);
    assert_eq!((values.len(), log.end(), log.fence()), (2, 2, 2));
    assert_eq!(cursor.look(1, || None), Found::Nothing);
    assert_eq!(cursor.look(2, || None), Found::Pending);
    let appended = cursor.append(&mut values, |_| true).unwrap();
    assert_eq!((appended.range, values.len()), (2..4, 0));
    assert!(matches!(cursor.look(3, || None), Found::Entry(two) if **two == 2));
}
