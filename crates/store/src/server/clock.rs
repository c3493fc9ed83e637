//! The time by which keys expire and pauses end.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time since 1970.
pub(super) fn since_1970() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

/// Milliseconds since 1970.
pub(super) fn now() -> i64 {
    i64::try_from(since_1970().as_millis()).unwrap_or(i64::MAX)
}
