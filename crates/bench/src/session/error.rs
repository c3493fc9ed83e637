//! Why an order of a session was not carried out.

use std::io;
use std::time::Duration;

/// Why an order was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The starter, or the socket for its ranks, could not be set up.
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
    /// This process was asked to end.
    #[error("interrupted")]
    Interrupted,
    /// A process ended or cannot be understood.
    #[error("{what}: {said}")]
    Lost {
        /// What happened.
        what: String,
        /// The last line that the processes wrote.
        said: String,
    },
    /// A rank reported a wrong result or a failure of its library.
    #[error("{0}: the peer is not timed")]
    Wrong(String),
    /// The session was killed too often to be tried again.
    #[error("not tried again: killed {0} times before")]
    GivenUp(u32),
}
