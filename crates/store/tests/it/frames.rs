//! The parser of requests against another one, `redis-protocol`, on random frames in random pieces.

use corecast_store::resp::{Parsed, Parser};
use redis_protocol::resp2::decode::decode;
use redis_protocol::resp2::types::OwnedFrame;

use crate::client::request;

/// The words of the requests in `bytes`, as our parser finds them in pieces of random lengths.
fn ours(bytes: &[u8], random: &mut fastrand::Rng) -> Vec<Vec<Vec<u8>>> {
    let (mut parser, mut found, mut held, mut rest) =
        (Parser::default(), Vec::new(), Vec::new(), bytes);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(random.usize(1..=rest.len().min(200)));
        held.extend_from_slice(piece);
        rest = after;
        loop {
            match parser.parse(&held, true).unwrap() {
                Parsed::Incomplete => break,
                Parsed::Request(length) => {
                    let words = parser.words().iter();
                    let words = words.map(|it| held[it.start as usize..it.end as usize].to_vec());
                    found.push(words.collect());
                    held.drain(..length);
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(held.is_empty());
    found
}

fn theirs(mut bytes: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    while let Some((frame, length)) = decode(bytes).unwrap() {
        bytes = &bytes[length..];
        let OwnedFrame::Array(words) = frame else {
            panic!("{frame:?}");
        };
        let word = |it| match it {
            OwnedFrame::BulkString(word) => word,
            other => panic!("{other:?}"),
        };
        found.push(words.into_iter().map(word).collect());
    }
    found
}

#[test]
fn random_frames_are_read_as_another_parser_reads_them() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..300 {
        let requests = (0..random.usize(1..6)).map(|_| {
            let words = (0..random.usize(1..6)).map(|_| {
                let longest = [3, 30, 1500][random.usize(..3)];
                // What looks like the protocol is of interest.
                let byte = |random: &mut fastrand::Rng| b"\r\n$*15 \0\xffa"[random.usize(..10)];
                (0..random.usize(..longest))
                    .map(|_| byte(&mut random))
                    .collect::<Vec<u8>>()
            });
            request(&words.collect::<Vec<_>>())
        });
        let bytes: Vec<u8> = requests.flatten().collect();
        assert_eq!(ours(&bytes, &mut random), theirs(&bytes));
    }
}
