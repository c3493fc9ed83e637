//! Messages on standard error: `CORECAST_DEBUG=OFF|WARN|INFO|TRACE`, `WARN` by default.
//!
//! Corecast's own crates and bindings print by these functions; programs do not need them.
//!
//! # Examples
//!
//! ```
//! use corecast::debug::{Level, say};
//! say(Level::Trace, || "said by few".to_owned());
//! ```

use std::io::Write;
use std::sync::Once;

/// How much is printed. Each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    Off,
    /// What makes a team slower than it could be, and the remedy. This is the default.
    Warn,
    /// One line about the plans that run.
    Info,
    /// The whole explanation of a team.
    Trace,
}

/// The level that the environment asks for. Words that are no level count as `WARN`.
pub fn level() -> Level {
    let text = std::env::var("CORECAST_DEBUG").unwrap_or_default();
    of(&text)
}

fn of(text: &str) -> Level {
    match text.trim().to_ascii_uppercase().as_str() {
        "OFF" | "NONE" | "0" => Level::Off,
        "INFO" => Level::Info,
        "TRACE" => Level::Trace,
        _ => Level::Warn,
    }
}

/// Prints `text` with Corecast's name before each line. A closed standard error causes no panic.
pub fn say(at: Level, text: impl FnOnce() -> String) {
    if level() < at {
        return;
    }
    let lines: String = text()
        .lines()
        .map(|line| format!("corecast: {line}\n"))
        .collect();
    let _ = std::io::stderr().lock().write_all(lines.as_bytes());
}

/// Warns once in the life of the process for each `once`.
pub fn warn(once: &Once, text: impl FnOnce() -> String) {
    once.call_once(|| say(Level::Warn, text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_read_in_any_case() {
        assert!(of("off") < of("") && of("") < of("info") && of("INFO") < of(" Trace "));
        assert_eq!(of("loud"), Level::Warn);
    }
}
