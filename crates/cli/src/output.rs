//! Everything that commands write: standard output and files that the user named.

use std::io::Write;

use anyhow::{Context, Result};
use serde::Serialize;

/// Writes `text` to standard output, without colours where it does not understand them.
///
/// # Errors
///
/// A closed or full output; `failure::report` is silent about the former.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("standard output")
}

/// Writes `value` to standard output as one line of JSON.
///
/// # Errors
///
/// As [`print()`].
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    print(&line)
}

/// Writes `text` to the file at `path`, or to standard output for `-`.
///
/// # Errors
///
/// A path that cannot be written; the message quotes it.
pub(crate) fn save(path: &str, text: &str) -> Result<()> {
    if path == "-" {
        return print(text);
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {path:?}"))
}

/// Writes `text` to the file at `path` by way of one beside it: readers see the old text or the new one.
///
/// # Errors
///
/// As [`save`].
pub(crate) fn replace(path: &str, text: &str) -> Result<()> {
    let part = format!("{path}.part");
    save(&part, text)?;
    std::fs::rename(&part, path).with_context(|| format!("cannot write {path:?}"))
}
