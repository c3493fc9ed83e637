//! The time by which keys expire and pauses end.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = since.map_or(0, |it| it.as_millis());
    i64::try_from(milliseconds).unwrap_or(i64::MAX)
}
