//! A socket with its buffers: what was read, what is to be written, and their limits.

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use mio::net::TcpStream;

use super::batch::Asker;
use super::client_list::{Activity, Buffers, Chosen, SharedActivity};
use super::pause::Waits;
use super::pipeline::{Client, Pipeline, REPLIES_BYTES_SOFT, Taken};
use super::session::Session;
use super::shared::Shared;
use crate::resp::{Parser, REQUEST_BYTES_MAX};

/// Bytes that are read at once where it is not known that many are missing.
pub(super) const SCRATCH_BYTES: usize = 64 << 10;
/// Most bytes that are read at once.
const READ_BYTES_MAX: usize = 1 << 20;
/// A buffer that is larger than this is given back when it is empty.
const KEPT_BYTES_MAX: usize = 16 << 10;
/// A request that has begun has to be whole after this, and a second more for each [`SLOW_BYTES`] of it.
const REQUEST_MAX: Duration = Duration::from_secs(60);
const SLOW_BYTES: usize = 16 << 10;
/// A client that takes nothing of its replies for so long is cut off.
const STALLED_MAX: Duration = Duration::from_secs(60);

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It waits for its socket.
    Waits,
    /// There is more to do at once.
    Ready,
    /// Its replies wait until what they depend on is in the log.
    Held,
    /// It has replies, which were put off.
    Replies,
    /// It is to be closed.
    Ended,
}

/// A socket with its buffers.
#[derive(Debug)]
pub(super) struct Connection {
    asker: Asker,
    stream: TcpStream,
    pub(super) session: Session,
    parser: Parser,
    /// What was read and not run yet.
    input: Vec<u8>,
    /// Replies, of which the first `sent` bytes are written.
    out: Vec<u8>,
    sent: usize,
    /// The socket may have more to read.
    readable: bool,
    /// The client sends no more than what the socket has.
    closed: bool,
    /// No request runs until replies are written.
    full: bool,
    /// Nothing is done before its writes are agreed on.
    awaits: bool,
    /// They are, and requests may be there that have waited.
    resumes: bool,
    /// No request runs until a pause has ended.
    paused: bool,
    /// So many entries of the order have to be in the log before the replies go out, and further requests run.
    depends_on: u64,
    /// When the request began that is not yet whole.
    began: Option<Instant>,
    /// Since when the client has taken nothing of its replies.
    stalled: Option<Instant>,
    /// When it last asked for something.
    active: Instant,
    activity: SharedActivity,
    /// Bytes that have come and gone since they were counted.
    came: u64,
    went: u64,
}

impl Connection {
    pub(super) fn new(
        key: usize,
        stream: TcpStream,
        session: Session,
        activity: SharedActivity,
        now: Instant,
    ) -> Self {
        Self {
            asker: Asker {
                key,
                id: session.id,
            },
            stream,
            session,
            parser: Parser::default(),
            input: Vec::new(),
            out: Vec::new(),
            sent: 0,
            readable: true,
            closed: false,
            full: false,
            awaits: false,
            resumes: false,
            paused: false,
            depends_on: 0,
            began: None,
            stalled: None,
            active: now,
            activity,
            came: 0,
            went: 0,
        }
    }

    pub(super) fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Bytes that are held for this client.
    pub(super) fn bytes(&self) -> usize {
        let transaction = self.session.transaction.as_ref();
        self.input.capacity() + self.out.capacity() + transaction.map_or(0, |it| it.bytes())
    }

    /// Bytes that have come and gone since this was called last.
    pub(super) fn take_traffic(&mut self) -> (u64, u64) {
        (
            std::mem::take(&mut self.came),
            std::mem::take(&mut self.went),
        )
    }

    /// Notes what the client has done, for those who list clients.
    pub(super) fn note(&self) {
        let held = self.input.len();
        self.activity.note(Activity {
            active: self.active,
            chosen: Chosen::of(&self.session).waiting(self.paused),
            buffers: Buffers {
                input: (held, self.input.capacity() - held),
                words: 0,
                output: (self.out.len() - self.sent, self.out.capacity()),
                all: self.bytes(),
            },
        });
    }

    /// Notes that there is more to read, and whether the client has closed behind it.
    pub(super) fn set_readable(&mut self, closed: bool) {
        self.readable = true;
        self.closed |= closed;
    }

    /// Whether it has a request that waits for the end of a pause.
    pub(super) fn is_paused(&self) -> bool {
        self.paused
    }

    /// Takes the answer to its writes, if it is to this connection. What became of them is not known if there are no replies.
    pub(super) fn answer(&mut self, asker: Asker, replies: Option<Vec<u8>>, depends_on: u64) {
        if asker != self.asker {
            return;
        }
        self.awaits = false;
        self.depends_on = depends_on;
        match replies {
            Some(bytes) if self.out.is_empty() => self.out = bytes,
            Some(bytes) => self.out.extend_from_slice(&bytes),
            None => self.session.ends = true,
        }
        self.full = self.out.len() >= REPLIES_BYTES_SOFT;
        self.resumes = !self.full && !self.input.is_empty();
    }

    /// What a connection does whose replies must not go out yet.
    fn held(&self, shared: &Shared) -> Option<State> {
        let durability = shared.durability.as_ref()?;
        match () {
            () if self.depends_on <= durability.released() => None,
            // What they depend on may be lost, so nobody is told of it.
            () if durability.failed().is_some() => Some(State::Ended),
            () => Some(State::Held),
        }
    }

    /// Reads, runs and writes what can be without waiting, up to a limit, so that others have their turn.
    pub(super) fn advance(
        &mut self,
        pipeline: &mut Pipeline,
        shared: &Shared,
        scratch: &mut [u8],
        now: Instant,
        puts_off: bool,
    ) -> State {
        if !self.awaits && std::mem::take(&mut self.resumes) {
            // All that the log has to have for it is waited for at once.
            self.serve_rest(pipeline, shared, now);
        }
        // As in Redis, what waits does not run if its client has gone.
        if self.paused && self.closed {
            return State::Ended;
        }
        if self.paused && shared.pause.waits() == Waits::Nothing {
            self.serve_rest(pipeline, shared, now);
        }
        if self.awaits {
            return State::Waits;
        }
        if let Some(state) = self.held(shared) {
            return state;
        }
        if !self.write(now) {
            return State::Ended;
        }
        if self.full && self.out.is_empty() {
            self.full = false;
            self.serve_rest(pipeline, shared, now);
        } else if self.readable && !self.full && !self.paused && !self.session.ends {
            match self.read(pipeline, shared, scratch, now) {
                Ok(true) => {}
                // The end is found again.
                Ok(false) if self.awaits => self.readable = true,
                Ok(false) => self.session.ends = true,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => self.readable = false,
                    ErrorKind::Interrupted => {}
                    _ => return State::Ended,
                },
            }
        }
        if self.awaits {
            return State::Waits;
        }
        if let Some(state) = self.held(shared) {
            return state;
        }
        if puts_off && !self.out.is_empty() && !self.full && !self.session.ends {
            return State::Replies;
        }
        if !self.write(now) {
            return State::Ended;
        }
        match () {
            () if !self.out.is_empty() => State::Waits,
            () if self.session.ends => State::Ended,
            () if self.paused => State::Waits,
            () if self.full || self.readable => State::Ready,
            () => State::Waits,
        }
    }

    /// Reads once and runs what is whole; `false` at the end of what the client sends.
    fn read(
        &mut self,
        pipeline: &mut Pipeline,
        shared: &Shared,
        scratch: &mut [u8],
        now: Instant,
    ) -> std::io::Result<bool> {
        if self.input.is_empty() {
            let length = self.stream.read(scratch)?;
            self.came += length as u64;
            // The socket tells but once that there is more, or an end.
            self.readable = length == scratch.len() || self.closed;
            let input = &scratch[..length];
            let taken = self.serve(pipeline, shared, input, now);
            self.input.extend_from_slice(&input[taken.bytes..]);
            return Ok(length > 0);
        }
        let held = self.input.len();
        let missing = self.parser.missing(held);
        let wanted = missing.clamp(SCRATCH_BYTES, READ_BYTES_MAX);
        let mut input = std::mem::take(&mut self.input);
        // Of a long word that has half come the rest is believed. Before that memory doubles as it comes.
        if missing <= held {
            input.reserve_exact(missing);
        }
        // What was read before an error is kept.
        let ended = (&self.stream).take(wanted as u64).read_to_end(&mut input);
        let came = input.len() - held;
        self.came += came as u64;
        self.active = now;
        self.readable = came == wanted;
        let open = match ended {
            Ok(_) => came == wanted,
            Err(error) if error.kind() == ErrorKind::WouldBlock => true,
            Err(error) => return Err(error),
        };
        let taken = match came < missing {
            true => Taken::default(),
            false => self.serve(pipeline, shared, &input, now),
        };
        self.input = input;
        self.drop_front(taken.bytes);
        Ok(open && self.input.len() <= REQUEST_BYTES_MAX)
    }

    /// Runs what was read and has waited.
    fn serve_rest(&mut self, pipeline: &mut Pipeline, shared: &Shared, now: Instant) {
        let input = std::mem::take(&mut self.input);
        let taken = self.serve(pipeline, shared, &input, now);
        self.input = input;
        self.drop_front(taken.bytes);
    }

    fn serve(
        &mut self,
        pipeline: &mut Pipeline,
        shared: &Shared,
        input: &[u8],
        now: Instant,
    ) -> Taken {
        let mut client = Client {
            asker: self.asker,
            parser: &mut self.parser,
            session: &mut self.session,
            out: &mut self.out,
            awaits: false,
        };
        let taken = pipeline.serve(&mut client, shared, input);
        self.awaits = client.awaits;
        self.depends_on = pipeline.depends_on();
        self.parser.shrink();
        self.full = taken.full;
        self.paused = taken.paused;
        self.active = now;
        let whole = taken.bytes == input.len();
        let goes_on = !whole && !taken.full && !taken.paused && !self.awaits;
        self.began = goes_on.then(|| self.began.filter(|_| taken.bytes == 0).unwrap_or(now));
        taken
    }

    /// Forgets the first bytes of what was read.
    fn drop_front(&mut self, taken: usize) {
        if taken < self.input.len() {
            self.input.drain(..taken);
        } else if self.input.capacity() > KEPT_BYTES_MAX {
            self.input = Vec::new();
        } else {
            self.input.clear();
        }
    }

    /// Writes as much as the socket takes; returns whether the client is there.
    fn write(&mut self, now: Instant) -> bool {
        while self.sent < self.out.len() {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(length) => {
                    self.sent += length;
                    self.went += length as u64;
                    self.stalled = None;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.stalled = self.stalled.or(Some(now));
                    return true;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        self.sent = 0;
        match self.out.capacity() > KEPT_BYTES_MAX {
            true => self.out = Vec::new(),
            false => self.out.clear(),
        }
        true
    }

    /// Whether the client has taken too long: over a request, over its replies, or over asking for anything.
    pub(super) fn is_late(&self, now: Instant, idle_max: Option<Duration>) -> bool {
        let slow = Duration::from_secs((self.input.len() / SLOW_BYTES) as u64);
        let since = |at: Instant| now.saturating_duration_since(at);
        self.began.is_some_and(|at| since(at) > REQUEST_MAX + slow)
            || self.stalled.is_some_and(|at| since(at) > STALLED_MAX)
            || idle_max.is_some_and(|most| !self.paused && since(self.active) > most)
    }
}
