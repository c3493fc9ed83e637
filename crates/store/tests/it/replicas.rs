//! Several replicas: clients of different ones see one store.

use std::sync::{Barrier, mpsc};
use std::time::Duration;

use corecast_agree::linearizability::{Recorder, Registers, Request, check};
use corecast_store::ServerOptions;

use crate::client::Client;
use crate::servers::{Ours, options};

fn replicated(replicas: usize) -> Ours {
    Ours::with(ServerOptions {
        replicas,
        ..options()
    })
}

/// A value as `GET` and its like answer it.
fn value(reply: &[u8]) -> Option<Vec<u8>> {
    let text = reply.strip_prefix(b"$").expect("a value or none");
    let (_, value) = text.split_at(text.windows(2).position(|it| it == b"\r\n")?);
    let value = value.strip_prefix(b"\r\n")?.strip_suffix(b"\r\n")?;
    Some(value.to_vec())
}

/// What a client does with one of a few keys, recorded.
fn act(
    client: &mut Client,
    recorder: &mut Recorder<Request, Option<Vec<u8>>>,
    key: Vec<u8>,
    new: Vec<u8>,
    choice: u8,
) {
    match choice {
        0 => recorder.call(Request::set(&key, &new), || {
            assert_eq!(client.call(&[&b"SET"[..], &key, &new]), b"+OK\r\n");
            None
        }),
        1 => {
            let request = Request::Swap {
                key: key.clone(),
                value: Some(new.clone()),
            };
            recorder.call(request, || {
                value(&client.call(&[&b"GETSET"[..], &key, &new]))
            });
        }
        2 => {
            let request = Request::Swap {
                key: key.clone(),
                value: None,
            };
            recorder.call(request, || value(&client.call(&[&b"GETDEL"[..], &key])));
        }
        _ => recorder.call(Request::get(&key), || {
            value(&client.call(&[&b"GET"[..], &key]))
        }),
    }
}

/// Clients of two replicas set, swap, remove and get: some order explains all that they found.
#[test]
fn histories_are_linearizable() {
    const CLIENTS: u64 = 4;
    let ours = replicated(2);
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| Client::new(ours.address)).collect();
    let list = clients[0].say("CLIENT LIST");
    assert_eq!(list.matches("replica=1").count(), 2, "{list}");
    let (clock, begin) = (Recorder::new(), Barrier::new(clients.len()));
    let history: Vec<_> = std::thread::scope(|scope| {
        let run = |(at, mut client): (u64, Client)| {
            let (mut recorder, begin) = (clock.for_client(at), &begin);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(at);
                begin.wait();
                for call in 0..1500 {
                    let key = format!("k{}", random.u8(..4)).into_bytes();
                    // No two values are the same.
                    let new = format!("{at}.{call}").into_bytes();
                    act(&mut client, &mut recorder, key, new, random.u8(..6));
                }
                recorder.into_calls()
            })
        };
        let threads: Vec<_> = (0..CLIENTS).zip(clients).map(run).collect();
        threads
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect()
    });
    assert_eq!(check::<Registers>(&history), Ok(()));
    // What a replica would answer that lags: the value before one that was set, after the setting has returned.
    let mut wrong = clock.for_client(CLIENTS);
    let mut client = Client::new(ours.address);
    act(&mut client, &mut wrong, b"last".to_vec(), b"1".to_vec(), 0);
    wrong.call(Request::get(b"last"), || None);
    assert!(check::<Registers>(&wrong.into_calls()).is_err());
}

/// The number in a reply that is a value.
fn number(reply: &str) -> u64 {
    let value = value(reply.as_bytes()).expect("a number");
    std::str::from_utf8(&value).unwrap().parse().unwrap()
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

/// Connections are counted where they begin and where they end, and neither may wait for the other.
#[test]
fn clients_come_while_others_go() {
    let ours = replicated(3);
    let (tell, ended) = mpsc::channel();
    for _ in 0..8 {
        let (tell, address) = (tell.clone(), ours.address);
        std::thread::spawn(move || {
            for _ in 0..500 {
                assert_eq!(Client::new(address).say("PING"), "+PONG\r\n");
            }
            tell.send(()).unwrap();
        });
    }
    let all = (0..8).try_for_each(|_| ended.recv_timeout(Duration::from_secs(60)));
    if all.is_err() {
        // A server that hangs does not end either.
        std::mem::forget(ours);
        panic!("no client is served within a minute");
    }
}
