//! The formats of numbers for the user: counts, sizes, times, lists of hardware threads.
//!
//! Every text and picture of the workspace writes its numbers by these functions, so that the same
//! quantity looks the same everywhere.
//!
//! # Examples
//!
//! ```
//! use corecast_model::words;
//!
//! assert_eq!(words::count(2, "core"), "2 cores");
//! assert_eq!(words::bytes(1536 << 10), "1.5 MiB");
//! assert_eq!(words::time(2_500.0), "2.50 µs");
//! assert_eq!(words::ranges(vec![5, 1, 2, 3]), "1-3,5");
//! ```

/// `1 core`, `2 cores`.
pub fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// Bytes in the largest binary unit below them, with one digit after the point unless that is whole.
pub fn bytes(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let k = (0..units.len())
        .rev()
        .find(|&k| bytes >> (10 * k) > 0)
        .unwrap_or(0);
    let scaled = bytes as f64 / (1u64 << (10 * k)) as f64;
    if scaled.fract() == 0.0 {
        format!("{scaled} {}", units[k])
    } else {
        format!("{scaled:.1} {}", units[k])
    }
}

/// A time in nanoseconds, with the unit that keeps it short.
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{} ns", digits(ns)),
        ns if ns < 1e6 => format!("{} µs", digits(ns / 1e3)),
        ns if ns < 1e9 => format!("{} ms", digits(ns / 1e6)),
        ns => format!("{} s", digits(ns / 1e9)),
    }
}

/// Three significant digits, or all digits before the point.
pub fn digits(x: f64) -> String {
    match x {
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x => format!("{x:.2}"),
    }
}

/// Digits after the point for a column of numbers up to `greatest`: three significant digits, or whole
/// numbers.
pub fn decimals(greatest: f64) -> usize {
    match greatest {
        g if g < 10.0 => 2,
        g if g < 100.0 => 1,
        _ => 0,
    }
}

/// A list of hardware threads as `taskset` takes it, such as `0-3,8`.
pub fn ranges(mut numbers: Vec<u32>) -> String {
    numbers.sort_unstable();
    let mut out = String::new();
    let mut rest = numbers.as_slice();
    while let Some(&first) = rest.first() {
        let run = rest
            .iter()
            .zip(first..)
            .take_while(|&(&a, b)| a == b)
            .count();
        let comma = if out.is_empty() { "" } else { "," };
        out += &match run {
            1 => format!("{comma}{first}"),
            2 => format!("{comma}{first},{}", rest[1]),
            _ => format!("{comma}{first}-{}", rest[run - 1]),
        };
        rest = &rest[run..];
    }
    out
}

#[cfg(test)]
mod tests;
