//! Histories as lines of JSON, and their recording.
//!
//! Each line is a call, in any order:
//!
//! ```json
//! {"client":1,"begin":120,"end":180,"request":{"op":"get","key":[107]},"response":[118]}
//! {"client":2,"begin":130,"end":null,"request":{"op":"set","key":[107],"value":[118]}}
//! ```
//!
//! `begin` and `end` are times on one clock, such as nanoseconds; `end` is `null` or absent for a call that never returned, which
//! then has no `response`. Keys and values of [`Registers`](super::Registers) are lists of bytes; `null` is a key that is not there.

use super::search::Call;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Instant;

/// A line of a history.
#[derive(Serialize, Deserialize)]
struct Line<Q, R> {
    client: u64,
    begin: u64,
    #[serde(default = "none")]
    end: Option<u64>,
    request: Q,
    #[serde(default = "none")]
    response: Option<R>,
}

/// `Option::default` would ask that what is absent has a default, too.
fn none<T>() -> Option<T> {
    None
}

/// Why a history cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A line could not be read.
    #[error("line {line} of the history cannot be read: {error}")]
    Io {
        /// The line's number, from 1.
        line: usize,
        /// The reason.
        error: std::io::Error,
    },
    /// A line is no call.
    #[error(
        "line {line} of the history is no call: {error}; write one object a line with client, begin, end, request and response"
    )]
    Json {
        /// The line's number, from 1.
        line: usize,
        /// The reason.
        error: serde_json::Error,
    },
    /// A call ends before it begins.
    #[error("line {line} of the history: the call begins at {begin} and ends at {end}")]
    Backwards {
        /// The line's number, from 1.
        line: usize,
        /// When the call began.
        begin: u64,
        /// When it ended.
        end: u64,
    },
}

/// Writes a history, a line for each call.
///
/// # Errors
///
/// Those of the writer.
pub fn write_history<Q: Serialize, R: Serialize>(
    history: &[Call<Q, R>],
    mut to: impl Write,
) -> std::io::Result<()> {
    for call in history {
        let line = Line {
            client: call.client,
            begin: call.begin,
            end: call.returned.as_ref().map(|(end, _)| *end),
            request: &call.request,
            response: call.returned.as_ref().map(|(_, response)| response),
        };
        serde_json::to_writer(&mut to, &line)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}

/// Reads a history.
///
/// # Errors
///
/// [`HistoryError`], which names the line.
pub fn read_history<Q: DeserializeOwned, R: DeserializeOwned + Default>(
    from: impl BufRead,
) -> Result<Vec<Call<Q, R>>, HistoryError> {
    let mut history = Vec::new();
    for (number, text) in from.lines().enumerate() {
        let line = number + 1;
        let text = text.map_err(|error| HistoryError::Io { line, error })?;
        if text.trim().is_empty() {
            continue;
        }
        let Line {
            client,
            begin,
            end,
            request,
            response,
        } = serde_json::from_str::<Line<Q, R>>(&text)
            .map_err(|error| HistoryError::Json { line, error })?;
        if let Some(end) = end.filter(|end| *end < begin) {
            return Err(HistoryError::Backwards { line, begin, end });
        }
        // A response that is `null` stands for itself.
        let returned = end.map(|end| (end, response.unwrap_or_default()));
        history.push(Call {
            client,
            begin,
            returned,
            request,
        });
    }
    Ok(history)
}

/// Records the calls of one client, as threads make them. Clients whose recorders are copies of each other share a clock.
///
/// # Examples
///
/// ```
/// use corecast_agree::linearizability::{Recorder, Registers, Request, check};
///
/// let first = Recorder::new();
/// let mut second = first.for_client(2);
/// let mut first = first.for_client(1);
/// first.call(Request::set(b"k", b"v"), || None);
/// second.call(Request::get(b"k"), || Some(b"v".to_vec()));
/// let history = [first.into_calls(), second.into_calls()].concat();
/// assert!(check::<Registers>(&history).is_ok());
/// ```
#[derive(Debug)]
pub struct Recorder<Q, R> {
    clock: Arc<Instant>,
    client: u64,
    calls: Vec<Call<Q, R>>,
}

impl<Q, R> Recorder<Q, R> {
    /// A recorder whose clock begins now.
    #[allow(clippy::new_without_default, reason = "it reads the clock")]
    pub fn new() -> Self {
        Self {
            clock: Arc::new(Instant::now()),
            client: 0,
            calls: Vec::new(),
        }
    }

    /// A recorder of another client, with the same clock.
    #[must_use]
    pub fn for_client(&self, client: u64) -> Self {
        Self {
            clock: Arc::clone(&self.clock),
            client,
            calls: Vec::new(),
        }
    }

    fn now(&self) -> u64 {
        self.clock.elapsed().as_nanos() as u64
    }

    /// Records a call. One that panics never returned.
    pub fn call(&mut self, request: Q, call: impl FnOnce() -> R)
    where
        R: Clone,
    {
        let begin = self.now();
        self.calls.push(Call {
            client: self.client,
            begin,
            returned: None,
            request,
        });
        let response = call();
        let end = self.now();
        let last = self.calls.last_mut().expect("it was pushed above");
        last.returned = Some((end, response));
    }

    /// The calls.
    pub fn into_calls(self) -> Vec<Call<Q, R>> {
        self.calls
    }
}
