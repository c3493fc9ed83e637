//! Arguments of `corecast plan`.

use anyhow::Result;
use clap::Args;
use corecast_plan::{Operation, RootChoice};

use crate::duration;
use crate::planning::{self, Limits};
use crate::team::TeamArgs;

/// Arguments of `corecast plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// broadcast, reduce or barrier
    #[arg(long, value_name = "OPERATION", default_value = "broadcast")]
    pub(super) op: String,

    /// best, optimal, smelt, binary, fibonacci, sequential, mst, cluster, bad, knomial:K, chain, binomial and others, or all to compare
    #[arg(long, value_name = "PATTERN", default_value = "best")]
    pub(super) pattern: String,

    /// Where the operation starts or ends: a rank, smelt for Smelt's choice, or auto: best and optimal choose freely, the others as Smelt does
    #[arg(long, value_name = "RANK", default_value = "auto")]
    pub(super) root: String,

    /// Time for best and optimal, such as 5ms, 1s or 10min; with --compare for all patterns of a machine together [default: 1s for best and --compare, 60s for optimal, none with --moves]
    #[arg(long, value_name = "TIME")]
    pub(super) budget: Option<String>,

    /// Moves for best and optimal: the same moves and seed give the same plan, however slow the machine
    #[arg(long, value_name = "N")]
    pub(super) moves: Option<u64>,

    /// Decides what best and optimal leave to chance [default: 0]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,

    /// A table of all patterns, as with --pattern all; -i may then be a folder of machine files
    #[arg(long)]
    pub(super) compare: bool,

    #[command(flatten)]
    pub(super) team: TeamArgs,

    /// Save a picture of the tree, NUMA nodes as boxes; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<String>,

    /// Save the tree in Graphviz's language; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(super) dot: Option<String>,

    /// Show who sends, receives and waits when; with a FILE save it as a picture, - for standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "")]
    pub(super) timeline: Option<String>,
}

/// The operation to plan, its root, and the limits of the search.
pub(super) struct Request {
    pub(super) operation: Operation,
    pub(super) root: RootChoice,
    pub(super) limits: Limits,
}

impl PlanArgs {
    /// Reads operation, root and limits.
    ///
    /// # Errors
    ///
    /// A name or a number cannot be read.
    pub(super) fn request(&self) -> Result<Request> {
        Ok(Request {
            operation: self.op.parse()?,
            root: planning::root(&self.root)?,
            limits: Limits {
                seed: self.seed.unwrap_or(0),
                moves: self.moves,
                budget: self.budget.as_deref().map(duration::parse).transpose()?,
            },
        })
    }

    /// The first given flag that only searches have, with its value; `None` if there is none.
    pub(super) fn search_flag(&self) -> Option<String> {
        let budget = self.budget.as_ref();
        let budget = budget.map(|time| format!("--budget {time:?}"));
        let moves = self.moves.map(|n| format!("--moves {n}"));
        let seed = self.seed.map(|n| format!("--seed {n}"));
        budget.or(moves).or(seed)
    }

    /// Whether the terminal shows the timeline.
    pub(super) fn timeline_in_terminal(&self) -> bool {
        self.timeline.as_deref() == Some("")
    }

    /// The path to which the timeline is saved.
    pub(super) fn timeline_file(&self) -> Option<&str> {
        self.timeline.as_deref().filter(|path| !path.is_empty())
    }
}
