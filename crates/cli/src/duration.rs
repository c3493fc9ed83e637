//! Parses `--budget TIME`: a number and a unit.

use std::time::Duration;

use anyhow::{Result, anyhow};

/// The names of each unit of time, and its seconds.
const UNITS: [(&[&str], f64); 6] = [
    (&["ns"], 1e-9),
    (&["us", "µs", "μs"], 1e-6),
    (&["ms"], 1e-3),
    (&["s", "sec"], 1.0),
    (&["min", "m"], 60.0),
    (&["h"], 3600.0),
];

/// Parses a time such as `5ms`, `1s`, `0.5 s` or `10 min`.
///
/// # Errors
///
/// The text is no such time; the message quotes it.
pub(crate) fn parse(text: &str) -> Result<Duration> {
    let wrong = || anyhow!("--budget {text:?}: give a number and a unit, such as 5ms, 1s or 10min");
    let trimmed = text.trim();
    let digits = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .ok_or_else(wrong)?;
    let (number, unit) = trimmed.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let (_, seconds) = UNITS
        .iter()
        .find(|(names, _)| names.contains(&unit.trim()))
        .ok_or_else(wrong)?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_read() {
        for (text, nanos) in [
            ("5ms", 5_000_000),
            ("1s", 1_000_000_000),
            (" 0.5 s ", 500_000_000),
            ("10 min", 600_000_000_000),
            ("2h", 7_200_000_000_000),
            ("250us", 250_000),
            ("0s", 0),
        ] {
            assert_eq!(parse(text).unwrap().as_nanos(), nanos, "{text}");
        }
    }

    #[test]
    fn all_else_is_quoted() {
        for text in [
            "",
            "5",
            "s",
            "-1s",
            "1e3s",
            "1.2.3s",
            "5 parsecs",
            "1s1s",
            "999999999999999999999h",
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
    }
}
