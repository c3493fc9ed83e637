//! Several replicas: clients of different ones see one store.

use std::collections::HashSet;
use std::sync::{Barrier, Mutex};
use std::time::Instant;

use corecast_store::ServerOptions;

use crate::client::Client;
use crate::servers::{Ours, options};

fn replicated(replicas: usize) -> Ours {
    Ours::with(ServerOptions {
        replicas,
        ..options()
    })
}

/// What a client did with a key that holds one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Set(u64),
    /// It found this; 0 where there was no key.
    Got(u64),
    /// It found the first and set the second.
    Swapped(u64, u64),
}

/// An operation with the times between which it took effect.
#[derive(Clone, Copy, Debug)]
struct Operation {
    did: Did,
    called: Instant,
    returned: Instant,
}

/// Whether some order of the operations explains what they found, in which none comes before one that had returned when it was
/// called (Wing and Gong; states that were tried are kept, Lowe).
fn is_linearizable(operations: &[Operation]) -> bool {
    assert!(operations.len() < 64);
    let mut tried = HashSet::new();
    let mut open = vec![(0_u64, 0_u64)];
    while let Some((done, value)) = open.pop() {
        if done.count_ones() as usize == operations.len() {
            return true;
        }
        if !tried.insert((done, value)) {
            continue;
        }
        let left = (0..operations.len()).filter(|at| done >> at & 1 == 0);
        let first_return = left.clone().map(|at| operations[at].returned).min();
        for at in left.filter(|at| Some(operations[*at].called) <= first_return) {
            let after = match operations[at].did {
                Did::Set(new) => Some(new),
                Did::Got(found) => (found == value).then_some(value),
                Did::Swapped(found, new) => (found == value).then_some(new),
            };
            open.extend(after.map(|value| (done | 1 << at, value)));
        }
    }
    false
}

/// A number as `GET` and `GETSET` answer it; 0 for none.
fn number(reply: &str) -> u64 {
    match reply.split("\r\n").nth(1) {
        Some(digits) if !digits.is_empty() => digits.parse().unwrap(),
        _ => 0,
    }
}

/// Four clients of two replicas do `calls` things each with one key.
fn history(clients: &mut [Client], key: &str, calls: u64) -> Vec<Operation> {
    let (all, begin) = (Mutex::new(Vec::new()), Barrier::new(clients.len()));
    std::thread::scope(|scope| {
        for (at, client) in clients.iter_mut().enumerate() {
            let (all, begin) = (&all, &begin);
            scope.spawn(move || {
                let mut random = fastrand::Rng::new();
                begin.wait();
                for call in 0..calls {
                    // No two values are the same.
                    let new = 1 + at as u64 * 1000 + call;
                    let called = Instant::now();
                    let did = match random.u8(..4) {
                        0 => {
                            assert_eq!(client.say(&format!("SET {key} {new}")), "+OK\r\n");
                            Did::Set(new)
                        }
                        1 => Did::Swapped(number(&client.say(&format!("GETSET {key} {new}"))), new),
                        _ => Did::Got(number(&client.say(&format!("GET {key}")))),
                    };
                    let returned = Instant::now();
                    all.lock().unwrap().push(Operation {
                        did,
                        called,
                        returned,
                    });
                }
            });
        }
    });
    all.into_inner().unwrap()
}

#[test]
fn histories_are_linearizable() {
    let ours = replicated(2);
    let mut clients: Vec<Client> = (0..4).map(|_| Client::new(ours.address)).collect();
    let list = clients[0].say("CLIENT LIST");
    assert_eq!(list.matches("replica=1").count(), 2, "{list}");
    for round in 0..150 {
        let history = history(&mut clients, &format!("k{round}"), 8);
        assert!(is_linearizable(&history), "{history:#?}");
    }
}

/// A read that finds what was there before the write that had returned: what a replica would answer that lags.
#[test]
fn a_read_that_goes_back_is_noticed() {
    let begun = Instant::now();
    let at = |did, called: u64, returned: u64| Operation {
        did,
        called: begun + std::time::Duration::from_secs(called),
        returned: begun + std::time::Duration::from_secs(returned),
    };
    let check =
        |operations: &[Operation], expected| assert_eq!(is_linearizable(operations), expected);
    check(&[at(Did::Set(1), 0, 2), at(Did::Got(0), 1, 3)], true);
    check(&[at(Did::Set(1), 0, 1), at(Did::Got(0), 2, 3)], false);
    let two_reads = [
        at(Did::Set(1), 0, 9),
        at(Did::Got(1), 1, 2),
        at(Did::Got(0), 3, 4),
    ];
    check(&two_reads, false);
    check(
        &[at(Did::Swapped(0, 1), 0, 9), at(Did::Swapped(0, 2), 0, 9)],
        false,
    );
}

/// Transfers between two keys, seen by others while they happen; and counts by watching, so that none is lost.
#[test]
fn transactions_are_seen_whole_at_every_replica() {
    const TRANSFERS: usize = 150;
    let ours = replicated(3);
    let mut first = Client::new(ours.address);
    assert_eq!(first.say("MSET a 1000 b 1000 n 0"), "+OK\r\n");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let mut client = Client::new(ours.address);
            scope.spawn(move || {
                for _ in 0..TRANSFERS {
                    client.say("MULTI");
                    client.say("DECR a");
                    client.say("INCR b");
                    assert!(client.say("EXEC").starts_with("*2\r\n"));
                    loop {
                        client.say("WATCH n");
                        let count = number(&client.say("GET n"));
                        client.say("MULTI");
                        client.say(&format!("SET n {}", count + 1));
                        if client.say("EXEC") == "*1\r\n+OK\r\n" {
                            break;
                        }
                    }
                }
            });
        }
        let mut reader = Client::new(ours.address);
        scope.spawn(move || {
            for _ in 0..TRANSFERS {
                let reply = reader.say("MGET a b");
                let numbers = reply.split("\r\n").skip(2).step_by(2);
                let sum: i64 = numbers.filter_map(|it| it.parse::<i64>().ok()).sum();
                assert_eq!(sum, 2000, "{reply}");
            }
        });
    });
    assert_eq!(number(&first.say("GET n")), 3 * TRANSFERS as u64);
    assert_eq!(number(&first.say("GET b")), 1000 + 3 * TRANSFERS as u64);
}

/// One replica has nothing to do while another is written to: it is not what its clients find first, and then it is.
#[test]
fn a_replica_that_was_idle_has_everything() {
    let ours = replicated(2);
    let (mut busy, mut idle) = (Client::new(ours.address), Client::new(ours.address));
    for number in 0..5000 {
        busy.send(format!("SET k{number} {number}\r\n").as_bytes());
    }
    for _ in 0..5000 {
        assert_eq!(busy.reply(), b"+OK\r\n");
    }
    assert_eq!(idle.say("DBSIZE"), ":5000\r\n");
    assert_eq!(idle.say("GET k4999"), "$4\r\n4999\r\n");
}
