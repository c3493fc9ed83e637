//! Arguments of `corecast tune`.

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use corecast_bench::sized::ELEMENT_BYTES;
use corecast_model::Collective;
use corecast_tune::tuner::{BUDGET, TuneRequest};

use crate::options::Sync;
use crate::sizes;

/// Arguments of `corecast tune`.
#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// Operations, separated by commas [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) op: Vec<String>,

    /// Bytes of a block of data, multiples of 8 such as 8,512,4K,1M or 8..4M [default: nine sizes from 8 to 4M]
    #[arg(long, value_name = "LIST")]
    pub(super) size: Option<String>,

    /// Team sizes, separated by commas; more ranks than threads share these [default: one rank for each thread]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) ranks: Vec<usize>,

    /// Hardware threads by operating-system number; rank r is the r-th of them [default: all]
    #[arg(
        long,
        visible_alias = "cores",
        value_name = "LIST",
        conflicts_with = "ranks"
    )]
    pub(super) threads: Option<String>,

    /// Leave the threads where the operating system puts them, as teams do that share hardware threads
    #[arg(long)]
    pub(super) unpinned: bool,

    /// Pin the threads also where ranks share hardware threads
    #[arg(long, conflicts_with = "unpinned")]
    pub(super) pinned: bool,

    /// A process for each rank instead of a thread; plans and waits stay as they are
    #[arg(long)]
    pub(super) processes: bool,

    /// How operations are kept apart: strict, from a common start until the last rank is done; or loose, one after
    /// the other, where what counts is how many are done in a time
    #[arg(long, value_enum, default_value_t = Sync::Strict)]
    pub(super) sync: Sync,

    /// Time in seconds for all teams together
    #[arg(long, value_name = "SECONDS", default_value_t = BUDGET.as_secs_f64())]
    pub(super) budget: f64,

    /// Contenders of a race at most, where the model tells them apart: with blocks of up to 16K
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(super) most: usize,

    /// Race nothing: show who would, with predictions
    #[arg(long, conflicts_with = "check")]
    pub(super) dry_run: bool,

    /// Afterwards race each tuned choice against every algorithm; exit code 1 if one is more than 3 % slower than
    /// another, beyond the interval. Takes as long again
    #[arg(long)]
    pub(super) check: bool,

    /// Tune nothing: race what teams run now, by earlier tunings or without, in this way
    #[arg(long, conflicts_with_all = ["check", "dry_run", "no_save"])]
    pub(super) check_only: bool,

    /// Keep nothing
    #[arg(long)]
    pub(super) no_save: bool,
}

impl Default for TuneArgs {
    /// The arguments of a command line that names none.
    fn default() -> Self {
        Self {
            op: Vec::new(),
            size: None,
            ranks: Vec::new(),
            threads: None,
            unpinned: false,
            pinned: false,
            processes: false,
            sync: Sync::Strict,
            budget: BUDGET.as_secs_f64(),
            most: TuneRequest::default().most,
            dry_run: false,
            check: false,
            check_only: false,
            no_save: false,
        }
    }
}

/// Largest block in bytes.
const SIZE_MAX: usize = 1 << 28;

/// The request of the tuning that the arguments describe.
///
/// # Errors
///
/// An operation, a size or a time cannot be read or is out of range.
pub(super) fn request(args: &TuneArgs) -> Result<TuneRequest> {
    let mut request = TuneRequest {
        start: args.sync.into(),
        most: args.most,
        ..TuneRequest::default()
    };
    if args.most == 0 {
        bail!("--most 0: a race has at least one contender");
    }
    if !(0.01..=86_400.0).contains(&args.budget) {
        bail!("--budget {}: seconds from 0.01 to 86400", args.budget);
    }
    request.budget = Duration::from_secs_f64(args.budget);
    if !args.op.is_empty() && args.op != ["all"] {
        let operations = args.op.iter().map(|name| chosen(name));
        let mut operations: Vec<Collective> = operations.collect::<Result<_>>()?;
        let order = |o: &Collective| Collective::ALL.iter().position(|one| one == o);
        operations.sort_by_key(order);
        operations.dedup();
        request.operations = operations;
    }
    if let Some(list) = &args.size {
        if request.operations == [Collective::Barrier] {
            bail!("--size {list:?}: a barrier carries no blocks of data, leave one of them out");
        }
        request.sizes = sizes::parse(list)?;
        request.sizes.sort_unstable();
        let unfit =
            |size: &&usize| !size.is_multiple_of(ELEMENT_BYTES) || **size > SIZE_MAX || **size == 0;
        if let Some(size) = request.sizes.iter().find(unfit) {
            bail!("--size {size}: multiples of {ELEMENT_BYTES} from 8 to {SIZE_MAX} are needed");
        }
    }
    Ok(request)
}

/// Parses an operation for which algorithms are chosen.
pub(crate) fn chosen(name: &str) -> Result<Collective> {
    let operation: Collective = name.parse()?;
    let chosen = operation.algorithms_of();
    if chosen != operation {
        bail!("algorithms are chosen for {chosen}, and not for {name}: name {chosen}");
    }
    Ok(operation)
}
