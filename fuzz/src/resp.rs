//! The parser of requests of the key-value store, on what any client may send in any pieces.

use corecast_store::resp::{Parsed, Parser};

/// A request as it was found: its words, or the line that somebody typed.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Words(Vec<Vec<u8>>),
    Line(Vec<u8>),
}

/// Looks for requests in bytes that arrive at once and again in pieces, and holds what was found against the bytes.
///
/// # Panics
///
/// When pieces make a difference, a word lies outside of its request, or a request that is written again from its words is
/// another one.
pub fn resp(bytes: &[u8]) {
    // The first byte says which client it is, and how long the pieces are.
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let known = first & 1 == 0;
    let piece = usize::from(first >> 1) % 17 + 1;
    let whole = requests(bytes, bytes.len().max(1), known);
    assert_eq!(requests(bytes, piece, known), whole);
    let (found, _) = whole;
    for request in &found {
        if let Found::Words(words) = request {
            let again = requests(&written(words), 7, true);
            assert_eq!(again.0.as_slice(), std::slice::from_ref(request));
        }
    }
}

/// The requests in `bytes`, which arrive in pieces, and the error at their end.
fn requests(bytes: &[u8], piece: usize, known: bool) -> (Vec<Found>, Option<String>) {
    let (mut parser, mut found, mut held) = (Parser::default(), Vec::new(), Vec::new());
    for more in bytes.chunks(piece) {
        held.extend_from_slice(more);
        loop {
            let length = match parser.parse(&held, known) {
                Err(error) => return (found, Some(error.to_string())),
                Ok(Parsed::Incomplete) => break,
                Ok(Parsed::Nothing(length)) => length,
                Ok(Parsed::Inline(length)) => {
                    found.push(Found::Line(held[..length].to_vec()));
                    length
                }
                Ok(Parsed::Request(length)) => {
                    let words = parser.words().iter();
                    let words = words.map(|it| {
                        assert!(it.end as usize + 2 <= length);
                        held[it.start as usize..it.end as usize].to_vec()
                    });
                    found.push(Found::Words(words.collect()));
                    length
                }
            };
            assert!(length > 0 && length <= held.len());
            held.drain(..length);
        }
    }
    (found, None)
}

/// A request as clients write it.
fn written(words: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(format!("${}\r\n", word.len()).into_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
