//! Clients that mean no good: what they claim, send by halves, or do not take must cost little memory, and others are served.
//!
//! The server runs in this process, and so do other tests, so bounds are those of what one test could not do by itself.

use std::io::Write;
use std::time::{Duration, Instant};

use corecast_store::ServerOptions;

use crate::client::{Client, request};
use crate::servers::{Ours, options};

/// The memory that the server says it has, in MiB.
fn resident(client: &mut Client) -> usize {
    let info = client.say("INFO memory");
    let line = info
        .lines()
        .find_map(|it| it.strip_prefix("used_memory_rss:"));
    line.unwrap().trim().parse::<usize>().unwrap() >> 20
}

/// Clients claim a million words, or one of half a gigabyte, and send a little of it.
#[test]
fn claims_cost_nothing() {
    let ours = Ours::start();
    let mut good = Client::new(ours.address);
    let before = resident(&mut good);
    let mut bad: Vec<Client> = (0..200).map(|_| Client::new(ours.address)).collect();
    for (at, client) in bad.iter_mut().enumerate() {
        client.send(match at % 4 {
            0 => b"*1048576\r\n$3\r\nSET\r\n",
            1 => b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\nabc",
            2 => b"*1048576\r\n$536870912\r\n",
            _ => b"GET",
        });
    }
    for _ in 0..10 {
        assert_eq!(good.say("PING"), "+PONG\r\n");
    }
    let after = resident(&mut good);
    // Each claims up to 512 MiB; other tests in this process have their own.
    assert!(after < before + 1024, "{before} MiB before, {after} after");
}

/// What is no request is answered once, and the client cut off.
#[test]
fn nonsense_ends_the_connection() {
    let ours = Ours::start();
    for (bytes, refusal) in [
        (&b"*1\r\n!3\r\n"[..], "expected '$', got '!'"),
        (b"*99999999999\r\n", "invalid multibulk length"),
        (b"*1\r\n$99999999999\r\n", "invalid bulk length"),
    ] {
        let mut client = Client::new(ours.address);
        client.send(&[b"PING\r\n", bytes].concat());
        assert_eq!(client.reply(), b"+PONG\r\n");
        let expected = format!("-ERR Protocol error: {refusal}\r\n");
        assert_eq!(String::from_utf8(client.reply()).unwrap(), expected);
        assert_eq!(client.try_reply(), None);
    }
}

/// Clients that go amid a request, in one breath with what they send: their places are free at once, and nobody waits until they
/// have taken too long.
#[test]
fn half_requests_of_those_that_go_are_forgotten() {
    let ours = Ours::start();
    let mut good = Client::new(ours.address);
    for bytes in [&b"*3\r\n$3"[..], b"*2\r\n$3\r\nGET\r\n$5\r\nab", b"PIN"] {
        let mut going: Vec<Client> = (0..20).map(|_| Client::new(ours.address)).collect();
        for (at, client) in going.iter_mut().enumerate() {
            assert_eq!(client.say("PING"), "+PONG\r\n");
            if at % 2 == 0 {
                // What it has not sent is lost, and the end is a reset.
                let at_once = Some(Duration::ZERO);
                rustix::net::sockopt::set_socket_linger(&client.stream, at_once).unwrap();
            }
            client.send(bytes);
        }
    }
    let number = |info: &str, name: &str| -> u64 {
        let line = info.lines().find_map(|it| it.strip_prefix(name));
        line.unwrap().trim().parse().unwrap()
    };
    while number(&good.say("INFO clients"), "connected_clients:") > 1 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(number(&good.say("INFO stats"), "evicted_clients:"), 0);
}

/// A page in a browser can have it send a request of HTTP here, with commands in its body: these do not run.
#[test]
fn browsers_are_cut_off() {
    let ours = Ours::start();
    let mut browser = Client::new(ours.address);
    browser.send(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nSET stolen 1\r\n");
    assert_eq!(browser.try_reply(), None);
    let mut browser = Client::new(ours.address);
    browser.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nSET stolen 1\r\n");
    let arity = b"-ERR wrong number of arguments for 'get' command\r\n";
    assert_eq!(browser.reply(), arity);
    assert_eq!(browser.try_reply(), None);
    assert_eq!(Client::new(ours.address).say("EXISTS stolen"), ":0\r\n");
}

/// Ten megabytes of requests at once, whose replies are taken only when all are sent.
#[test]
fn a_long_pipeline_is_answered_in_order() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    let requests = 330_000;
    let mut bytes = Vec::new();
    for number in 0..requests {
        let words = match number % 3 {
            0 => format!("SET key{} value{number}", number % 1000),
            1 => format!("GET key{}", (number - 1) % 1000),
            _ => "INCR count".to_owned(),
        };
        let words: Vec<&str> = words.split(' ').collect();
        bytes.extend(request(&words));
    }
    assert!(bytes.len() > 10_000_000);
    let mut sender = client.stream.try_clone().unwrap();
    let sending = std::thread::spawn(move || sender.write_all(&bytes).unwrap());
    for number in 0..requests {
        let expected = match number % 3 {
            0 => "+OK\r\n".to_owned(),
            1 => {
                let value = format!("value{}", number - 1);
                format!("${}\r\n{value}\r\n", value.len())
            }
            _ => format!(":{}\r\n", number / 3 + 1),
        };
        assert_eq!(client.reply(), expected.as_bytes());
    }
    sending.join().unwrap();
}

/// A client asks for gigabytes in a few bytes and takes nothing: it waits, and others do not.
#[test]
fn who_does_not_read_waits() {
    let ours = Ours::start();
    let (mut good, mut bad) = (Client::new(ours.address), Client::new(ours.address));
    let value = vec![b'v'; 1 << 20];
    assert_eq!(good.call(&[&b"SET"[..], b"big", &value]), b"+OK\r\n");
    let before = resident(&mut good);
    // Four gigabytes of replies.
    bad.send(&request(&["GET", "big"]).repeat(4096));
    for _ in 0..100 {
        assert_eq!(good.say("PING"), "+PONG\r\n");
        std::thread::sleep(Duration::from_millis(1));
    }
    let after = resident(&mut good);
    assert!(after < before + 1024, "{before} MiB before, {after} after");
    // Once it reads it gets all.
    for _ in 0..50 {
        assert_eq!(bad.reply().len(), value.len() + "$1048576\r\n\r\n".len());
    }
}

/// Where clients together hold too much, the greediest one goes.
#[test]
fn the_greediest_client_is_cut_off() {
    let ours = Ours::with(ServerOptions {
        buffers_bytes_max: 8 << 20,
        ..options()
    });
    let mut small = Client::new(ours.address);
    small.send(b"*2\r\n$3\r\nGET\r\n$4\r\nke");
    let mut greedy = Client::new(ours.address);
    greedy.send(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000000\r\n");
    let piece = vec![b'x'; 1 << 20];
    let begun = Instant::now();
    // Once it is cut off, writing fails.
    while greedy.stream.write_all(&piece).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    small.send(b"y1\r\n");
    assert_eq!(small.reply(), b"$-1\r\n");
    assert!(small.say("INFO stats").contains("evicted_clients:1"));
}

/// Requests that come byte by byte are served, and take linear time.
#[test]
fn bytes_one_by_one() {
    let ours = Ours::start();
    let mut client = Client::new(ours.address);
    let bytes = [
        request(&["SET", "slow", "value"]),
        request(&["GET", "slow"]),
    ]
    .concat();
    for byte in bytes {
        client.send(&[byte]);
    }
    assert_eq!(client.reply(), b"+OK\r\n");
    assert_eq!(client.reply(), b"$5\r\nvalue\r\n");
}
