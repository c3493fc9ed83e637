//! Commands whose replies depend on time or on an order, and so cannot be compared with Redis's.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::client::{Client, request};
use crate::replies::elements;
use crate::servers::{Ours, Redis};

fn within(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "not within a minute: {what}"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn keys_expire_and_are_removed() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    for number in 0..100 {
        client.say(&format!("SET k{number} v PX 1"));
        client.say(&format!("SET stays{number} v EX 1000"));
    }
    within("keys expire", || client.say("GET k99") == "$-1\r\n");
    // Nobody asks for these.
    within("keys are removed", || client.say("DBSIZE") == ":100\r\n");
    assert!(
        client
            .say("INFO keyspace")
            .contains("db0:keys=100,expires=100")
    );
    assert_eq!(client.say("PERSIST stays0"), ":1\r\n");
    assert!(
        client
            .say("INFO keyspace")
            .contains("db0:keys=100,expires=99")
    );
}

/// As Redis reads numbers and patterns.
#[test]
fn an_empty_cursor_begins_and_two_stars_do_not_match_an_empty_key() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    client.send(&request(&["SET", "", "1"]));
    assert_eq!(client.reply(), b"+OK\r\n");
    client.send(&request(&["SCAN", ""]));
    let page = b"*2\r\n$1\r\n0\r\n*1\r\n$0\r\n\r\n";
    assert_eq!(client.reply(), page);
    assert_eq!(client.say("KEYS *"), "*1\r\n$0\r\n\r\n");
    assert_eq!(client.say("KEYS **"), "*0\r\n");
}

#[test]
fn times_are_rounded_as_by_redis() {
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::start();
    let [ours, redis] = [ours.address, redis.address].map(|address| {
        let mut client = Client::new(address);
        [4_000_000_000_499, 4_000_000_000_500, i64::MAX].map(|time| {
            client.say(&format!("SET k v PXAT {time}"));
            ["EXPIRETIME k", "PEXPIRETIME k"].map(|words| client.say(words))
        })
    });
    assert_eq!(ours, redis);
}

#[test]
fn cursors_are_read_as_by_redis() {
    let Some(redis) = Redis::start() else { return };
    let ours = Ours::start();
    let [ours, redis] = [ours.address, redis.address].map(|address| {
        let mut client = Client::new(address);
        let cursors = [
            "",
            "-",
            "+",
            "0",
            "-0",
            "+0",
            "000",
            "0\0",
            "\0x",
            " 0",
            "0 ",
            "\t0",
            "0x0",
            "--0",
            "-+0",
            "+-0",
            "0a",
            "-1",
            "-100",
            "+7",
            "007",
            "18446744073709551615",
            "18446744073709551616",
            "-18446744073709551615",
            "-18446744073709551616",
        ];
        cursors.map(|cursor| (cursor, client.call(&["SCAN", cursor])))
    });
    assert_eq!(ours, redis);
}

#[test]
fn a_scan_finds_all_that_stays() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    let mut random = fastrand::Rng::with_seed(7);
    for number in 0..500 {
        client.say(&format!("SET stays{number} v"));
        client.say(&format!("SET goes{number} v"));
    }
    let (mut found, mut cursor) = (BTreeSet::new(), "0".to_owned());
    loop {
        let reply = client.say(&format!("SCAN {cursor} COUNT 7 MATCH stays*"));
        let parts = elements(reply.as_bytes()).unwrap();
        found.extend(elements(&parts[1]).unwrap());
        let text = String::from_utf8(parts[0].clone()).unwrap();
        cursor = text.split("\r\n").nth(1).unwrap().to_owned();
        if cursor == "0" {
            break;
        }
        // Others come and go meanwhile.
        for _ in 0..5 {
            client.say(&format!("DEL goes{}", random.usize(..500)));
            client.say(&format!("SET comes{} v", random.usize(..500)));
        }
    }
    assert_eq!(found.len(), 500);
}

#[test]
fn a_random_key_is_any_key() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    assert_eq!(client.say("RANDOMKEY"), "$-1\r\n");
    client.say("MSET a 1 b 1 c 1");
    let keys: BTreeSet<String> = (0..200).map(|_| client.say("RANDOMKEY")).collect();
    assert_eq!(keys.len(), 3);
}

/// Lengths around the sizes of buffers, and one beyond all of them.
#[test]
fn values_of_any_length_come_back() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    for length in [
        0,
        1,
        16_383,
        16_384,
        65_490,
        65_536,
        65_537,
        1 << 20,
        20 << 20,
    ] {
        let value: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        assert_eq!(client.call(&[&b"SET"[..], b"key", &value]), b"+OK\r\n");
        let expected = [format!("${length}\r\n").as_bytes(), &value, b"\r\n"].concat();
        assert!(client.call(&["GET", "key"]) == expected, "{length}");
    }
}
