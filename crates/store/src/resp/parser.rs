//! Finds the words of requests in bytes that arrive in any pieces.
//!
//! Nothing is allocated for what a header claims: a word costs memory when its bytes have come. What was found of a request
//! is not looked at again when more of it comes, so a request that comes byte by byte takes linear time.

use std::fmt;

use crate::arguments::Span;

/// Longest word, as Redis has it (`proto-max-bulk-len`).
pub const BULK_BYTES_MAX: usize = 512 << 20;
/// Longest request, as Redis has it (`client-query-buffer-limit`).
pub const REQUEST_BYTES_MAX: usize = 1 << 30;
/// Most words of a request.
const WORDS_MAX: i64 = 1 << 20;
/// Longest line: a header, or an inline request.
const LINE_BYTES_MAX: usize = 64 << 10;
/// Most words, and longest word, of a client that has not given the password.
const STRANGER_WORDS_MAX: i64 = 10;
const STRANGER_BULK_BYTES_MAX: usize = 16 << 10;

/// Why bytes are no request. The text is Redis's; a client that sent such bytes has lost its place, so it is cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolError(Vec<u8>);

impl ProtocolError {
    /// The text, with the byte in it that was sent, whatever that is.
    pub(crate) fn text(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl std::error::Error for ProtocolError {}

/// What bytes begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// Not yet a whole request.
    Incomplete,
    /// A request of so many bytes, whose words [`Parser::words`] has.
    Request(usize),
    /// A line as people type it, of so many bytes with its end.
    Inline(usize),
    /// So many bytes that ask for nothing.
    Nothing(usize),
}

/// Where the parser is in one request. Positions count from the request's first byte.
///
/// # Examples
///
/// ```
/// use corecast_store::resp::{Parsed, Parser};
///
/// let mut parser = Parser::default();
/// assert_eq!(parser.parse(b"*2\r\n$4\r\nECHO\r\n$2\r\nh", true), Ok(Parsed::Incomplete));
/// assert_eq!(parser.parse(b"*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n", true), Ok(Parsed::Request(22)));
/// assert_eq!(parser.words().len(), 2);
/// assert!(parser.parse(b"*2000000000\r\n", true).is_err());
/// ```
#[derive(Debug, Default)]
pub struct Parser {
    /// The bytes up to here have been understood.
    at: usize,
    /// No end of line was found before here.
    searched: usize,
    /// Words that have not been found yet; 0 between requests.
    left: i64,
    /// Length of the word whose header was read.
    bulk: Option<usize>,
    words: Vec<Span>,
}

impl Parser {
    /// Looks at `bytes`, which begin where the request begins, and go on from what an earlier call has seen of it. After a
    /// whole request the next call begins with another one. A client that is not `known` has the limits of strangers.
    ///
    /// # Errors
    ///
    /// If `bytes` cannot be the beginning of a request.
    ///
    /// # Cost
    ///
    /// Linear in the bytes that have not been looked at before, whatever the pieces, but for words, which are not looked at.
    pub fn parse(&mut self, bytes: &[u8], known: bool) -> Result<Parsed, ProtocolError> {
        if self.left == 0 {
            // A request begins.
            self.words.clear();
            match bytes.first() {
                None => return Ok(Parsed::Incomplete),
                Some(b'*') => {}
                Some(_) => return self.inline(bytes),
            }
            let Some(count) = self.header(bytes, "mbulk count string")? else {
                return Ok(Parsed::Incomplete);
            };
            let wrong = || error("invalid multibulk length");
            let count = count.filter(|it| *it <= WORDS_MAX).ok_or_else(wrong)?;
            if count > STRANGER_WORDS_MAX && !known {
                return Err(error("unauthenticated multibulk length"));
            }
            if count <= 0 {
                return Ok(Parsed::Nothing(self.restart()));
            }
            self.left = count;
        }
        while self.left > 0 {
            let length = match self.bulk {
                Some(length) => length,
                None => {
                    match bytes.get(self.at) {
                        None => return Ok(Parsed::Incomplete),
                        Some(b'$') => {}
                        Some(&other) => return Err(unexpected(other)),
                    }
                    let Some(length) = self.header(bytes, "bulk count string")? else {
                        return Ok(Parsed::Incomplete);
                    };
                    let length = length.and_then(|it| usize::try_from(it).ok());
                    let fits = length.filter(|it| *it <= BULK_BYTES_MAX);
                    let length = fits.ok_or_else(|| error("invalid bulk length"))?;
                    if length > STRANGER_BULK_BYTES_MAX && !known {
                        return Err(error("unauthenticated bulk length"));
                    }
                    self.bulk = Some(length);
                    length
                }
            };
            let end = self.at + length;
            // The two bytes behind a word are passed over, as Redis does.
            if bytes.len() < end + 2 {
                return Ok(Parsed::Incomplete);
            }
            self.words.push(Span::new(self.at, end));
            self.at = end + 2;
            self.searched = self.at;
            self.bulk = None;
            self.left -= 1;
        }
        Ok(Parsed::Request(self.restart()))
    }

    /// The words of the request that was found last, and of no other.
    #[must_use]
    pub fn words(&self) -> &[Span] {
        &self.words
    }

    /// Bytes that are known to be missing before the next word is whole.
    pub(crate) fn missing(&self, held: usize) -> usize {
        self.bulk
            .map_or(0, |length| (self.at + length + 2).saturating_sub(held))
    }

    /// Gives back the memory of a request with very many words.
    pub(crate) fn shrink(&mut self) {
        if self.left == 0 && self.words.capacity() > 1024 {
            self.words = Vec::new();
        }
    }

    /// Begins anew behind a request, whose length is returned.
    fn restart(&mut self) -> usize {
        self.searched = 0;
        std::mem::take(&mut self.at)
    }

    /// The number of the line at hand, behind its first byte; the inner `None` where it is none. The line is passed over.
    #[inline]
    fn header(&mut self, bytes: &[u8], what: &str) -> Result<Option<Option<i64>>, ProtocolError> {
        match short_number(&bytes[self.at..]) {
            Some((value, length)) => {
                self.at += length;
                Ok(Some(Some(value)))
            }
            None => self.long_header(bytes, what),
        }
    }

    /// As `header`, of any line.
    #[inline(never)]
    fn long_header(
        &mut self,
        bytes: &[u8],
        what: &str,
    ) -> Result<Option<Option<i64>>, ProtocolError> {
        let Some(end) = self.line_end(bytes, b'\r', what)? else {
            return Ok(None);
        };
        // The byte behind the end of the line has to be there, whatever it is.
        if bytes.len() < end + 2 {
            self.searched = end;
            return Ok(None);
        }
        let number = crate::number::integer(&bytes[self.at + 1..end]);
        self.at = end + 2;
        self.searched = self.at;
        Ok(Some(number))
    }

    /// Where the line at hand ends.
    fn line_end(
        &mut self,
        bytes: &[u8],
        end: u8,
        what: &str,
    ) -> Result<Option<usize>, ProtocolError> {
        let from = self.searched.max(self.at).min(bytes.len());
        let found = bytes[from..].iter().position(|byte| *byte == end);
        if let Some(at) = found {
            return Ok(Some(from + at));
        }
        self.searched = bytes.len();
        match bytes.len() - self.at > LINE_BYTES_MAX {
            true => Err(error(&format!("too big {what}"))),
            false => Ok(None),
        }
    }

    fn inline(&mut self, bytes: &[u8]) -> Result<Parsed, ProtocolError> {
        let Some(end) = self.line_end(bytes, b'\n', "inline request")? else {
            return Ok(Parsed::Incomplete);
        };
        self.restart();
        match bytes[..end].trim_ascii().is_empty() {
            true => Ok(Parsed::Nothing(end + 1)),
            false => Ok(Parsed::Inline(end + 1)),
        }
    }
}

/// The number behind the first byte of a line, and the length of the line, if it has up to three digits, as nearly all have.
#[inline(always)]
fn short_number(line: &[u8]) -> Option<(i64, usize)> {
    let digit = |byte: &u8| i64::from(byte - b'0');
    match line {
        [_, a @ b'0'..=b'9', b'\r', _, ..] => Some((digit(a), 4)),
        [_, a @ b'1'..=b'9', b @ b'0'..=b'9', b'\r', _, ..] => Some((10 * digit(a) + digit(b), 5)),
        [
            _,
            a @ b'1'..=b'9',
            b @ b'0'..=b'9',
            c @ b'0'..=b'9',
            b'\r',
            _,
            ..,
        ] => Some((100 * digit(a) + 10 * digit(b) + digit(c), 6)),
        _ => None,
    }
}

fn error(what: &str) -> ProtocolError {
    ProtocolError(format!("Protocol error: {what}").into_bytes())
}

fn unexpected(byte: u8) -> ProtocolError {
    let shown = match byte {
        // A line break in an error would end it.
        b'\r' | b'\n' => b' ',
        other => other,
    };
    let ProtocolError(mut text) = error("expected '$', got '");
    text.extend([shown, b'\'']);
    ProtocolError(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of all requests in `bytes`, which arrive up to `piece` bytes at a time.
    fn requests(bytes: &[u8], piece: usize) -> Result<Vec<Vec<Vec<u8>>>, ProtocolError> {
        let (mut parser, mut found, mut held) = (Parser::default(), Vec::new(), Vec::new());
        for more in bytes.chunks(piece) {
            held.extend_from_slice(more);
            loop {
                let length = match parser.parse(&held, true)? {
                    Parsed::Incomplete => break,
                    Parsed::Nothing(length) => length,
                    Parsed::Inline(length) => {
                        found.push(crate::resp::split(&held[..length]).unwrap());
                        length
                    }
                    Parsed::Request(length) => {
                        let words = parser.words().iter();
                        let word = |it: &Span| held[it.start as usize..it.end as usize].to_vec();
                        found.push(words.map(word).collect());
                        length
                    }
                };
                held.drain(..length);
            }
        }
        Ok(found)
    }

    #[test]
    fn pieces_make_no_difference() {
        let bytes =
            b"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n*0\r\n*-1\r\n\r\nPING 'a b'\r\n*1\r\n$4\r\nPING\r\n\
            *3\r\n$3\r\nSET\r\n$1\r\n\r\r\n$12\r\n$3\r\n*1\r\n\n\n\n\n\r\n";
        let whole = requests(bytes, bytes.len()).unwrap();
        assert_eq!(whole.len(), 4);
        assert_eq!(whole[3][2], b"$3\r\n*1\r\n\n\n\n\n");
        for piece in 1..bytes.len() {
            assert_eq!(requests(bytes, piece).as_ref(), Ok(&whole), "{piece}");
        }
    }

    #[test]
    fn what_is_no_request_is_refused_in_the_words_of_redis() {
        let check = |bytes: &[u8], expected: &str| {
            for piece in [1, 2, bytes.len()] {
                let found = requests(bytes, piece).unwrap_err();
                assert_eq!(found.to_string(), format!("Protocol error: {expected}"));
            }
        };
        check(b"*1048577\r\n", "invalid multibulk length");
        check(b"*abc\r\n", "invalid multibulk length");
        check(b"*1\r\n:3\r\n", "expected '$', got ':'");
        check(b"*1\r\n$-1\r\n", "invalid bulk length");
        check(b"*1\r\n$536870913\r\n", "invalid bulk length");
        check(b"*1\r\n$007\r\n", "invalid bulk length");
        check(&b"*".repeat(70_000), "too big mbulk count string");
        check(&b"a".repeat(70_000), "too big inline request");
        check(
            &[b"*1\r\n$".as_slice(), &b"1".repeat(70_000)].concat(),
            "too big bulk count string",
        );
        let found = requests(b"*1\r\n\xffPING\r\n", 1).unwrap_err();
        assert_eq!(found.text(), b"Protocol error: expected '$', got '\xff'");
    }

    #[test]
    fn strangers_have_less_room() {
        let refused = |bytes: &[u8]| {
            let found = Parser::default().parse(bytes, false);
            found.unwrap_err().to_string()
        };
        assert_eq!(
            refused(b"*11\r\n"),
            "Protocol error: unauthenticated multibulk length"
        );
        assert_eq!(
            refused(b"*1\r\n$16385\r\n"),
            "Protocol error: unauthenticated bulk length"
        );
    }

    /// A claim of a million words of half a gigabyte takes the memory of its header.
    #[test]
    fn claims_take_no_memory() {
        let mut parser = Parser::default();
        let bytes = b"*1048576\r\n$536870912\r\n";
        assert_eq!(parser.parse(bytes, true), Ok(Parsed::Incomplete));
        assert_eq!(parser.words.capacity(), 0);
        assert_eq!(parser.missing(bytes.len()), BULK_BYTES_MAX + 2);
    }
}
