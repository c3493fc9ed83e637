//! Arguments of `corecast explain`.

use clap::Args;

use crate::options::Sync;
use crate::team::TeamArgs;

/// Arguments of `corecast explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// broadcast, reduce or barrier [default: each]; with --size any operation
    #[arg(long, value_name = "OPERATION")]
    pub(super) op: Option<String>,

    /// Bytes of a block, such as 512, 4K or 1M: say which algorithm runs there, who decided, and what else there is
    #[arg(long, value_name = "BYTES", requires = "op")]
    pub(super) size: Option<String>,

    /// With --size: this many ranks, which may be more than there are threads
    #[arg(long, value_name = "N", requires = "size", conflicts_with_all = ["threads", "subset"])]
    pub(super) ranks: Option<usize>,

    /// With --size: the ranks are processes
    #[arg(long, requires = "size")]
    pub(super) processes: bool,

    /// With --size: the ranks are not pinned
    #[arg(long, requires = "size")]
    pub(super) unpinned: bool,

    /// With --size: by races whose operations began at one instant, strict, or one after the other, loose
    #[arg(long, value_enum, default_value_t = Sync::Strict, requires = "size")]
    pub(super) sync: Sync,

    /// Without --size: where the operation starts or ends: auto, or a rank
    #[arg(
        long,
        value_name = "RANK",
        default_value = "auto",
        conflicts_with = "size"
    )]
    pub(super) root: String,

    #[command(flatten)]
    pub(super) team: TeamArgs,
}
