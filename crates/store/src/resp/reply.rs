//! Writes replies, in the version of the protocol that the client asked for.

use crate::number::{DIGITS_MAX, show_integer};

/// The end of a buffer, where a reply is written.
#[derive(Debug)]
pub(crate) struct Reply<'a> {
    bytes: &'a mut Vec<u8>,
    /// RESP3 rather than RESP2.
    resp3: bool,
    /// The buffer holds no more than this.
    bytes_max: usize,
    overflowed: bool,
}

impl<'a> Reply<'a> {
    pub(crate) fn new(bytes: &'a mut Vec<u8>, resp3: bool, bytes_max: usize) -> Self {
        Self {
            bytes,
            resp3,
            bytes_max,
            overflowed: false,
        }
    }

    /// Goes on in RESP3, or in RESP2.
    pub(crate) fn speak(&mut self, resp3: bool) {
        self.resp3 = resp3;
    }

    /// How much the buffer holds.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether something was left out, since the buffer would have become too long. What is there is of no use then.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// `+text`
    pub(crate) fn simple(&mut self, text: &str) {
        self.line(b'+', text.as_bytes());
    }

    pub(crate) fn ok(&mut self) {
        self.bytes.extend_from_slice(b"+OK\r\n");
    }

    /// `-text`: an error, whose first word is its kind. Line breaks would end it, so they become spaces; it ends at a zero,
    /// as Redis's texts do, and those behind its last word are left out.
    pub(crate) fn error(&mut self, text: impl AsRef<[u8]>) {
        let text = crate::commands::texts::shown(text.as_ref());
        let last = text.iter().rposition(|byte| !b"\r\n".contains(byte));
        let text = &text[..last.map_or(0, |at| at + 1)];
        self.bytes.push(b'-');
        self.bytes.extend(text.iter().map(|byte| match *byte {
            b'\r' | b'\n' => b' ',
            other => other,
        }));
        self.bytes.extend_from_slice(b"\r\n");
    }

    pub(crate) fn integer(&mut self, value: i64) {
        self.header(b':', value);
    }

    /// A count of things in memory.
    pub(crate) fn count(&mut self, value: usize) {
        self.header(b':', as_length(value));
    }

    pub(crate) fn bulk(&mut self, data: &[u8]) {
        if data.len() > self.bytes_max.saturating_sub(self.bytes.len()) {
            self.overflowed = true;
            return;
        }
        self.bytes.reserve(data.len() + 16);
        self.header(b'$', as_length(data.len()));
        self.bytes.extend_from_slice(data);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// No value.
    pub(crate) fn null(&mut self) {
        let text: &[u8] = if self.resp3 { b"_\r\n" } else { b"$-1\r\n" };
        self.bytes.extend_from_slice(text);
    }

    /// A value, or none.
    pub(crate) fn bulk_or_null(&mut self, data: Option<&[u8]>) {
        match data {
            Some(data) => self.bulk(data),
            None => self.null(),
        }
    }

    /// No array: the answer to a transaction that a watched key has cancelled.
    pub(crate) fn null_array(&mut self) {
        let text: &[u8] = if self.resp3 { b"_\r\n" } else { b"*-1\r\n" };
        self.bytes.extend_from_slice(text);
    }

    /// The beginning of an array of so many replies.
    pub(crate) fn array(&mut self, length: usize) {
        self.header(b'*', as_length(length));
    }

    /// The beginning of a map of so many pairs, which RESP2 shows as an array.
    pub(crate) fn map(&mut self, pairs: usize) {
        match self.resp3 {
            true => self.header(b'%', as_length(pairs)),
            false => self.array(2 * pairs),
        }
    }

    /// The beginning of a set, which RESP2 shows as an array.
    pub(crate) fn set(&mut self, length: usize) {
        match self.resp3 {
            true => self.header(b'~', as_length(length)),
            false => self.array(length),
        }
    }

    /// Text for people, which RESP3 says of it.
    pub(crate) fn verbatim(&mut self, text: &str) {
        match self.resp3 {
            true => {
                self.header(b'=', as_length(text.len() + 4));
                self.bytes.extend_from_slice(b"txt:");
                self.bytes.extend_from_slice(text.as_bytes());
                self.bytes.extend_from_slice(b"\r\n");
            }
            false => self.bulk(text.as_bytes()),
        }
    }

    /// What was written elsewhere.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        match bytes.len() > self.bytes_max.saturating_sub(self.bytes.len()) {
            true => self.overflowed = true,
            false => self.bytes.extend_from_slice(bytes),
        }
    }

    #[inline]
    fn header(&mut self, kind: u8, value: i64) {
        let digit = |value: i64| b'0' + value as u8;
        match value {
            // Most of them.
            0..=9 => {
                let line = [kind, digit(value), b'\r', b'\n'];
                self.bytes.extend_from_slice(&line);
            }
            10..=99 => {
                let line = [kind, digit(value / 10), digit(value % 10), b'\r', b'\n'];
                self.bytes.extend_from_slice(&line);
            }
            _ => {
                let mut digits = [0; DIGITS_MAX];
                self.line(kind, show_integer(&mut digits, value));
            }
        }
    }

    fn line(&mut self, kind: u8, text: &[u8]) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(text);
        self.bytes.extend_from_slice(b"\r\n");
    }
}

fn as_length(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
