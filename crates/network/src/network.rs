//! What a network between hosts must offer beside a fabric's operations.

use corecast_wire::Fabric;

/// A fabric whose ranks are hosts. Which process acts for a host may differ from operation to operation, so that the root of an
/// operation acts for its own host, whichever rank it is.
pub trait Network: Fabric {
    /// From now on `rank`, as it is counted over all hosts, acts for `host`. The ranks that act say the same.
    fn act(&mut self, host: usize, rank: usize);

    /// Waits until everything that this rank has sent was taken over by the network: then it arrives although this rank does
    /// not call the network again.
    ///
    /// # Errors
    ///
    /// The fabric's own error.
    fn finish(&mut self) -> Result<(), Self::Error>;
}
