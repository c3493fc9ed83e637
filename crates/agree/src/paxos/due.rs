//! What ends a member's wait for messages.

use corecast_wire::sync::Instant;
use corecast_wire::wait::Watch;
use std::time::Duration;

/// Ends a wait when something is due.
pub(super) struct Due {
    pub(super) began: Instant,
    /// When it is due, counted from then.
    pub(super) after_ns: u64,
}

impl Due {
    fn left(&self) -> Duration {
        Duration::from_nanos(self.after_ns).saturating_sub(self.began.elapsed())
    }
}

impl Watch for Due {
    type Error = ();

    fn check(&mut self, _waited: Duration) -> Result<(), ()> {
        match self.left() {
            Duration::ZERO => Err(()),
            _ => Ok(()),
        }
    }

    fn longest_nap(&self) -> Duration {
        self.left()
    }
}
