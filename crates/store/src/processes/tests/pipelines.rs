//! Connections whose writes are agreed on together: each finds its own order, and what it has written.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use fastrand::Rng;

use super::harness::{Folder, HANGS, Processes};
use crate::durability::{AppendFsync, OF_PROCESS};

/// Requests of one connection with a key of its own, and what has to be answered.
fn script(connection: usize, random: &mut Rng) -> (Vec<u8>, Vec<u8>) {
    let (mut sent, mut expected) = (String::new(), String::new());
    let (key, mut count) = (format!("c{connection}"), 0_u64);
    for _ in 0..random.u8(1..40) {
        let raised = count + 1;
        let digits = raised.to_string().len();
        let get = format!("${}\r\n{raised}\r\n", digits);
        let (words, reply, next) = match random.u8(..8) {
            0 => (format!("INCR {key}"), format!(":{raised}\r\n"), raised),
            1 => {
                let words = format!("SET {key} {raised}\r\nGET {key}");
                (words, format!("+OK\r\n{get}"), raised)
            }
            // As clients send it rather than people.
            2 => {
                let length = key.len();
                let words = format!("*2\r\n$4\r\nINCR\r\n${length}\r\n{key}");
                (words, format!(":{raised}\r\n"), raised)
            }
            3 => {
                let words = format!("MULTI\r\nINCR {key}\r\nGET {key}\r\nEXEC");
                let reply = format!("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:{raised}\r\n{get}");
                (words, reply, raised)
            }
            // What has changed since it was watched is found, though it is the client's own and in the same turn.
            4 => {
                let words = format!("WATCH {key}\r\nINCR {key}\r\nMULTI\r\nDEL {key}\r\nEXEC");
                let reply = format!("+OK\r\n:{raised}\r\n+OK\r\n+QUEUED\r\n*-1\r\n");
                (words, reply, raised)
            }
            5 => {
                let words = format!("CLIENT REPLY SKIP\r\nINCR {key}\r\nGET {key}");
                (words, get, raised)
            }
            6 => (format!("NO {key}"), "-ERR".to_owned(), count),
            _ => (
                format!("SET {key} {raised} GET"),
                match count {
                    0 => "$-1\r\n".to_owned(),
                    _ => format!("${}\r\n{count}\r\n", count.to_string().len()),
                },
                raised,
            ),
        };
        let reply = match reply.as_str() {
            "-ERR" => format!("-ERR unknown command 'NO', with args beginning with: '{key}' \r\n"),
            _ => reply,
        };
        sent += &words;
        sent += "\r\n";
        expected += &reply;
        count = next;
    }
    sent += &format!("DEL {key}\r\nQUIT\r\n");
    expected += if count > 0 {
        ":1\r\n+OK\r\n"
    } else {
        ":0\r\n+OK\r\n"
    };
    (sent.into_bytes(), expected.into_bytes())
}

/// Rounds in which connections send all they have at once, in pieces, or end before they are answered.
fn talk(address: SocketAddr, rounds: u64) -> Result<(), String> {
    const CONNECTIONS: usize = 8;
    for round in 0..rounds {
        let mut random = Rng::with_seed(round);
        let streams = [(); CONNECTIONS].map(|()| TcpStream::connect(address).unwrap());
        let scripts: Vec<_> = (0..CONNECTIONS).map(|it| script(it, &mut random)).collect();
        for (stream, (sent, _)) in streams.iter().zip(&scripts) {
            stream.set_read_timeout(Some(HANGS)).unwrap();
            stream.set_nodelay(true).unwrap();
            let cut = random.usize(..sent.len());
            let mut to = stream;
            // A server that is wrong may have ended the connection.
            let first = to.write_all(&sent[..cut]);
            let _ = first.and_then(|()| to.write_all(&sent[cut..]));
            if random.bool() {
                let _ = stream.shutdown(Shutdown::Write);
            }
        }
        for (mut stream, (sent, expected)) in streams.into_iter().zip(scripts) {
            let mut found = Vec::new();
            let read = stream.read_to_end(&mut found);
            if read.is_err() || found != expected {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                return Err(format!(
                    "round {round}: {}\nanswered {}\ninstead of {}",
                    text(&sent),
                    text(&found),
                    text(&expected)
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn each_connection_finds_its_own_order() {
    let folder = Folder::new("pipelines");
    for (policy, rounds) in [(AppendFsync::Always, 4), (AppendFsync::EverySecond, 12)] {
        let processes = Processes::start(&folder, policy, &[]);
        assert_eq!(talk(processes.address(), rounds), Ok(()));
    }
}

#[test]
fn requests_that_overtake_writes_and_replies_of_others_are_found() {
    for fault in ["RanUnanswered", "RepliesOfOthers"] {
        let folder = Folder::new(fault);
        let processes = Processes::start(&folder, AppendFsync::No, &[(OF_PROCESS, fault)]);
        let found = talk(processes.address(), 12);
        assert!(found.is_err(), "{fault} goes unnoticed");
    }
}
