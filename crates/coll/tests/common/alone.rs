//! Tests that count what a process has, and wait for what happens by itself.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A watchdog, not a measurement.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// Threads and descriptors are counted: one test at a time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner())
}

/// Waits until it holds.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < SOON, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
