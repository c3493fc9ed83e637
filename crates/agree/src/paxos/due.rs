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

impl Watch for Due {
    type Error = ();

    fn check(&mut self, _waited: Duration) -> Result<(), ()> {
        match self.began.elapsed().as_nanos() as u64 >= self.after_ns {
            true => Err(()),
            false => Ok(()),
        }
    }
}
