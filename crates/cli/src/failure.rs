//! Failures of commands: one line on standard error, and an exit code that scripts can rely on.
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | success; also when the reader of a pipe left early |
//! | 1 | a check that the user asked for failed |
//! | 2 | unusable input: a bad option, file, machine, pattern, team |
//! | 129, 130, 143 | interrupted by a signal before there was a result to show |

use std::process::ExitCode;

use anyhow::Error;

/// Exit code of a failed check.
const FAILED_CHECK: u8 = 1;
/// Exit code for unusable input.
const UNUSABLE: u8 = 2;

/// The exit code after a check.
pub(crate) fn checked(passed: bool) -> ExitCode {
    match passed {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(FAILED_CHECK),
    }
}

/// The exit code of unusable input, where somebody else says why.
pub(crate) fn unusable() -> ExitCode {
    ExitCode::from(UNUSABLE)
}

/// Prints `error` to standard error, and returns the exit code.
pub(crate) fn report(error: &Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let _ = write_line(&format!("{error:#}"));
    ExitCode::from(UNUSABLE)
}

/// Reports a command line that clap refused, or prints the help or version, and returns the exit code.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    let end = text.find("\n\n").unwrap_or(text.len());
    let _ = write_line(text[..end].trim_start_matches("error: "));
    ExitCode::from(UNUSABLE)
}

/// Reports a problem that does not end the command.
pub(crate) fn warn(message: &str) {
    let _ = write_line(message);
}

/// Writes `message` to standard error, its lines joined into one.
fn write_line(message: &str) -> std::io::Result<()> {
    use std::io::Write;
    let words: Vec<&str> = message.split_whitespace().collect();
    writeln!(
        anstream::stderr(),
        "corecast: {}",
        printable(&words.join(" "))
    )
}

/// `text` shortened and without control characters, since quoted input may contain an escape sequence that would
/// recolour the terminal. Both ends stay: a message begins with what it quotes and ends with what is wrong with it.
pub(crate) fn printable(text: &str) -> String {
    const FIRST: usize = 240;
    const LAST: usize = 160;
    let tame = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let count = text.chars().count();
    if count <= FIRST + LAST {
        return text.chars().map(tame).collect();
    }
    let first = text.chars().take(FIRST).map(tame);
    let last = text.chars().skip(count - LAST).map(tame);
    first.chain(['…']).chain(last).collect()
}

/// Whether the reader of standard output has closed the pipe.
fn is_broken_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_endless_input_are_tamed() {
        assert_eq!(printable("a\u{1b}[31mb"), "a\u{fffd}[31mb");
        assert_eq!(printable(&"x".repeat(1000)).chars().count(), 401);
        let long = format!("--root {}: no rank", "9".repeat(1000));
        let shown = printable(&long);
        assert!(shown.starts_with("--root 999") && shown.ends_with("9: no rank"));
    }

    #[test]
    fn only_broken_pipes_are_silent() {
        let io = |kind| Error::new(std::io::Error::from(kind)).context("writing");
        assert!(is_broken_pipe(&io(std::io::ErrorKind::BrokenPipe)));
        assert!(!is_broken_pipe(&io(std::io::ErrorKind::NotFound)));
    }
}
