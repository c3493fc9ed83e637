//! Writes the output of commands: standard output, and files that the user named.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use corecast::store::StoreError;
use corecast_draw::{Depth, Screen};
use serde::Serialize;

use crate::failure;

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

/// Checks that at most one of `takers` takes standard output; each is an option as the user wrote it, and whether it
/// takes it.
///
/// # Errors
///
/// Two of them do; the message names both.
pub(crate) fn check_standard_output(takers: &[(&str, bool)]) -> Result<()> {
    let mut taking = takers.iter().filter(|(_, takes)| *takes);
    if let (Some((first, _)), Some((second, _))) = (taking.next(), taking.next()) {
        bail!(
            "{first} and {second}: standard output takes one of them, name a file for the other or leave it out"
        );
    }
    Ok(())
}

/// Checks that a file can be written at `path`, so that what takes long is not done in vain. The file stays as it is,
/// or absent.
///
/// # Errors
///
/// The path cannot be written; the message quotes it.
pub(crate) fn check_writable(path: &str) -> Result<()> {
    if path == "-" {
        return Ok(());
    }
    let refused = || format!("cannot write {path:?}");
    match std::fs::metadata(path) {
        // To open a pipe would end its reader, or wait for one.
        Ok(found) if !found.is_file() && !found.is_dir() => return Ok(()),
        Ok(_) => drop(
            File::options()
                .append(true)
                .open(path)
                .with_context(refused)?,
        ),
        Err(_) => {
            drop(File::create_new(path).with_context(refused)?);
            std::fs::remove_file(path).with_context(refused)?;
        }
    }
    Ok(())
}

/// Says where something was kept. If that failed it also warns, and the command goes on, since a result is worth
/// printing all the same.
pub(crate) fn kept(what: &str, saved: Result<PathBuf, StoreError>) -> String {
    let sentence = match saved {
        Ok(path) => return format!("{what}saved in {}", path.display()),
        Err(error) => format!("{what}not saved: {error}"),
    };
    failure::warn(&sentence);
    sentence
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
