//! Arguments of `corecast sim`.

use anyhow::{Result, bail};
use clap::Args;
use corecast_sim::drive::{self, Collective};
use corecast_sim::engine::RunOptions;
use corecast_sim::fabric::CallSetting;

use crate::sizes;

/// Arguments of `corecast sim`.
#[derive(Debug, Args)]
#[command(after_help = "\
MACHINE may also be one that is made of parts: parts:tilepro64, parts:mesh:8x8, parts:packages:2x4 and others, see \
docs/simulator.md. Of any other machine the costs of messages are known, and their parts are made to fit these.")]
pub(crate) struct SimArgs {
    /// barrier, broadcast, reduce, allreduce, scatter, gather, allgather, alltoall, reduce_scatter or scan
    #[arg(long, value_name = "OPERATION", default_value = "broadcast")]
    pub(super) op: String,

    /// What the plan's tree is built by, as for corecast plan
    #[arg(
        long,
        value_name = "PATTERN",
        default_value = "smelt",
        conflicts_with = "compare"
    )]
    pub(super) pattern: String,

    /// An algorithm of docs/algorithms.md [default: what a team would choose by size]
    #[arg(long, value_name = "NAME")]
    pub(super) algorithm: Option<String>,

    /// Where the operation starts or ends: a rank, or auto for the plan's choice
    #[arg(long, value_name = "RANK", default_value = "auto")]
    pub(super) root: String,

    /// Hardware threads, or cores of a machine of parts; rank r is the r-th of them [default: all]
    #[arg(long, visible_alias = "cores", value_name = "LIST")]
    pub(super) threads: Option<String>,

    /// Bytes of a block of data, such as 8, 4K or 1M: what each rank gives or gets, in an alltoall what it gives each other one
    #[arg(long, value_name = "BYTES", default_value = "8")]
    pub(super) size: String,

    /// The seed of --jitter and --skew
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,

    /// Each transfer is late by up to so much, in the machine's unit
    #[arg(long, value_name = "TIME", default_value_t = 0.0)]
    pub(super) jitter: f64,

    /// Each rank comes late by up to so much, in the machine's unit
    #[arg(long, value_name = "TIME", default_value_t = 0.0)]
    pub(super) skew: f64,

    /// Calls before the one that counts, at most 1000
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) warm_up: usize,

    /// A table of patterns on machines, which tree wins where: --patterns, --machines
    #[arg(long)]
    pub(super) compare: bool,

    /// The patterns of --compare
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "compare",
        default_value = "smelt,cluster,binary,fibonacci,mst,sequential"
    )]
    pub(super) patterns: Vec<String>,

    /// The machines of --compare, as for --machine [default: all that are built in]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "compare")]
    pub(super) machines: Vec<String>,

    /// Save who does what when as JSON for ui.perfetto.dev; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(super) timeline: Option<String>,

    /// Save the same as a picture, of several hosts how busy each level was; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<String>,
}

/// The most calls before the one that counts: a call changes nothing for the next one after a few of them.
const WARM_UP_MAX: usize = 1000;

impl SimArgs {
    /// The operation and the bytes of a block.
    ///
    /// # Errors
    ///
    /// A name, a size or a time cannot be read, or two pictures are to be on standard output.
    pub(super) fn request(&self) -> Result<(Collective, usize)> {
        let collective = drive::collective(&self.op)?;
        let size = sizes::block(&self.size, collective)?;
        for (flag, time) in [("--jitter", self.jitter), ("--skew", self.skew)] {
            if !(0.0..1e9).contains(&time) {
                bail!("{flag} {time}: a time of at least 0 and below 1e9 is needed");
            }
        }
        if self.warm_up > WARM_UP_MAX {
            bail!(
                "--warm-up {}: at most {WARM_UP_MAX} calls are simulated before the one that counts",
                self.warm_up
            );
        }
        Ok((collective, size))
    }

    /// Checks that no option is given which machines of several hosts ignore.
    ///
    /// # Errors
    ///
    /// There is such an option; the message names it.
    pub(super) fn check_hosts(&self) -> Result<()> {
        let given = [
            ("--jitter", self.jitter > 0.0),
            ("--skew", self.skew > 0.0),
            ("--timeline", self.timeline.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                bail!("{option}: a machine of several hosts has no such thing, leave it out")
            }
            None => Ok(()),
        }
    }

    /// The settings of the simulated call: warm-up, skew, jitter, and whether it is traced.
    pub(super) fn setting(&self) -> CallSetting {
        CallSetting {
            warm_up: self.warm_up,
            skew: self.skew,
            entry: 0.0,
            options: RunOptions {
                seed: self.seed,
                jitter: self.jitter,
                trace: self.timeline.is_some() || self.svg.is_some(),
                ..RunOptions::default()
            },
        }
    }
}
