//! The transfer path of long data from the ranks of other processes.

use corecast_transfer::Process;
use std::fmt;
use std::sync::Arc;

/// The transfer path of long data from the ranks of another process.
///
/// # Examples
///
/// ```
/// use corecast_team::TransferPath;
/// let path = TransferPath::BounceBuffer("CORECAST_CMA is 0".into());
/// assert_eq!(path.to_string(), "through its bounce buffer (CORECAST_CMA is 0)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransferPath {
    /// What it lends without copying is read from its memory.
    Direct,
    /// Through its bounce buffer; the sentence says why.
    BounceBuffer(String),
}

impl fmt::Display for TransferPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct => f.write_str("read from its memory where it lends without copying"),
            Self::BounceBuffer(why) => write!(f, "through its bounce buffer ({why})"),
        }
    }
}

/// What this process gives and takes without copies in between.
#[derive(Debug)]
pub struct TransferPaths {
    /// By rank; those of this process have none.
    pub from: Vec<Option<TransferPath>>,
    /// From how many bytes on this process lends without copying.
    pub lends_from: Option<usize>,
}

/// By rank: the process whose memory can be read.
pub type Processes = Vec<Option<Arc<Process>>>;
