//! Why an operation over several hosts has failed.

use corecast::Failure;

/// Why an operation over several hosts has failed.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError<E> {
    /// The team of this rank's host has failed.
    #[error(transparent)]
    Host(#[from] Failure),
    /// The network has failed.
    #[error("{0}")]
    Network(E),
}
