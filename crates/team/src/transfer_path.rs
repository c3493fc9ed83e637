//! How long data come from the ranks of other processes.

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
    /// Data that the other process lends without copying are read from its memory.
    Direct,
    /// Data come through the other process's bounce buffer; the sentence says why.
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

/// From which length on the kernel copies what ranks lend to other processes.
///
/// # Examples
///
/// ```
/// use corecast_team::KernelCopies;
/// assert_eq!(KernelCopies::of_bytes(0), KernelCopies::Never);
/// assert_eq!(KernelCopies::of_bytes(1 << 20).least(), Some(1 << 20));
/// assert_eq!(KernelCopies::From(65536).to_string(), "65536");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelCopies {
    /// Data go through bounce buffers, however long they are.
    Never,
    /// Data of so many bytes and more are copied by the kernel.
    From(usize),
}

impl KernelCopies {
    /// The meaning of a number of bytes, of which 0 is never.
    pub const fn of_bytes(bytes: usize) -> Self {
        match bytes {
            0 => Self::Never,
            _ => Self::From(bytes),
        }
    }

    /// The number of bytes that stands for it in texts and files, of which 0 is never.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Never => 0,
            Self::From(bytes) => bytes,
        }
    }

    /// The least number of bytes that the kernel copies; `None` for never.
    pub const fn least(self) -> Option<usize> {
        match self {
            Self::Never => None,
            Self::From(bytes) => Some(bytes),
        }
    }
}

impl fmt::Display for KernelCopies {
    /// As a number of bytes, of which 0 is never.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().fmt(f)
    }
}

/// The transfer paths of a process.
#[derive(Debug)]
pub struct TransferPaths {
    /// The path from each rank to this process; `None` for ranks of this process.
    pub from: Vec<Option<TransferPath>>,
    /// The least numbers of bytes that this process lends without copying.
    pub lends_from: LendsFrom,
}

/// The least numbers of bytes that a process lends without copying, so that the kernel copies them; `None` if it always copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LendsFrom {
    /// Of data that the borrower copies.
    pub copied: Option<usize>,
    /// Of data that the borrower combines with its own.
    pub combined: Option<usize>,
}

/// The process of each rank, if its memory can be read.
pub type Processes = Vec<Option<Arc<Process>>>;

/// The heap of each rank's process, where this one has mapped it.
#[cfg(not(loom))]
pub type Heaps = Vec<Option<corecast_transfer::MappedHeap>>;
