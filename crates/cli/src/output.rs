//! Writes the output of commands: standard output, and files that the user named.

use std::io::Write;

use anyhow::{Context, Result};
use corecast_draw::{Depth, Screen};
use serde::Serialize;

/// Columns and colours that standard output can show, by the terminal's width and by `NO_COLOR`, `CLICOLOR_FORCE`
/// and `COLORTERM`.
pub(crate) fn screen() -> Screen {
    let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let true_colour = std::env::var("COLORTERM").is_ok_and(|v| v == "truecolor" || v == "24bit");
    let columns = match terminal_size::terminal_size() {
        Some((terminal_size::Width(w), _)) if w > 0 => usize::from(w),
        _ => Screen::COLUMNS_OF_A_PIPE,
    };
    Screen {
        columns,
        depth: match (coloured, true_colour) {
            (false, _) => Depth::None,
            (true, false) => Depth::Xterm,
            (true, true) => Depth::True,
        },
    }
}

/// Writes `text` to standard output, without colours where it does not support them.
///
/// # Errors
///
/// The output is closed or full; `failure::report` is silent about a closed one.
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
/// The output is closed or full.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    print(&line)
}

/// Writes `text` to the file at `path`, or to standard output for `-`.
///
/// # Errors
///
/// The path cannot be written; the message quotes it.
pub(crate) fn save(path: &str, text: &str) -> Result<()> {
    if path == "-" {
        return print(text);
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {path:?}"))
}

/// Replaces the file at `path` atomically: writes `text` to a file beside it and renames that.
///
/// # Errors
///
/// The path cannot be written; the message quotes it.
pub(crate) fn replace(path: &str, text: &str) -> Result<()> {
    let part = format!("{path}.part");
    save(&part, text)?;
    std::fs::rename(&part, path).with_context(|| format!("cannot write {path:?}"))
}
