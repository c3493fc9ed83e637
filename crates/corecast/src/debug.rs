//! What is said on standard error: `CORECAST_DEBUG=OFF|WARN|INFO|TRACE`, `WARN` by default.
//!
//! For whatever speaks in Corecast's name; programs need none of it.
//!
//! # Examples
//!
//! ```
//! use corecast::debug::{Level, say};
//! say(Level::Trace, || "said by few".to_owned());
//! ```

use std::io::Write;
use std::sync::Once;

/// How much is said; each level says what those before it say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    Off,
    /// What is lost, and how to get it back. The default.
    Warn,
    /// What runs, in a line.
    Info,
    /// All that is known.
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

/// Says `text`, each line with the name in front. A closed standard error is no reason to panic.
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
