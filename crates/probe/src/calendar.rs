//! Dates as people and sorting programs read them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Date and time now, in UTC.
///
/// # Examples
///
/// ```
/// let now = corecast_probe::now_utc();
/// assert_eq!((now.len(), now.ends_with('Z')), (20, true), "{now}");
/// ```
#[must_use]
pub fn now_utc() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    iso_utc(since.map_or(0, |since| since.as_secs()))
}

/// `2026-11-21T22:17:29Z` for seconds since 1970 in UTC.
///
/// Days to a date as in Howard Hinnant's *chrono-Compatible Low-Level Date Algorithms*
/// (`civil_from_days`): years begin in March, so that the leap day comes last.
pub(crate) fn iso_utc(unix_seconds: u64) -> String {
    let (days, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let days = days + 719_468;
    let (cycle, day_of_cycle) = (days / 146_097, days % 146_097);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524
        - day_of_cycle / 146_096)
        / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = 400 * cycle + year_of_cycle + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::iso_utc;

    #[test]
    fn known_dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_078_099_199, "2004-02-29T23:59:59Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(iso_utc(seconds), text);
        }
    }
}
