//! Why an order of a session was not carried out.

use std::io;
use std::time::Duration;

/// Why an order was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The starter did not start, or its ranks did not come.
    #[error("{program} did not start: {source}")]
    Launch {
        /// The starter.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The order took too long; all processes were killed.
    #[error("not done after {0:?}: killed")]
    TimedOut(Duration),
    /// A process ended or cannot be understood.
    #[error("{what}: {said}")]
    Lost {
        /// What happened.
        what: String,
        /// The last line that the processes wrote.
        said: String,
    },
    /// The library delivered something wrong.
    #[error("{0}: the peer is not timed")]
    Wrong(String),
    /// It was killed too often to be tried again.
    #[error("not tried again: killed {0} times before")]
    GivenUp(u32),
}
