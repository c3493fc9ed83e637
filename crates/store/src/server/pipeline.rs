//! The requests at hand: runs of reads and of writes, each one operation of the store.
//!
//! Requests that follow each other and are all reads, or all writes, become one operation. So a pipeline of 64 commands has
//! one look at the replica's state, or one place in the order of writes, instead of 64.

use super::batch::{Answer, Asker, Batch};
use super::clock;
use super::pause::Waits;
use super::session::{LastCommand, Session};
use super::session_commands;
use super::shared::Shared;
use super::surroundings::Surroundings;
use crate::arguments::{Args, Span};
use crate::commands::{self, Answers, Command, Kind, subcommands, texts};
use crate::counts::Counter;
use crate::durability::fault::seeded;
use crate::keyspace::{Call, OwnedRun, REPLY_BYTES_MAX, Read, Response, Run};
use crate::resp::{self, Parsed, Parser, Reply};
use crate::store::StoreHandle;

/// Once replies of so many bytes wait to be written, no further request of their client runs.
pub(super) const REPLIES_BYTES_SOFT: usize = 1 << 20;
/// Most commands of a run: others wait while it runs.
const CALLS_MAX: usize = 4096;

/// What runs the requests of an event loop's connections.
#[derive(Debug)]
pub(super) struct Pipeline {
    store: StoreHandle,
    /// Writes that the other replicas have to agree on.
    batch: Batch,
    random: fastrand::Rng,
    calls: Vec<Call>,
    spans: Vec<Span>,
    /// Where each call's request begins in the input.
    starts: Vec<usize>,
    /// Where the last request of the run ends.
    end: usize,
    /// Whether the calls are writes.
    writes: bool,
    /// Writes are refused: the log has failed.
    refuses: bool,
}

/// The client whose requests are at hand.
pub(super) struct Client<'a> {
    pub(super) asker: Asker,
    pub(super) parser: &'a mut Parser,
    pub(super) session: &'a mut Session,
    pub(super) out: &'a mut Vec<u8>,
    /// Its last writes were left to be agreed on: nothing more runs before they are answered.
    pub(super) awaits: bool,
}

impl Client<'_> {
    /// Whether nothing more runs for now.
    fn is_held(&self) -> bool {
        self.awaits && !seeded!(RanUnanswered)
    }
}

/// How far the input was taken.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Bytes that are no longer needed.
    pub(super) bytes: usize,
    /// The rest has to wait until replies are written.
    pub(super) full: bool,
    /// The rest has to wait for the end of a pause.
    pub(super) paused: bool,
    /// Commands that were run.
    pub(super) commands: u64,
}

impl Pipeline {
    pub(super) fn new(store: StoreHandle) -> Self {
        Self {
            store,
            batch: Batch::default(),
            random: fastrand::Rng::new(),
            calls: Vec::new(),
            spans: Vec::new(),
            starts: Vec::new(),
            end: 0,
            writes: false,
            refuses: false,
        }
    }

    pub(super) fn store(&mut self) -> &mut StoreHandle {
        &mut self.store
    }

    /// How many entries of the order have to be in the log before the replies to what was served last go out. Once the log
    /// has failed reads go on without it.
    pub(super) fn depends_on(&self) -> u64 {
        match self.refuses {
            true => 0,
            false => self.store.seen(),
        }
    }

    /// Whether writes wait to be agreed on.
    pub(super) fn has_writes(&self) -> bool {
        self.batch.has_writes()
    }

    /// Has the replicas agree on the writes of this turn.
    pub(super) fn agree(&mut self) {
        self.batch.agree(&mut self.store);
    }

    /// What clients are answered whose writes were agreed on.
    pub(super) fn answers(&mut self) -> Vec<Answer> {
        self.batch.answers()
    }

    /// Runs the requests in `input`.
    pub(super) fn serve(
        &mut self,
        client: &mut Client<'_>,
        shared: &Shared,
        input: &[u8],
    ) -> Taken {
        let mut taken = Taken::default();
        let now = clock::now();
        self.refuses = shared.refuses_writes().is_some();
        while !client.session.ends && !taken.full && !taken.paused && !client.is_held() {
            let rest = &input[taken.bytes..];
            match client.parser.parse(rest, client.session.known) {
                Ok(Parsed::Incomplete) => break,
                Ok(Parsed::Nothing(length)) => taken.bytes += length,
                Ok(Parsed::Request(length)) => {
                    self.request(client, shared, now, input, length, &mut taken);
                }
                Ok(Parsed::Inline(length)) => {
                    if self.flush(client, input, now, &mut taken) {
                        self.inline(client, shared, now, &rest[..length], &mut taken);
                    }
                }
                Err(error) => {
                    if self.flush(client, input, now, &mut taken) {
                        fail(client, error.text());
                    }
                }
            }
            if self.calls.len() >= CALLS_MAX {
                self.flush(client, input, now, &mut taken);
            }
        }
        self.flush(client, input, now, &mut taken);
        if client.session.ends {
            taken.bytes = input.len();
        }
        self.store.counts().add(Counter::Commands, taken.commands);
        taken
    }

    /// Takes the request of `length` bytes that the parser has found.
    fn request(
        &mut self,
        client: &mut Client<'_>,
        shared: &Shared,
        now: i64,
        input: &[u8],
        length: usize,
        taken: &mut Taken,
    ) {
        let at = taken.bytes;
        let bytes = &input[at..at + length];
        let words = client.parser.words().len();
        let command = commands::find(Args::new(bytes, client.parser.words()).get(0));
        if is_paused(client.session, command, words, shared) {
            taken.paused = self.flush(client, input, now, taken);
            return;
        }
        let session = &client.session;
        let plain =
            session.known && session.transaction.is_none() && !session.replies.are_dropped();
        let runs = command.filter(|it| plain && it.takes(words));
        let runs = runs.and_then(|it| match it.kind {
            // Its subcommand is looked at first.
            Kind::Read(_) if !it.subcommands.is_empty() => None,
            Kind::Read(_) => Some((it, false)),
            Kind::Write { .. } if self.refuses => None,
            Kind::Write { .. } => Some((it, true)),
            Kind::Session => None,
        });
        let Some((command, writes)) = runs else {
            if self.flush(client, input, now, taken) {
                taken.bytes += length;
                taken.commands += 1;
                let spans = client.parser.words().to_vec();
                self.alone(client, shared, now, command, bytes, &spans);
            }
            return;
        };
        if writes != self.writes && !self.flush(client, input, now, taken) {
            return;
        }
        self.writes = writes;
        let base = at - self.starts.first().copied().unwrap_or(at);
        let first = self.spans.len();
        let words = client.parser.words().iter();
        self.spans.extend(words.map(|it| it.moved(base)));
        self.starts.push(at);
        self.end = at + length;
        self.calls.push(Call {
            command,
            // Inputs are shorter than 2^32 bytes, so they have fewer words.
            first: first as u32,
            end: self.spans.len() as u32,
            database: client.session.database,
            resp3: client.session.resp3,
        });
        taken.bytes += length;
        taken.commands += 1;
        if answers_value(command, Args::new(bytes, client.parser.words())) {
            self.flush(client, input, now, taken);
        }
    }

    /// Runs what has been collected. Returns whether there is room for more replies; if there is none, what was not run is
    /// no longer taken.
    fn flush(
        &mut self,
        client: &mut Client<'_>,
        input: &[u8],
        now: i64,
        taken: &mut Taken,
    ) -> bool {
        if let Some(start) = self.starts.first() {
            let run = Run {
                bytes: &input[*start..self.end],
                spans: &self.spans,
                calls: &self.calls,
                now,
                seed: self.random.u64(..),
            };
            let done = perform(&mut self.store, &mut self.batch, client, run, self.writes);
            if let Some(last) = self.calls[..done].last() {
                client.session.last = LastCommand {
                    name: last.command.name,
                    subcommand: "",
                };
            }
            if done < self.calls.len() {
                taken.bytes = self.starts[done];
                taken.commands -= (self.calls.len() - done) as u64;
                *client.parser = Parser::default();
            }
            self.starts.clear();
            self.calls.clear();
            self.spans.clear();
        }
        taken.full |= client.out.len() >= REPLIES_BYTES_SOFT;
        !taken.full && !client.session.ends && !client.is_held()
    }

    /// Runs a request that somebody typed.
    fn inline(
        &mut self,
        client: &mut Client<'_>,
        shared: &Shared,
        now: i64,
        line: &[u8],
        taken: &mut Taken,
    ) {
        let split = resp::split(line);
        let words = split.as_deref().unwrap_or_default();
        let command = words.first().and_then(|it| commands::find(it));
        if is_paused(client.session, command, words.len(), shared) {
            taken.paused = true;
            return;
        }
        taken.bytes += line.len();
        taken.commands += 1;
        if split.is_none() {
            return fail(client, b"Protocol error: unbalanced quotes in request");
        }
        let (mut bytes, mut spans) = (Vec::with_capacity(line.len()), Vec::new());
        for word in words {
            let start = bytes.len();
            bytes.extend_from_slice(word);
            spans.push(Span::new(start, bytes.len()));
        }
        if !words.is_empty() {
            self.alone(client, shared, now, command, &bytes, &spans);
        }
    }

    /// Runs one command by itself, or keeps it for a transaction, or refuses it.
    fn alone(
        &mut self,
        client: &mut Client<'_>,
        shared: &Shared,
        now: i64,
        command: Option<&'static Command>,
        bytes: &[u8],
        spans: &[Span],
    ) {
        let args = Args::new(bytes, spans);
        // A browser that was tricked into sending a page's words here: what follows is not its user's.
        if args.is(0, "POST") || args.is(0, "Host:") {
            client.session.ends = true;
            return;
        }
        client.session.last = command.map_or_else(LastCommand::default, |it| LastCommand {
            name: it.name,
            subcommand: subcommands::find(it, args).unwrap_or_default(),
        });
        let before = client.out.len();
        let mut piecewise = false;
        let failed = shared.refuses_writes().filter(|_| self.refuses);
        match refusal(command, args, client.session, failed) {
            Ok(command) => {
                // Among its commands may be some that turn replies on or off.
                piecewise = command.name == "exec" && client.session.transaction.is_some();
                self.admitted(client, shared, now, command, bytes, spans);
            }
            Err(text) => {
                let text = match command {
                    // An EXEC that is refused ends its transaction.
                    Some(command) if command.name == "exec" => {
                        client.session.transaction = None;
                        client.session.watches.clear();
                        let text = text.strip_prefix(b"ERR ").unwrap_or(&text);
                        [b"EXECABORT Transaction discarded because of: ", text].concat()
                    }
                    _ => text,
                };
                if let Some(transaction) = &mut client.session.transaction {
                    transaction.fail();
                }
                Reply::new(client.out, client.session.resp3, REPLY_BYTES_MAX).error(text);
            }
        }
        if client.session.replies.are_dropped() && !piecewise {
            client.out.truncate(before);
        }
        client.session.replies.next();
    }

    /// Runs one command that has as many words as it should, and whose client may call it.
    fn admitted(
        &mut self,
        client: &mut Client<'_>,
        shared: &Shared,
        now: i64,
        command: &'static Command,
        bytes: &[u8],
        spans: &[Span],
    ) {
        let args = Args::new(bytes, spans);
        let at_once = ["exec", "discard", "multi", "watch", "quit", "reset"];
        if let Some(transaction) = &mut client.session.transaction
            && !at_once.contains(&command.name)
        {
            let queued = transaction.queue(command, args);
            client.session.ends |= !queued;
            return Reply::new(client.out, client.session.resp3, REPLY_BYTES_MAX).simple("QUEUED");
        }
        let writes = match command.kind {
            Kind::Session => {
                let mut around = Surroundings {
                    store: &mut self.store,
                    shared,
                    random: &mut self.random,
                    now,
                    facts: None,
                };
                return session_commands::run(
                    client.session,
                    command,
                    args,
                    &mut around,
                    client.out,
                );
            }
            Kind::Read(_) => false,
            Kind::Write { .. } => true,
        };
        let call = Call {
            command,
            first: 0,
            end: spans.len() as u32,
            database: client.session.database,
            resp3: client.session.resp3,
        };
        let run = Run {
            bytes,
            spans,
            calls: &[call],
            now,
            seed: self.random.u64(..),
        };
        perform(&mut self.store, &mut self.batch, client, run, writes);
    }
}

/// Whether a command has to wait for the end of a pause. What is refused for its words does not.
fn is_paused(
    session: &Session,
    command: Option<&'static Command>,
    words: usize,
    shared: &Shared,
) -> bool {
    let waits = shared.pause.waits();
    if waits == Waits::Nothing {
        return false;
    }
    let transaction = session.transaction.as_ref();
    let runs = command.filter(|it| session.known && it.takes(words));
    runs.is_some_and(|it| {
        waits == Waits::All
            || it.writes()
            || it.name == "exec" && transaction.is_some_and(|it| it.writes())
    })
}

/// Runs commands, or leaves them to be agreed on with others, and returns how many of them that were.
fn perform(
    store: &mut StoreHandle,
    batch: &mut Batch,
    client: &mut Client<'_>,
    run: Run<'_>,
    writes: bool,
) -> usize {
    // Replies that nobody wants are cut off at once.
    match writes && store.agrees() && !client.session.replies.are_dropped() {
        true => leave(batch, store, client, &run),
        false => execute(store, client, run, writes),
    }
}

/// Leaves writes to be agreed on, and returns how many.
fn leave(
    batch: &mut Batch,
    store: &mut StoreHandle,
    client: &mut Client<'_>,
    run: &Run<'_>,
) -> usize {
    // What follows such a command is no longer in its run.
    let last = run.calls.last();
    let long = last.is_some_and(|it| answers_value(it.command, run.args(it)));
    batch.leave(store, client.asker, run, long);
    client.awaits = true;
    run.calls.len()
}

/// Runs commands on the store, and returns how many of them were run. Replies that no buffer holds end the session.
fn execute(store: &mut StoreHandle, client: &mut Client<'_>, run: Run<'_>, writes: bool) -> usize {
    let calls = run.calls.len();
    let response = match writes {
        true => store.run(OwnedRun::of(&run)),
        false => store.read(Read::Run {
            run,
            replies: client.out,
            bytes_soft: REPLIES_BYTES_SOFT,
        }),
    };
    match response {
        Response::Read { calls, .. } => return calls,
        Response::Replies { bytes, .. } if client.out.is_empty() => *client.out = bytes,
        Response::Replies { bytes, .. } => client.out.extend_from_slice(&bytes),
        _ => client.session.ends = true,
    }
    calls
}

/// The command, unless it has to be refused.
fn refusal(
    command: Option<&'static Command>,
    args: Args<'_>,
    session: &Session,
    failed: Option<&str>,
) -> Result<&'static Command, Vec<u8>> {
    let command = command.ok_or_else(|| unknown(args))?;
    if !command.takes(args.len()) {
        return Err(texts::arity(command.name).into_bytes());
    }
    commands::subcommands::find(command, args)?;
    let open = ["auth", "hello", "quit", "reset"];
    let transaction = session.transaction.as_ref();
    match failed {
        _ if !session.known && !open.contains(&command.name) => Err(texts::NO_PASSWORD.into()),
        _ if command.name == "save" && transaction.is_some() => {
            Err(b"ERR Command not allowed inside a transaction".into())
        }
        Some(why)
            if command.writes()
                || command.name == "exec" && transaction.is_some_and(|it| it.writes()) =>
        {
            Err(format!("MISCONF Errors writing to the AOF file: {why}").into_bytes())
        }
        _ => Ok(command),
    }
}

/// What is said of a command that there is not: its name and first words, up to 128 bytes of each.
fn unknown(args: Args<'_>) -> Vec<u8> {
    const SHOWN_BYTES_MAX: usize = 128;
    let shown = |text, most| {
        let text = texts::shown(text);
        &text[..text.len().min(most)]
    };
    let mut words = Vec::new();
    for word in args.from(1) {
        if words.len() >= SHOWN_BYTES_MAX {
            break;
        }
        let word = shown(word, SHOWN_BYTES_MAX - words.len());
        words.extend([b"'", word, b"' "].concat());
    }
    let name = shown(args.get(0), SHOWN_BYTES_MAX);
    [
        b"ERR unknown command '",
        name,
        b"', with args beginning with: ",
        &words,
    ]
    .concat()
}

/// Whether the reply may be as long as a value, so that the next one has to wait until it is known how long it is.
fn answers_value(command: &Command, args: Args<'_>) -> bool {
    match command.kind {
        Kind::Write { answers, .. } => match answers {
            Answers::Little => false,
            Answers::Value => true,
            Answers::ValueIfAsked => (3..args.len()).any(|at| args.is(at, "GET")),
        },
        Kind::Read(_) | Kind::Session => false,
    }
}

/// Cuts a client off that has lost its place.
fn fail(client: &mut Client<'_>, text: &[u8]) {
    if !client.session.replies.are_dropped() {
        let mut reply = Reply::new(client.out, client.session.resp3, REPLY_BYTES_MAX);
        reply.error([b"ERR ", text].concat());
    }
    client.session.ends = true;
}
