//! The embedded map against the standard library's, and between threads.

use corecast_store::Map;
use std::collections::HashMap;

/// Calls at random at three replicas in turn answer what a `HashMap` answers.
#[test]
fn a_map_does_what_a_hash_map_does() {
    let map = Map::new(3);
    let mut handles: Vec<_> = (0..3).map(|replica| map.handle(replica).unwrap()).collect();
    let mut expected = HashMap::new();
    let mut random = fastrand::Rng::with_seed(5);
    for value in 0..30_000_u32 {
        let handle = &mut handles[random.usize(0..3)];
        let key = random.u8(0..40);
        match random.u8(0..12) {
            0..=4 => assert_eq!(handle.get(&key), expected.get(&key).copied()),
            5 | 6 => assert_eq!(handle.set(key, value), expected.insert(key, value)),
            7 => {
                let before = handle.set_if_absent(key, value);
                assert_eq!(before, expected.get(&key).copied());
                expected.entry(key).or_insert(value);
            }
            8 | 9 => assert_eq!(handle.remove(key), expected.remove(&key)),
            10 => assert_eq!(handle.len(), expected.len()),
            _ if random.u8(0..50) == 0 => {
                handle.clear();
                expected.clear();
            }
            _ => {
                let pair = [(key, value), (key + 1, value)];
                handle.set_all(pair);
                expected.extend(pair);
            }
        }
    }
    for handle in &mut handles {
        assert_eq!(handle.snapshot(), expected);
    }
}

/// Of all threads that set a key that is absent one succeeds, and all others learn what it has set.
#[test]
fn one_thread_sets_an_absent_key() {
    let map = Map::<u32, usize>::new(2);
    let winners: Vec<Vec<usize>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let mut handle = map.handle(thread % 2).unwrap();
                scope.spawn(move || {
                    let keys = 0..2_000;
                    keys.map(|key| handle.set_if_absent(key, thread).unwrap_or(thread))
                        .collect()
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(winners.windows(2).all(|pair| pair[0] == pair[1]));
    let mut handle = map.handle(0).unwrap();
    for (key, winner) in (0..).zip(&winners[0]) {
        assert_eq!(handle.get(&key), Some(*winner));
    }
}
