//! Looks that come again and again, less and less often, until a limit.

use corecast_wire::sync::{Instant, sleep};
use std::time::Duration;

/// First pause between two looks; each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
/// Longest pause between two looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// The pauses between the looks of a wait that has a limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    begin: Instant,
    limit: Duration,
    pause: Duration,
}

impl Backoff {
    /// A wait that begins now.
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            begin: Instant::now(),
            limit,
            pause: FIRST_PAUSE,
        }
    }

    /// The same wait, for something else: pauses are short again.
    pub(crate) fn anew(self) -> Self {
        Self {
            pause: FIRST_PAUSE,
            ..self
        }
    }

    /// The time until the limit.
    pub(crate) fn left(&self) -> Duration {
        self.limit.saturating_sub(self.begin.elapsed())
    }

    /// Sleeps until the next look. Returns how long the wait has lasted if that is the limit.
    pub(crate) fn rest(&mut self) -> Result<(), Duration> {
        let waited = self.begin.elapsed();
        if waited >= self.limit {
            return Err(waited);
        }
        sleep(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
