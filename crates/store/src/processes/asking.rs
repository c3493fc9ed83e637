//! Whom a replica has asked for a snapshot, how long it waits for that, and how it reads it.

use std::fs::File;
use std::io::{self, Read};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::answers::Answers;
use crate::bytes::ByteReader;
use crate::keyspace::Keyspace;

/// The first replica that is asked has so long to answer, each further one twice as long as the one before: nobody knows how long a
/// snapshot takes, and one that comes too late has held its replica up for nothing.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// No wait is longer than the first one times this power of two.
const DOUBLED_MAX: u32 = 8;
/// Snapshots of up to so many bytes are read at once.
const AT_ONCE_BYTES_MAX: u64 = 1 << 20;

/// What another replica has written down.
#[derive(Debug)]
pub(super) struct Offered {
    pub(super) keyspace: Keyspace,
    /// All before this index is in it.
    pub(super) applied: u64,
    /// What of it is in no log.
    pub(super) tail: Vec<u8>,
    pub(super) answers: Answers,
    /// Where its member stood in the order.
    pub(super) member: Vec<u8>,
}

impl Offered {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = ByteReader(bytes);
        Some(Self {
            keyspace: Keyspace::decode(from.bytes()?)?,
            applied: from.word()?,
            tail: from.bytes()?.to_vec(),
            answers: Answers::decode(&mut from)?,
            member: from.0.to_vec(),
        })
    }

    fn read(mut file: File) -> Option<Self> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Self::decode(&bytes)
    }
}

/// What a replica waits for that needs a snapshot.
#[derive(Debug, Default)]
pub(super) struct Asking {
    asked: Option<(usize, Instant)>,
    /// How many have not answered in time.
    late: u32,
    reading: Option<JoinHandle<Option<Offered>>>,
}

impl Asking {
    /// Whom it has asked.
    pub(super) fn asked(&self) -> Option<usize> {
        self.asked.map(|it| it.0)
    }

    /// Notes whom it asks now.
    pub(super) fn asks(&mut self, whom: Option<usize>, now: Instant) {
        self.asked = whom.map(|it| (it, now));
    }

    /// Gives up whom it has asked, if that does not run any more or has had its time.
    pub(super) fn gives_up(&mut self, runs: bool, now: Instant) {
        let longest = FIRST_WAIT * 2_u32.pow(self.late.min(DOUBLED_MAX));
        let is_late = self
            .asked
            .is_some_and(|(_, since)| now.duration_since(since) > longest);
        if !runs || is_late {
            self.asked = None;
            self.late += u32::from(is_late);
        }
    }

    /// Begins to read a snapshot. A long one is read by a thread: what is agreed on meanwhile would be dropped before a replica has
    /// learned it that does nothing else, which would need another snapshot then.
    pub(super) fn reads(&mut self, file: File) -> io::Result<Option<Offered>> {
        if file.metadata()?.len() <= AT_ONCE_BYTES_MAX {
            return Ok(Offered::read(file));
        }
        let thread = std::thread::Builder::new().name("snapshot".into());
        self.reading = Some(thread.spawn(move || Offered::read(file))?);
        Ok(None)
    }

    pub(super) fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// What was read, once that has ended.
    pub(super) fn read(&mut self) -> Option<Offered> {
        let thread = self.reading.take_if(|it| it.is_finished())?;
        // It is asked for again if it was not whole.
        thread.join().ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_slow_has_more_time_the_next_time() {
        let mut asking = Asking::default();
        let mut now = Instant::now();
        let mut waits = |asking: &mut Asking| {
            asking.asks(Some(1), now);
            let mut waited = 0;
            while asking.asked().is_some() {
                now += Duration::from_secs(1);
                waited += 1;
                asking.gives_up(true, now);
            }
            waited
        };
        let found = [(); 11].map(|()| waits(&mut asking));
        assert_eq!(found, [3, 5, 9, 17, 33, 65, 129, 257, 513, 513, 513]);
        asking.asks(Some(2), now);
        asking.gives_up(false, now);
        assert_eq!((asking.asked(), asking.late), (None, 11));
    }
}
