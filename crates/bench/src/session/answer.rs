//! The answers of ranks to orders.

use super::error::SessionError;
use crate::sized::Stamp;
use std::io::{self, BufRead, Read};

/// The answer of one rank to one order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RankAnswer {
    /// `ok` or `ok ALGORITHM`: the results are right, and which algorithm the rank ran, if it knows.
    Right(Option<String>),
    /// `times K` and the K pairs of numbers that follow it.
    Times(Vec<Stamp>),
}

/// Most bytes of the line of an answer.
const LINE_MAX: u64 = 4096;

/// Most pairs that an answer may announce, since memory is allocated for them.
const TIMES_MAX: usize = 1 << 20;

/// Why there is no answer.
pub(super) enum Trouble {
    /// The stream failed, timed out or ended.
    Stream(io::Error),
    /// The rank reports a wrong result, or its line is no answer.
    Said(SessionError),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Stream(error)
    }
}

/// Reads the answer of one rank.
pub(super) fn read(mut from: impl BufRead) -> Result<RankAnswer, Trouble> {
    let mut line = String::new();
    if from.by_ref().take(LINE_MAX).read_line(&mut line)? == 0 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    let line = line.trim_end();
    if line == "ok" {
        return Ok(RankAnswer::Right(None));
    }
    if let Some(algorithm) = line.strip_prefix("ok ") {
        return Ok(RankAnswer::Right(Some(algorithm.to_owned())));
    }
    if let Some(text) = line.strip_prefix("wrong ") {
        return Err(Trouble::Said(SessionError::Wrong(text.to_owned())));
    }
    let announced = line.strip_prefix("times ").and_then(|n| n.parse().ok());
    let Some(many) = announced.filter(|&many: &usize| many <= TIMES_MAX) else {
        return Err(Trouble::Said(SessionError::Lost {
            what: "answered something else".to_owned(),
            said: line.chars().take(200).collect(),
        }));
    };
    let mut bytes = vec![0; many * 2 * size_of::<u64>()];
    from.read_exact(&mut bytes)?;
    let (numbers, _) = bytes.as_chunks();
    let (pairs, _) = numbers.as_chunks();
    let stamp = |&[begin, took]: &[[u8; 8]; 2]| Stamp {
        begin: u64::from_ne_bytes(begin),
        took: u64::from_ne_bytes(took),
    };
    Ok(RankAnswer::Times(pairs.iter().map(stamp).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(text: &[u8]) -> String {
        match read(text) {
            Ok(answer) => panic!("{answer:?}"),
            Err(Trouble::Stream(error)) => error.to_string(),
            Err(Trouble::Said(error)) => error.to_string(),
        }
    }

    #[test]
    fn answers_are_read_and_others_quoted() {
        let right = |text: &[u8]| match read(text) {
            Ok(RankAnswer::Right(algorithm)) => algorithm,
            _ => panic!("{text:?} says that all is right"),
        };
        assert_eq!(right(b"ok\n"), None);
        assert_eq!(right(b"ok ring:8K\n").as_deref(), Some("ring:8K"));
        let mut text = b"times 2\n".to_vec();
        for number in [100_u64, 7, 200, 9] {
            text.extend(number.to_ne_bytes());
        }
        let stamps = [(100, 7), (200, 9)].map(|(begin, took)| Stamp { begin, took });
        assert!(matches!(read(&text[..]), Ok(RankAnswer::Times(t)) if t == stamps));
        assert!(trouble(&text[..20]).contains("fill whole buffer"));
        assert!(trouble(b"").contains("end of file"));
        assert!(trouble(b"wrong rank 1 gave 3\n").starts_with("rank 1 gave 3"));
        for nonsense in [&b"hello\n"[..], b"times x\n", b"times 99999999999\n"] {
            let said = String::from_utf8_lossy(nonsense).trim().to_owned();
            assert!(trouble(nonsense).contains(&said));
        }
    }
}
