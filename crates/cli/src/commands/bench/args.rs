//! Arguments of `corecast bench`.

use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use corecast_bench::Settings;
use corecast_model::Collective;

use super::algorithms::AlgorithmsArg;
use super::app_args::AppArgs;
use super::conditions::StartArg;
use super::op::OpArg;
use crate::options::Sync;
use crate::team::TeamArgs;

/// Arguments of `corecast bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What is raced
    #[arg(long, value_enum, default_value_t = OpArg::One(Collective::Barrier))]
    pub(super) op: OpArg,

    /// Bytes of a block of data, multiples of 8 such as 8,512,4K,1M or 8..16M; a barrier has none.
    /// A block is what each rank gives or gets, in an alltoall what it gives each other one [default: 8]
    #[arg(long, value_name = "LIST")]
    pub(super) size: Option<String>,

    /// Ranks, laid round-robin over the threads; more of them than threads share these [default: one for each thread]
    #[arg(long, value_name = "N")]
    pub(super) ranks: Option<usize>,

    /// Patterns to race, separated by commas, as programs ask for them [default: the plans that a team chooses]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) patterns: Vec<String>,

    /// How Corecast's own teams choose their plans, waits and algorithms [default: users]
    #[arg(long, value_enum)]
    algorithms: Option<AlgorithmsArg>,

    /// A fraction of a second instead of ten: intervals will be wide
    #[arg(long)]
    pub(super) quick: bool,

    /// Whether each rank stays on its thread, goes where the operating system puts it, or both in one race
    /// [default: as in a team of a program: pinned, unless ranks share threads that --threads does not name]
    #[arg(long, value_enum)]
    pinning: Option<Pinning>,

    /// The same as --pinning unpinned
    #[arg(long, conflicts_with = "pinning")]
    unpinned: bool,

    /// How operations with data are kept apart: strict, from a common start until the last rank is done; or loose,
    /// back to back without a barrier in between, where what counts is how many are done in a time
    #[arg(long, value_enum, default_value_t = Sync::Strict)]
    pub(super) sync: Sync,

    /// How the ranks start an operation with data together [default: auto]
    #[arg(long, value_enum)]
    pub(super) start: Option<StartArg>,

    /// warm; cold: each rank goes through twice its core's caches before each operation with data; or
    /// through that many bytes, such as 64M [default: warm]
    #[arg(long, value_name = "STATE")]
    pub(super) cache: Option<String>,

    /// Percent of the median that its interval may reach to either side when an entrant is done
    #[arg(long, value_name = "PERCENT")]
    pub(super) precision: Option<f64>,

    /// Time for each race, entrants that are precise enough or not
    #[arg(long, value_name = "SECONDS")]
    pub(super) seconds: Option<f64>,

    /// Tables as OSU's micro-benchmarks print them: a block for each entrant
    #[arg(long, conflicts_with = "json")]
    pub(super) osu: bool,

    /// Measure messages and calls anew before each race, for what is simulated; a race during which the
    /// machine changes is run again
    #[arg(long, conflicts_with = "unpinned")]
    pub(super) probe: bool,

    /// Race operations with data also between processes whose buffers all of them see, by Member::alloc
    #[arg(long, conflicts_with_all = ["overheads", "app"])]
    pub(super) symmetric: bool,

    /// Corecast and the floor alone
    #[arg(long)]
    pub(super) no_peers: bool,

    /// What constructs of parallel programs cost beyond the work in them, in the manner of EPCC: fork and
    /// join, loop, barrier, single, critical, reduction; against OpenMP too
    #[arg(long, conflicts_with_all = ["op", "size", "probe", "sync", "start", "cache", "osu", "app"])]
    pub(super) overheads: bool,

    #[command(flatten)]
    pub(super) team: TeamArgs,

    // Last, as its heading holds for all that follow.
    #[command(flatten)]
    pub(super) app: AppArgs,
}

/// What `--pinning` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Pinning {
    Pinned,
    Unpinned,
    Both,
}

/// The user's limits to a race; `None` where the user sets none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    precision: Option<f64>,
    budget: Option<Duration>,
}

impl Limits {
    /// `settings` with these limits.
    pub(super) fn apply(self, settings: Settings) -> Settings {
        Settings {
            precision: self.precision.unwrap_or(settings.precision),
            budget: self.budget.unwrap_or(settings.budget),
            // If the user sets a time, only the time limits the rounds.
            rounds_max: match self.budget {
                Some(_) => usize::MAX,
                None => settings.rounds_max,
            },
            ..settings
        }
    }
}

impl BenchArgs {
    /// Where the ranks run, if the user says it.
    pub(super) fn pinning(&self) -> Option<Pinning> {
        self.pinning.or(self.unpinned.then_some(Pinning::Unpinned))
    }

    /// How Corecast's own teams choose.
    pub(super) fn algorithms(&self) -> AlgorithmsArg {
        self.algorithms.unwrap_or(AlgorithmsArg::Users)
    }

    /// Checks that no option is given which the races would ignore.
    ///
    /// # Errors
    ///
    /// An option is only for operations with data, or for collectives, and none is raced; or two options contradict each
    /// other. The message names them.
    pub(super) fn check(&self) -> Result<()> {
        let name = self.op.name();
        let given = [
            ("--size", self.size.is_some()),
            ("--start", self.start.is_some()),
            ("--cache", self.cache.is_some()),
        ];
        let collectives = self.op.operations();
        if collectives.iter().all(|&op| op == Collective::Barrier)
            && let Some((option, _)) = given.iter().find(|(_, given)| *given)
        {
            bail!("{option}: {name} carries no blocks of data, leave one of them out");
        }
        if self.op == OpArg::ForkJoin && self.probe {
            bail!("--probe: nothing is simulated for {name}, leave one of them out");
        }
        if self.op == OpArg::Message && !self.patterns.is_empty() {
            bail!("--patterns: a message takes no plan, leave it or --op message out");
        }
        if let (OpArg::Message, Some(algorithms)) = (self.op, self.algorithms) {
            let algorithms = algorithms.name();
            bail!(
                "--algorithms {algorithms}: a message takes no algorithm, leave it or --op message out"
            );
        }
        if !self.patterns.is_empty() && self.algorithms == Some(AlgorithmsArg::All) {
            let patterns = self.patterns.join(",");
            bail!(
                "--patterns {patterns} with --algorithms all: all algorithms race over the plans that a team chooses, leave one of them out"
            );
        }
        if self.probe && self.pinning() == Some(Pinning::Unpinned) {
            bail!(
                "--probe: threads that are not pinned have no place in a model, leave one of --probe and --pinning unpinned out"
            );
        }
        match self.sync {
            Sync::Strict => Ok(()),
            Sync::Loose => self.check_loose(),
        }
    }

    /// Checks that no option is given which only operations with a common start have.
    fn check_loose(&self) -> Result<()> {
        let start = self.start.is_some_and(|start| start != StartArg::Auto);
        let cache = self.cache.as_deref().is_some_and(|cache| cache != "warm");
        let excluded = [
            (self.op.operations().is_empty(), "--op", "collectives alone"),
            (start, "--start", "no common start"),
            (cache, "--cache", "no time to empty caches"),
            (self.osu, "--osu", "no latency of a single operation"),
            (self.probe, "--probe", "no forecasts"),
        ];
        match excluded.iter().find(|(given, ..)| *given) {
            Some((_, option, what)) => {
                bail!("--sync loose has {what}: leave {option} out or take --sync strict")
            }
            None => Ok(()),
        }
    }
}

/// Reads `--precision` and `--seconds`.
///
/// # Errors
///
/// A number is out of its range.
pub(super) fn limits(args: &BenchArgs) -> Result<Limits> {
    if let Some(percent) = args.precision.filter(|p| !(0.01..=100.0).contains(p)) {
        bail!("--precision {percent}: percent from 0.01 to 100 are needed");
    }
    if let Some(seconds) = args.seconds.filter(|s| !(0.1..=86_400.0).contains(s)) {
        bail!("--seconds {seconds}: from 0.1 to 86400 are needed");
    }
    Ok(Limits {
        precision: args.precision.map(|percent| percent / 100.0),
        budget: args.seconds.map(Duration::from_secs_f64),
    })
}
