//! A client that sends and takes bytes as they are.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::replies::reply_length;

/// A test that hangs fails after this, long after any machine would be done.
const HANGS: Duration = Duration::from_secs(120);

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    held: Vec<u8>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(HANGS)).unwrap();
        stream.set_write_timeout(Some(HANGS)).unwrap();
        Self {
            stream,
            held: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next reply, or `None` where the connection has ended.
    pub(crate) fn try_reply(&mut self) -> Option<Vec<u8>> {
        let mut piece = [0; 1 << 16];
        loop {
            let whole = Some(&self.held[..]).filter(|it| !it.is_empty());
            if let Some(length) = whole.and_then(reply_length) {
                let rest = self.held.split_off(length);
                return Some(std::mem::replace(&mut self.held, rest));
            }
            match self.stream.read(&mut piece) {
                Ok(0) => return None,
                Ok(length) => self.held.extend_from_slice(&piece[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                // Whoever runs the tests may stop them for a while.
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    pub(crate) fn reply(&mut self) -> Vec<u8> {
        self.try_reply().expect("the connection has ended")
    }

    /// Sends a command, and returns the reply.
    pub(crate) fn call(&mut self, words: &[impl AsRef<[u8]>]) -> Vec<u8> {
        self.send(&request(words));
        self.reply()
    }

    /// The same for words that are separated by spaces; the reply as text.
    pub(crate) fn say(&mut self, words: &str) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        String::from_utf8(self.call(&words)).unwrap()
    }
}

/// A command as clients send it.
pub(crate) fn request(words: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        let word = word.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
