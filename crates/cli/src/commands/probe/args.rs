//! Arguments of `corecast probe`.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use corecast_probe::Basis;

use crate::options::Global;
use crate::output;
use crate::team::TeamArgs;

/// Arguments of `corecast probe`.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// Which measured numbers the planner gets as the cost to receive
    #[arg(long, value_enum, default_value_t = BasisArg::OneWay)]
    pub(super) basis: BasisArg,

    /// Measure in depth: latencies by cache state, contention, transfers of several lines, what waiting costs
    #[arg(long, conflicts_with_all = ["csv", "svg", "basis"])]
    pub(super) deep: bool,

    /// Measure reads and synchronous writes by state, cache and place of a line
    #[arg(long, conflicts_with_all = ["csv", "svg", "basis"])]
    pub(super) coherence: bool,

    /// Longest time to take, in seconds [default: 60; 120 with --deep or --coherence, 10 under mpirun]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(super) time_limit: Option<u64>,

    /// Save the machine file here, and not among the measurements of this machine
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<String>,

    /// One line per ordered pair as comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub(super) csv: bool,

    /// Save heat maps; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<String>,

    #[command(flatten)]
    pub(super) team: TeamArgs,
}

impl ProbeArgs {
    /// Checks what can be wrong before anything is measured.
    ///
    /// # Errors
    ///
    /// The user asks for one thread, whose messages go nowhere; several outputs are to be on standard output; or a
    /// file cannot be written.
    pub(super) fn check(&self, global: &Global, threads: &[u32]) -> Result<()> {
        if let [one] = threads {
            if let Some(list) = &self.team.threads {
                bail!(
                    "--threads {list:?}: messages need two threads at least, thread {one} is alone"
                );
            }
            if let Some(count) = self.team.subset {
                bail!(
                    "--subset {count}: messages need two threads at least, thread {one} is alone"
                );
            }
        }
        let dash = |path: &Option<String>| path.as_deref() == Some("-");
        output::check_standard_output(&[
            ("--svg -", dash(&self.svg)),
            ("--csv", self.csv),
            ("--json", global.json),
        ])?;
        output::check_standard_output(&[
            ("--output -", dash(&self.output)),
            ("--svg -", dash(&self.svg)),
            ("--csv", self.csv),
        ])?;
        let paths = [&self.output, &self.svg];
        let mut paths = paths.into_iter().flatten();
        paths.try_for_each(|path| output::check_writable(path))
    }

    /// Checks that no option is given which says nothing of a network.
    ///
    /// # Errors
    ///
    /// There is such an option; the message names it.
    pub(super) fn check_network(&self, global: &Global) -> Result<()> {
        let given = [
            ("--machine", global.machine.is_some()),
            ("--threads", self.team.threads.is_some()),
            ("--subset", self.team.subset.is_some()),
            ("--deep", self.deep),
            ("--coherence", self.coherence),
            ("--csv", self.csv),
            ("--svg", self.svg.is_some()),
        ];
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            bail!("{option}: under mpirun the network is measured, leave one of them out");
        }
        let dash = self.output.as_deref() == Some("-");
        output::check_standard_output(&[("--output -", dash), ("--json", global.json)])
    }

    /// Checks that no option is given which a shown file would ignore.
    ///
    /// # Errors
    ///
    /// There is such an option; the message names it.
    pub(super) fn check_shown(&self, source: &str) -> Result<()> {
        let given = [
            ("--threads", self.team.threads.is_some()),
            ("--subset", self.team.subset.is_some()),
            ("--time-limit", self.time_limit.is_some()),
            (
                "--output",
                self.output.as_deref().is_some_and(|path| path != "-"),
            ),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                bail!(
                    "{option}: {source:?} is shown and nothing is measured, leave one of them out"
                )
            }
            None => Ok(()),
        }
    }
}

/// [`Basis`] on the command line.
///
/// One way is the default here because then the predicted latency of a tree of two is the measured
/// one; Smelt's own, of a batch, is too low for a receiver that waits for a single message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum BasisArg {
    /// What passes from the moment when the sender is free until the receiver has the message
    OneWay,
    /// A message that comes alone and is there already
    Alone,
    /// One of a batch of messages that are there already (Smelt §3.2)
    Batch,
}

impl From<BasisArg> for Basis {
    fn from(basis: BasisArg) -> Basis {
        match basis {
            BasisArg::OneWay => Basis::OneWay,
            BasisArg::Alone => Basis::Alone,
            BasisArg::Batch => Basis::Batch,
        }
    }
}
