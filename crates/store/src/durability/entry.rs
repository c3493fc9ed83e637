//! Entries of the order as bytes: what a write has done, so that another process does the same.
//!
//! ```text
//!  1, time, seed, number of commands, for each: database, number of words, words      commands that were run
//!  2, number of keys, for each: database, key                                          keys that had expired
//! ```
//!
//! Commands are there by their words, as their clients sent them, the time, which they expire by, and the seed of what is
//! drawn. What depends on the process alone is not: what was seen of watched keys is not what another one sees, so a transaction whose
//! watched keys had changed is left out; and keys that expire together are removed in the order of hashes that others cannot
//! know, so they are named.

use std::sync::OnceLock;

use super::bytes::{Take, put_number, put_text, put_time};
use crate::arguments::Span;
use crate::commands::{self, Kind};
use crate::keyspace::{Call, OwnedRun, Removed, Write};

const RUN: u8 = 1;
const REMOVED: u8 = 2;

/// What is to be written of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'a> {
    /// No replica has applied it yet, and what it does is not known before.
    Undecided,
    /// It has changed nothing.
    Nothing,
    Run(&'a OwnedRun),
    Removed(&'a [Removed]),
    /// It as bytes.
    Bytes(&'a [u8]),
}

impl<'a> Entry<'a> {
    pub(crate) fn of(write: &'a Write) -> Self {
        match write {
            Write::Nothing => Self::Nothing,
            Write::Run(run) if run.watched.is_empty() => Self::Run(run),
            Write::Run(run) => match run.was_run.get() {
                None => Self::Undecided,
                Some(false) => Self::Nothing,
                Some(true) => Self::Run(run),
            },
            Write::RemoveDue { removed: None, .. } => Self::Nothing,
            Write::RemoveDue {
                removed: Some(keys),
                ..
            } => match keys.get() {
                None => Self::Undecided,
                Some(keys) if keys.is_empty() => Self::Nothing,
                Some(keys) => Self::Removed(keys),
            },
            Write::Remove(keys) => Self::Removed(keys),
        }
    }

    /// Appends it.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Undecided | Self::Nothing => {}
            Self::Run(run) => write_run(run, out),
            Self::Bytes(bytes) => out.extend_from_slice(bytes),
            Self::Removed(keys) => {
                out.push(REMOVED);
                put_number(out, keys.len() as u64);
                for (database, key) in keys {
                    out.push(*database);
                    put_text(out, key);
                }
            }
        }
    }
}

fn write_run(run: &OwnedRun, out: &mut Vec<u8>) {
    out.push(RUN);
    put_time(out, run.now);
    out.extend_from_slice(&run.seed.to_le_bytes());
    // `INFO` of a transaction leaves nothing behind. Those after it move up then, which only commands that draw notice: they write nothing.
    let calls = run.calls.iter();
    let calls = calls.filter(|it| !matches!(it.command.kind, Kind::Session));
    put_number(out, calls.clone().count() as u64);
    for call in calls {
        out.push(call.database);
        let words = &run.spans[call.first as usize..call.end as usize];
        put_number(out, words.len() as u64);
        for word in words {
            put_text(out, &run.bytes[word.start as usize..word.end as usize]);
        }
    }
}

/// The write that does what was written; if there is none, why.
pub(crate) fn read(bytes: &[u8]) -> Result<Write, String> {
    let mut take = Take(bytes);
    let write = match take.byte()? {
        RUN => Write::Run(Box::new(read_run(&mut take)?)),
        REMOVED => {
            let count = take.count()?;
            let keys = (0..count).map(|_| Ok((take.database()?, take.text()?.into())));
            Write::Remove(keys.collect::<Result<_, String>>()?)
        }
        other => return Err(format!("an entry of the unknown kind {other}")),
    };
    match take.is_empty() {
        true => Ok(write),
        false => Err("an entry that is longer than what is in it".to_owned()),
    }
}

fn read_run(take: &mut Take<'_>) -> Result<OwnedRun, String> {
    let now = take.time()?;
    let seed = u64::from_le_bytes(take.bytes(8)?.try_into().expect("eight bytes"));
    let mut run = OwnedRun {
        bytes: Vec::new(),
        spans: Vec::new(),
        calls: Vec::new(),
        now,
        seed,
        watched: Vec::new(),
        tells_ends: false,
        was_run: OnceLock::new(),
    };
    for _ in 0..take.count()? {
        let database = take.database()?;
        let first = run.spans.len();
        for _ in 0..take.count()? {
            let word = take.text()?;
            let start = run.bytes.len();
            if start + word.len() > u32::MAX as usize {
                return Err("an entry of 4 GiB or more".to_owned());
            }
            run.bytes.extend_from_slice(word);
            run.spans.push(Span::new(start, run.bytes.len()));
        }
        let words = run.spans.len() - first;
        let name = run.spans.get(first).map_or(&b""[..], |it| {
            &run.bytes[it.start as usize..it.end as usize]
        });
        let command = commands::find(name).filter(|it| it.takes(words));
        let command = command.filter(|it| !matches!(it.kind, Kind::Session));
        let Some(command) = command else {
            let name = String::from_utf8_lossy(name);
            return Err(format!(
                "{words} words that are no command on the databases: {name}"
            ));
        };
        run.calls.push(Call {
            command,
            // Words take a byte at least, and their bytes are fewer than 2^32.
            first: first as u32,
            end: run.spans.len() as u32,
            database,
            resp3: false,
        });
    }
    Ok(run)
}
