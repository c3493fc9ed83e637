//! Writes and whole replicas as bytes, for other processes.

use std::sync::OnceLock;

use super::{Call, Keyspace, OwnedRun, Watched, Write};
use crate::arguments::Span;
use crate::bytes::{ByteReader, ByteWriter};
use crate::commands::{DATABASES, Databases, TABLE};
use crate::database::Database;

const RUN: u64 = 0;
const REMOVE_DUE: u64 = 1;

impl Write {
    /// The operation as bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut to = ByteWriter::default();
        match self {
            Self::Run(run) => {
                to.word(RUN);
                encode_run(run, &mut to);
            }
            Self::RemoveDue { now, .. } => {
                to.word(REMOVE_DUE);
                to.word(*now as u64);
            }
            // Without bytes it is nothing. What a log says was removed is for replicas that begin with a log.
            Self::Remove(_) | Self::Nothing => {}
        }
        to.0
    }

    /// The operation of these bytes; nothing if they are none, which all replicas find alike.
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        Self::try_decode(bytes).unwrap_or(Self::Nothing)
    }

    /// Has the first replica that applies it tell what it removes, for whoever writes that down.
    pub(crate) fn tell_removed(&mut self) {
        if let Self::RemoveDue { removed, .. } = self {
            removed.get_or_insert_default();
        }
    }

    fn try_decode(bytes: &[u8]) -> Option<Self> {
        let mut from = ByteReader(bytes);
        match from.word()? {
            RUN => Some(Self::Run(Box::new(decode_run(&mut from)?))),
            REMOVE_DUE => Some(Self::RemoveDue {
                now: from.word()? as i64,
                removed: None,
            }),
            _ => None,
        }
    }
}

/// Beside the number of a call's database.
const RESP3: u32 = 1 << 8;

fn encode_run(run: &OwnedRun, to: &mut ByteWriter) {
    to.word(run.now as u64);
    to.word(run.seed);
    to.word(u64::from(run.tells_ends));
    to.word(run.calls.len() as u64);
    for call in &run.calls {
        let number = TABLE.iter().position(|it| it.name == call.command.name);
        let number = number.expect("all commands are in the table") as u64;
        let of = u32::from(call.database) | if call.resp3 { RESP3 } else { 0 };
        to.word(number << 32 | u64::from(of));
        to.word(u64::from(call.first) << 32 | u64::from(call.end));
    }
    to.word(run.spans.len() as u64);
    for span in &run.spans {
        to.word(u64::from(span.start) << 32 | u64::from(span.end));
    }
    to.word(run.watched.len() as u64);
    for watched in &run.watched {
        to.word(u64::from(watched.database));
        to.word(watched.look);
        to.bytes(&watched.key);
    }
    to.bytes(&run.bytes);
}

fn decode_run(from: &mut ByteReader<'_>) -> Option<OwnedRun> {
    let (now, seed, tells_ends) = (from.word()? as i64, from.word()?, from.word()?);
    let halves = |word: u64| ((word >> 32) as u32, word as u32);
    let database = |number: u64| {
        let number = usize::try_from(number).ok().filter(|it| *it < DATABASES)?;
        u8::try_from(number).ok()
    };
    let calls = from.list(|from| {
        let ((number, of), (first, end)) = (halves(from.word()?), halves(from.word()?));
        let command = TABLE.get(number as usize)?;
        command.runs_on_databases().then_some(Call {
            command,
            first,
            end,
            database: database((of & !RESP3).into())?,
            resp3: of & RESP3 != 0,
        })
    })?;
    let spans = from.list(|from| {
        let (start, end) = halves(from.word()?);
        (start <= end).then_some(Span { start, end })
    })?;
    let watched = from.list(|from| {
        Some(Watched {
            database: database(from.word()?)?,
            look: from.word()?,
            key: from.bytes()?.into(),
        })
    })?;
    let bytes = from.bytes()?.to_vec();
    let inside = spans.iter().all(|it| it.end as usize <= bytes.len());
    let whole = calls.iter().all(|it| {
        let words = it.end.checked_sub(it.first).map_or(0, |it| it as usize);
        it.end as usize <= spans.len() && it.command.takes(words)
    });
    (inside && whole).then_some(OwnedRun {
        bytes,
        spans,
        calls,
        now,
        seed,
        watched,
        tells_ends: tells_ends != 0,
        was_run: OnceLock::new(),
    })
}

impl Keyspace {
    /// Appends all databases.
    pub(crate) fn encode(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut to = ByteWriter(bytes);
        self.databases
            .all()
            .iter()
            .for_each(|it| it.encode(&mut to));
        to.0
    }

    /// What was appended.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = ByteReader(bytes);
        let mut databases = Databases::default();
        for database in databases.all_mut() {
            *database = Database::decode(&mut from)?;
        }
        Some(Self { databases })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands;
    use corecast_agree::Dispatch;

    fn write(random: &mut fastrand::Rng, now: i64) -> Write {
        let key = format!("k{}", random.u8(..12));
        let number = random.u8(..).to_string();
        let words: Vec<&str> = match random.u8(..11) {
            0 => vec!["SET", &key, &number],
            1 => vec!["SET", &key, &number, "PX", &number],
            2 => vec!["APPEND", &key, &number],
            3 => vec!["DEL", &key],
            4 => vec!["INCR", &key],
            5 => vec!["PEXPIRE", &key, &number],
            6 => vec!["RENAME", &key, "k1"],
            7 => vec!["GETDEL", &key],
            8 => vec!["FLUSHDB"],
            9 => vec!["INFO"],
            _ => return Write::RemoveDue { now, removed: None },
        };
        let mut run = OwnedRun {
            bytes: Vec::new(),
            spans: Vec::new(),
            calls: vec![Call {
                command: commands::find(words[0].as_bytes()).unwrap(),
                first: 0,
                end: words.len() as u32,
                database: random.u8(..2),
                resp3: random.bool(),
            }],
            now,
            seed: random.u64(..),
            watched: vec![Watched {
                database: 0,
                key: (*key.as_bytes()).into(),
                look: 0,
            }],
            tells_ends: random.bool(),
            was_run: OnceLock::new(),
        };
        if random.u8(..4) > 0 {
            run.watched.clear();
        }
        for word in words {
            let start = run.bytes.len();
            run.bytes.extend_from_slice(word.as_bytes());
            run.spans.push(Span::new(start, run.bytes.len()));
        }
        Write::Run(Box::new(run))
    }

    /// A replica that goes on from a snapshot, and one that has the writes from bytes, answer as the first one does.
    #[test]
    fn replicas_in_other_processes_go_on_as_this_one_does() {
        for seed in 0..60 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut all = [Keyspace::default(), Keyspace::default()];
            for now in 0..400 {
                let operation = write(&mut random, 1000 + now);
                let bytes = operation.encode();
                let answers = all.each_mut().map(|it| it.write(&Write::decode(&bytes)));
                let expected = format!("{:?}", answers[0]);
                assert_eq!(format!("{:?}", answers[1]), expected);
                if random.u8(..20) == 0 {
                    let snapshot = all[0].encode(Vec::new());
                    all[1] = Keyspace::decode(&snapshot).unwrap();
                    assert_eq!(all[1].encode(Vec::new()), snapshot);
                    assert!(Keyspace::decode(&snapshot[..snapshot.len() - 1]).is_none());
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_borne() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut keyspace = Keyspace::default();
        for _ in 0..20_000 {
            let mut bytes = write(&mut random, 5).encode();
            bytes.truncate(random.usize(..=bytes.len()));
            if let Some(byte) = random.choice(&mut bytes[..]) {
                *byte = random.u8(..);
            }
            keyspace.write(&Write::decode(&bytes));
        }
    }
}
