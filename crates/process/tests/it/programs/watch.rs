//! Seeds to replay, and time limits for every wait.

use crate::own_process::WATCHDOG;
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::str::FromStr;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

fn number<N: FromStr>(name: &str) -> Option<N> {
    let given = std::env::var(name).ok()?;
    let parsed = given.parse();
    Some(parsed.unwrap_or_else(|_| panic!("{name}={given} is no number: give one, or nothing")))
}

/// The seeds of a test: the one to replay, or `usual` times `CORECAST_TEST_CASES` seeds, at least one.
pub(crate) fn cases(usual: u64) -> Range<u64> {
    match number("CORECAST_TEST_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let times = number("CORECAST_TEST_CASES").unwrap_or(1.0);
            0..(usual as f64 * times).max(1.0) as u64
        }
    }
}

/// Runs `body` in a thread; the test fails instead of hanging.
pub(crate) fn watched<R: Send + 'static>(
    what: &str,
    limit: Duration,
    body: impl FnOnce() -> R + Send + 'static,
) -> R {
    let (done, ended) = channel();
    let thread = std::thread::spawn(move || {
        let _ = done.send(catch_unwind(AssertUnwindSafe(body)));
    });
    let ended = ended.recv_timeout(limit);
    let ended: Result<R, Box<dyn Any + Send>> = match ended {
        Ok(ended) => ended,
        Err(RecvTimeoutError::Timeout) => panic!("{what}: no end after {limit:?}"),
        Err(RecvTimeoutError::Disconnected) => panic!("{what}: ended without a result"),
    };
    thread.join().unwrap();
    ended.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs `body` under a watchdog; a failure says how to replay it.
pub(crate) fn replayable(test: &str, seed: u64, body: impl FnOnce() + Send + 'static) {
    let again =
        format!("replay with CORECAST_TEST_SEED={seed} cargo test -p corecast-process {test}");
    let ran = catch_unwind(AssertUnwindSafe(|| watched(&again, WATCHDOG, body)));
    assert!(ran.is_ok(), "{again}");
}
