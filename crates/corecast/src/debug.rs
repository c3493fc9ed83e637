//! What is said on standard error: `CORECAST_DEBUG=OFF|WARN|INFO|TRACE`, `WARN` by default.

use std::io::Write;
use std::sync::Once;

/// How much is said; each level says what those before it say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Off,
    Warn,
    Info,
    Trace,
}

/// The level that the environment asks for. Words that are no level count as `WARN`.
pub(crate) fn level() -> Level {
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
pub(crate) fn say(at: Level, text: impl FnOnce() -> String) {
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
pub(crate) fn warn(once: &Once, text: impl FnOnce() -> String) {
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
